# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch's functions, methods and operators do with symbols."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Sequence

import torch

from .. import mask
from ..mask import functions
from ..mask.symbols import (
    BOOL, FLOAT, UNARY, Constant, Value, Vector, arithmetic, as_float, as_integer, bits, compare, fail,
    floor_divide, lift, logic, modulo,
)  # fmt: skip

Function = Callable[..., Any]
#: Of symbols, as arrays of rank 0.
DTYPES = {BOOL: torch.bool, FLOAT: torch.float32}


def scaled(kind: str) -> Function:
    """a + alpha * b, or a - alpha * b."""
    return lambda a, b, *, alpha=1: arithmetic(kind, a, b if alpha == 1 else arithmetic("mul", b, alpha))


def divide(a: Any, b: Any, *, rounding_mode: Optional[str] = None) -> Value:
    if rounding_mode is None:
        return arithmetic("div", a, b)
    if rounding_mode == "floor":
        return floor_divide(a, b)
    is_float = any(isinstance(x, float) or (isinstance(x, Value) and x.type == FLOAT) for x in (a, b))
    return functions.ROUNDED["trunc"](arithmetic("div", a, b)) if is_float else functions.truncated_quotient(a, b)


def no_change(x: Any, *_: Any, **__: Any) -> Any:
    return x


def dtype_of(x: Value) -> torch.dtype:
    return DTYPES.get(x.type, torch.int64)


def convert(x: Value, dtype: Any = None, *others: Any, **named: Any) -> Value:
    """x.to(dtype), also with what else `to` takes, another tensor among it: conditions are 0 or 1, floats round to zero."""
    given = (named.get("dtype"), named.get("other"), dtype, *others)
    kinds = (d if isinstance(d, torch.dtype) else d.dtype for d in given if isinstance(d, (torch.dtype, torch.Tensor, Value)))
    dtype = next(kinds, None)
    if dtype is None or dtype == dtype_of(x):
        return x
    if dtype == torch.bool:
        return compare("ne", x, 0)
    if not dtype.is_floating_point and not dtype.is_complex:
        return as_integer(x)
    if dtype in (torch.float16, torch.bfloat16):
        return functions.rounded_to(as_float(x), "f16" if dtype == torch.float16 else "bf16")
    if dtype in (torch.float32, torch.float64):
        return as_float(x)
    fail(f"expected a traced value as an integer, a condition, float16, bfloat16 or float32, got {dtype}")


def number(value: Any, size: Sequence[int], dtype: Any) -> Any:
    """A constant of rank 0."""
    if tuple(size) != ():
        fail(f"expected a constant of rank 0 beside traced values, got size {tuple(size)}: make the tensor before, to read it here")
    if dtype is not None:
        value = bool(value) if dtype == torch.bool else float(value) if dtype.is_floating_point else int(value)
    return Constant(value)


def like(x: Value, value: Any, size: Sequence[int] = (), dtype: Any = None) -> Any:
    """x.new_full(size, value): of x's type if no other is given."""
    return number(value, size, dtype or dtype_of(x))


def leaky(x: Any, negative_slope: float = 0.01, **_: Any) -> Value:
    return mask.where(as_float(x) > 0, x, as_float(x) * negative_slope)


def hard_sigmoid(x: Any, **_: Any) -> Value:
    return functions.clamp(as_float(x) + 3.0, 0.0, 6.0) / 6.0


def nan_to_num(x: Any, nan: float = 0.0, posinf: Optional[float] = None, neginf: Optional[float] = None) -> Value:
    most = torch.finfo(torch.float32).max
    low, high = -most if neginf is None else neginf, most if posinf is None else posinf
    finite = mask.where(functions.is_infinite(x), mask.where(x > 0, high, low), x)
    return mask.where(functions.is_nan(x), nan, finite)


def reduced(function: Function, start: Any) -> Function:
    """Of all elements of a dimension; of one number its own."""

    def of_elements(x: Any, dim: Any = None, **_: Any) -> Any:
        if dim not in (None, 0, -1):
            fail(f"expected the last dimension, got {dim}")
        elements = x.elements if isinstance(x, Vector) else [x]
        return functools.reduce(function, elements, start) if start is not None else functools.reduce(function, elements)

    return of_elements


total = reduced(functools.partial(arithmetic, "add"), 0)
anything = reduced(lambda a, b: logic("ori", a, convert(lift(b, BOOL), torch.bool)), False)
everything = reduced(lambda a, b: logic("andi", a, convert(lift(b, BOOL), torch.bool)), True)


def mean(x: Any, dim: Any = None) -> Value:
    return total(x, dim) / len(x.elements)


def extreme(function: Function) -> Function:
    """torch.max and torch.min: of two numbers, or of a dimension."""
    return lambda x, other=None: reduced(function, None)(x) if other is None else function(x, other)


def is_in(x: Any, values: Any) -> Value:
    return anything(compare("eq", x, values))


def unsqueeze(x: Any, dim: int) -> Vector:
    """A number as the only element of a dimension, to be compared with those of another."""
    if isinstance(x, Vector) or dim not in (0, -1):
        fail(f"expected a number and dimension 0 or -1, got {'a dimension of numbers' if isinstance(x, Vector) else 'a number'} and {dim}")
    return Vector([x])


def squeeze(x: Any, dim: int = 0) -> Any:
    return x.elements[0] if isinstance(x, Vector) and len(x.elements) == 1 and dim in (0, -1) else x


def logarithm_of_sum(a: Any, b: Any) -> Value:
    """torch.logaddexp."""
    return mask.maximum(a, b) + UNARY["log1p"](mask.exp(-abs(arithmetic("sub", as_float(a), b))))


#: By name without underscores.
FUNCTIONS: dict[str, Function] = {
    "where": mask.where, "minimum": mask.minimum, "maximum": mask.maximum, "min": extreme(mask.minimum), "max": extreme(mask.maximum),
    "fmin": mask.minimum, "fmax": mask.maximum, "amax": reduced(mask.maximum, None), "amin": reduced(mask.minimum, None),
    "sum": total, "mean": mean, "any": anything, "all": everything, "prod": reduced(functools.partial(arithmetic, "mul"), 1),
    **dict.fromkeys(("dot", "vdot", "inner", "matmul"), lambda a, b: total(arithmetic("mul", a, b))),
    **dict.fromkeys(("clamp", "clip"), lambda x, min=None, max=None: functions.clamp(x, min, max)),
    "clamp_min": lambda x, min: mask.maximum(x, min), "clamp_max": lambda x, max: mask.minimum(x, max),
    "masked_fill": lambda x, seen, value: mask.where(seen, value, x),
    **dict.fromkeys(("abs", "absolute", "fabs"), abs), **dict.fromkeys(("neg", "negative"), lambda x: -x), "positive": no_change,
    **dict.fromkeys(("sign", "sgn"), functions.sign), **dict.fromkeys(("pow", "float_power"), functions.power),
    "rpow": lambda a, b: functions.power(b, a), "square": lambda x: x * x, "reciprocal": lambda x: 1.0 / x,
    **UNARY, **functions.ROUNDED, "fix": functions.ROUNDED["trunc"], "frac": lambda x: x - functions.ROUNDED["trunc"](x),
    **{f"arc{name[1:]}": function for name, function in UNARY.items() if name[0] == "a"},
    "isnan": functions.is_nan, "isinf": functions.is_infinite, "isfinite": functions.is_finite, "nan_to_num": nan_to_num,
    "lerp": lambda a, b, weight: a + weight * (b - a), "addcmul": lambda a, b, c, *, value=1: a + value * (b * c),
    "addcdiv": lambda a, b, c, *, value=1: a + value * (b / c), "hypot": lambda a, b: mask.sqrt(a * a + b * b),
    "logaddexp": logarithm_of_sum, "rsub": lambda a, b: arithmetic("sub", b, a),
    **dict.fromkeys(("add", "radd"), scaled("add")), **dict.fromkeys(("sub", "subtract"), scaled("sub")),
    **dict.fromkeys(("mul", "multiply", "rmul"), functools.partial(arithmetic, "mul")),
    **dict.fromkeys(("div", "divide", "truediv", "true_divide"), divide),
    **dict.fromkeys(("rdiv", "rtruediv"), lambda a, b: divide(b, a)),
    **dict.fromkeys(("floordiv", "floor_divide"), floor_divide), "rfloordiv": lambda a, b: floor_divide(b, a),
    **dict.fromkeys(("mod", "remainder"), modulo), "rmod": lambda a, b: modulo(b, a), "fmod": functions.truncated_remainder,
    **{name: functools.partial(compare, kind) for kind, names in (
        ("lt", "lt less"), ("le", "le less_equal"), ("gt", "gt greater"), ("ge", "ge greater_equal"), ("eq", "eq"),
        ("ne", "ne not_equal")) for name in names.split()},
    **{name: functools.partial(logic, op) for op, names in (
        ("andi", "bitwise_and and rand"), ("ori", "bitwise_or or ror"), ("xori", "bitwise_xor xor rxor"))
       for name in names.split()},
    **{f"logical_{name}": lambda a, b, op=op: logic(op, convert(a, torch.bool), convert(b, torch.bool))
       for name, op in (("and", "andi"), ("or", "ori"), ("xor", "xori"))},
    "logical_not": lambda x: ~convert(x, torch.bool), **dict.fromkeys(("bitwise_not", "invert"), lambda x: ~x),
    **dict.fromkeys(("bitwise_left_shift", "lshift"), functools.partial(bits, "shli")),
    **dict.fromkeys(("bitwise_right_shift", "rshift"), functools.partial(bits, "shrsi")),
    **dict.fromkeys(("clone", "detach", "contiguous", "lift_fresh_copy", "cpu", "cuda"), no_change),
    "sigmoid": functions.sigmoid, "silu": lambda x, **_: functions.silu(x), "gelu": functions.gelu, "softplus": functions.softplus,
    **dict.fromkeys(("logsigmoid", "log_sigmoid"), lambda x: -functions.softplus(-as_float(x))), "softsign": lambda x: x / (1.0 + abs(x)),
    "relu": lambda x, **_: mask.maximum(x, 0), "relu6": lambda x, **_: functions.clamp(x, 0, 6), "leaky_relu": leaky,
    "elu": lambda x, alpha=1.0, **_: functions.elu(x, alpha), "expit": functions.sigmoid,
    "hardsigmoid": hard_sigmoid, "hardswish": lambda x, **_: x * hard_sigmoid(x),
    "mish": lambda x, **_: x * UNARY["tanh"](functions.softplus(x)),
    "hardtanh": lambda x, min_val=-1.0, max_val=1.0, **_: functions.clamp(x, min_val, max_val),
    **dict.fromkeys(("to", "to_copy", "type_as", "type"), convert), **dict.fromkeys(("float", "double"), as_float),
    "half": lambda x: convert(x, torch.float16), "bfloat16": lambda x: convert(x, torch.bfloat16),
    **dict.fromkeys(("long", "int"), lambda x: convert(x, torch.int64)), "bool": lambda x: convert(x, torch.bool),
    **{f"{place}{name}{suffix}": lambda x, size=(), value=value, dtype=None, **_: like(x, value, size, dtype)
       for place, suffix in (("new_", ""), ("", "_like")) for name, value in (("ones", 1), ("zeros", 0))},
    "new_full": lambda x, size, value, dtype=None, **_: like(x, value, size, dtype),
    "full_like": lambda x, value, dtype=None, **_: like(x, value, (), dtype), "isin": is_in,
    "unsqueeze": unsqueeze, "squeeze": squeeze,
}  # fmt: skip
#: Those that symbols have as methods.
METHODS: dict[str, Function] = {
    **FUNCTIONS, "where": lambda x, condition, other: mask.where(condition, x, other), "dim": lambda x: 0, "numel": lambda x: 1,
    "size": lambda x: torch.Size(()), "is_floating_point": lambda x: x.type == FLOAT,
}  # fmt: skip
ATTRIBUTES: dict[str, Function] = {
    "dtype": dtype_of, "device": lambda x: torch.device("cpu"), "shape": lambda x: torch.Size(()), "ndim": lambda x: 0,
    "is_cuda": lambda x: False, "requires_grad": lambda x: False,
}  # fmt: skip
#: What makes a constant of rank 0 without a symbol: no tensor to read.
CONSTANTS: dict[str, Function] = {
    **dict.fromkeys(("tensor", "scalar_tensor", "as_tensor"), lambda value, dtype=None, **_: number(value, (), dtype)),
    "full": lambda size, value, dtype=None, **_: number(value, size, dtype),
    "ones": lambda size, dtype=torch.float32, **_: number(1, size, dtype),
    "zeros": lambda size, dtype=torch.float32, **_: number(0, size, dtype),
}  # fmt: skip
