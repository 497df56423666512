# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoding over a cache whose keys are spread over ranks (Infinite-LLM, arXiv 2401.02669): queries are everywhere, or go
everywhere, each rank attends to the keys that it has, and partial results travel, which are small beside keys."""

from __future__ import annotations

import itertools
from typing import Any, Optional

from .. import paged
from ..arrays import type_of
from ..errors import BindingError
from .calls import merge
from .communicator import Communicator, agree_on
from .plan import PlanError
from .tokens import Library, size_of, split


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
    return_lse: bool = False,
    **options: Any,
) -> Any:
    """attn_mlir.decode of one token of each sequence over the keys of all ranks.

    Arguments:
      query: [B, Hq, 1, D], the same on all ranks, of NumPy or torch; with `own_queries` those of this rank's sequences, none too.
      k_pool, v_pool, table, lengths: this rank's pages, and how many keys it has of each sequence, 0 too, as of attn_mlir.decode.
        Which rank has which keys is free, for a token sees all of them.
      communicator: of the ranks, all of which call this. Each sends every other one B Hq (Dv + 1) numbers of f32, or f64.
      own_queries: each rank has sequences of its own, those of rank 0 first in `table` and `lengths`, which have all. Their queries
        go to every rank, and partial results return to the owner alone: of b of B sequences a rank sends b Hq D numbers
        of query's type to each other one, and of the others' B - b it sends Hq (Dv + 1) numbers of f32 back.
      sink, soft_cap, scale: as of attn_mlir.decode, the same on all ranks.
      options: target, device and cache of attn_mlir.decode.

    Returns output [B, Hq, 1, Dv], or (output, lse), of the sequences of `query`: the same bits on all ranks, since parts are merged
    in the order of ranks.
    Raises what attn_mlir.decode does; a PlanError on all ranks where arrays do not fit on one, or types or options differ; a
    DeviceError where a rank does not come.
    """
    options_of_all = {"sink": sink is not None, "soft_cap": soft_cap, "scale": scale}
    agree_on(communicator, lambda: facts(query, k_pool, v_pool, options_of_all, len(table) if own_queries else None))
    library, rank = Library(query), communicator.rank
    counts = count_sequences(communicator, len(query), len(table)) if own_queries else None
    part = paged.decode(
        query if counts is None else gather(communicator, query, counts), k_pool, v_pool, table, lengths, causal=False,
        sink=sink if rank == 0 else None, soft_cap=soft_cap, scale=scale, return_lse=True, result_dtype=score_type(query), **options,
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


def facts(query: Any, k_pool: Any, v_pool: Any, options: dict[str, Any], rows: Optional[int]) -> str:
    """What all ranks have alike; raises an error where arrays do not fit. `rows` are the table's, where queries are not alike."""
    (dtype, shape), (_, k_shape), (_, v_shape) = (type_of(a, n) for a, n in ((query, "query"), (k_pool, "k_pool"), (v_pool, "v_pool")))
    if len(shape) != 4 or shape[2] != 1:
        raise BindingError(f"query: expected [batch, heads, 1, head dim], one token of each sequence, got {list(shape)}")
    alike = [*shape] if rows is None else [rows, *shape[1:]]
    return f"decode {dtype} {alike} {[*k_shape[1:2], *k_shape[3:], *v_shape[3:]]} {sorted(options.items())}"
