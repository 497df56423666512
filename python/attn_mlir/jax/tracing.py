# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mask_mod and score_mod written with jax.numpy: their jaxpr, computed on symbols.

What depends on no symbol is computed by JAX itself, before the attention. Positions have known ranges, since sizes are static:
what JAX does to an index that is negative or too large is left out where no index is.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import traceback
from typing import Any, Callable, NoReturn, Optional, Sequence, Union

import jax
import numpy as np
from jax.extend import core

from .. import mask
from ..mask import functions
from ..mask.places import TraceError
from ..mask.ranges import Range
from ..mask.symbols import (
    BOOL, FLOAT, UNARY, Value, arithmetic, as_float, as_integer, bits, compare, floor_divide, logic, modulo,
)  # fmt: skip
from ..mask.tensors import Tensor
from .lowering import CALLS, DTYPES, IDENTITIES, place_of

READABLE = ("bool", "int8", "int32", "int64", "float16", "bfloat16", "float32")
#: jax.numpy's functions of integers that are one operation of ours, by the names of their jaxprs.
FUNCTIONS = {"floor_divide": floor_divide, "remainder": modulo}


class ArrayOfJax(Tensor):
    """An array, or what stands for it under jit and grad."""

    def __init__(self, array: Any):
        if str(array.dtype) not in READABLE:
            raise TraceError(f"expected an array of {', '.join(READABLE)}, got {array.dtype}")
        self.array, self.dtype, self.dims = array, DTYPES[str(array.dtype)], ("?",) * array.ndim


@dataclasses.dataclass(frozen=True)
class Part:
    """Of an array: by dimension a place, or None for all; `kept` are the array's dimensions that it has."""

    array: ArrayOfJax
    places: tuple[Any, ...]
    kept: tuple[int, ...]


#: Of a row that is computed element by element.
MAX_ELEMENTS = 256
#: Reductions of a row, and what they do with two of its elements.
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "reduce_sum": functools.partial(arithmetic, "add"), "reduce_prod": functools.partial(arithmetic, "mul"),
    "reduce_max": mask.maximum, "reduce_min": mask.minimum,
    "reduce_and": functools.partial(logic, "andi"), "reduce_or": functools.partial(logic, "ori"),
}  # fmt: skip


def check_length(length: int):
    if length > MAX_ELEMENTS:
        raise TraceError(f"expected a row of at most {MAX_ELEMENTS} elements, which are computed one by one, got {length}")


def row_of(x: Any) -> Any:
    """Part of an array with one dimension left, or an array of rank 1, as a list of its elements; anything else as it is."""
    if isinstance(x, Part):
        left = [dim for dim in x.kept if x.places[dim] is None]
        if len(left) != 1:
            return x
        check_length(length := x.array.array.shape[left[0]])
        return [x.array[tuple(k if dim == left[0] else place for dim, place in enumerate(x.places))] for k in range(length)]
    if isinstance(x, (jax.Array, np.ndarray)) and x.ndim == 1:
        check_length(x.shape[0])
        return [ArrayOfJax(x)[(k,)] for k in range(x.shape[0])] if isinstance(x, jax.Array) else x.tolist()
    return x


def elements_of(x: Any) -> list[Any]:
    """A vector is a list; a symbol stands for any array of one element."""
    return x if isinstance(x, list) else [x]


#: Primitives on symbols and numbers; those that need more are methods of Evaluation.
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{name: functools.partial(arithmetic, name) for name in ("add", "sub", "mul")},
    **{name: functools.partial(compare, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    **{name: functools.partial(logic, f"{name}i") for name in ("and", "or", "xor")},
    "shift_left": functools.partial(bits, "shli"), "shift_right_arithmetic": functools.partial(bits, "shrsi"),
    "not": lambda x: ~x, "neg": lambda x: -x, "abs": abs, "max": mask.maximum, "min": mask.minimum,
    "square": lambda x: x * x, "logistic": functions.sigmoid, "sign": functions.sign, "is_finite": functions.is_finite,
    "clamp": lambda low, x, high: functions.clamp(x, low, high), "rem": functions.truncated_remainder,
    **UNARY, "floor": functions.floor, "ceil": functions.ceil, "pow": lambda x, y: x**y if isinstance(x, Value) else y.__rpow__(x),
}  # fmt: skip


#: Methods of Evaluation that compute a row element by element.
BY_ELEMENT = ("div", "round", "integer_pow", "select_n", "convert_element_type", *IDENTITIES)


def trace_function(function: Callable[..., Any], symbols: Sequence[Value], ranges: Sequence[Range]) -> Any:
    """function(*symbols): a symbol, or a number. Of the last symbols, the positions, `ranges` are known."""
    shapes = [jax.ShapeDtypeStruct((), np.float32 if s.type == FLOAT else np.int32) for s in symbols]
    closed = jaxpr_of(function, shapes)
    if len(closed.jaxpr.outvars) != 1:
        raise TraceError(f"expected one result of {getattr(function, '__name__', function)}, got {len(closed.jaxpr.outvars)}")
    for symbol, known in zip(symbols[len(symbols) - len(ranges) :], ranges):
        symbol.range = known
    (result,) = Evaluation().jaxpr(closed.jaxpr, closed.consts, symbols)
    return number_of(result)


def jaxpr_of(function: Callable[..., Any], shapes: Sequence[Any]) -> Any:
    """JAX's own trace; what needs a value that is not there yet is an error that says what to write."""
    try:
        return jax.make_jaxpr(function)(*shapes)
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError, jax.errors.TracerIntegerConversionError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
        user = next((f for f in reversed(frames) if "site-packages" not in f.filename and not f.filename.startswith(package)), None)
        place = f"{user.filename}:{user.lineno}: " if user else ""
        line = f"\n    {user.line}" if user else ""
        raise TraceError(
            f"{place}expected no decision on a traced value: write jnp.where for if, & | ~ for and, or, not, jnp's functions for "
            f"float(), int() and NumPy's{line}"
        ) from None


def number_of(x: Any) -> Any:
    """Of rank 0, known now: a number, else what is read from memory."""
    if isinstance(x, (Value, Part, list)):
        return x
    if np.ndim(x):
        return x
    return ArrayOfJax(x)[()] if isinstance(x, jax.Array) else np.asarray(x).item()


class Evaluation:
    """Of a jaxpr, on symbols, numbers and arrays."""

    def jaxpr(self, jaxpr: Any, constants: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
        values: dict[Any, Any] = {**dict(zip(jaxpr.constvars, constants)), **dict(zip(jaxpr.invars, arguments))}

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, core.Literal) else values[atom]

        for equation in jaxpr.eqns:
            inputs = [read(atom) for atom in equation.invars]
            values.update(zip(equation.outvars, self.equation(equation, inputs)))
        return [read(atom) for atom in jaxpr.outvars]

    def equation(self, equation: Any, inputs: Sequence[Any]) -> Sequence[Any]:
        name = equation.primitive.name
        has_symbol = any(isinstance(x, (Value, Part, list)) for x in inputs)
        known = FUNCTIONS.get(equation.params.get("name", "")) if name in CALLS and has_symbol else None
        if known:
            return [known(*map(number_of, inputs))]
        if name in CALLS:
            inner = next(equation.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in equation.params)
            closed = inner if isinstance(inner, core.ClosedJaxpr) else core.ClosedJaxpr(inner, ())
            return self.jaxpr(closed.jaxpr, closed.consts, inputs)
        if not has_symbol:
            return self.known(equation, inputs)
        try:
            return [self.symbolic(equation, inputs)]
        except TraceError as error:
            if str(error).startswith(place_of(equation)):
                raise
            text = str(error).partition("\n")[0]
            raise TraceError(f"{place_of(equation)}: {text}") from None

    def known(self, equation: Any, inputs: Sequence[Any]) -> Sequence[Any]:
        """What JAX computes: of numbers alone numbers, under jit too."""
        are_numbers = not any(isinstance(x, jax.Array) for x in inputs)
        with jax.ensure_compile_time_eval() if are_numbers else contextlib.nullcontext():
            results = equation.primitive.bind(*inputs, **equation.params)
        results = results if equation.primitive.multiple_results else [results]
        return [np.asarray(result) for result in results] if are_numbers else results

    def symbolic(self, equation: Any, inputs: Sequence[Any]) -> Any:
        """The result, where an input is a symbol."""
        name, params = equation.primitive.name, equation.params
        if name in REDUCTIONS:
            return functools.reduce(REDUCTIONS[name], self.row(equation, inputs[0]))
        if name in ELEMENTWISE or name in BY_ELEMENT:
            rows = [row_of(x) for x in inputs]
            lengths = {len(row) for row in rows if isinstance(row, list)}
            if lengths:
                columns = [row if isinstance(row, list) else [row] * max(lengths) for row in rows]
                return [self.symbolic(equation, column) for column in zip(*columns)]
        method: Optional[Callable[..., Any]] = getattr(self, f"apply_{name}", None)
        if method is not None:
            return method(params, *inputs)
        operands = [number_of(x) for x in inputs]
        if name in IDENTITIES:
            return operands[0]
        if name not in ELEMENTWISE or not all(isinstance(x, (Value, bool, int, float)) for x in operands):
            self.reject(equation)
        return ELEMENTWISE[name](*operands)

    def row(self, equation: Any, x: Any) -> list[Any]:
        row = row_of(x)
        return row if isinstance(row, list) else self.reject(equation)

    def apply_dot_general(self, params: Any, a: Any, b: Any) -> Any:
        """Of two rows."""
        rows = [row_of(x) for x in (a, b)]
        if not all(isinstance(row, list) for row in rows):
            raise TraceError("expected the product of two rows, as in jnp.dot(a[b, h, i], c[b, h, j]), got one of other arrays")
        return functools.reduce(ELEMENTWISE["add"], map(ELEMENTWISE["mul"], *rows))

    def reject(self, equation: Any) -> NoReturn:
        shapes = ", ".join(str(var.aval.shape) for var in equation.invars)
        methods = [name.removeprefix("apply_") for name in dir(self) if name.startswith("apply_")]
        known = ", ".join(sorted({*ELEMENTWISE, *REDUCTIONS, *methods}))
        raise TraceError(
            f"{place_of(equation)}: expected one of {known}, of numbers that depend on positions or the score, got "
            f"{equation.primitive.name} of shapes {shapes}; compute other things before, into an array that is read here"
        )

    def range_of(self, x: Any) -> Optional[Range]:
        if isinstance(x, Value):
            return x.range
        return (x, x) if isinstance(x, int) and not isinstance(x, bool) else None

    def apply_lt(self, params: Any, a: Any, b: Any) -> Any:
        """A bool, where the ranges decide it."""
        a, b = number_of(a), number_of(b)
        x, y = self.range_of(a), self.range_of(b)
        if x and y and (x[1] < y[0] or x[0] >= y[1]):
            return x[1] < y[0]
        return compare("lt", a, b)

    def apply_div(self, params: Any, a: Any, b: Any) -> Value:
        a, b = number_of(a), number_of(b)
        if any(isinstance(x, float) or (isinstance(x, Value) and x.type == FLOAT) for x in (a, b)):
            return arithmetic("div", a, b)
        return functions.truncated_quotient(a, b)

    def apply_round(self, params: Any, x: Any) -> Value:
        if params["rounding_method"] != jax.lax.RoundingMethod.TO_NEAREST_EVEN:
            raise TraceError("expected jnp.round, or rounding to even, got rounding away from zero")
        return functions.ROUNDED["round"](number_of(x))

    def apply_integer_pow(self, params: Any, x: Value) -> Value:
        power = x ** abs(params["y"])
        return 1.0 / power if params["y"] < 0 else power

    def apply_select_n(self, params: Any, condition: Any, *cases: Any) -> Any:
        condition, (otherwise, chosen) = number_of(condition), map(number_of, cases)
        if isinstance(condition, bool):
            return chosen if condition else otherwise
        return mask.where(condition, chosen, otherwise)

    def apply_convert_element_type(self, params: Any, x: Any) -> Any:
        x, dtype = number_of(x), np.dtype(params["new_dtype"])
        if dtype.name in ("float16", "bfloat16") and x.type == FLOAT:
            return functions.rounded_to(x, DTYPES[dtype.name])
        if dtype.kind in "fV":  # bfloat16 has a kind of its own
            return as_float(x)
        return as_integer(x) if dtype.kind != "b" else x if x.type == BOOL else compare("ne", x, 0)

    def apply_broadcast_in_dim(self, params: Any, x: Any) -> Any:
        shape = params["shape"]
        if isinstance(x, Value) and len(shape) == 1 and shape[0] > 1:
            check_length(shape[0])
            return [x] * shape[0]
        return self.same_size(shape, x)

    def apply_reshape(self, params: Any, x: Any) -> Any:
        return self.same_size(params["new_sizes"], x)

    def same_size(self, shape: Sequence[int], x: Any) -> Any:
        x = row_of(x)
        if isinstance(x, Part) or np.prod(shape, dtype=int) != len(elements_of(x)):
            raise TraceError(f"expected one number that depends on positions or the score, got an array of {tuple(shape)}")
        return x

    def apply_concatenate(self, params: Any, *parts: Any) -> list[Any]:
        return [element for part in parts for element in elements_of(part)]

    def apply_squeeze(self, params: Any, x: Any) -> Any:
        if not isinstance(x, Part):
            return x
        gone = [dim % len(x.kept) for dim in params["dimensions"]]
        return self.read(dataclasses.replace(x, kept=tuple(d for k, d in enumerate(x.kept) if k not in gone)))

    def apply_dynamic_slice(self, params: Any, x: Any, *starts: Any) -> Any:
        """Rows and elements: of each dimension one place, or all."""
        return self.part(x, dict(enumerate(starts)), params["slice_sizes"], "clip")

    def apply_gather(self, params: Any, x: Any, indices: Any) -> Any:
        numbers, mode = params["dimension_numbers"], str(params["mode"]).rpartition(".")[2].lower()
        starts = dict(zip(numbers.start_index_map, elements_of(indices)))
        part = self.part(x, starts, params["slice_sizes"], "clip" if mode in ("clip", "1") else mode)
        return self.apply_squeeze({"dimensions": numbers.collapsed_slice_dims}, part)

    def part(self, x: Any, starts: dict[int, Any], sizes: Sequence[int], mode: str) -> Union[Part, Value]:
        x = x if isinstance(x, Part) else Part(ArrayOfJax(x), (None,) * x.ndim, tuple(range(x.ndim)))
        places = list(x.places)
        for k, (dim, size) in enumerate(zip(x.kept, sizes)):
            length = x.array.array.shape[dim]
            if size not in (1, length):
                raise TraceError(f"expected one place of dimension {k}, or all {length}, got {size}")
            if size == 1 and places[dim] is None:
                places[dim] = self.inside(number_of(starts.get(k, 0)), length, mode)
        return self.read(dataclasses.replace(x, places=tuple(places)))

    def inside(self, place: Union[Value, int], length: int, mode: str) -> Union[Value, int]:
        """A place in a dimension, as JAX has it where it is outside."""
        low, high = self.range_of(place) or (-(2**31), 2**31)
        if (low >= 0 and high < length) or mode == "promise_in_bounds":
            return place
        if mode != "clip":
            raise TraceError(f"expected a position from 0 to {length - 1}, or mode='clip' or 'promise_in_bounds', got mode '{mode}'")
        place = mask.maximum(place, 0) if low < 0 else place
        return mask.minimum(place, length - 1) if high >= length else place

    def read(self, part: Part) -> Union[Part, Value]:
        """The element, where one is left."""
        is_element = all(place is not None for place in part.places)
        return part.array[part.places] if is_element else part
