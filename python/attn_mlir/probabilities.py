# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attention` with a prob_mod: one for the LSE, and one of the weights that follow from it."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .arrays import view_of
from .errors import BindingError
from .mask import Score
from .mask.weights import values_of_lse, weight_of


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
    """What attn_mlir.attention returns, by two calls of `attention` with the arguments `shared`, the second, for the output, with `own` too."""
    check_prob_mod(query, normalization, return_lse, own["out"])
    _, lse = attention(query, key, values_of_lse(key, value), sink=sink, score_mod=score, return_lse=True, **shared)
    weights = weight_of(score, prob_mod, lse)
    output = attention(query, key, value, normalization="none", score_mod=weights, **own, **shared)
    return (output, lse) if return_lse else output
