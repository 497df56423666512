# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mask_mod and score_mod as they are written for torch: its functions on symbols, its tensors read at symbols."""

from __future__ import annotations

import functools
from typing import Any, NoReturn, Optional, Sequence

import torch
from torch import fx
from torch._library.custom_ops import OPDEFS
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from .. import mask
from ..mask.symbols import INDEX, Constant, Tracer, Value, Vector, fail, lift
from .elementwise import ATTRIBUTES, CONSTANTS, FUNCTIONS, METHODS, Function

NUMBERS = (bool, int, float)
#: What kernels read in place of a type that they do not have.
READ_AS = {torch.float64: torch.float32, torch.int16: torch.int32, torch.float8_e4m3fn: torch.float32, torch.float8_e5m2: torch.float32}


#: Elements of a dimension that are computed one by one.
MAX_ELEMENTS = 256


class Part(Vector):
    """A tensor that is read at its first positions."""

    def __init__(self, array: torch.Tensor, places: Sequence[Any]):
        self.array, self.places = array, places

    def __getitem__(self, position: Any) -> Value:
        return read(self.array, (*self.places, *(position if isinstance(position, tuple) else (position,))))

    def __matmul__(self, other: Any) -> Value:
        return FUNCTIONS["matmul"](self, other)

    @property
    def elements(self) -> list[Any]:  # type: ignore[override]
        rest = self.array.shape[len(self.places) :]
        if len(rest) != 1 or rest[0] > MAX_ELEMENTS:
            fail(f"expected one dimension of at most {MAX_ELEMENTS} elements, or an element, got {tuple(rest)}")
        return [self[k] for k in range(rest[0])]


def vector_of(operand: Any) -> Any:
    return Part(operand, ()) if isinstance(operand, torch.Tensor) and operand.dim() == 1 else operand


def read(array: torch.Tensor, position: Any) -> Value:
    """An element, counted from the end where a position is negative, or a Part, where there are fewer positions than dimensions."""
    if isinstance(array, Vector):
        vector: Any = array
        return vector[position]
    places = list(position) if isinstance(position, (tuple, list)) else [position]
    while places and isinstance(places[-1], slice) and places[-1] == slice(None):
        places.pop()
    if len(places) < array.dim():
        return Part(array, places)
    if len(places) == array.dim():
        places = [inside(place, size, array) for place, size in zip(places, array.shape)]
    dtype = array.dtype if array.dtype == torch.float64 and Tracer.get().reads_double else READ_AS.get(array.dtype, array.dtype)
    return mask.tensor(array.to(dtype))[tuple(places)]


def inside(place: Any, size: Any, array: torch.Tensor) -> Any:
    if isinstance(place, int):
        if isinstance(size, int) and not -size <= place < size:
            fail(f"expected a position from {-size} to {size - 1}, got {place}")
        return place + size if place < 0 else place
    place = lift(place, INDEX)
    if place.nonnegative:
        return place
    length = size if isinstance(size, int) else torch.scalar_tensor(size, dtype=torch.int64, device=array.device)
    return mask.where(place < 0, place + length, place)


FUNCTIONS.update(getitem=read, index=read)


def has_symbol(argument: Any) -> bool:
    if isinstance(argument, (tuple, list)):
        return any(map(has_symbol, argument))
    return isinstance(argument, Value)


def name_of(function: Any) -> str:
    """As FUNCTIONS has it; of torch.ops too, whose overloads have names of their own."""
    return getattr(getattr(function, "overloadpacket", function), "__name__", "").strip("_")


def own_code(function: Function) -> Optional[Function]:
    """The Python of an op that torch.library.custom_op made."""
    defined = OPDEFS.get(getattr(getattr(function, "overloadpacket", function), "_qualified_op_name", ""))
    return defined._init_fn if defined else None


def dispatch(function: Function, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What torch calls in place of its `function`, some of whose arguments are symbols."""
    own = own_code(function)
    if own:
        with Tracing():
            return own(*args, **kwargs)
    name = name_of(function)
    if name == "get":  # of an attribute
        name = function.__self__.__name__  # type: ignore[attr-defined]
        return ATTRIBUTES[name](args[0]) if name in ATTRIBUTES else reject(function)
    known = FUNCTIONS.get(name)
    if known is None:
        reject(function)
    try:
        return known(*args, **kwargs)
    except TypeError as error:
        fail(f"{resolve_name(function) or name} of a traced value: {str(error).removeprefix('<lambda>() ')}")


def read_exported(function: Any, spec: Any, *leaves: Any) -> Value:
    """A tensor read at symbols, as torch.export has it."""
    (kind, *arguments), _ = pytree.tree_unflatten(leaves, spec)
    if not kind.endswith(".ModIndex"):
        fail(f"expected a tensor read at positions, got a call of {kind}")
    return read(*arguments)


def reject(function: Function) -> NoReturn:
    name = resolve_name(function) or getattr(function, "__name__", repr(function))
    fail(f"{name} of a traced value: expected one of {', '.join(sorted(FUNCTIONS))}; compute other things before, into a tensor that is read here")


class Tracing(TorchFunctionMode):
    """In it, torch's functions take symbols, tensors are read at them, and constants of rank 0 are numbers."""

    def __enter__(self):
        tracer = Tracer.get()
        tracer.methods, tracer.attributes, tracer.vector_of = METHODS, ATTRIBUTES, vector_of
        return super().__enter__()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if has_symbol(args) or has_symbol(list(kwargs.values())):
            return dispatch(func, args, kwargs)
        name = name_of(func)
        if name in CONSTANTS and is_scalar(name, args):
            return CONSTANTS[name](*args, **kwargs)
        return func(*args, **kwargs)


def is_scalar(name: str, args: tuple) -> bool:
    """Whether a constant is one of rank 0."""
    sizes_first = name in ("full", "ones", "zeros")
    return bool(args) and (args[0] in ((), []) if sizes_first else isinstance(args[0], NUMBERS))


def traced_as_torch(function: Function, sizes: Sequence[Any] = (), is_double: bool = False) -> Function:
    """The function, for attn_mlir.mask.trace_mask or trace_score. `sizes`, where they are numbers: B, Hq, M, N; `is_double`: of scores
    in f64, beside which elements of float64 are not rounded."""

    @functools.wraps(function)
    def run(*symbols: Value) -> Any:
        for symbol, size in zip(symbols[-4:], sizes):
            if isinstance(size, int):
                symbol.range = (0, max(size, 1) - 1)
        Tracer.get().reads_double = is_double
        with Tracing():
            return function(*symbols)

    return run


class Subgraph(fx.Interpreter):
    """A graph of torch.compile or torch.export that computes a mask_mod or a score_mod, called on symbols."""

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if target is torch.ops.higher_order.flat_apply:
            return read_exported(*args)
        return super().call_function(target, args, kwargs)

    def get_attr(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A constant of rank 0 is a number."""
        value = super().get_attr(target, args, kwargs)
        if not isinstance(value, torch.Tensor) or value.dim():
            return value
        with _disable_current_modes():
            return Constant(value.item())


def traced_subgraph(
    graph: fx.GraphModule, others: Sequence[Any], sizes: Sequence[Any], device: torch.device, is_double: bool = False
) -> Function:
    """The function that a subgraph computes, for attn_mlir.mask.trace_mask or trace_score. `others` follow the symbols:
    tensors, and sizes, which are read as tensors of rank 0, so that another size needs no other kernel; as divisors they
    are constants."""
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"][-len(others) :] if others else []
    given = [argument_of(node, other, device) for node, other in zip(inputs, others)]
    return traced_as_torch(lambda *symbols: Subgraph(graph).run(*symbols, *given), sizes, is_double)


#: Whose second argument is a constant.
DIVISIONS = ("floordiv", "floor_divide", "mod", "remainder")


def argument_of(node: fx.Node, value: Any, device: torch.device) -> Any:
    if isinstance(value, torch.Tensor) or not node.users:
        return value
    if isinstance(value, (float, torch.SymFloat)):
        return float(value)
    if any(name_of(user.target) in DIVISIONS for user in node.users):
        return int(value)
    return torch.scalar_tensor(value, dtype=torch.int64, device=device)
