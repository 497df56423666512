# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbols that record what a Python function does with them."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import threading
from typing import Any, Callable, Iterator, Mapping, NoReturn, Optional, Sequence, Union

from ..problem import float_text
from .places import MissingMethod, TraceError, with_place
from .ranges import INDEX_LIMIT, Bound, Lists, Need, Range, of_bits, of_maximum, of_quotient, of_result, positive_constant

INDEX, FLOAT, INT, BOOL = "index", "f32", "i32", "i1"


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
        self.tensors: list[Any] = []
        #: The last failure: what calls back into a symbol, as NumPy does, may raise another error in its place.
        self.failure: Optional[TraceError] = None
        self.indent = indent
        #: What symbols have beside Python's operators, by name: the methods and attributes that arrays of a library have.
        self.methods: Mapping[str, Callable[..., Any]] = {}
        self.attributes: Mapping[str, Callable[..., Any]] = {}
        #: What makes a Vector of a library's array of rank 1.
        self.vector_of: Callable[[Any], Any] = lambda operand: operand
        #: Whether scores are f64, so that elements of f64 are read as they are.
        self.reads_double = False
        #: What the sizes of tensors follow from.
        self.needs: list[Need] = []
        #: What is read elsewhere, and as what.
        self.bounds: list[Bound] = []
        self.lists: list[Lists] = []
        self.most_rows: Optional[int] = None  # that a function is for
        self.lengths: dict[str, Value] = {}  # M, "query", and N, "key", of the whole attention, where a part of one is traced

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

    def op(
        self, text: str, operands: Sequence["Value"], suffix: str, type: str, range: Optional[Range] = None
    ) -> "Value":
        """`%n = text operands : suffix`; equal ops are made once."""
        key = (text, *(operand.name for operand in operands), suffix)
        if key not in self.known:
            value = Value(f"%{len(self.known)}", type, range)
            head = " ".join([text, ", ".join(operand.name for operand in operands)]).rstrip()
            self.lines.append(f"{self.indent}{value.name} = {head}{suffix}")
            self.known[key] = value
        return self.known[key]

    def constant(self, value: Union[int, float, bool], type: str) -> "Value":
        if type == BOOL:
            return self.op(f"arith.constant {'true' if value else 'false'}", [], "", BOOL)
        if type == FLOAT:
            number = float(value)
            bits = "0x7FC00000" if math.isnan(number) else {math.inf: "0x7F800000", -math.inf: "0xFF800000"}.get(number)
            return self.op(f"arith.constant {bits or float_text(number)} : f32", [], "", FLOAT)
        if not -INDEX_LIMIT <= value < INDEX_LIMIT:
            fail(f"expected an integer of 32 bits, got {value}")
        return self.op(f"arith.constant {value} : {type}", [], "", type, (int(value), int(value)))

    def capture(self, tensor: Any) -> int:
        """The number of a tensor among those that the region reads."""
        for k, known in enumerate(self.tensors):
            if known.array is tensor.array:
                return k
        self.tensors.append(tensor)
        return len(self.tensors) - 1


Operand = Union["Value", int, float, bool]


class Value:
    """A symbol: an index (`index`, or `i32` read from a tensor), a float (`f32`) or a condition (`i1`).

    `range` is what is known of an integer; `position` is the number of a bare b, h, i or j.
    """

    position: Optional[int] = None

    def __init__(self, name: str, type: str, range: Optional[Range] = None):
        self.name, self.type, self.range = name, type, range

    @property
    def nonnegative(self) -> bool:
        return self.range is not None and self.range[0] >= 0

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
        return arithmetic("div", self, other)

    def __rtruediv__(self, other: Operand):
        return arithmetic("div", other, self)

    def __floordiv__(self, other: Operand):
        return floor_divide(self, other)

    def __rfloordiv__(self, other: Operand):
        return floor_divide(other, self)

    def __mod__(self, other: Operand):
        return modulo(self, other)

    def __rmod__(self, other: Operand):
        return modulo(other, self)

    def __neg__(self):
        return arithmetic("sub", 0, self)

    def __pow__(self, exponent: Operand):
        from .functions import power

        return power(self, exponent)

    def __rpow__(self, base: Operand):
        from .functions import power

        return power(base, self)

    def __lshift__(self, other: Operand):
        return bits("shli", self, other)

    def __rshift__(self, other: Operand):
        return bits("shrsi", self, other)

    def __abs__(self):
        result = maximum(self, -self)
        if self.range:
            ends = [abs(end) for end in self.range]
            result.range = (0 if self.range[0] <= 0 <= self.range[1] else min(ends), max(ends))
        return result

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
        return logic("xori", self, True if self.type == BOOL else -1)

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
        tracer = getattr(Tracer.current, "tracer", None)
        methods = tracer.methods if tracer else {}
        if tracer and name in tracer.attributes:
            return tracer.attributes[name](self)
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


class Constant(Value):
    """A number that stands for an array of rank 0: what a library's functions give for one, and take where they want an array."""

    def __init__(self, number: Union[bool, int, float]):
        self.number = number
        self.type = BOOL if isinstance(number, bool) else INDEX if isinstance(number, int) else FLOAT
        self.range = (number, number) if self.type == INDEX else None  # type: ignore[assignment]

    @property
    def name(self) -> str:  # type: ignore[override]
        return Tracer.get().constant(self.number, self.type).name


class Vector(Value):
    """Elements of a dimension, computed one by one: of a tensor that is read at all positions but the last."""

    type, range = "vector", None

    def __init__(self, elements: Sequence["Operand"]):
        self.elements = elements

    @property
    def name(self) -> str:  # type: ignore[override]
        fail(f"expected one number, got {len(self.elements)} of a dimension: make one of them by sum, any, all, max or min")


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which of vectors gives a vector."""

    @functools.wraps(function)
    def run(*operands: Any) -> Any:
        if any(getattr(operand, "ndim", 0) == 1 for operand in operands):  # of a library
            operands = tuple([Tracer.get().vector_of(operand) for operand in operands])
        if not any(isinstance(operand, Vector) for operand in operands):
            return function(*operands)
        columns: list[list[Any]] = [list(operand.elements) if isinstance(operand, Vector) else [operand] for operand in operands]
        lengths = {len(column) for column in columns} - {1} or {1}
        if len(lengths) > 1:
            fail(f"expected dimensions of one size, got {', '.join(map(str, sorted(lengths)))}")
        size = lengths.pop()
        return Vector([function(*row) for row in zip(*(column * size if len(column) == 1 else column for column in columns))])

    return run


def plain(operand: Any) -> Any:
    """A Constant's number; anything else as it is."""
    return operand.number if isinstance(operand, Constant) else operand


def are_numbers(*operands: Any) -> bool:
    return all(isinstance(operand, (bool, int, float)) for operand in operands)


def lift(operand: Operand, type: str) -> Value:
    """A number as a constant of `type`."""
    operand = plain(operand)
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, bool):
        return Tracer.get().constant(operand, BOOL)
    if isinstance(operand, int):
        return Tracer.get().constant(operand, type if type != BOOL else INDEX)
    if isinstance(operand, float):
        return Tracer.get().constant(operand, FLOAT)
    if hasattr(operand, "__dlpack__") and getattr(operand, "shape", None) == ():
        from .tensors import tensor

        return tensor(operand)[()]
    fail(f"expected a number or a traced value, got {operand.__class__.__name__}")


@elementwise
def as_float(value: Value) -> Value:
    if value.type == FLOAT:
        return value
    tracer = Tracer.get()
    if value.type == BOOL:
        return tracer.op("arith.uitofp", [value], " : i1 to f32", FLOAT)
    if value.type == INDEX:
        value = tracer.op("arith.index_cast", [value], " : index to i32", INT, value.range)
    return tracer.op("arith.sitofp", [value], " : i32 to f32", FLOAT)


def as_index(value: Value) -> Value:
    if value.type == INDEX:
        return value
    if value.type != INT:
        fail(f"expected an integer, got {value.type}")
    return Tracer.get().op("arith.index_cast", [value], " : i32 to index", INDEX, value.range)


@elementwise
def as_integer(value: Value) -> Value:
    """A condition as 0 or 1, a float rounded to zero."""
    if value.type == BOOL:
        return where(value, 1, 0)
    if value.type == FLOAT:
        return Tracer.get().op("arith.fptosi", [value], " : f32 to i32", INT)
    return value


def promote(a: Operand, b: Operand) -> tuple[Value, Value]:
    """Both in one type: f32 if either is a float, index if either is an index, else i32. A condition beside a number is 0 or 1."""
    a, b = (lift(x, INDEX) if hasattr(x, "__dlpack__") else plain(x) for x in (a, b))
    types = {operand.type for operand in (a, b) if isinstance(operand, Value)}
    has_float = FLOAT in types or isinstance(a, float) or isinstance(b, float)
    target = FLOAT if has_float else INT if types == {INT} else INDEX
    x, y = lift(a, target), lift(b, target)
    if has_float:
        return as_float(x), as_float(y)
    x, y = as_integer(x), as_integer(y)
    return (as_index(x), as_index(y)) if target == INDEX else (x, y)


#: Of two conditions, as arrays have it.
OF_CONDITIONS = {"add": "ori", "mul": "andi"}
OF_NUMBERS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


@elementwise
def arithmetic(kind: str, a: Operand, b: Operand) -> Value:
    a, b = plain(a), plain(b)
    if are_numbers(a, b):
        return Constant(OF_NUMBERS[kind](a, b))
    if are_conditions(a, b):
        if kind not in OF_CONDITIONS:
            fail("expected numbers, got conditions: use & | ~ between conditions, `where` to choose between numbers")
        return logic(OF_CONDITIONS[kind], a, b)
    x, y = promote(a, b)
    if x.type == FLOAT or kind == "div":
        return Tracer.get().op(f"arith.{kind}f", [as_float(x), as_float(y)], " : f32", FLOAT)
    return Tracer.get().op(f"arith.{kind}i", [x, y], f" : {x.type}", x.type, of_result(kind, x.range, y.range))


@elementwise
def floor_divide(a: Operand, b: Operand) -> Value:
    """a // b, rounding down."""
    x, y = promote(a, b)
    if x.type == FLOAT:
        return unary("floor")(x / y)
    if y.range and y.range[0] <= 0 <= y.range[1]:
        fail(f"expected a divisor that is never 0, got one from {y.range[0]} to {y.range[1]}")
    op = "divsi" if x.nonnegative and positive_constant(y.range) else "floordivsi"  # the same where nothing is negative
    return Tracer.get().op(f"arith.{op}", [x, y], f" : {x.type}", x.type, of_quotient(x.range, y.range))


@elementwise
def modulo(a: Operand, b: Operand) -> Value:
    """a % b, of b's sign."""
    x, y = promote(a, b)
    known = positive_constant(y.range) if x.type != FLOAT else None
    if known and x.nonnegative:
        return Tracer.get().op("arith.remsi", [x, y], f" : {x.type}", x.type, (0, known - 1))
    rest = x - floor_divide(x, y) * y
    if known:
        rest.range = (0, known - 1)
    return rest


def are_conditions(*operands: Operand) -> bool:
    return all(isinstance(v, bool) or (isinstance(v, Value) and v.type == BOOL) for v in operands)


@elementwise
def compare(kind: str, a: Operand, b: Operand) -> Value:
    a, b = plain(a), plain(b)
    if kind in ("eq", "ne") and are_conditions(a, b):
        differ = logic("xori", a, b)
        return differ if kind == "ne" else ~differ
    x, y = promote(a, b)
    if x.type == FLOAT:
        predicate = {"ne": "une"}.get(kind, "o" + kind)
        return Tracer.get().op(f"arith.cmpf {predicate},", [x, y], " : f32", BOOL)
    predicate = kind if kind in ("eq", "ne") else "s" + kind
    return Tracer.get().op(f"arith.cmpi {predicate},", [x, y], f" : {x.type}", BOOL)


@elementwise
def logic(kind: str, a: Operand, b: Operand) -> Value:
    """& | ^ of conditions, or of the bits of integers."""
    a, b = plain(a), plain(b)
    if are_conditions(a, b):
        return Tracer.get().op(f"arith.{kind}", [lift(a, BOOL), lift(b, BOOL)], " : i1", BOOL)
    if are_conditions(a) or are_conditions(b):
        fail("expected conditions in & | ^, got a number beside one: put comparisons in parentheses, as in (a <= b) & (c < d)")
    return bits(kind, a, b)


@elementwise
def bits(kind: str, a: Operand, b: Operand) -> Value:
    """& | ^ << >> of integers."""
    x, y = promote(a, b)
    if x.type == FLOAT:
        fail("expected conditions or integers in & | ^ << >>, got a float")
    return Tracer.get().op(f"arith.{kind}", [x, y], f" : {x.type}", x.type, of_bits(kind, x.range, y.range))


@elementwise
def where(condition: Operand, a: Operand, b: Operand) -> Value:
    """a where the condition holds, else b."""
    condition, a, b = plain(condition), plain(a), plain(b)
    if isinstance(condition, bool):
        return lift(a if condition else b, INDEX)
    if not isinstance(condition, Value) or condition.type != BOOL:
        fail("expected a traced condition as the first argument of where")
    x, y = (lift(a, BOOL), lift(b, BOOL)) if are_conditions(a, b) else promote(a, b)
    return Tracer.get().op("arith.select", [condition, x, y], f" : {x.type}", x.type, of_result("select", x.range, y.range))


@elementwise
def extremum(kind: str, a: Operand, b: Operand) -> Value:
    x, y = promote(a, b)
    if x.type == FLOAT:
        return Tracer.get().op(f"arith.{kind}imumf", [x, y], " : f32", FLOAT)
    known = of_result(kind, x.range, y.range)
    if kind == "max" and not known:
        known = of_maximum(x.range, y.range)
    return Tracer.get().op(f"arith.{kind}si", [x, y], f" : {x.type}", x.type, known)


def minimum(a: Operand, b: Operand) -> Value:
    return extremum("min", a, b)


def maximum(a: Operand, b: Operand) -> Value:
    return extremum("max", a, b)


def unary(name: str, op: str = "") -> Callable[[Operand], Value]:
    @elementwise
    def function(x: Operand) -> Value:
        return Tracer.get().op(f"math.{op or name}", [as_float(lift(x, FLOAT))], " : f32", FLOAT)

    function.__name__ = name
    function.__doc__ = f"{name} of a float."
    return function


#: Functions of floats by their names, which are those of the ops of the dialect math.
UNARY = {name: unary(name) for name in (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
)}  # fmt: skip
exp, exp2, log, log2, tanh, sqrt, sin, cos, erf = (
    UNARY[name] for name in ("exp", "exp2", "log", "log2", "tanh", "sqrt", "sin", "cos", "erf")
)
