# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that predicates read at positions."""

from __future__ import annotations

from typing import Any

from ..arrays import type_of
from .places import TraceError
from .ranges import ANYWHERE, Bound, Need
from .symbols import FLOAT, INDEX, INT, Tracer, Value, as_index, fail, lift


class Tensor:
    """An array that a predicate reads: ids[b, j], slopes[h]. Its content may change without another compilation."""

    #: Bytes without a sign.
    is_unsigned = False

    def __init__(self, array: Any, ones: int = 0):
        """Of the first `ones` dimensions those of size 1 are part of the tensor's type."""
        self.is_unsigned = str(getattr(array, "dtype", "")).endswith("uint8")
        # Of NumPy and its like; tensors of torch are read as they are, and keep their identity.
        self.array = array.view("int8") if self.is_unsigned and hasattr(array, "__array_interface__") else array
        self.dtype, shape = type_of(self.array, "tensor")
        if self.dtype not in ("i1", "i8", "i32", "i64", "f16", "bf16", "f32") and not (self.dtype == "f64" and Tracer.get().reads_double):
            raise TraceError(f"expected a tensor of i1, i8, i32, i64, f16, bf16 or f32, got {self.dtype}: convert it before, as to f32")
        self.dims = tuple("1" if d < ones and size == 1 else "?" for d, size in enumerate(shape))

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join([*self.dims, self.dtype])}>"

    def __getitem__(self, position: Any) -> Value:
        position = position if isinstance(position, tuple) else (position,)
        if len(position) != self.rank:
            fail(f"expected {self.rank} positions in a tensor of rank {self.rank}, got {len(position)}")
        tracer = Tracer.get()
        at = [as_index(lift(p, INDEX)) for p in position]
        number = tracer.capture(self)
        for d, p in enumerate(at):
            if p.position is not None:
                tracer.needs.append(Need(number, d, p.position))
            else:
                tracer.bounds.append(Bound(number, d, p.range[1] + 1 if p.range and p.nonnegative else ANYWHERE))
        name = f"%@{number}@"
        text = f"tensor.extract {name}[{', '.join(p.name for p in at)}]"
        # A region is in f32 until it is known that its scores are f64.
        value = tracer.op(text, [], f" : {self.type}", FLOAT if self.dtype == "f64" else self.dtype)
        if self.dtype in ("f16", "bf16"):
            return tracer.op("arith.extf", [value], f" : {self.dtype} to f32", FLOAT)
        if self.dtype == "i8":
            return tracer.op(f"arith.ext{'u' if self.is_unsigned else 's'}i", [value], " : i8 to i32", INT, (0, 255) if self.is_unsigned else None)
        if self.dtype == "i64":
            return tracer.op("arith.index_cast", [value], " : i64 to index", INDEX)
        return value


class Placeholder(Tensor):
    """A tensor known by its name in a module and its type, where there is no array yet."""

    def __init__(self, name: str, dtype: str, rank: int):
        self.array, self.dtype, self.dims = name, dtype, ("?",) * rank


def tensor(array: Any) -> Tensor:
    """Makes an array (NumPy, torch, CuPy, ...) readable in a predicate: integers, bools or floats of any rank."""
    return array if isinstance(array, Tensor) else Tensor(array)
