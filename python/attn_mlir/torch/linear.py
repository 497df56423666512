# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The op attn_mlir::linear_attention, whose gradients, first and further ones, are calls of itself."""

from __future__ import annotations

import math
from typing import Any, Optional, Union

import torch
from torch import Tensor

from .. import linear
from ..errors import BindingError
from ..checks import check_scale
from ..linear_gradients import STRIDE, Inputs, Library, gradients
from .ops import check_tensors, lse_dtype, readable
from .transforms import call, function_of, register_vmap

LIBRARY = Library(torch, lambda t, like: t.to(like.dtype), torch.Tensor.detach)


@torch.library.custom_op("attn_mlir::linear_attention", mutates_args=())
def linear_attention_op(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    decay: Optional[Tensor],
    state: Optional[Tensor],
    scale: float,
    reverse: bool,
    full: bool,
    wide: bool,
    needs_state: bool,
    needs_states: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """attn_mlir.linear_attention as an op: output [B, Hq, M, Dv], final state [B, Hq, D, Dv] and states [B, Hq, ceil(M / 64), D, Dv], which
    are empty unless needed; by states there is no gradient. A `wide` output is in the type of states."""
    q, k, v = readable(query), readable(key), readable(value)
    made = linear.linear_attention(
        q, k, v, decay=None if decay is None else decay.contiguous(), state=None if state is None else state.contiguous(),
        scale=scale, reverse=reverse, full=full, return_state=needs_state, return_states=needs_states,
        result_dtype=("f64" if query.dtype == torch.float64 else "f32") if wide else None,
    )  # fmt: skip
    results = list(made) if needs_state or needs_states else [made]
    return results.pop(0), results.pop(0) if needs_state else query.new_empty(0), results.pop(0) if needs_states else query.new_empty(0)


@linear_attention_op.register_fake
def _(query, key, value, decay, state, scale, reverse, full, wide, needs_state, needs_states):
    number = lse_dtype(query.dtype)
    output = query.new_empty((*query.shape[:3], value.shape[3]), dtype=number if wide else query.dtype)
    heads, shape, chunks = query.shape[:2], (query.shape[3], value.shape[3]), -(-query.shape[2] // STRIDE)
    state = query.new_empty((*heads, *shape), dtype=number) if needs_state else query.new_empty(0)
    return output, state, query.new_empty((*heads, chunks, *shape), dtype=number) if needs_states else query.new_empty(0)


def setup_context(ctx, inputs, output):
    *tensors, ctx.scale, ctx.reverse, ctx.full, _, ctx.needs_state, _ = inputs
    ctx.save_for_backward(*tensors)
    ctx.set_materialize_grads(False)


def backward(ctx, d_output, d_state, d_states):
    query, key, value, decay, state = ctx.saved_tensors
    nothing = (None,) * 11
    d_state = d_state if ctx.needs_state else None
    if d_output is None and d_state is None:
        return nothing
    if d_output is None:
        d_output = query.new_zeros((*query.shape[:3], value.shape[3]))

    def attend(q, k, v, first, goes_back, wide, *needs):
        reverse = not ctx.full and ctx.reverse != goes_back
        return call(Linear, linear_attention_op, q, k, v, decay, first, ctx.scale, reverse, ctx.full, wide, *needs)

    inputs = Inputs(query, key, value, decay, state, ctx.scale, ctx.reverse)
    wanted = ctx.needs_input_grad[3:5]
    return *gradients(LIBRARY, attend, inputs, d_output.to(query.dtype), d_state, *wanted), *nothing[5:]


linear_attention_op.register_autograd(backward, setup_context=setup_context)
Linear = function_of(linear_attention_op, setup_context, backward)
register_vmap(
    linear_attention_op, ("query", "key", "value"),
    [argument.name for argument in linear_attention_op._opoverload._schema.arguments],
)  # fmt: skip


def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    decay: Optional[Tensor] = None,
    state: Optional[Tensor] = None,
    scale: Optional[float] = None,
    reverse: bool = False,
    full: bool = False,
    return_state: bool = False,
) -> Union[Tensor, tuple[Tensor, Tensor]]:
    """attn_mlir.linear_attention with gradients, of query, key, value, decay and state, by output and final state, and theirs in turn.

    Feature maps are functions of torch on query and key, whose gradients torch has. A gradient of the output is rounded to query's type.
    """
    check_tensors(query=query, key=key, value=value, decay=decay, state=state)
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.dim() != 4:
            raise BindingError(f"{name}: expected [batch, heads, rows, head dim], got rank {t.dim()}")
    check_scale(scale)
    scale = 1 / math.sqrt(query.shape[3]) if scale is None else float(scale)
    inputs: tuple[Any, ...] = (query, key, value, decay, state, scale, reverse, full, False, return_state, False)
    output, last, _ = call(Linear, linear_attention_op, *inputs)
    return (output, last) if return_state else output
