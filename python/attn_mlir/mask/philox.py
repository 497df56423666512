# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The word of docs/Spec.md, "Dropout", of an element whose place is traced: where an attention is a part of a larger one, its ops
drop by row and column of the part, and a score_mod by those of the whole."""

from __future__ import annotations

from typing import Any, Sequence

from .symbols import INDEX, INT, Tracer, Value, as_index, lift, where

#: As floats are, so that words stay words: products of 32 by 32 bits in 64.
MULTIPLIERS, INCREMENTS, ROUNDS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85), 10
#: Of i and j, the bit that chooses among the words of a call.
GROUP_BIT = 8


def word(seed: Sequence[Value], offset: Sequence[Value], b: Any, h: Any, i: Any, j: Any) -> Value:
    """i32; seed and offset are two i32 each, the low one first."""
    b, h, i, j = (to_word(place) for place in (b, h, i, j))
    head = philox([*offset, b, h], seed)
    others = constant(~GROUP_BIT)
    words = philox([combine("andi", i, others), combine("andi", j, others), *head[2:]], head[:2])
    is_odd_row, is_odd_key = ((place & GROUP_BIT) != 0 for place in (i, j))
    return where(is_odd_row, where(is_odd_key, words[3], words[2]), where(is_odd_key, words[1], words[0]))


def philox(counter: Sequence[Value], key: Sequence[Value]) -> list[Value]:
    """Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011)."""
    counter, key = list(counter), list(key)
    for round in range(ROUNDS):
        if round:
            key = [combine("addi", k, constant(increment)) for k, increment in zip(key, INCREMENTS)]
        (high0, low0), (high1, low1) = (product(counter[2 * n], MULTIPLIERS[n]) for n in (0, 1))
        counter = [exclusive_or(high1, counter[1], key[0]), low1, exclusive_or(high0, counter[3], key[1]), low0]
    return counter


def at_least(word: Value, threshold: int) -> Value:
    """word >= threshold, both unsigned."""
    return Tracer.get().op("arith.cmpi uge,", [word, constant(threshold)], " : i32", "i1")


def product(x: Value, factor: int) -> tuple[Value, Value]:
    """Its high and low word."""
    tracer = Tracer.get()
    wide = tracer.op("arith.extui", [x], " : i32 to i64", "i64")
    whole = tracer.op("arith.muli", [wide, tracer.op(f"arith.constant {factor} : i64", [], "", "i64")], " : i64", "i64")
    high = tracer.op("arith.shrui", [whole, tracer.op("arith.constant 32 : i64", [], "", "i64")], " : i64", "i64")
    return truncate(high), truncate(whole)


def truncate(wide: Value) -> Value:
    return Tracer.get().op("arith.trunci", [wide], " : i64 to i32", INT)


def exclusive_or(x: Value, y: Value, z: Value) -> Value:
    return combine("xori", combine("xori", x, y), z)


def combine(op: str, x: Value, y: Value) -> Value:
    """Of words, of which nothing is known."""
    return Tracer.get().op(f"arith.{op}", [x, y], " : i32", INT)


def constant(bits: int) -> Value:
    signed = (bits + 2**31) % 2**32 - 2**31
    return Tracer.get().op(f"arith.constant {signed} : i32", [], "", INT, (signed, signed))


def to_word(place: Any) -> Value:
    return Tracer.get().op("arith.index_cast", [as_index(lift(place, INDEX))], " : index to i32", INT)
