# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbols that record what a Python function does with them."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import traceback
from typing import Any, Callable, Iterator, Mapping, NoReturn, Optional, Sequence, Union

from ..arrays import type_of
from ..errors import AttnError
from ..problem import float_text

INDEX, FLOAT, INT, BOOL = "index", "f32", "i32", "i1"
INDEX_LIMIT = 2**31


class TraceError(AttnError):
    """A predicate that cannot be traced; the message begins with the file and line of the predicate's own code."""


class MissingMethod(TraceError, AttributeError):
    """A method that symbols do not have; `hasattr` is false of it."""


def with_place(what: str) -> str:
    """The place in the user's code that led here, and `what`."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for frame in reversed(traceback.extract_stack()):
        if not os.path.abspath(frame.filename).startswith(here + os.sep):
            return f"{frame.filename}:{frame.lineno}: {what}\n    {frame.line}"
    return what


def fail(what: str) -> NoReturn:
    """Raises a TraceError with the place in the user's code."""
    error = TraceError(with_place(what))
    tracer = getattr(Tracer.current, "tracer", None)
    if tracer:
        tracer.failure = error
    raise error


class Tracer:
    """The ops of a region that is being built. One is current in a thread while a predicate runs."""

    current = threading.local()

    def __init__(self, indent: str = "      "):
        self.lines: list[str] = []
        self.known: dict[tuple, Value] = {}
        self.tensors: list[Tensor] = []
        #: The last failure: what calls back into a symbol, as NumPy does, may raise another error in its place.
        self.failure: Optional[TraceError] = None
        self.indent = indent
        #: What symbols have beside Python's operators, by name: the methods that arrays of a library have.
        self.methods: Mapping[str, Callable[..., Any]] = {}

    @classmethod
    def get(cls) -> "Tracer":
        tracer = getattr(cls.current, "tracer", None)
        if tracer is None:
            fail("expected a traced function to be running, got a use of a symbol outside of it")
        return tracer

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        outer = getattr(Tracer.current, "tracer", None)
        Tracer.current.tracer = self
        try:
            yield
        finally:
            Tracer.current.tracer = outer

    def op(self, text: str, operands: Sequence["Value"], suffix: str, type: str, nonnegative: bool = False) -> "Value":
        """`%n = text operands : suffix`; equal ops are made once."""
        key = (text, *(operand.name for operand in operands), suffix)
        if key not in self.known:
            value = Value(f"%{len(self.known)}", type, nonnegative)
            arguments = ", ".join(operand.name for operand in operands)
            head = text if not arguments else f"{text} {arguments}"
            self.lines.append(f"{self.indent}{value.name} = {head}{suffix}")
            self.known[key] = value
        return self.known[key]

    def constant(self, value: Union[int, float, bool], type: str) -> "Value":
        if type == BOOL:
            return self.op(f"arith.constant {'true' if value else 'false'}", [], "", BOOL)
        if type == FLOAT:
            number = float(value)
            bits = {math.inf: "0x7F800000", -math.inf: "0xFF800000"}.get(number)
            if math.isnan(number):
                bits = "0x7FC00000"
            return self.op(f"arith.constant {bits or float_text(number)} : f32", [], "", FLOAT)
        if not -INDEX_LIMIT <= value < INDEX_LIMIT:
            fail(f"expected an integer of 32 bits, got {value}")
        return self.op(f"arith.constant {value} : {type}", [], "", type, value >= 0)

    def capture(self, tensor: "Tensor") -> int:
        """The number of a tensor among those that the region reads."""
        for k, known in enumerate(self.tensors):
            if known.array is tensor.array:
                return k
        self.tensors.append(tensor)
        return len(self.tensors) - 1


Operand = Union["Value", int, float, bool]


class Value:
    """A symbol: an index (`index`, or `i32` read from a tensor), a float (`f32`) or a condition (`i1`)."""

    def __init__(self, name: str, type: str, nonnegative: bool = False):
        self.name, self.type, self.nonnegative = name, type, nonnegative

    def __add__(self, other: Operand):
        return arithmetic("add", self, other)

    def __radd__(self, other: Operand):
        return arithmetic("add", other, self)

    def __sub__(self, other: Operand):
        return arithmetic("sub", self, other)

    def __rsub__(self, other: Operand):
        return arithmetic("sub", other, self)

    def __mul__(self, other: Operand):
        return arithmetic("mul", self, other)

    def __rmul__(self, other: Operand):
        return arithmetic("mul", other, self)

    def __truediv__(self, other: Operand):
        return arithmetic("div", as_float(self), as_float(lift(other, FLOAT)))

    def __rtruediv__(self, other: Operand):
        return arithmetic("div", as_float(lift(other, FLOAT)), as_float(self))

    def __floordiv__(self, other: Operand):
        return floor_divide(self, other)

    def __mod__(self, other: Operand):
        return modulo(self, other)

    def __neg__(self):
        return arithmetic("sub", 0, self)

    def __pow__(self, exponent: int):
        return power(self, exponent)

    def __abs__(self):
        return maximum(self, -self)

    def __lt__(self, other: Operand):
        return compare("lt", self, other)

    def __le__(self, other: Operand):
        return compare("le", self, other)

    def __gt__(self, other: Operand):
        return compare("gt", self, other)

    def __ge__(self, other: Operand):
        return compare("ge", self, other)

    def __eq__(self, other: Operand):  # type: ignore[override]
        return compare("eq", self, other)

    def __ne__(self, other: Operand):  # type: ignore[override]
        return compare("ne", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Operand):
        return logic("andi", self, other)

    __rand__ = __and__

    def __or__(self, other: Operand):
        return logic("ori", self, other)

    __ror__ = __or__

    def __xor__(self, other: Operand):
        return logic("xori", self, other)

    __rxor__ = __xor__

    def __invert__(self):
        return logic("xori", self, True)

    def __bool__(self):
        fail(
            "expected no decision on a traced value: use & | ~ for and, or, not, `where` for if, and two comparisons for a chain"
        )

    def __index__(self):
        fail("expected no number from a traced value: to read an array at it, wrap the array by attn_mlir.mask.tensor")

    __int__ = __float__ = __index__

    def __iter__(self):
        fail("expected no loop over a traced value")

    def __getattr__(self, name: str):
        methods = getattr(getattr(Tracer.current, "tracer", None), "methods", {})
        if name in methods:
            return functools.partial(methods[name], self)
        if name.startswith("_") or not methods:
            raise AttributeError(name)
        raise MissingMethod(with_place(f"{name} of a traced value: expected one of {', '.join(sorted(methods))}"))

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: tuple = (), kwargs: Optional[dict[str, Any]] = None):
        """What torch calls where one of its functions is given a symbol."""
        from ..torch.tracing import dispatch

        return dispatch(function, args, kwargs or {})


def lift(operand: Operand, type: str) -> Value:
    """A number as a constant of `type`."""
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, bool):
        return Tracer.get().constant(operand, BOOL)
    if isinstance(operand, int):
        return Tracer.get().constant(operand, type if type != BOOL else INDEX)
    if isinstance(operand, float):
        return Tracer.get().constant(operand, FLOAT)
    if hasattr(operand, "__dlpack__") and getattr(operand, "shape", None) == ():
        return tensor(operand)[()]
    fail(f"expected a number or a traced value, got {type_name(operand)}")


def type_name(operand: Any) -> str:
    return type(operand).__name__


def as_float(value: Value) -> Value:
    if value.type == FLOAT:
        return value
    tracer = Tracer.get()
    if value.type == BOOL:
        return tracer.op("arith.uitofp", [value], " : i1 to f32", FLOAT)
    if value.type == INDEX:
        value = tracer.op("arith.index_cast", [value], " : index to i32", INT, value.nonnegative)
    return tracer.op("arith.sitofp", [value], " : i32 to f32", FLOAT)


def as_index(value: Value) -> Value:
    if value.type == INDEX:
        return value
    if value.type != INT:
        fail(f"expected an integer, got {value.type}")
    return Tracer.get().op("arith.index_cast", [value], " : i32 to index", INDEX, value.nonnegative)


def promote(a: Operand, b: Operand) -> tuple[Value, Value]:
    """Both in one type: f32 if either is a float, index if either is an index, else i32."""
    a, b = (lift(x, INDEX) if hasattr(x, "__dlpack__") else x for x in (a, b))
    types = {operand.type for operand in (a, b) if isinstance(operand, Value)}
    has_float = FLOAT in types or isinstance(a, float) or isinstance(b, float)
    target = FLOAT if has_float else INT if types == {INT} else INDEX
    a, b = lift(a, target), lift(b, target)
    if BOOL in (a.type, b.type):
        fail("expected numbers, got a condition: use & | ~ between conditions, `where` to choose between numbers")
    if has_float:
        return as_float(a), as_float(b)
    return (as_index(a), as_index(b)) if target == INDEX else (a, b)


def arithmetic(kind: str, a: Operand, b: Operand) -> Value:
    x, y = promote(a, b)
    suffix = "f" if x.type == FLOAT else "i"
    nonnegative = kind in ("add", "mul") and x.nonnegative and y.nonnegative
    return Tracer.get().op(f"arith.{kind}{suffix}", [x, y], f" : {x.type}", x.type, nonnegative)


def divisor_of(b: Operand) -> int:
    if isinstance(b, bool) or not isinstance(b, int) or b <= 0:
        fail(f"expected a positive constant as divisor, got {b if not isinstance(b, Value) else 'a traced value'}")
    return b


def floor_divide(a: Operand, b: Operand) -> Value:
    """a // b, rounding down, for a positive constant b."""
    x, y = promote(a, divisor_of(b))
    if x.type == FLOAT:
        fail("expected integers in //, got a float")
    op = "divsi" if x.nonnegative else "floordivsi"  # the same where nothing is negative
    return Tracer.get().op(f"arith.{op}", [x, y], f" : {x.type}", x.type, x.nonnegative)


def modulo(a: Operand, b: Operand) -> Value:
    """a % b, never negative, for a positive constant b."""
    x, y = promote(a, divisor_of(b))
    if x.type == FLOAT:
        fail("expected integers in %, got a float")
    if x.nonnegative:
        return Tracer.get().op("arith.remsi", [x, y], f" : {x.type}", x.type, True)
    rest = x - floor_divide(x, b) * b
    rest.nonnegative = True
    return rest


def power(a: Operand, exponent: int) -> Value:
    """a to a constant whole power from 0 to 64."""
    if isinstance(exponent, bool) or exponent != int(exponent) or not 0 <= exponent <= 64:
        fail(f"expected a whole exponent from 0 to 64, got {exponent!r}")
    result: Operand = 1.0 if isinstance(a, Value) and a.type == FLOAT else 1
    for _ in range(int(exponent)):
        result = arithmetic("mul", result, a)
    return lift(result, INDEX)


def are_conditions(*operands: Operand) -> bool:
    return all(isinstance(v, bool) or (isinstance(v, Value) and v.type == BOOL) for v in operands)


def compare(kind: str, a: Operand, b: Operand) -> Value:
    if kind in ("eq", "ne") and are_conditions(a, b):
        differ = logic("xori", a, b)
        return differ if kind == "ne" else ~differ
    x, y = promote(a, b)
    if x.type == FLOAT:
        predicate = {"ne": "une"}.get(kind, "o" + kind)
        return Tracer.get().op(f"arith.cmpf {predicate},", [x, y], " : f32", BOOL)
    predicate = kind if kind in ("eq", "ne") else "s" + kind
    return Tracer.get().op(f"arith.cmpi {predicate},", [x, y], f" : {x.type}", BOOL)


def logic(kind: str, a: Operand, b: Operand) -> Value:
    x, y = lift(a, BOOL), lift(b, BOOL)
    if (x.type, y.type) != (BOOL, BOOL):
        fail("expected conditions in & | ~ ^, got a number: put comparisons in parentheses, as in (a <= b) & (c < d)")
    return Tracer.get().op(f"arith.{kind}", [x, y], " : i1", BOOL)


def where(condition: Operand, a: Operand, b: Operand) -> Value:
    """a where the condition holds, else b."""
    if not isinstance(condition, Value) or condition.type != BOOL:
        fail("expected a traced condition as the first argument of where")
    x, y = (lift(a, BOOL), lift(b, BOOL)) if are_conditions(a, b) else promote(a, b)
    return Tracer.get().op("arith.select", [condition, x, y], f" : {x.type}", x.type, x.nonnegative and y.nonnegative)


def extremum(kind: str, a: Operand, b: Operand) -> Value:
    x, y = promote(a, b)
    suffix = "imumf" if x.type == FLOAT else "si"
    signs = (x.nonnegative, y.nonnegative)
    return Tracer.get().op(
        f"arith.{kind}{suffix}", [x, y], f" : {x.type}", x.type, any(signs) if kind == "max" else all(signs)
    )


def minimum(a: Operand, b: Operand) -> Value:
    return extremum("min", a, b)


def maximum(a: Operand, b: Operand) -> Value:
    return extremum("max", a, b)


def abs_difference(a: Operand, b: Operand) -> Value:
    """|a - b|."""
    return maximum(arithmetic("sub", a, b), arithmetic("sub", b, a))


def unary(name: str) -> Callable[[Operand], Value]:
    def function(x: Operand) -> Value:
        return Tracer.get().op(f"math.{name}", [as_float(lift(x, FLOAT))], " : f32", FLOAT)

    function.__name__ = name
    function.__doc__ = f"{name} of a float."
    return function


erf, exp, exp2, log, log2, tanh, sqrt = (unary(name) for name in ("erf", "exp", "exp2", "log", "log2", "tanh", "sqrt"))


def query_length() -> Value:
    """M, the number of query positions, while a function is traced."""
    return Tracer.get().op("attn.length query", [], "", INDEX, True)


def key_length() -> Value:
    """N, the number of key positions, while a function is traced."""
    return Tracer.get().op("attn.length key", [], "", INDEX, True)


class Tensor:
    """An array that a predicate reads: ids[b, j], slopes[h]. Its content may change without another compilation."""

    def __init__(self, array: Any, ones: int = 0):
        """Of the first `ones` dimensions those of size 1 are part of the tensor's type."""
        self.array = array
        self.dtype, shape = type_of(array, "tensor")
        if self.dtype not in ("i1", "i8", "i32", "i64", "f16", "bf16", "f32"):
            raise TraceError(f"expected a tensor of i1, i8, i32, i64, f16, bf16 or f32, got {self.dtype}")
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
        name = f"%@{tracer.capture(self)}@"
        text = f"tensor.extract {name}[{', '.join(p.name for p in at)}]"
        value = tracer.op(text, [], f" : {self.type}", self.dtype)
        if self.dtype in ("f16", "bf16"):
            return tracer.op("arith.extf", [value], f" : {self.dtype} to f32", FLOAT)
        if self.dtype == "i8":
            is_unsigned = str(getattr(self.array, "dtype", "")).endswith("uint8")
            return tracer.op(f"arith.ext{'u' if is_unsigned else 's'}i", [value], " : i8 to i32", INT, is_unsigned)
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
