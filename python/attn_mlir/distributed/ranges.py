# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets of tokens: ascending half-open ranges that do not touch."""

from __future__ import annotations

from typing import Iterable, Sequence

Ranges = tuple[tuple[int, int], ...]


def ranges_of(pairs: Iterable[Sequence[int]]) -> Ranges:
    """The union of ranges in any order."""
    result: list[tuple[int, int]] = []
    for begin, end in sorted((int(begin), int(end)) for begin, end in pairs):
        if begin >= end:
            continue
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return tuple(result)


def count(ranges: Ranges) -> int:
    return sum(end - begin for begin, end in ranges)


def intersect(a: Ranges, b: Ranges) -> Ranges:
    return ranges_of((max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b)


def contains(whole: Ranges, part: Ranges) -> bool:
    return intersect(whole, part) == part
