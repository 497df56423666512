# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.attention.flex_attention's function, and the op attn_mlir::flex_attention that it calls."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Union

import torch
from torch import Tensor, fx
from torch.nn.attention.flex_attention import BlockMask, noop_mask

from .. import functional
from ..errors import BindingError
from ..mask import Mask, Score, block_mask as blocks_of, trace_mask, trace_score
from ..mask.tracing import Traced
from ..mask.weights import shifted, values_of_lse, weight_of
from .ops import as_autocast, check_tensors, lse_dtype, readable
from .outputs import changed_output, traced_output
from .tracing import traced_as_torch, traced_subgraph
from .transforms import function_of, has_transforms, is_plain, refuse_forward_mode, refuse_second_derivatives, register_vmap, save_nothing

#: Of values that a gradient flows to.
DIFFERENTIABLE = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
#: The size of blocks of a block mask that lists one for all, as torch makes it where none is given.
ONE_BLOCK = 1 << 30


#: Of elements, where score_mod's reads have gradients.
MAX_LEARNED_READS = 8
#: Of torch, where it meets the function while it compiles.
NOT_COMPILED = (
    "attn_mlir.torch.flex_attention traces its functions by itself: under fullgraph=True call torch's flex_attention, and compile "
    "by backend=attn_mlir.torch.backend"
)


@torch.compiler.disable(reason=NOT_COMPILED)
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
    prob_mod: Optional[Callable[..., Any]] = None,
    output_mod: Optional[Callable[..., Any]] = None,
) -> Any:
    """torch.nn.attention.flex_attention.flex_attention: query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N, Dv].

    score_mod(score, b, h, q_idx, kv_idx) and the mask_mod of block_mask are traced, once for each call: torch's elementwise
    functions, comparisons, & | ~, torch.where, and reads of tensors at positions. block_mask may also be a mask_mod alone, of
    which the compiler finds the blocks itself. Gradients flow to query, key, value and the tensors of floats that score_mod
    reads; beside a query of float64 it reads float64 as it is, else, and in a mask_mod, as float32. A key and value of one batch serve all. Rows that see no key are 0, with an LSE of -inf. Under torch.autocast
    query, key and value are of its type.

    prob_mod(probability, b, h, q_idx, kv_idx), which torch's function has not, changes probabilities after the softmax, and is
    traced as score_mod is: by two kernels, one for the LSE, one for the output, or three with a score_mod. The tensors of floats that it reads have gradients.

    output_mod(x, b, h, i, c) changes elements of the output, c its columns, and is traced likewise: by the kernel, or, where
    a gradient is recorded, by torch behind it, rounding before it too. The tensors that it reads have gradients.

    return_lse, or return_aux with lse: also the natural logarithm of each row's sum of exponentials, [B, Hq, M] f32.
    kernel_options are for torch's kernels: the schedule is chosen by the compiler, and they change nothing here.

    Raises BindingError for tensors that do not fit, TraceError, with the line of the function, for what cannot be traced.
    """
    del kernel_options
    check(query, key, value, block_mask, enable_gqa)
    if getattr(return_aux, "max_scores", False):
        refuse_max_scores("return_aux")
    sizes = (*query.shape[:3], key.shape[2])
    check_function("score_mod", score_mod, "a function; a tensor is read in one, as in score + bias[b, h, q_idx, kv_idx]")
    score = None if score_mod is None else trace_score(traced_as_torch(score_mod, sizes, query.dtype == torch.float64))
    check_function("prob_mod", prob_mod, "a function of (probability, b, h, q_idx, kv_idx)")
    mask = mask_of(block_mask, sizes)
    if prob_mod is None:
        output, lse = attend(query, key, value, score, mask, scale, output_mod=output_mod)
    else:
        output, lse = attend_changed(query, key, value, score, mask, scale, traced_as_torch(prob_mod, sizes), output_mod)
    if return_aux is not None:
        return output, type_of_aux()(lse=lse if return_aux.lse else None)
    return (output, lse) if return_lse else output


def refuse_max_scores(name: str):
    raise BindingError(f"{name}: expected no maxima of scores, which an online softmax does not keep, got a request for them")


def check_function(name: str, given: Any, wanted: str):
    if given is not None and not callable(given):
        raise BindingError(f"{name}: expected {wanted}, got {type(given).__name__}")


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


def mask_of(block_mask: Any, sizes: Sequence[int]) -> Optional[Mask]:
    if block_mask is None or isinstance(block_mask, Mask):
        return block_mask
    if not isinstance(block_mask, BlockMask):
        check_function("block_mask", block_mask, "a BlockMask or a mask_mod; a tensor is attn_mask of scaled_dot_product_attention")
        return trace_mask(traced_as_torch(block_mask, sizes))
    mask_mod = None if block_mask.mask_mod is noop_mask else traced_as_torch(block_mask.mask_mod, sizes)
    return blocks_of(
        block_mask.kv_num_blocks, block_mask.kv_indices, block_mask.full_kv_num_blocks, block_mask.full_kv_indices,
        block=tuple(block_mask.BLOCK_SIZE), mask_mod=mask_mod,
    )  # fmt: skip


def attend_changed(
    query: Tensor, key: Tensor, value: Tensor, score: Optional[Score], mask: Optional[Mask], scale: Optional[float], prob_mod: Any,
    output_mod: Any,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Output and LSE, with probabilities as `prob_mod`, of symbols, changes them. Autograd sees the LSE in the weights."""
    query, key, value = as_autocast(query, key, value)
    if query.dtype == torch.float64:
        raise BindingError("query: expected dtype float16, bfloat16 or float32 with prob_mod, got torch.float64")
    unread = values_of_lse(key, value)
    _, lse = attend(query, key, unread, score, mask, scale)
    left = lse
    if score is not None:
        score = shifted(score, lse.detach())
        _, left = attend(query, key, unread, score, mask, scale)
    weights = Score(weight_of(score, prob_mod, left))
    output, _ = attend(query, key, value, weights, mask, scale, "none", output_mod)
    return output, lse


def attend(
    query: Tensor, key: Tensor, value: Tensor, score: Optional[Score], mask: Optional[Mask], scale: Optional[float],
    normalization: str = "softmax", output_mod: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Output and LSE, which is empty without softmax."""
    query, key, value = as_autocast(query, key, value)
    key, value = (t.expand(query.shape[0], *t.shape[1:]) if t.shape[0] == 1 else t for t in (key, value))
    (score_text, score_reads), (mask_text, mask_reads) = recorded(score, query), recorded(mask, query)
    for k, t in enumerate(score_reads):
        refuse_forward_mode(f"tensor {k} that score_mod reads", t)
    if torch.is_grad_enabled() and any(t.requires_grad for t in score_reads):
        check_number_of_reads(score_text.count("tensor.extract"))
    traced = None if output_mod is None else traced_output(output_mod, query, value)
    given = (query, key, value, score_text, score_reads, mask_text, mask_reads, scale, normalization)
    if traced is not None and is_plain((query, key, value, *score_reads, *mask_reads, *traced.arrays)):
        return computed(*given, output_mod=traced)
    if has_transforms():
        output, lse = Flat.apply(
            query, key, value, score_text, mask_text, scale, normalization, len(score_reads), *score_reads, *mask_reads
        )
    else:
        output, lse = flex_attention_op(*given)
    return output if traced is None else changed_output(output, output_mod), lse


def check_number_of_reads(reads: int):
    """Compiling takes a time that grows fast with the number of reads that have gradients."""
    if reads > MAX_LEARNED_READS:
        raise BindingError(
            f"score_mod: expected at most {MAX_LEARNED_READS} reads of elements where these have gradients, got {reads}; a product "
            "of rows that belong to query and key is that of query and key with these rows appended"
        )


def recorded(traced: Optional[Traced], query: Tensor) -> tuple[str, list[Tensor]]:
    """As the op takes it; arrays of other libraries go to query's device."""
    return ("", []) if traced is None else (traced.record, [torch.as_tensor(a, device=query.device) for a in traced.arrays])


def called_attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: fx.GraphModule, block_mask: tuple, scale: float,
    kernel_options: dict[str, Any], score_reads: tuple = (), mask_reads: tuple = (),
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """What a graph of torch.compile or torch.export calls for flex_attention (torch.ops.higher_order.flex_attention): output,
    LSE to the base 2, and no maxima of scores."""
    if kernel_options.get("OUTPUT_MAX"):
        refuse_max_scores("return_aux")
    score, mask = regions_of(query, key, score_mod, block_mask, score_reads, mask_reads)
    output, lse = attend(query, key, value, score, mask, float(scale))
    return output, lse / math.log(2), lse.new_empty(0)


def regions_of(
    query: Tensor, key: Tensor, score_mod: fx.GraphModule, block_mask: tuple, score_reads: tuple, mask_reads: tuple
) -> tuple[Optional[Score], Optional[Mask]]:
    """Of a graph's call; None for one that changes nothing. The block mask is the tuple that torch makes of one: lengths, four
    lists of blocks of keys, eight that the backward of torch has, the sizes of blocks, and mask_mod."""
    sizes = (*query.shape[:3], key.shape[2])
    score = Score(traced_subgraph(score_mod, score_reads, sizes, query.device, query.dtype == torch.float64))
    *lists, rows, keys, mask_mod = block_mask
    mask = Mask(traced_subgraph(mask_mod, mask_reads, sizes, query.device))
    if max(rows, keys) < ONE_BLOCK:
        mask = blocks_of(*lists[2:6], block=(int(rows), int(keys)), mask_mod=None if mask.text == ALL_SEEN.text else mask)
    return None if score.text == UNCHANGED.text else score, None if mask.text == ALL_SEEN.text else mask


#: What torch's graphs have where the user gives no function.
UNCHANGED, ALL_SEEN = Score(lambda s, *_: s), Mask(lambda *_: True)


def options_of(
    query: Tensor, score: str, score_reads: Sequence[Tensor], mask: str, mask_reads: Sequence[Tensor], scale: Optional[float],
    normalization: str,
) -> dict[str, Any]:  # fmt: skip
    """The op's arguments as those of attn_mlir.attention."""
    return {
        "normalization": normalization,
        "score_mod": Score.from_record(score, score_reads) if score else None,
        "mask_mod": Mask.from_record(mask, mask_reads) if mask else None,
        "scale": scale,
        "allow_tf32": query.is_cuda and torch.backends.cuda.matmul.allow_tf32,
    }


@torch.library.custom_op("attn_mlir::flex_attention", mutates_args=())
def flex_attention_op(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score: str,
    score_reads: Sequence[Tensor],
    mask: str,
    mask_reads: Sequence[Tensor],
    scale: Optional[float],
    normalization: str,
) -> tuple[Tensor, Tensor]:
    """attn_mlir.attention as an op: (output [B, Hq, M, Dv], lse [B, Hq, M]). `score` and `mask` are records of a Score and a
    Mask, or empty, and what follows each are the tensors that it reads. The lse is empty with normalization "none"."""
    return computed(query, key, value, score, score_reads, mask, mask_reads, scale, normalization)


def computed(query, key, value, score, score_reads, mask, mask_reads, scale, normalization, **more: Any) -> tuple[Tensor, Tensor]:
    """The op by a kernel, with `more` arguments of attn_mlir.attention."""
    options = {**options_of(query, score, score_reads, mask, mask_reads, scale, normalization), **more}
    arrays = map(readable, (query, key, value))
    if normalization == "softmax":
        return functional.attention(*arrays, return_lse=True, **options)
    return functional.attention(*arrays, **options), query.new_empty(0, dtype=lse_dtype(query.dtype))


@flex_attention_op.register_fake
def _(query, key, value, score, score_reads, mask, mask_reads, scale, normalization):
    rows = query.shape[:3] if normalization == "softmax" else (0,)
    lse = query.new_empty(rows, dtype=lse_dtype(query.dtype))
    return query.new_empty((*query.shape[:3], value.shape[3])), lse


@torch.library.custom_op("attn_mlir::flex_attention_backward", mutates_args=())
def flex_attention_backward_op(
    d_output: Tensor,
    d_lse: Optional[Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    lse: Tensor,
    score: str,
    score_reads: Sequence[Tensor],
    mask: str,
    mask_reads: Sequence[Tensor],
    scale: Optional[float],
    normalization: str,
    capture_gradients: bool,
) -> list[Tensor]:
    """d_query, d_key, d_value and, if asked for, the gradients of those `score_reads` that have one, in their order."""
    q, k, v = (readable(t) for t in (query, key, value))
    o, row_lse = (readable(output), lse.contiguous()) if normalization == "softmax" else (None, None)
    results = functional.attention_backward(
        q, k, v, o, row_lse, readable(d_output),
        d_lse=d_lse.to(lse.dtype).contiguous() if d_lse is not None and row_lse is not None else None,
        capture_gradients=capture_gradients, deterministic=torch.are_deterministic_algorithms_enabled(),
        **options_of(query, score, score_reads, mask, mask_reads, scale, normalization),
    )  # fmt: skip
    return list(results)


@flex_attention_backward_op.register_fake
def _(
    d_output, d_lse, query, key, value, output, lse, score, score_reads, mask, mask_reads, scale, normalization, capture_gradients,
):  # fmt: skip
    learned = [t for t in score_reads if capture_gradients and t.dtype in DIFFERENTIABLE]
    return [t.new_empty(t.shape) for t in (query, key, value, *learned)]


def setup_context(ctx, inputs, output):
    query, key, value, ctx.score, score_reads, ctx.mask, mask_reads, ctx.scale, ctx.normalization = inputs
    ctx.reads = len(score_reads), len(mask_reads)
    ctx.save_for_backward(query, key, value, *output, *score_reads, *mask_reads)
    ctx.set_materialize_grads(False)


def backward(ctx, d_output, d_lse):
    scores, masks = ctx.reads
    *gradients, d_reads = gradients_of(ctx, d_output, d_lse, ctx.needs_input_grad[4])
    return *gradients, None, d_reads, None, [None] * masks, None, None


def gradients_of(ctx, d_output, d_lse, is_needed: Sequence[bool]) -> tuple:
    """d_query, d_key, d_value, and a list for the tensors that score_mod reads."""
    query, key, value, output, lse, *reads = ctx.saved_tensors
    scores = ctx.reads[0]
    score_reads, mask_reads = reads[:scores], reads[scores:]
    if d_output is None and d_lse is None:
        return None, None, None, [None] * scores
    d_output = torch.zeros_like(output) if d_output is None else d_output
    is_learned = [t.dtype in DIFFERENTIABLE for t in score_reads]
    has_learned = any(needed and learned for needed, learned in zip(is_needed, is_learned))
    fixed = (ctx.score, ctx.mask, ctx.scale, ctx.normalization, has_learned, scores)
    call_backward = FlatBackward.apply if has_transforms() else flat_backward
    results = call_backward(d_output, d_lse, query, key, value, output, lse, *fixed, *score_reads, *mask_reads)
    gradients = iter(results[3:])
    return *results[:3], [next(gradients) if has_learned and learned else None for learned in is_learned]


flex_attention_op.register_autograd(backward, setup_context=setup_context)
flex_attention_backward_op.register_autograd(refuse_second_derivatives, setup_context=save_nothing)
register_vmap(flex_attention_op)
register_vmap(flex_attention_backward_op)


def flat_forward(query, key, value, score, mask, scale, normalization, scores, *reads):
    """The op with the tensors that are read, those of the score first, behind its other arguments."""
    return flex_attention_op(query, key, value, score, reads[:scores], mask, reads[scores:], scale, normalization)


def flat_setup_context(ctx, inputs, output):
    query, key, value, score, mask, scale, normalization, scores, *reads = inputs
    setup_context(ctx, (query, key, value, score, reads[:scores], mask, reads[scores:], scale, normalization), output)


def flat_gradients(ctx, d_output, d_lse):
    scores, masks = ctx.reads
    *gradients, d_reads = gradients_of(ctx, d_output, d_lse, ctx.needs_input_grad[8 : 8 + scores])
    return *gradients, *[None] * 5, *d_reads, *[None] * masks


def flat_backward(d_output, d_lse, query, key, value, output, lse, score, mask, scale, normalization, has_learned, scores, *reads):
    return tuple(flex_attention_backward_op(
        d_output, d_lse, query, key, value, output, lse, score, reads[:scores], mask, reads[scores:], scale, normalization, has_learned
    ))  # fmt: skip


Flat = function_of(flat_forward, flat_setup_context, flat_gradients)
FlatBackward = function_of(flat_backward, save_nothing, refuse_second_derivatives)
