# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of one long sequence under jax.shard_map, by a plan of attn_mlir.distributed, with gradients.

    plan = make_plan(ranks=8, tokens=65536, heads=32, key_heads=8, causal=True)
    query, key, value = (to_ranks(plan, x) for x in (query, key, value))       # [B, H, 8 * longest, D]
    spec = PartitionSpec(None, None, "ranks")
    call = jax.shard_map(functools.partial(attention, plan=plan, axis_name="ranks"), mesh=mesh, in_specs=spec, out_specs=spec)
    output = from_ranks(plan, call(query, key, value))

Sizes are static under XLA: each rank has as many tokens as the one with most, and messages are as long as the longest.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, Optional

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..distributed import plan as plans
from ..distributed.plan import BLOCKS, Plan, PlanError
from ..distributed.ranges import Ranges, count, intersect
from ..errors import BindingError
from ..mask.tracing import Traced
from .attention import attention as attention_on_one

__all__ = ["Plan", "PlanError", "attention", "from_ranks", "make_plan", "to_ranks"]

#: Where there is no token.
NONE = -1


def make_plan(**arguments: Any) -> Plan:
    """As attn_mlir.distributed.make_plan, among plans that move keys."""
    return plans.make_plan(**{"head_shards": 1, **arguments})


class Tables(NamedTuple):
    """By rank: positions of its tokens, and of the keys that it sees; which of its tokens go to each rank; where the keys that it
    sees are among what arrives from all ranks, and then its own. NONE behind what there is."""

    rows: np.ndarray
    keys: np.ndarray
    send: np.ndarray
    order: np.ndarray


def tokens_of(ranges: Ranges) -> list[int]:
    return [token for begin, end in ranges for token in range(begin, end)]


def padded(lists: list[list[int]]) -> np.ndarray:
    longest = max([1, *map(len, lists)])
    return np.array([numbers + [NONE] * (longest - len(numbers)) for numbers in lists], np.int32)


@functools.lru_cache(maxsize=16)
def tables_of(plan: Plan) -> Tables:
    if plan.head_shards > 1 or plan.moves_queries:
        raise PlanError(f"expected a plan that moves keys, with head_shards 1, got {plan.scheme}: pass head_shards=1 to make_plan")
    rows = [tokens_of(rank.rows) for rank in plan.ranks]
    places = [{token: place for place, token in enumerate(tokens)} for tokens in rows]
    moved = [
        [intersect(receiver.keys, sender.rows) if receiver is not sender else () for receiver in plan.ranks] for sender in plan.ranks
    ]
    length = max([1, *(count(ranges) for line in moved for ranges in line)])
    send = np.full((plan.size, plan.size, length), NONE, np.int32)
    order = []
    for receiver, rank in enumerate(plan.ranks):
        arrived = {token: plan.size * length + place for token, place in places[receiver].items()}
        for sender in range(plan.size):
            tokens = tokens_of(moved[sender][receiver])
            send[sender, receiver, : len(tokens)] = [places[sender][token] for token in tokens]
            arrived.update((token, sender * length + k) for k, token in enumerate(tokens))
        order.append([arrived[token] for token in tokens_of(rank.keys)])
    return Tables(padded(rows), padded([tokens_of(rank.keys) for rank in plan.ranks]), send, padded(order))


def to_ranks(plan: Plan, array: Any, axis: int = 2) -> Array:
    """The tokens of the whole along `axis` in the order of ranks, each of which has as many: zeros behind its own."""
    rows = tables_of(plan).rows.reshape(-1)
    taken = jnp.take(jnp.asarray(array), np.maximum(rows, 0), axis)
    shape = [1] * taken.ndim
    shape[axis] = len(rows)
    return jnp.where((rows != NONE).reshape(shape), taken, jnp.zeros((), taken.dtype))


def from_ranks(plan: Plan, array: Any, axis: int = 2) -> Array:
    """The whole again."""
    rows = tables_of(plan).rows.reshape(-1)
    places = np.zeros(plan.tokens, np.int32)
    places[rows[rows != NONE]] = np.flatnonzero(rows != NONE)
    return jnp.take(jnp.asarray(array), places, axis)


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    plan: Plan,
    axis_name: str,
    mask_mod: Optional[Callable[..., Any]] = None,
    score_mod: Optional[Callable[..., Any]] = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    return_lse: bool = False,
    target: Optional[str] = None,
    allow_tf32: bool = False,
    deterministic: bool = False,
) -> Any:
    """A rank's part of attention over all tokens, within shard_map over the axis `axis_name` of as many devices as the plan has
    ranks; with gradients.

    Arguments are this rank's part of what `to_ranks` gives, [B, H, tokens, D]. The plan says who has which tokens, whose keys a
    rank sees, and its mask; keys go in one exchange to who sees them, whatever its scheme, and the sums of dK and dV come back in
    f32. mask_mod and score_mod are functions of jax.numpy, of the batch, the head and positions in the whole; a mask_mod holds
    beside the plan's mask. Other options are those of attn_mlir.jax.attention. Rows behind the rank's tokens are 0.
    """
    tables = tables_of(plan)
    check(plan, axis_name, (query, key, value), tables, mask_mod)
    rank = jax.lax.axis_index(axis_name)
    rows, keys, send, order = (jnp.asarray(table)[rank] for table in tables)
    key, value = (exchange(array, send, order, axis_name) for array in (key, value))
    ids = np.zeros(plan.tokens, np.int32)
    for number, (begin, end) in enumerate(plan.documents):
        ids[begin:end] = number
    row_ids, key_ids = (jnp.asarray(ids)[jnp.maximum(tokens, 0)] for tokens in (rows, keys))
    left, right = plan.band

    def sees(b, h, i, j):
        row, column = rows[i], keys[j]
        result = (row >= 0) & (column >= 0)
        result = result if right is None else result & (column <= row + right)
        result = result if left is None else result & (column >= row - left)
        result = result if len(plan.documents) < 2 else result & (row_ids[i] == key_ids[j])
        return result if mask_mod is None else result & mask_mod(b, h, row, column)

    changed = None if score_mod is None else lambda s, b, h, i, j: score_mod(s, b, h, rows[i], keys[j])
    return attention_on_one(
        query, key, value, mask_mod=sees, score_mod=changed, soft_cap=soft_cap, scale=scale, return_lse=return_lse, target=target,
        allow_tf32=allow_tf32, deterministic=deterministic,
    )  # fmt: skip


def check(plan: Plan, axis_name: str, arrays: Any, tables: Tables, mask_mod: Any):
    ranks = jax.lax.axis_size(axis_name)
    if ranks != plan.size:
        raise PlanError(f"expected a plan for {ranks} ranks, as axis {axis_name} has, got one for {plan.size}")
    for name, array in zip(("query", "key", "value"), arrays):
        if array.ndim != 4 or array.shape[2] != tables.rows.shape[1]:
            raise BindingError(f"{name}: expected [batch, heads, {tables.rows.shape[1]}, head dim], as to_ranks gives, got {list(array.shape)}")
    if plan.mask_text == BLOCKS and mask_mod is None:
        raise PlanError("expected the mask_mod that the plan was made for, got none")
    if isinstance(mask_mod, Traced):
        raise BindingError("expected a mask_mod of jax.numpy, got a mask of attn_mlir.mask")


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def exchange(array: Array, send: Array, order: Array, axis_name: str) -> Array:
    """The keys that the rank sees, ascending, of [B, H, its tokens, D] on all ranks."""
    return moved(array, send, order, axis_name)


def moved(array: Array, send: Array, order: Array, axis_name: str) -> Array:
    ranks, length = send.shape
    parts = jnp.take(array, jnp.maximum(send, 0).reshape(-1), 2)
    parts = parts.reshape(*array.shape[:2], ranks, length, array.shape[3])
    arrived = jax.lax.all_to_all(parts, axis_name, 2, 2)
    arrived = arrived.reshape(*array.shape[:2], ranks * length, array.shape[3])
    return jnp.take(jnp.concatenate([arrived, array], 2), jnp.maximum(order, 0), 2)


def exchange_forward(array: Array, send: Array, order: Array, axis_name: str):
    return exchange(array, send, order, axis_name), (jnp.zeros((0,), array.dtype), array.shape, send, order)


def exchange_backward(axis_name: str, saved: Any, gradient: Array):
    """Sums are in f32. What stands behind the keys has no gradient, since no row sees it."""
    like, shape, send, order = saved
    wide = jnp.promote_types(like.dtype, jnp.float32)
    back = jax.linear_transpose(lambda x: moved(x, send, order, axis_name), jax.ShapeDtypeStruct(shape, wide))
    (result,) = back(gradient.astype(wide))
    return result.astype(like.dtype), None, None


exchange.defvjp(exchange_forward, exchange_backward)
