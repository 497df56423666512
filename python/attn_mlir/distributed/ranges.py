# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets of tokens: ascending half-open ranges that do not touch."""

from __future__ import annotations

import bisect
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
    result, x, y = [], 0, 0
    while x < len(a) and y < len(b):
        begin, end = max(a[x][0], b[y][0]), min(a[x][1], b[y][1])
        if begin < end:
            result.append((begin, end))
        if a[x][1] < b[y][1]:
            x += 1
        else:
            y += 1
    return tuple(result)


def contains(whole: Ranges, part: Ranges) -> bool:
    """Each range of the part is within one of the whole's, since those do not touch."""
    begins = [begin for begin, _ in whole]
    for begin, end in part:
        at = bisect.bisect_right(begins, begin) - 1
        if at < 0 or whole[at][1] < end:
            return False
    return True
