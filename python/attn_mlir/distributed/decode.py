# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoding over a cache whose keys are spread over ranks (Infinite-LLM, arXiv 2401.02669): queries are everywhere, each rank
attends to the keys that it has, and partial results travel, which are small beside keys."""

from __future__ import annotations

from typing import Any, Optional

from .. import paged
from ..arrays import type_of
from ..errors import BindingError
from .calls import merge
from .communicator import Communicator, agree_on
from .tokens import Library, size_of, split


def decode(
    query: Any,
    k_pool: Any,
    v_pool: Any,
    table: Any,
    lengths: Any,
    *,
    communicator: Communicator,
    sink: Any = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    return_lse: bool = False,
    **options: Any,
) -> Any:
    """attn_mlir.decode of one token of each sequence over the keys of all ranks.

    Arguments:
      query: [B, Hq, 1, D], the same on all ranks, of NumPy or torch.
      k_pool, v_pool, table, lengths: this rank's pages, and how many keys it has of each sequence, 0 too, as of attn_mlir.decode.
        Which rank has which keys is free, for a token sees all of them.
      communicator: of the ranks, all of which call this. Each sends every other one B Hq (Dv + 1) numbers of f32, or f64.
      sink, soft_cap, scale: as of attn_mlir.decode, the same on all ranks.
      options: target, device and cache of attn_mlir.decode.

    Returns output [B, Hq, 1, Dv], or (output, lse): the same bits on all ranks, since parts are merged in the order of ranks.
    Raises what attn_mlir.decode does; a PlanError on all ranks where arrays do not fit on one, or types or options differ; a
    DeviceError where a rank does not come.
    """
    agree_on(communicator, lambda: facts(query, k_pool, v_pool, {"sink": sink is not None, "soft_cap": soft_cap, "scale": scale}))
    library = Library(query)
    part = paged.decode(
        query, k_pool, v_pool, table, lengths, causal=False, sink=sink if communicator.rank == 0 else None, soft_cap=soft_cap,
        scale=scale, return_lse=True, result_dtype=score_type(query), **options,
    )  # fmt: skip
    flat = library.flatten(part)
    shapes = [array.shape for array in part]
    received = communicator.exchange([flat] * communicator.size, [size_of(flat.shape)] * communicator.size)()
    output, lse = split(received[0], shapes)
    for other in received[1:]:
        output, lse = merge(library, (output, lse), tuple(split(other, shapes)))
    output = library.convert(output, query.dtype)
    return (output, lse) if return_lse else output


def score_type(query: Any) -> str:
    return "f64" if type_of(query, "query")[0] == "f64" else "f32"


def facts(query: Any, k_pool: Any, v_pool: Any, options: dict[str, Any]) -> str:
    """What all ranks have alike; raises an error where arrays do not fit."""
    (dtype, shape), (_, k_shape), (_, v_shape) = (type_of(a, n) for a, n in ((query, "query"), (k_pool, "k_pool"), (v_pool, "v_pool")))
    if len(shape) != 4 or shape[2] != 1:
        raise BindingError(f"query: expected [batch, heads, 1, head dim], one token of each sequence, got {list(shape)}")
    return f"decode {dtype} {list(shape)} {[*k_shape[1:2], *k_shape[3:], *v_shape[3:]]} {sorted(options.items())}"
