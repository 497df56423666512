# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.attention.flex_attention's function, with gradients."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, noop_mask

from .. import functional
from ..errors import BindingError
from ..mask import Mask, block_mask as blocks_of, trace_mask, trace_score
from .ops import check_tensors, lse_dtype, readable
from .tracing import traced_as_torch

#: Of values that a gradient flows to.
DIFFERENTIABLE = (torch.float16, torch.bfloat16, torch.float32)


@torch.compiler.disable
def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Optional[Callable[..., Any]] = None,
    block_mask: Union[BlockMask, Mask, Callable[..., Any], None] = None,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Optional[dict[str, Any]] = None,
    *,
    return_aux: Any = None,
) -> Any:
    """torch.nn.attention.flex_attention.flex_attention: query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N, Dv].

    score_mod(score, b, h, q_idx, kv_idx) and the mask_mod of block_mask are traced, once for each call: torch's elementwise
    functions, comparisons, & | ~, torch.where, and reads of tensors at positions. block_mask may also be a mask_mod alone, of
    which the compiler finds the blocks itself. Gradients flow to query, key, value and the tensors of floats that score_mod
    reads. A key and value of one batch serve all. Rows that see no key are 0, with an LSE of -inf.

    return_lse, or return_aux with lse: also the natural logarithm of each row's sum of exponentials, [B, Hq, M] f32.
    kernel_options are for torch's kernels: the schedule is chosen by the compiler, and they change nothing here.

    Raises BindingError for tensors that do not fit, TraceError, with the line of the function, for what cannot be traced.
    """
    del kernel_options
    check(query, key, value, block_mask, enable_gqa)
    if getattr(return_aux, "max_scores", False):
        raise BindingError("return_aux: expected no max_scores, which an online softmax does not keep, got them")
    key, value = (t.expand(query.shape[0], *t.shape[1:]) if t.shape[0] == 1 else t for t in (key, value))
    score = None if score_mod is None else trace_score(traced_as_torch(score_mod))
    learned = [t for t in (score.arrays if score else []) if t.dtype in DIFFERENTIABLE]
    options = {"score_mod": score.function if score else None, "mask_mod": mask_of(block_mask), "scale": scale}
    output, lse = FlexAttention.apply(query, key, value, options, *learned)
    if return_aux is not None:
        return output, type_of_aux()(lse=lse if return_aux.lse else None)
    return (output, lse) if return_lse else output


def type_of_aux() -> Any:
    from torch.nn.attention.flex_attention import AuxOutput

    return AuxOutput


def check(query: Tensor, key: Tensor, value: Tensor, block_mask: Any, enable_gqa: bool):
    check_tensors(query=query, key=key, value=value)
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.dim() != 4:
            raise BindingError(f"{name}: expected [batch, heads, rows, head dim], got rank {t.dim()}")
        if t.shape[0] not in (1, query.shape[0]):
            raise BindingError(f"{name}: expected a batch of {query.shape[0]}, that of query, or 1, got {t.shape[0]}")
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise BindingError(f"expected {query.shape[1]} key heads, or enable_gqa, got {key.shape[1]}")
    if isinstance(block_mask, BlockMask):
        wanted, got = (query.shape[2], key.shape[2]), tuple(block_mask.seq_lengths)
        if wanted != got:
            raise BindingError(f"block_mask: expected lengths {wanted}, those of query and key, got {got}")


def mask_of(block_mask: Any) -> Optional[Callable[..., Any]]:
    """A function to trace in each call, or None."""
    if block_mask is None or isinstance(block_mask, Mask):
        return block_mask
    if not isinstance(block_mask, BlockMask):
        return trace_mask(traced_as_torch(block_mask)).function
    mask_mod = None if block_mask.mask_mod is noop_mask else traced_as_torch(block_mask.mask_mod)
    return blocks_of(
        block_mask.kv_num_blocks, block_mask.kv_indices, block_mask.full_kv_num_blocks, block_mask.full_kv_indices,
        block=tuple(block_mask.BLOCK_SIZE), mask_mod=mask_mod,
    ).function  # fmt: skip


class FlexAttention(torch.autograd.Function):
    """(output, lse) of query, key, value, options, and the tensors that a gradient flows to through score_mod."""

    @staticmethod
    def forward(ctx, query, key, value, options, *learned):
        q, k, v = (readable(t.detach()) for t in (query, key, value))
        allow_tf32 = query.is_cuda and torch.backends.cuda.matmul.allow_tf32
        options = {**options, "allow_tf32": allow_tf32}
        output, lse = functional.attention(q, k, v, return_lse=True, **options)
        ctx.options = options
        ctx.save_for_backward(query, key, value, output, lse, *learned)
        ctx.set_materialize_grads(False)
        return output, lse

    @staticmethod
    def backward(ctx, d_output, d_lse):
        query, key, value, output, lse, *learned = ctx.saved_tensors
        if d_output is None and d_lse is None:
            return (None,) * (4 + len(learned))
        d_output = torch.zeros_like(output) if d_output is None else d_output
        q, k, v, o = (readable(t.detach()) for t in (query, key, value, output))
        has_learned = any(ctx.needs_input_grad[4:])
        results = functional.attention_backward(
            q, k, v, o, lse.contiguous(), readable(d_output),
            d_lse=d_lse.to(lse_dtype(query.dtype)).contiguous() if d_lse is not None else None,
            capture_gradients=has_learned, deterministic=torch.are_deterministic_algorithms_enabled(), **ctx.options,
        )  # fmt: skip
        gradients = results[3:] if has_learned else [None] * len(learned)
        return (*results[:3], None, *(None if g is None else g.to(t.dtype) for g, t in zip(gradients, learned)))
