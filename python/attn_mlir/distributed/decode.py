# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoding over a cache whose keys are spread over ranks (Infinite-LLM, arXiv 2401.02669): queries are everywhere, or go
everywhere, each rank attends to the keys that it has, and partial results travel, which are small beside keys."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence

from .. import paged
from ..arrays import type_of
from ..checks import Window, sides_of
from ..errors import BindingError, described
from ..functional import mask_at_end
from ..mask import trace_mask, trace_score
from ..mask.positions import SpreadKeys
from ..mask.tracing import Mask, Score, Traced
from .calls import merge
from .communicator import Communicator, agree_on
from .plan import PlanError
from .tokens import Library, size_of, split

#: Options of attn_mlir.decode that mean on a rank's keys what they mean on all.
OPTIONS = (
    "k_new", "v_new", "slots", "k_scale", "v_scale", "qk_norm", "qk_norm_epsilon", "rotary", "rotary_interleaved", "rotary_positions", "head_map", "target", "device",
    "allow_tf32", "fixed_split_size", "num_splits", "disable_split_kv", "balance", "invariance", "device_asserts", "cache",
)  # fmt: skip
#: Why another is not one here.
REFUSED = {
    "causal": "a token sees all keys of its sequence",
    "return_lse": "it is an argument of its own",
    "result_dtype": "partial results have that of scores",
    "out": "results are those of the merge",
}


def decode(
    query: Any,
    k_pool: Any,
    v_pool: Any,
    table: Any,
    lengths: Any,
    *,
    communicator: Communicator,
    own_queries: bool = False,
    sink: Any = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    window: Window = None,
    mask_mod: Any = None,
    score_mod: Any = None,
    positions: Any = None,
    total_lengths: Any = None,
    return_lse: bool = False,
    **options: Any,
) -> Any:
    """attn_mlir.decode of one token of each sequence over the keys of all ranks.

    Arguments:
      query: [B, Hq, 1, D], the same on all ranks, of NumPy or torch; with `own_queries` those of this rank's sequences, none too.
      k_pool, v_pool, table, lengths: this rank's pages, and how many keys it has of each sequence, 0 too, as of attn_mlir.decode.
        Which rank has which keys is free.
      communicator: of the ranks, all of which call this. Each sends every other one B Hq (Dv + 1) numbers of f32, or f64.
      own_queries: each rank has sequences of its own, those of rank 0 first in `table` and `lengths`, which have all. Their queries
        go to every rank, and partial results return to the owner alone: of b of B sequences a rank sends b Hq D numbers
        of query's type to each other one, and of the others' B - b it sends Hq (Dv + 1) numbers of f32 back.
      sink, soft_cap, scale: as of attn_mlir.decode, the same on all ranks.
      window, mask_mod, score_mod: as of attn_mlir.decode on the whole cache, the same on all ranks: j is a position in the whole sequence, and
        attn_mlir.mask.key_length() its length; i is 0, the token, whose position is key_length() - 1. They need positions and total_lengths.
      positions: [B, columns * page size], i32 or i64: where this rank's key j of sequence b is in the whole sequence, in the order of the table; what stands behind
        lengths[b] has no influence.
      total_lengths: [B], i32 or i64: keys of the sequences on all ranks together, the same on all ranks.
      options: of attn_mlir.decode, of this rank's keys: target, device, cache, allow_tf32, k_new, v_new, slots, k_scale, v_scale, head_map, qk_norm, rotary with
        rotary_positions, and how a GPU's kernels divide keys. Others are an error.

    Returns output [B, Hq, 1, Dv], or (output, lse), of the sequences of `query`: the same bits on all ranks, since parts are merged
    in the order of ranks.
    Raises what attn_mlir.decode does; a PlanError on all ranks where arrays do not fit on one, or types or options differ; a
    DeviceError where a rank does not come.
    """
    rules = Rules(window, mask_mod, score_mod, positions, total_lengths)
    options_of_all = {"sink": sink is not None, "soft_cap": soft_cap, "scale": scale}
    agree_on(communicator, lambda: facts(query, (k_pool, v_pool, table), {**options_of_all, **rules.facts(k_pool, table)}, len(table) if own_queries else None, options))
    library, rank = Library(query), communicator.rank
    counts = count_sequences(communicator, len(query), len(table)) if own_queries else None
    part = paged.decode(
        query if counts is None else gather(communicator, query, counts), k_pool, v_pool, table, lengths, causal=False,
        sink=sink if rank == 0 else None, soft_cap=soft_cap, scale=scale, mask_mod=rules.mask(), score_mod=rules.score(), return_lse=True,
        result_dtype=score_type(query), **options,
    )  # fmt: skip
    if counts is None:
        parts = [library.flatten(part)] * communicator.size
    else:
        ends = list(itertools.accumulate(counts))
        parts = [library.flatten([array[end - count : end] for array in part]) for end, count in zip(ends, counts)]
    shapes = [(len(query), *array.shape[1:]) for array in part]
    received = communicator.exchange(parts, [sum(map(size_of, shapes))] * communicator.size)()
    output, lse = split(received[0], shapes)
    for other in received[1:]:
        output, lse = merge(library, (output, lse), tuple(split(other, shapes)))
    output = library.convert(output, query.dtype)
    return (output, lse) if return_lse else output


def count_sequences(communicator: Communicator, own: int, rows: int) -> list[int]:
    """How many each rank has; raises a PlanError on all where the table has not as many rows."""
    counts = [int(count) for count in communicator.agree(str(own))]
    if sum(counts) != rows:
        raise PlanError(f"table: expected {sum(counts)} rows, as many as ranks have queries, got {rows}")
    return counts


def gather(communicator: Communicator, query: Any, counts: list[int]) -> Any:
    """The queries of all ranks."""
    library, rest = Library(query), tuple(query.shape[1:])
    received = communicator.exchange([library.flatten([query])] * len(counts), [count * size_of(rest) for count in counts])()
    return library.concatenate([flat.reshape((count, *rest)) for flat, count in zip(received, counts)], 0)


def score_type(query: Any) -> str:
    return "f64" if type_of(query, "query")[0] == "f64" else "f32"


class Rules(NamedTuple):
    """What a token sees of its sequence, and how it counts, by positions in the whole of it."""

    window: Window
    mask_mod: Any
    score_mod: Any
    positions: Any
    total_lengths: Any

    def facts(self, k_pool: Any, table: Any) -> dict[str, Any]:
        """What all ranks have alike; raises an error where positions are missing or do not fit."""
        given = {name: getattr(self, name) for name in ("window", "mask_mod", "score_mod") if getattr(self, name) is not None}
        for name, value in given.items():
            if self.positions is None or self.total_lengths is None:
                raise BindingError(f"{name}: expected positions and total_lengths with it, since keys of a rank are not at their positions in the sequence, got {described(value)}")
        self.check_positions(k_pool, table)
        sides = {} if self.window is None else {"window": sides_of(self.window)}
        traces: tuple[tuple[str, Callable[[Any], Traced]], ...] = (("mask_mod", trace_mask), ("score_mod", trace_score))
        return {**sides, **{name: trace(given[name]).record for name, trace in traces if name in given}}

    def check_positions(self, k_pool: Any, table: Any):
        """Types and shapes, as the table has them."""
        is_pair = isinstance(table, (tuple, list))
        shapes = [tuple(type_of(array, name)[1]) for array, name in ((table[0] if is_pair else table, "table"), (k_pool, "k_pool"))]
        batch = type_of(table[1], "indptr")[1][0] - 1 if is_pair else shapes[0][0]
        for name, array, wanted in (("positions", self.positions, (batch, shapes[0][-1] * shapes[1][2])), ("total_lengths", self.total_lengths, (batch,))):
            if array is None:
                continue
            dtype, shape = type_of(array, name)
            if dtype not in ("i32", "i64") or tuple(shape) != wanted:
                raise BindingError(f"{name}: expected i32 or i64 of {wanted}, got {dtype} of {tuple(shape)}")

    def mask(self) -> Optional[Mask]:
        """Of this rank's keys."""
        whole = mask_at_end(self.window, self.mask_mod)
        return None if whole is None else SpreadKeys(self.positions, self.total_lengths).mask(whole)

    def score(self) -> Optional[Score]:
        return None if self.score_mod is None else SpreadKeys(self.positions, self.total_lengths).score(self.score_mod)


def check_options(options: Mapping[str, Any]):
    """Raises a BindingError for one that would mean another thing on some keys than on all."""
    for name, value in options.items():
        if name not in OPTIONS:
            reason = REFUSED.get(name, f"there are {', '.join(OPTIONS)}")
            raise BindingError(f"expected no {name} on several ranks, got {described(value)}: {reason}")
    if options.get("rotary") is not None and options.get("rotary_positions") is None:
        raise BindingError("expected rotary_positions with rotary on several ranks: a rank's keys do not say where the token is")


def facts(query: Any, cache: Sequence[Any], options: dict[str, Any], rows: Optional[int], own_options: Mapping[str, Any]) -> str:
    """What all ranks have alike; raises an error where arrays or this rank's own options do not fit. `cache` are keys, values and the table; `rows` are the table's,
    where queries are not alike."""
    check_options(own_options)
    names = ("query", "k_pool", "v_pool")
    (dtype, shape), (_, k_shape), (_, v_shape) = (type_of(array, name) for array, name in zip((query, *cache), names))
    if len(shape) != 4 or shape[2] != 1:
        raise BindingError(f"query: expected [batch, heads, 1, head dim], one token of each sequence, got {list(shape)}")
    alike = [*shape] if rows is None else [rows, *shape[1:]]
    return f"decode {dtype} {alike} {[*k_shape[1:2], *k_shape[3:], *v_shape[3:]]} {sorted(options.items())}"
