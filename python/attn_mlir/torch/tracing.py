# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mask_mod and score_mod as they are written for torch: its functions on symbols, its tensors read at symbols."""

from __future__ import annotations

import functools
from typing import Any, Callable, NoReturn

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from .. import mask
from ..mask.symbols import Value, arithmetic, compare, fail, floor_divide, logic, modulo


def clamp(x: Any, min: Any = None, max: Any = None) -> Value:
    x = x if min is None else mask.maximum(x, min)
    return x if max is None else mask.minimum(x, max)


def divide(a: Any, b: Any, *, rounding_mode: Any = None) -> Value:
    if rounding_mode not in (None, "floor"):
        fail(f"torch.div: expected rounding_mode None or 'floor', got {rounding_mode!r}")
    return floor_divide(a, b) if rounding_mode else a / b if isinstance(a, Value) else b.__rtruediv__(a)


def read(array: torch.Tensor, position: Any) -> Value:
    return mask.tensor(array)[position]


def no_change(x: Any, *_: Any, **__: Any) -> Any:
    return x


#: What torch's functions, methods and operators do with symbols, by name without underscores.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": mask.where, "minimum": mask.minimum, "maximum": mask.maximum, "clamp": clamp,
    "abs": abs, "absolute": abs, "neg": lambda x: -x, "negative": lambda x: -x, "pow": lambda x, n: x**n,
    "square": lambda x: x * x, "sigmoid": lambda x: 1.0 / (1.0 + mask.exp(-x)),
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
    "getitem": read, "clone": no_change, "detach": no_change,
}  # fmt: skip


def has_symbol(argument: Any) -> bool:
    if isinstance(argument, (tuple, list)):
        return any(map(has_symbol, argument))
    return isinstance(argument, Value)


def dispatch(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """What torch calls in place of its `function`, some of whose arguments are symbols."""
    known = FUNCTIONS.get(getattr(function, "__name__", "").strip("_"))
    if known is None:
        reject(function)
    return known(*args, **kwargs)


def reject(function: Callable[..., Any]) -> NoReturn:
    name = resolve_name(function) or getattr(function, "__name__", repr(function))
    fail(f"{name} of a traced value: expected one of {', '.join(sorted(FUNCTIONS))}; compute other things before, into a tensor that is read here")


class Tracing(TorchFunctionMode):
    """In it, torch's functions take symbols, and tensors are read at them."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if has_symbol(args) or has_symbol(list(kwargs.values())):
            return dispatch(func, args, kwargs)
        return func(*args, **kwargs)


def traced_as_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for attn_mlir.mask.trace_mask or trace_score."""

    @functools.wraps(function)
    def run(*symbols: Value) -> Any:
        with Tracing():
            return function(*symbols)

    return run
