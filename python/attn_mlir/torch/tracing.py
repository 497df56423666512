# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mask_mod and score_mod as they are written for torch: its functions on symbols, its tensors read at symbols."""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, NoReturn, Sequence

import torch
from torch import fx
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from .. import mask
from ..mask.symbols import BOOL, FLOAT, Tracer, Value, arithmetic, as_float, compare, fail, floor_divide, logic, modulo

Function = Callable[..., Any]
NUMBERS = (bool, int, float)


def clamp(x: Any, min: Any = None, max: Any = None) -> Value:
    x = x if min is None else mask.maximum(x, min)
    return x if max is None else mask.minimum(x, max)


def divide(a: Any, b: Any, *, rounding_mode: Any = None) -> Value:
    if rounding_mode not in (None, "floor"):
        fail(f"torch.div: expected rounding_mode None or 'floor', got {rounding_mode!r}")
    return floor_divide(a, b) if rounding_mode else a / b if isinstance(a, Value) else b.__rtruediv__(a)


def read(array: torch.Tensor, position: Any) -> Value:
    return mask.tensor(array)[tuple(position) if isinstance(position, list) else position]


def no_change(x: Any, *_: Any, **__: Any) -> Any:
    return x


def convert(x: Value, dtype: Any = None, *others: Any, **named: Any) -> Value:
    """x.to(dtype), also with what else `to` takes: conditions as numbers, integers as floats."""
    dtype = named.get("dtype", next((d for d in (dtype, *others) if isinstance(d, torch.dtype)), None))
    if dtype is None or (dtype == torch.bool and x.type == BOOL):
        return x
    if dtype in (torch.float32, torch.float64):
        return as_float(x)
    if dtype == torch.bool:
        return compare("ne", x, 0)
    if not dtype.is_floating_point and not dtype.is_complex and x.type != FLOAT:
        return mask.where(x, 1, 0) if x.type == BOOL else x
    fail(f"expected a traced value of {x.type} as float32 or, unless it is a float, as an integer, got {dtype}")


def number(value: Any, size: Sequence[int], dtype: Any) -> Any:
    """A constant of rank 0 as a number of Python's."""
    if tuple(size) != ():
        fail(f"expected a constant of rank 0 beside traced values, got size {tuple(size)}: make the tensor before, to read it here")
    if dtype is None:
        return value
    return bool(value) if dtype == torch.bool else float(value) if dtype.is_floating_point else int(value)


def like(x: Value, value: Any, size: Sequence[int] = (), dtype: Any = None) -> Any:
    """x.new_full(size, value): of x's type if no other is given."""
    own = {BOOL: torch.bool, FLOAT: torch.float32}.get(x.type, torch.int64)
    return number(value, size, dtype or own)


#: What torch's functions, methods and operators do with symbols, by name without underscores.
FUNCTIONS: dict[str, Function] = {
    "where": mask.where, "minimum": mask.minimum, "maximum": mask.maximum, "clamp": clamp, "clip": clamp,
    "clamp_min": clamp, "clamp_max": lambda x, most: clamp(x, max=most), "relu": lambda x: mask.maximum(x, 0),
    "masked_fill": lambda x, seen, value: mask.where(seen, value, x),
    "abs": abs, "absolute": abs, "neg": lambda x: -x, "negative": lambda x: -x, "pow": lambda x, n: x**n,
    "square": lambda x: x * x, "sigmoid": lambda x: 1.0 / (1.0 + mask.exp(-x)), "reciprocal": lambda x: 1.0 / x,
    "rsqrt": lambda x: 1.0 / mask.sqrt(x),
    **{name: getattr(mask, name) for name in ("exp", "exp2", "log", "log2", "tanh", "sqrt")},
    "add": functools.partial(arithmetic, "add"), "radd": functools.partial(arithmetic, "add"),
    "sub": functools.partial(arithmetic, "sub"), "subtract": functools.partial(arithmetic, "sub"),
    "rsub": lambda a, b: arithmetic("sub", b, a),
    "mul": functools.partial(arithmetic, "mul"), "multiply": functools.partial(arithmetic, "mul"),
    "rmul": functools.partial(arithmetic, "mul"),
    "div": divide, "divide": divide, "truediv": divide, "true_divide": divide, "rdiv": lambda a, b: divide(b, a),
    "rtruediv": lambda a, b: divide(b, a),
    "floordiv": floor_divide, "floor_divide": floor_divide, "mod": modulo, "remainder": modulo,
    **{name: functools.partial(compare, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    **{name: functools.partial(logic, op) for op, names in (
        ("andi", ("logical_and", "bitwise_and", "and", "rand")), ("ori", ("logical_or", "bitwise_or", "or", "ror")),
        ("xori", ("logical_xor", "bitwise_xor", "xor", "rxor"))) for name in names},
    "logical_not": lambda x: ~x, "bitwise_not": lambda x: ~x, "invert": lambda x: ~x,
    "getitem": read, "index": read, "clone": no_change, "detach": no_change, "contiguous": no_change,
    "lift_fresh_copy": no_change,
    "to": convert, "to_copy": convert, "float": as_float, "long": lambda x: convert(x, torch.int64),
    "int": lambda x: convert(x, torch.int32), "bool": lambda x: convert(x, torch.bool),
    **{f"{place}{name}{suffix}": lambda x, size=(), value=value, dtype=None, **_: like(x, value, size, dtype)
       for place, suffix in (("new_", ""), ("", "_like")) for name, value in (("ones", 1), ("zeros", 0))},
    "new_full": lambda x, size, value, dtype=None, **_: like(x, value, size, dtype),
    "full_like": lambda x, value, dtype=None, **_: like(x, value, (), dtype),
}  # fmt: skip
#: Those that symbols have as methods.
METHODS = {**FUNCTIONS, "where": lambda x, condition, other: mask.where(condition, x, other)}
#: What makes a constant of rank 0 without a symbol: a number, and no tensor to read.
CONSTANTS: dict[str, Function] = {
    "tensor": lambda value, dtype=None, **_: number(value, (), dtype),
    "scalar_tensor": lambda value, dtype=None, **_: number(value, (), dtype),
    "full": lambda size, value, dtype=None, **_: number(value, size, dtype),
    "ones": lambda size, dtype=torch.float32, **_: number(1, size, dtype),
    "zeros": lambda size, dtype=torch.float32, **_: number(0, size, dtype),
}


def has_symbol(argument: Any) -> bool:
    if isinstance(argument, (tuple, list)):
        return any(map(has_symbol, argument))
    return isinstance(argument, Value)


def name_of(function: Function) -> str:
    """As FUNCTIONS has it; of torch.ops too, whose overloads have names of their own."""
    return getattr(getattr(function, "overloadpacket", function), "__name__", "").strip("_")


def dispatch(function: Function, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What torch calls in place of its `function`, some of whose arguments are symbols."""
    known = FUNCTIONS.get(name_of(function))
    if known is None:
        reject(function)
    return known(*args, **kwargs)


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
        Tracer.get().methods = METHODS
        return super().__enter__()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if has_symbol(args) or has_symbol(list(kwargs.values())):
            return dispatch(func, args, kwargs)
        name = name_of(func)
        if name in CONSTANTS and (isinstance(args[0], NUMBERS) or args[0] in ((), [])):
            return CONSTANTS[name](*args, **kwargs)
        if name in FUNCTIONS and isinstance(args[0], NUMBERS):
            return dispatch(func, args, kwargs)
        return func(*args, **kwargs)


def traced_as_torch(function: Function) -> Function:
    """The function, for attn_mlir.mask.trace_mask or trace_score."""

    @functools.wraps(function)
    def run(*symbols: Value) -> Any:
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
            return value.item()


def traced_subgraph(graph: fx.GraphModule, others: Sequence[Any], device: torch.device) -> Function:
    """The function that a subgraph computes, for attn_mlir.mask.trace_mask or trace_score. `others` follow the symbols:
    tensors, and sizes, which are read as tensors of rank 0, so that another size needs no other kernel; as divisors they
    are constants."""
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"][-len(others) :] if others else []
    given = [argument_of(node, other, device) for node, other in zip(inputs, others)]
    return traced_as_torch(lambda *symbols: Subgraph(graph).run(*symbols, *given))


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
