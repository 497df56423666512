# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicates of a whole attention on a part of it: the rows and keys at hand are at positions that are read from arrays."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple, Optional

from .ranges import NATURAL
from .symbols import INDEX, Tracer, Value, as_index, maximum, minimum
from .tensors import Tensor, tensor
from .tracing import Mask, Score


class Positions(NamedTuple):
    """Where a part's rows [M] and keys [N] are in the whole, i32; None where they stand behind each other: then tiles to skip follow
    from bounds, else they are looked for. `whole` [4], i32, has the whole's number of tokens, the first of the part's query heads,
    its first row and its first key. `tokens` and `heads` are the whole's."""

    rows: Optional[Any]
    keys: Optional[Any]
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
        self.rows, self.keys = (None if places is None else tensor(places) for places in positions[:2])
        self.whole = tensor(positions.whole)

    def row(self, i: Value) -> Value:
        return self.position(self.rows, i, 2)

    def key(self, j: Value) -> Value:
        return self.position(self.keys, j, 3)

    def position(self, places: Optional[Tensor], at: Value, first: int) -> Value:
        result = natural(places[at]) if places is not None else at + natural(self.whole[first])
        result.range, result.position = NATURAL, TOKEN
        return result

    def head(self, h: Value) -> Value:
        result = h + natural(self.whole[1])
        result.range, result.position = NATURAL, HEAD
        return result

    @contextlib.contextmanager
    def lengths(self) -> Iterator[None]:
        """`query_length` and `key_length` are the whole's."""
        tracer = Tracer.get()
        tracer.lengths = dict.fromkeys(("query", "key"), natural(self.whole[0]))
        try:
            yield
        finally:
            tracer.lengths = {}


class SpreadKeys(NamedTuple):
    """Where the keys at hand of each batch are in its sequence, `positions` [B, N], and how long that is, `lengths` [B], i32 or i64. A predicate has the j and the
    `key_length` of the whole; rows are the last of the sequence, i and `query_length` those at hand."""

    positions: Any
    lengths: Any

    def mask(self, function: Callable[..., Any]) -> Mask:
        """Of the keys at hand, from one of the whole."""
        return self.of_part(Mask, function)

    def score(self, function: Callable[..., Any]) -> Score:
        """Of the keys at hand, from one of the whole."""
        return self.of_part(Score, function)

    def of_part(self, kind: Any, function: Callable[..., Any]) -> Any:
        positions, lengths = tensor(self.positions), tensor(self.lengths)

        def at_hand(*arguments):
            *others, b, h, i, j = arguments
            tracer, length = Tracer.get(), as_index(lengths[b])
            tracer.lengths = {"key": length}
            try:
                # What stands behind the keys at hand is no position.
                return function(*others, b, h, i, maximum(minimum(as_index(positions[b, j]), length - 1), 0))
            finally:
                tracer.lengths = {}

        result = kind(at_hand)
        result.is_temporary = True
        return result


def natural(value: Value) -> Value:
    return Tracer.get().op("arith.index_cast", [value], " : i32 to index", INDEX, NATURAL)


#: Numbers of positions in the whole, beside those of b, h, i and j.
TOKEN, HEAD = 4, 5
