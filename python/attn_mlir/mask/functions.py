# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of symbols beyond arithmetic."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

from .ranges import NATURAL
from .symbols import (
    FLOAT, INDEX, INT, UNARY, Operand, Tracer, Value, are_numbers, arithmetic, compare, elementwise, erf, exp, exp2, lift, log2, logic,
    maximum, minimum, plain, sqrt, tanh, unary, where,
)  # fmt: skip


@elementwise
def power(a: Operand, b: Operand) -> Value:
    """a to the power of b. A whole constant b from -64 to 64 is by products, and of an integer must not be negative."""
    a, b = plain(a), plain(b)
    if are_numbers(b) and b == int(b) and abs(b) <= 64:
        product: Operand = 1.0 if isinstance(a, Value) and a.type == FLOAT or b < 0 else 1
        for _ in range(abs(int(b))):
            product = arithmetic("mul", product, a)
        return lift(product, INDEX) if b >= 0 else arithmetic("div", 1.0, product)
    if are_numbers(b) and b == 0.5:
        return sqrt(a)
    if are_numbers(a) and a > 0:
        return exp2(arithmetic("mul", b, math.log2(a)))
    return exp2(arithmetic("mul", log2(a), b))


def abs_difference(a: Operand, b: Operand) -> Value:
    """|a - b|."""
    return maximum(arithmetic("sub", a, b), arithmetic("sub", b, a))


def rounded(name: str, op: str = "") -> Callable[[Operand], Value]:
    function = unary(name, op)

    def of_numbers(x: Operand) -> Value:
        x = lift(x, INDEX)
        return x if x.type in (INDEX, INT) else function(x)

    of_numbers.__name__, of_numbers.__doc__ = name, f"{name} of a float; an integer is its own."
    return of_numbers


#: To whole numbers: `round` to the nearest, of two the even one.
ROUNDED = {"floor": rounded("floor"), "ceil": rounded("ceil"), "trunc": rounded("trunc"), "round": rounded("round", "roundeven")}
floor, ceil = ROUNDED["floor"], ROUNDED["ceil"]


@elementwise
def rounded_to(x: Operand, dtype: str) -> Value:
    """As f32, after rounding to f16 or bf16."""
    narrow = Tracer.get().op("arith.truncf", [lift(x, FLOAT)], f" : f32 to {dtype}", dtype)
    return Tracer.get().op("arith.extf", [narrow], f" : {dtype} to f32", FLOAT)


def sign(x: Operand) -> Value:
    """-1, 0 or 1."""
    x = lift(x, INDEX)
    one, zero = (1.0, 0.0) if x.type == FLOAT else (1, 0)
    return where(x > zero, one, where(x < zero, -one, zero))


def sigmoid(x: Operand) -> Value:
    return 1.0 / (1.0 + exp(-lift(x, FLOAT)))


def silu(x: Operand) -> Value:
    return x * sigmoid(x)


def softplus(x: Operand, beta: float = 1.0, threshold: float = 20.0) -> Value:
    """log(1 + exp(beta * x)) / beta, in a form that does not overflow; x where beta * x is above the threshold."""
    scaled = lift(x, FLOAT) * beta
    result = (maximum(scaled, 0.0) + UNARY["log1p"](exp(-abs(scaled)))) / beta
    return result if math.isinf(threshold) else where(scaled > threshold, x, result)


def gelu(x: Operand, approximate: Any = "none") -> Value:
    x = lift(x, FLOAT)
    if approximate in ("tanh", True):
        return 0.5 * x * (1.0 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))
    return 0.5 * x * (1.0 + erf(x * math.sqrt(0.5)))


def elu(x: Operand, alpha: float = 1.0) -> Value:
    return where(lift(x, FLOAT) > 0, x, alpha * UNARY["expm1"](minimum(x, 0.0)))


def clamp(x: Operand, low: Optional[Operand] = None, high: Optional[Operand] = None) -> Value:
    x = lift(x, INDEX) if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


def is_nan(x: Operand) -> Value:
    return compare("ne", lift(x, FLOAT), x)


def is_finite(x: Operand) -> Value:
    return abs(lift(x, FLOAT)) < math.inf


def is_infinite(x: Operand) -> Value:
    return abs(lift(x, FLOAT)) == math.inf


def truncated_quotient(a: Operand, b: Operand) -> Value:
    """a / b of integers, rounded to zero."""
    quotient = abs(lift(a, INDEX)) // abs(lift(b, INDEX))
    return where(logic("xori", compare("lt", a, 0), compare("lt", b, 0)), -quotient, quotient)


def truncated_remainder(a: Operand, b: Operand) -> Value:
    """What is left of a, of a's sign."""
    x = lift(a, INDEX)
    rest = abs(x) % abs(lift(b, INDEX))
    return where(x < 0, -rest, rest)


def length_of(sequence: str) -> Value:
    tracer = Tracer.get()
    whole = tracer.lengths.get(sequence)
    return whole if whole is not None else tracer.op(f"attn.length {sequence}", [], "", INDEX, NATURAL)


def query_length() -> Value:
    """M, the number of query positions, while a function is traced."""
    return length_of("query")


def key_length() -> Value:
    """N, the number of key positions, while a function is traced."""
    return length_of("key")
