# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attention` with a prob_mod: one for the LSE, and one of the weights that follow from it."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .arrays import view_of
from .errors import BindingError
from .mask import Score
from .mask.weights import shifted, values_of_lse, weight_of


def check_prob_mod(query: Any, normalization: Any, return_lse: bool, out: Any):
    if normalization != "softmax":
        raise BindingError(f"expected no prob_mod with normalization {normalization!r}: its score_mod gives the weights")
    dtype = view_of(query, "query").dtype
    if dtype not in ("f16", "bf16", "f32"):
        raise BindingError(f"query: expected dtype f16, bf16 or f32 with prob_mod, got {dtype}")
    if return_lse and out is not None:
        raise BindingError("expected out or return_lse with prob_mod, got both")


def changed_attention(
    attention: Callable[..., Any], query: Any, key: Any, value: Any, prob_mod: Any, score: Optional[Score], sink: Any,
    normalization: Any, return_lse: bool, own: dict[str, Any], shared: dict[str, Any],
) -> Any:  # fmt: skip
    """What attn_mlir.attention returns, by calls of `attention` with the arguments `shared`, the last, for the output, with `own` too."""
    check_prob_mod(query, normalization, return_lse, own["out"])
    unread = values_of_lse(key, value)
    _, lse = left = attention(query, key, unread, sink=sink, score_mod=score, return_lse=True, **shared)
    if sink is None and (score is not None or shared["bias"] is not None):
        score = shifted(score, lse)
        left = attention(query, key, unread, score_mod=score, return_lse=True, **shared)
    weights = weight_of(score, prob_mod, left[1])
    output = attention(query, key, value, normalization="none", score_mod=weights, **own, **shared)
    return (output, lse) if return_lse else output
