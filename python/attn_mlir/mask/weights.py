# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A prob_mod as the score_mod of an attention without normalization, whose weights it gives."""

from __future__ import annotations

from typing import Any, Callable, Optional

from ..errors import BindingError
from .symbols import exp, where
from .tensors import tensor
from .tracing import Score

#: Columns of values that nobody reads, of an attention for its LSE.
UNREAD_COLUMNS = 16


def shifted(score: Optional[Score], lse: Any) -> Score:
    """The scores less lse[b, h, i]. In f32 an LSE has no room for the logarithm of a sum beside -1e9, the scores of a row that a finite
    mask hides whole: the LSE of what is left, 0 but for that, is subtracted from these."""
    rows = tensor(lse)

    def shift(s, b, h, i, j):
        own = rows[b, h, i]
        return (s if score is None else score(s, b, h, i, j)) - where(own == -float("inf"), 0.0, own)

    return Score(shift)


def weight_of(score: Optional[Score], prob_mod: Callable[..., Any], lse: Any) -> Callable[..., Any]:
    """The function (s, b, h, i, j) of prob_mod(exp(score(s) - lse[b, h, i])), and of 0 in rows without keys; lse is the first of its reads."""
    if not callable(prob_mod):
        raise BindingError(f"expected a function of (probability, b, h, i, j) as prob_mod, got {type(prob_mod).__name__}")
    rows = tensor(lse)

    def weight(s, b, h, i, j):
        own = rows[b, h, i]
        changed = s if score is None else score(s, b, h, i, j)
        return where(own == -float("inf"), 0.0, prob_mod(exp(changed - own), b, h, i, j))

    return weight


def values_of_lse(key: Any, value: Any) -> Any:
    """Of an attention of which only the LSE is used: a view of a few columns of the keys, or the values where these have no more, or
    keys have no views."""
    columns = min(UNREAD_COLUMNS, key.shape[-1])
    return key[..., :columns] if value.shape[-1] > columns and hasattr(key, "__getitem__") else value
