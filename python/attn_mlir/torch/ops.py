# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops attn_mlir::attention and attn_mlir::attention_backward, and the functions that call them."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Union

import torch
from torch import Tensor
from torch.autograd import forward_ad

from .. import checks, functional, prepared
from ..arrays import ArrayView, type_of
from ..errors import BindingError
from ..heads import HEAD_MAPS, head_map_arrays
from ..mask import Mask, tensor
from ..problem import bias_shape
from ..rows import RowChanges
from .outputs import changed_output, traced_output
from .transforms import call, function_of, has_transforms, is_plain, is_watched, refuse_forward_mode, refuse_second_derivatives, register_vmap, save_nothing


def options_of(
    mask: Optional[Tensor], causal: str, window: Sequence[int], soft_cap: float, scale: Optional[float],
    dropout: float, random: Optional[Tensor], maps: Sequence[Optional[Tensor]], query: Tensor, key: Tensor,
) -> dict[str, Any]:  # fmt: skip
    """The ops' arguments as those of attn_mlir.attention."""
    if mask is not None:
        if mask.dtype != torch.bool:
            raise BindingError(f"mask: expected dtype bool, got {mask.dtype}")
        bias_shape(mask.shape, (*query.shape[:3], key.shape[2]), "mask")
    rows = with_contiguous_rows(mask)
    return {
        "dropout": dropout,
        **({} if random is None else {"seed": random[0], "offset": random[1]}),
        "causal": causal or False,
        "window": (window[0], window[1]) if window else None,
        "soft_cap": soft_cap or None,
        "scale": scale,
        "mask_mod": mask_of(rows) if rows is not None else None,
        "allow_tf32": query.is_cuda and torch.backends.cuda.matmul.allow_tf32,
        "head_map": [t.contiguous() for t in maps if t is not None] or None,
    }


def mask_of(mask: Tensor) -> Mask:
    """Of a bool tensor of rank 4 that broadcasts to [B, Hq, M, N]."""
    seen, sizes = tensor(mask), mask.shape
    return Mask(lambda *at: seen[tuple(0 if size == 1 else p for size, p in zip(sizes, at))])


def readable(t: Tensor) -> Tensor:
    """The tensor, or a copy where a kernel would not take its strides: head dims are contiguous, rows aligned to 16 bytes."""
    if not t.is_cuda:
        return t if t.shape[-1] <= 1 or t.stride(-1) == 1 else t.contiguous()
    unit = max(1, 16 // t.element_size())
    aligned = all(stride % unit == 0 for size, stride in zip(t.shape[:-1], t.stride()) if size > 1)
    fits = t.shape[-1] <= 1 or t.stride(-1) == 1
    return t if fits and aligned and t.data_ptr() % 16 == 0 else t.contiguous()


def with_contiguous_rows(t: Optional[Tensor]) -> Optional[Tensor]:
    """For biases and masks, which kernels read element by element."""
    return t if t is None or t.shape[-1] <= 1 or t.stride(-1) == 1 else t.contiguous()


@torch.library.custom_op("attn_mlir::attention", mutates_args=())
def attention_op(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Optional[Tensor],
    mask: Optional[Tensor],
    sink: Optional[Tensor],
    causal: str,
    window: Sequence[int],
    soft_cap: float,
    scale: Optional[float],
    dropout: float,
    random: Optional[Tensor],
    key_heads: Optional[Tensor] = None,
    value_heads: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor]:
    """attn_mlir.attention as an op: (output [B, Hq, M, Dv], lse [B, Hq, M]). `bias` and the bool `mask` have rank 4;
    `sink` is [Hq]; `causal` is "", "top_left" or "bottom_right"; `window` is empty or (left, right); a soft_cap of 0 is none;
    `random` [2] (int64) is seed and offset of dropout, None with a rate of 0; `key_heads` [Hq] are the heads of key, and of value
    where there are no `value_heads`."""
    return computed(query, key, value, bias, mask, sink, causal, window, soft_cap, scale, dropout, random, key_heads, value_heads)


def computed(
    query, key, value, bias, mask, sink, causal, window, soft_cap, scale, dropout, random, key_heads, value_heads, **more: Any
) -> tuple[Tensor, Tensor]:
    """The op by a kernel, with `more` arguments of attn_mlir.attention."""
    options = options_of(mask, causal, window, soft_cap, scale, dropout, random, (key_heads, value_heads), query, key)
    q, k, v = readable(query), readable(key), readable(value)
    return functional.attention(
        q, k, v, bias=with_contiguous_rows(bias), sink=with_contiguous_rows(sink), return_lse=True, **options, **more
    )


@attention_op.register_fake
def _(query, key, value, bias, mask, sink, causal, window, soft_cap, scale, dropout, random, key_heads=None, value_heads=None):
    lse = query.new_empty(query.shape[:3], dtype=lse_dtype(query.dtype))
    return query.new_empty((*query.shape[:3], value.shape[3])), lse


def lse_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


@torch.library.custom_op("attn_mlir::attention_backward", mutates_args=())
def attention_backward_op(
    d_output: Tensor,
    d_lse: Optional[Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Optional[Tensor],
    mask: Optional[Tensor],
    output: Tensor,
    lse: Tensor,
    causal: str,
    window: Sequence[int],
    soft_cap: float,
    scale: Optional[float],
    dropout: float,
    random: Optional[Tensor],
    bias_gradient: bool,
    key_heads: Optional[Tensor] = None,
    value_heads: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """attn_mlir.attention_backward as an op: d_query, d_key, d_value and d_bias, which is empty unless asked for."""
    options = options_of(mask, causal, window, soft_cap, scale, dropout, random, (key_heads, value_heads), query, key)
    q, k, v, o = (readable(t) for t in (query, key, value, output))
    results = functional.attention_backward(
        q, k, v, o, lse.contiguous(), readable(d_output),
        d_lse=d_lse.contiguous() if d_lse is not None else None, bias=with_contiguous_rows(bias), bias_gradient=bias_gradient,
        deterministic=torch.are_deterministic_algorithms_enabled(), **options,
    )  # fmt: skip
    return results if bias_gradient else (*results, query.new_empty(0))


@attention_backward_op.register_fake
def _(
    d_output, d_lse, query, key, value, bias, mask, output, lse,
    causal, window, soft_cap, scale, dropout, random, bias_gradient, key_heads=None, value_heads=None,
):  # fmt: skip
    d_bias = bias.new_empty(bias.shape) if bias_gradient else query.new_empty(0)
    return query.new_empty(query.shape), key.new_empty(key.shape), value.new_empty(value.shape), d_bias


def setup_context(ctx, inputs, output):
    query, key, value, bias, mask, sink, *ctx.options, random, key_heads, value_heads = inputs
    ctx.save_for_backward(query, key, value, bias, mask, sink, random, key_heads, value_heads, *output)
    ctx.set_materialize_grads(False)


def backward(ctx, d_output, d_lse):
    query, key, value, bias, mask, sink, random, key_heads, value_heads, output, lse = ctx.saved_tensors
    nothing = (None,) * 14
    if d_output is None and d_lse is None:
        return nothing
    d_output = torch.zeros_like(output) if d_output is None else d_output
    bias_gradient = ctx.needs_input_grad[3]
    d_query, d_key, d_value, d_bias = call(
        AttentionBackward, attention_backward_op,
        d_output, d_lse, query, key, value, bias, mask, output, lse, *ctx.options, random, bias_gradient,
        key_heads, value_heads,
    )  # fmt: skip
    d_sink = sink_gradient(sink, output, lse, d_output, d_lse) if ctx.needs_input_grad[5] else None
    return d_query, d_key, d_value, d_bias if bias_gradient else None, None, d_sink, *nothing[6:]


def sink_gradient(sink: Tensor, output: Tensor, lse: Tensor, d_output: Tensor, d_lse: Optional[Tensor]) -> Tensor:
    """[Hq]: a sink is a score whose key has no value."""
    share = torch.exp(sink.to(lse.dtype)[:, None] - lse)
    delta = (output.to(lse.dtype) * d_output).sum(-1)
    return -(share * (delta if d_lse is None else delta - d_lse)).sum((0, 2)).to(sink.dtype)


attention_op.register_autograd(backward, setup_context=setup_context)
attention_backward_op.register_autograd(refuse_second_derivatives, setup_context=save_nothing)
Attention = function_of(attention_op, setup_context, backward)
AttentionBackward = function_of(attention_backward_op, save_nothing, refuse_second_derivatives)
for op in (attention_op, attention_backward_op):
    arguments = [argument.name for argument in op._opoverload._schema.arguments]
    register_vmap(op, ("query", "key", "value", "output", "lse", "d_output", "d_lse"), arguments)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    causal: Union[bool, str] = False,
    window: Union[int, tuple[int, int], None] = None,
    bias: Optional[Tensor] = None,
    mask: Optional[Tensor] = None,
    sink: Optional[Tensor] = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    dropout: float = 0.0,
    head_map: Union[Tensor, Sequence[Tensor], None] = None,
    qk_norm: Optional[Sequence[Optional[Tensor]]] = None,
    qk_norm_epsilon: float = 1e-6,
    rotary: Optional[Sequence[Tensor]] = None,
    rotary_interleaved: bool = False,
    rotary_positions: Optional[Sequence[Optional[Tensor]]] = None,
    output_mod: Optional[Callable[..., Any]] = None,
    return_lse: bool = False,
) -> Union[Tensor, tuple[Tensor, Tensor]]:
    """attn_mlir.attention with gradients, of query, key, value, bias and sink, by output and LSE.

    query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N, Dv]; `causal`, `window`, `soft_cap` and `scale` as there;
    `bias` is added to the scores, `mask` (bool) says which keys are seen: both broadcast to [B, Hq, M, N] and have rank 4.
    `sink` [Hq] is one more score in each row of a head, of a key without a value. `dropout` is the rate at which
    probabilities are dropped, with a seed and an offset that torch's generator of the device gives. `head_map` [Hq], int32 or
    int64, is the head of key and value for each query head, or two such, of key and of value: Hkv need not divide Hq then.
    Under torch.autocast tensors are of its type.

    `qk_norm`, `rotary` and their options are those of attn_mlir.attention; output_mod(x, b, h, i, c) changes elements of the
    output, and is traced as flex_attention's score_mod is. One launch computes all where no gradient is recorded; else, and in
    torch.compile and torch.func, torch computes them around the kernel, rounding before the output_mod too, with gradients also
    of weights, tables and what output_mod reads.
    """
    signature = None
    if bias is mask is sink is head_map is qk_norm is rotary is rotary_positions is output_mod is None and dropout == 0.0:
        signature = prepared.plain_signature((query, key, value), causal, window, soft_cap, scale, True, ("attention",))
        known = prepared.find(signature)
        if known is not None and is_computed_alone(query, key, value):
            results = known.run(query, key, value)
            return results if return_lse else results[0]
    maps = head_map_arrays(head_map)
    rows = RowChanges(qk_norm, qk_norm_epsilon, rotary, rotary_interleaved, rotary_positions)
    rows.check_alone(head_map=head_map)
    for name, t in (("query", query), ("key", key), ("value", value)):
        if isinstance(t, Tensor) and t.dim() != 4:
            raise BindingError(f"{name}: expected [batch, heads, rows, head dim], got rank {t.dim()}")
    check_tensors(query=query, key=key, value=value, bias=bias, mask=mask, sink=sink, **maps)
    given = (query, key, value)
    query, key, value, bias, sink = as_autocast(query, key, value, bias, sink)
    changes = rows.arrays(query, key)
    check_tensors(query=query, **changes)
    if rows.is_some:
        rows.fields({name: spec_of(t, name) for name, t in (("query", query), ("key", key), *changes.items())})
    checks.check_options(causal, window, soft_cap, scale)
    named = causal if isinstance(causal, str) else "bottom_right" if causal else ""
    sides = [] if window is None else list(checks.sides_of(window))
    random = random_of(query, dropout)
    rest = (bias, mask, sink, named, sides, soft_cap or 0.0, scale, dropout, random, *(maps.get(name) for name in HEAD_MAPS))
    traced = None if output_mod is None else traced_output(output_mod, query, value)
    reads = traced.arrays if traced else ()
    if (rows.is_some or traced) and is_plain((query, key, value, *rest, *changes.values(), *reads)):
        output, lse = computed(query, key, value, *rest, output_mod=traced, **rows._asdict())
    else:
        turned = rows.apply(query, key, changes)
        output, lse = call(Attention, attention_op, *turned, value, *rest)
        output = output if traced is None else changed_output(output, output_mod)
    if not (rows.is_some or traced):
        remember(signature, given, (query, key, value), named, tuple(sides) or None, soft_cap, scale)
    return (output, lse) if return_lse else output


def spec_of(t: Tensor, name: str) -> ArrayView:
    """Its type and shape, known while tracing."""
    dtype, shape = type_of(t, name)
    return ArrayView(dtype, shape, (), 0, "cpu", 0, None)


def is_computed_alone(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether nothing but the kernel has to do with a call on tensors in host memory: no autocast, transform, gradient, mode or tracer."""
    if torch.is_grad_enabled() and (query.requires_grad or key.requires_grad or value.requires_grad):
        return False
    return not (is_watched() or has_transforms() or torch.is_autocast_enabled("cpu") or forward_ad._current_level >= 0)


def remember(signature: Any, given: Sequence[Tensor], passed: Sequence[Tensor], causal: str, window: Any, soft_cap: Any, scale: Any):
    """What the op's function has computed with, for calls of that signature of a function around it that passes on what it is given."""
    if signature is None or any([a is not b for a, b in zip(given, passed)]):
        return
    arguments = (causal or False, window, soft_cap or None, scale, True)
    prepared.remember(signature, prepared.find(prepared.plain_signature(passed, *arguments)))


def random_of(query: Tensor, dropout: float) -> Optional[Tensor]:
    """Seed and offset [2], from torch's generator; None where nothing is dropped."""
    if dropout == 0.0:
        return None
    return torch.randint(-(2**63), 2**63 - 1, (2,), dtype=torch.int64, device=query.device)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor] = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention: query [..., Hq, M, D], key [..., Hkv, N, D], value [..., Hkv, N, Dv].

    Ranks may differ: batch dims broadcast, and without enable_gqa heads do too. Under torch.autocast tensors are of its
    type. is_causal is aligned to the top left. A row whose every key is masked gives 0, not NaN. What dropout drops
    follows from torch's generator, though not as it does in torch; a dropout_p of 1 drops all.
    """
    signature = None
    if attn_mask is None and dropout_p == 0.0:
        signature = prepared.signature_of((query, key, value), ("sdpa", is_causal, scale, enable_gqa))
        known = prepared.find(signature)
        if known is not None and is_computed_alone(query, key, value):
            return known.run(query, key, value)[0]
    check_arguments(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa)
    given = (query, key, value)
    query, key, value, attn_mask = as_autocast(query, key, value, attn_mask)
    query, key, value = broadcast(query, key, value, enable_gqa)
    if dropout_p == 1 or 0 in query.shape[-3:-2]:
        return nothing_of(query, key, value)
    q, k, v = (with_rank_4(t) for t in (query, key, value))
    bias = mask = None
    if attn_mask is not None:
        if attn_mask.dim() > 4:
            attn_mask = attn_mask.expand(*query.shape[:-3], *attn_mask.shape[-3:])
        attn_mask = with_rank_4(attn_mask)
        bias, mask = (None, attn_mask) if attn_mask.dtype == torch.bool else (attn_mask, None)
    causal = "top_left" if is_causal else ""
    random = random_of(query, dropout_p)
    output, _ = call(Attention, attention_op, q, k, v, bias, mask, None, causal, [], 0.0, scale, dropout_p, random, None, None)
    remember(signature, given, (q, k, v), causal, None, None, scale)
    return output.reshape(*query.shape[:-1], value.shape[-1])


def broadcast(query: Tensor, key: Tensor, value: Tensor, gqa: bool) -> list[Tensor]:
    """With equal ranks and batch dims. Query has all heads; key and value have as many as each other, and one serves all."""
    if query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return [query, key, value]
    rank = max(t.dim() for t in (query, key, value))
    query, key, value = (t[(None,) * (rank - t.dim())] for t in (query, key, value))
    if rank == 2:
        return [query, key, value]
    if gqa:
        key, value = with_equal_heads(key, value) if key.shape[-3] != value.shape[-3] else (key, value)
        heads = [t.shape[-3] for t in (query, key, value)]
    else:
        most = max(key.shape[-3], value.shape[-3])
        heads = [max(most, query.shape[-3]), most, most]
        if 0 in (query.shape[-3], most):
            heads = [0, 0, 0]
    lead = torch.broadcast_shapes(*(t.shape[:-3] for t in (query, key, value)))
    shapes = [(*lead, h, *t.shape[-2:]) for h, t in zip(heads, (query, key, value))]
    return [t if t.shape == shape else t.expand(shape) for t, shape in zip((query, key, value), shapes)]


def nothing_of(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Zeros of the output's shape, with gradients that are zero."""
    zeros = query.new_zeros(*query.shape[:-1], value.shape[-1])
    return zeros + sum(torch.where(torch.tensor(False, device=t.device), t, 0).sum() for t in (query, key, value))


def with_equal_heads(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """As many as the one that has more; a number that divides no other is refused later."""
    most = max(key.shape[-3], value.shape[-3])
    key, value = (t.repeat_interleave(max(1, most // max(1, t.shape[-3])), -3) for t in (key, value))
    return key, value


def as_autocast(query: Tensor, *others: Optional[Tensor]) -> list[Any]:
    """The tensors as torch's own function has them under torch.autocast, which leaves float64 and masks of bool alone."""
    tensors, device = [query, *others], query.device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return tensors
    dtype = torch.get_autocast_dtype(device)
    cast = (torch.float16, torch.bfloat16, torch.float32)
    return [t.to(dtype) if t is not None and t.dtype in cast else t for t in tensors]


def check_tensors(**tensors: Any):
    """Dense tensors on one device; None where there is none of an option."""
    for name, t in tensors.items():
        if t is None and name not in ("query", "key", "value"):
            continue
        if not isinstance(t, Tensor):
            raise BindingError(f"{name}: expected a torch.Tensor, got {type(t).__name__}")
        if t.is_nested or t.layout != torch.strided:
            raise BindingError(f"{name}: expected a strided tensor, got {'a nested one' if t.is_nested else t.layout}")
        if t.device != tensors["query"].device:
            raise BindingError(f"{name}: expected a tensor on {tensors['query'].device}, as query, got one on {t.device}")
        refuse_forward_mode(name, t)


def check_arguments(query: Tensor, key: Tensor, value: Tensor, attn_mask, dropout_p: float, is_causal: bool, gqa: bool):
    if not 0 <= dropout_p <= 1:
        raise BindingError(f"expected dropout_p to be from 0 to 1, got {dropout_p}")
    if is_causal and attn_mask is not None:
        raise BindingError("expected is_causal or attn_mask, got both")
    check_tensors(query=query, key=key, value=value, attn_mask=attn_mask)
    tensors = {"query": query, "key": key, "value": value}
    for name, t in tensors.items():
        if t.dim() < 2:
            raise BindingError(f"{name}: expected a rank of at least 2, got {t.dim()}")
    batches = [tuple(t.shape[:-3]) for t in tensors.values()]
    if not do_broadcast(batches):
        raise BindingError(f"expected batch dims that broadcast, got {batches[0]}, {batches[1]} and {batches[2]}")
    heads = [t.shape[-3] if t.dim() > 2 else 1 for t in tensors.values()]
    if not gqa and not do_broadcast([(h,) for h in heads]):
        raise BindingError(f"expected heads that broadcast, or enable_gqa, got {heads[0]}, {heads[1]} and {heads[2]}")
    if attn_mask is None:
        return
    dtypes = {torch.bool: None, torch.float32: None, query.dtype: None}
    if attn_mask.dtype not in dtypes:
        raise BindingError(f"attn_mask: expected dtype {' or '.join(map(str, dtypes))}, got {attn_mask.dtype}")
    rank = max(4, *(t.dim() for t in tensors.values()))
    if attn_mask.dim() > rank:
        raise BindingError(f"attn_mask: expected a rank of at most {rank}, got {attn_mask.dim()}")


def do_broadcast(shapes: Sequence[Sequence[int]]) -> bool:
    """torch.compile's sizes have no hash, and an error of torch.broadcast_shapes would be one of its graph."""
    if all([shape == shapes[0] for shape in shapes]):
        return True
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    wide = [[size for size in sizes if size != 1] for sizes in zip(*padded)]
    return all(size == sizes[0] for sizes in wide for size in sizes)


def with_rank_4(t: Tensor) -> Tensor:
    """Leading dimensions are one; missing ones have size 1."""
    if t.dim() < 4:
        return t.reshape(*(1,) * (4 - t.dim()), *t.shape)
    return t.reshape(math.prod(t.shape[:-3]), *t.shape[-3:]) if t.dim() > 4 else t
