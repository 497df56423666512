# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers about samples: medians with their spread, and how well two orders agree."""

from __future__ import annotations

import math
import statistics
from typing import Any, Optional, Sequence


def summary(samples: list[float]) -> dict[str, float]:
    """Median, quartiles and least of the samples, in seconds."""
    ordered = sorted(samples)
    quartiles = statistics.quantiles(ordered, n=4) if len(ordered) > 1 else [ordered[0]] * 3
    return {
        "median": statistics.median(ordered),
        "min": ordered[0],
        "q1": quartiles[0],
        "q3": quartiles[2],
        "samples": len(ordered),
    }


def without_infinities(value: Any) -> Any:
    """None for each number that JSON has no text for, such as a bound that there is not.

    >>> without_infinities({"bounds": [1.0, math.inf]})
    {'bounds': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: without_infinities(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_infinities(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def ranks(values: Sequence[float]) -> list[float]:
    """1 for the least; equal values share the mean of their ranks."""
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) + 1) / 2 for v in values]


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> Optional[float]:
    """Spearman's: 1 if both order alike, -1 if in reverse; None where an order has no differences.

    >>> rank_correlation([1, 2, 3, 4], [10, 30, 20, 40])
    0.8
    """
    x, y = ranks(a), ranks(b)
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    return round(statistics.correlation(x, y), 12)
