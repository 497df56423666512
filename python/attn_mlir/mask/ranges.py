# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of integers, the least and the greatest value or None, and of the sizes of what they are positions in."""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional, Sequence

Range = tuple[int, int]
INDEX_LIMIT = 2**31
NATURAL: Range = (0, INDEX_LIMIT - 1)

#: What the extremes of a result are among, from the ranges of two operands.
CORNERS: dict[str, Callable[[Range, Range], Sequence[int]]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]), "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": lambda a, b: [x * y for x in a for y in b], "select": lambda a, b: (*a, *b),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])), "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
}  # fmt: skip


def of_result(kind: str, a: Optional[Range], b: Optional[Range]) -> Optional[Range]:
    if a is None or b is None:
        return None
    corners = CORNERS[kind](a, b)
    return min(corners), max(corners)


def of_maximum(a: Optional[Range], b: Optional[Range]) -> Optional[Range]:
    """At least the one that is known."""
    known = a or b
    return (known[0], INDEX_LIMIT - 1) if known else None


def positive_constant(a: Optional[Range]) -> Optional[int]:
    return a[0] if a and a[0] == a[1] > 0 else None


def of_quotient(a: Optional[Range], b: Optional[Range]) -> Optional[Range]:
    """Of a // b, rounding down."""
    divisor = positive_constant(b)
    return (a[0] // divisor, a[1] // divisor) if a and divisor else None


def of_bits(kind: str, a: Optional[Range], b: Optional[Range]) -> Optional[Range]:
    """Of & | ^ << >>, where it cannot be negative."""
    bounds = [r[1] for r in (a, b) if r and r[0] >= 0]
    if kind == "andi" and bounds:
        return 0, min(bounds)
    if kind == "shrsi" and a and a[0] >= 0:
        return 0, a[1]
    return NATURAL if len(bounds) == 2 else None


class Need(NamedTuple):
    """Dimension `dim` of capture number `capture` has an element for each `step` values of position `position` (b, h, i, j)."""

    capture: int
    dim: int
    position: int
    step: int = 1


#: Of a read whose position may be any number.
ANYWHERE = 1 << 62


class Bound(NamedTuple):
    """Dimension `dim` of capture number `capture` is read at positions from 0 to below `size`, which are not those of an attention."""

    capture: int
    dim: int
    size: int


class Lists(NamedTuple):
    """Captures number `counts` and `indices` are lists of blocks of so many `keys`."""

    counts: int
    indices: int
    keys: int
