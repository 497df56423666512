# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicates of a whole attention on a part of it: the rows and keys at hand are at positions that are read from arrays."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple

from .ranges import NATURAL
from .symbols import INDEX, Tracer, Value
from .tensors import Tensor, tensor
from .tracing import Mask, Score


class Positions(NamedTuple):
    """Where a part's rows [M] and keys [N] are in the whole, i32; `whole` [2], i32, has the whole's number of tokens and the
    first of the part's query heads. `tokens` and `heads` are the whole's."""

    rows: Any
    keys: Any
    whole: Any
    tokens: int
    heads: int

    def mask(self, function: Callable[..., Any]) -> Mask:
        """Of the part, from one of the whole."""
        at = Places(self)

        def sees(b, h, i, j):
            with at.lengths():
                return function(b, at.head(h), at.row(i), at.key(j))

        result = Mask(sees)
        result.whole = (self.tokens, self.heads)
        return result

    def score(self, function: Callable[..., Any]) -> Score:
        """Of the part, from one of the whole."""
        at = Places(self)

        def changed(s, b, h, i, j):
            with at.lengths():
                return function(s, b, at.head(h), at.row(i), at.key(j))

        result = Score(changed)
        result.whole = (self.tokens, self.heads)
        return result


class Places:
    """Symbols of the whole, from those of the part."""

    def __init__(self, positions: Positions):
        self.rows, self.keys, self.whole = tensor(positions.rows), tensor(positions.keys), tensor(positions.whole)

    def row(self, i: Value) -> Value:
        return position(self.rows, i)

    def key(self, j: Value) -> Value:
        return position(self.keys, j)

    def head(self, h: Value) -> Value:
        result = h + natural(self.whole[1])
        result.range, result.position = NATURAL, HEAD
        return result

    @contextlib.contextmanager
    def lengths(self) -> Iterator[None]:
        """`query_length` and `key_length` are the whole's."""
        tracer = Tracer.get()
        tracer.length = natural(self.whole[0])
        try:
            yield
        finally:
            tracer.length = None


def natural(value: Value) -> Value:
    return Tracer.get().op("arith.index_cast", [value], " : i32 to index", INDEX, NATURAL)


def position(places: Tensor, at: Value) -> Value:
    result = natural(places[at])
    result.position = TOKEN
    return result


#: Numbers of positions in the whole, beside those of b, h, i and j.
TOKEN, HEAD = 4, 5
