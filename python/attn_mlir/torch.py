# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention for PyTorch: a drop-in for scaled_dot_product_attention, as an op that torch.compile traces through.

    from attn_mlir.torch import scaled_dot_product_attention

Forward only: tensors that need gradients are refused. What the op does not have is an error, never a slower path.
"""

from __future__ import annotations

from typing import Optional

import torch

from .errors import BindingError
from .functional import attention


@torch.library.custom_op("attn_mlir::attention", mutates_args=())
def attention_op(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: Optional[torch.Tensor],
    causal: str,
    scale: Optional[float],
    return_lse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """attn_mlir.attention as an op of torch; `causal` is "", "top_left" or "bottom_right". Without return_lse, the
    second result is empty."""
    result = attention(query, key, value, bias=bias, causal=causal or False, scale=scale, return_lse=return_lse)
    return result if return_lse else (result, query.new_empty(0, dtype=torch.float32))


@attention_op.register_fake
def _(query, key, value, bias, causal, scale, return_lse):
    shape = (*query.shape[:3], value.shape[3])
    lse = query.new_empty(query.shape[:3] if return_lse else (0,), dtype=torch.float32)
    return query.new_empty(shape), lse


def as_bias(attn_mask: Optional[torch.Tensor], dtype: torch.dtype) -> Optional[torch.Tensor]:
    """What is added to the scores: of a bool mask 0 where it is true, and -inf elsewhere. [B, Hq, M, N] or broadcast."""
    if attn_mask is None:
        return None
    if attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=dtype).masked_fill_(~attn_mask, float("-inf"))
    if attn_mask.dim() > 4:
        raise BindingError(f"expected attn_mask of rank 4 at most, got {attn_mask.dim()}")
    return attn_mask.reshape((1,) * (4 - attn_mask.dim()) + tuple(attn_mask.shape))


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: Optional[torch.Tensor] = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention: query [B, Hq, M, D] (or without B), key [B, Hkv, N, D], value
    [B, Hkv, N, Dv]; is_causal is aligned to the top left. A row whose every key is masked gives 0, not NaN."""
    if dropout_p != 0.0:
        raise BindingError(f"expected dropout_p to be 0, got {dropout_p}")
    if is_causal and attn_mask is not None:
        raise BindingError("expected is_causal or attn_mask, got both")
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (query, key, value, attn_mask)):
        raise BindingError("expected tensors that need no gradient, got one that does: there is no backward here yet")
    if query.dim() == 3:
        unbatched = (t.unsqueeze(0) for t in (query, key, value))
        mask = attn_mask if attn_mask is None or attn_mask.dim() < 3 else attn_mask.unsqueeze(0)
        return scaled_dot_product_attention(*unbatched, mask, dropout_p, is_causal, scale, enable_gqa).squeeze(0)
    if not enable_gqa and query.dim() == 4 and query.shape[1] != key.shape[1]:
        raise BindingError(f"expected {query.shape[1]} key heads, or enable_gqa, got {key.shape[1]}")
    bias = as_bias(attn_mask, query.dtype)
    return attention_op(query, key, value, bias, "top_left" if is_causal else "", scale, False)[0]
