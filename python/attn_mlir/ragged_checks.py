# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `varlen` and `prefill` ask of their arrays: types and shapes, and what offsets and lengths in host memory say."""

from __future__ import annotations

from typing import Mapping, Optional

from .arrays import ArrayView
from .checks import BESIDE_INTEGERS, BYTES, FLOAT8, FLOATS, check_descales
from .errors import BindingError
from .page_contents import check_paged
from .paged import check_offsets, check_table


def check_ragged(views: Mapping[str, ArrayView], max_rows: Optional[int]):
    """Types and shapes, and what offsets and lengths in host memory say."""
    query, key, value, offsets = (views[name] for name in ("query", "key", "value", "query_offsets"))
    is_paged = "key_table" in views
    rows_of_keys = "[pages, heads, page size, head dim]" if is_paged else "[rows, heads, head dim]"
    stores_bytes = key.dtype in BYTES and query.dtype in ("f16", "bf16", "f32")
    own = (*FLOATS, *FLOAT8)
    for name, view, wanted in (("query", query, "[rows, heads, head dim]"), ("key", key, rows_of_keys), ("value", value, rows_of_keys)):
        if len(view.shape) != wanted.count(",") + 1:
            raise BindingError(f"{name}: expected {wanted}, got {tuple(view.shape)}")
        if query.dtype == "i8" and name != "query":
            allowed = ("i8",) if name == "key" else BESIDE_INTEGERS
            if view.dtype not in allowed:
                raise BindingError(f"{name}: expected dtype {', '.join(allowed)} beside a query of i8, got {view.dtype}")
        elif stores_bytes and name != "query":
            if view.dtype != key.dtype:
                raise BindingError(f"{name}: expected dtype {key.dtype}, that of key, got {view.dtype}")
        elif query.dtype != "i8" and (view.dtype not in own or view.dtype != query.dtype):
            raise BindingError(f"{name}: expected one dtype of {', '.join(own)} for query, key and value, got {view.dtype}")
    if is_paged and key.shape[2] < 1:
        raise BindingError(f"key: expected a page size of 1 or more, got {key.shape[2]}")
    if key.shape[-1] != query.shape[2]:
        raise BindingError(f"key: expected head dim {query.shape[2]}, that of query, got {key.shape[-1]}")
    like = (1, 2) if is_paged else (0, 1)
    if any(key.shape[dim] != value.shape[dim] for dim in like):
        raise BindingError(f"value: expected rows and heads of key, {tuple(key.shape)}, got {tuple(value.shape)}")
    if key.shape[1] < 1 or query.shape[1] % key.shape[1]:
        raise BindingError(f"expected the number of query heads to be a multiple of the number of key heads, got {query.shape[1]} and {key.shape[1]}")
    check_sequences(views, max_rows)
    check_table(views, offsets.shape[0] - 1, "key_table")
    if (sink := views.get("sink")) is not None and (sink.shape != (query.shape[1],) or sink.dtype not in (query.dtype, "f32") or sink.dtype in FLOAT8):
        raise BindingError(f"sink: expected {query.shape[1]} numbers of {query.dtype} or f32, got {sink.dtype} of {tuple(sink.shape)}")
    check_descales(views, offsets.shape[0] - 1)
    if is_paged:
        check_paged(views)
    else:
        check_offsets("cu_seqlens_k", views["key_offsets"], key.shape[0], None)


def check_last_positions(views: Mapping[str, ArrayView]):
    """That no sequence, as offsets in host memory have it, has more queries than keys: the first would be in front of position 0."""
    offsets = [views[name] for name in ("query_offsets", "key_offsets")]
    if any(view.device != "cpu" for view in offsets):
        return
    rows, keys = ([int(end - begin) for begin, end in zip(entries, entries[1:])] for entries in (view.to_host().values() for view in offsets))
    for b, (m, n) in enumerate(zip(rows, keys)):
        if m > n:
            raise BindingError(f"expected rotary_positions, or at most as many queries as keys in each sequence, got {m} and {n} in sequence {b}")


def check_sequences(views: Mapping[str, ArrayView], max_rows: Optional[int]):
    """Offsets of a query [rows, heads, head dim], and those or lengths of the keys, if they are there."""
    query, offsets = views["query"], views["query_offsets"]
    if len(query.shape) != 3:
        raise BindingError(f"query: expected [rows, heads, head dim], got {tuple(query.shape)}")
    for name in ("query_offsets", "key_offsets", "key_lengths"):
        whole = views.get(name)
        if whole is not None and (whole.dtype not in ("i32", "i64") or len(whole.shape) != 1):
            raise BindingError(f"{name}: expected a vector of i32 or i64, got {whole.dtype} of {tuple(whole.shape)}")
    if offsets.shape[0] < 1:
        raise BindingError("query_offsets: expected an offset for each sequence and the end of the last, got none")
    for name in ("key_offsets", "key_lengths"):
        entries = offsets.shape[0] - (name != "key_offsets")
        if name in views and views[name].shape[0] != entries:
            raise BindingError(f"{name}: expected {entries} entries for {offsets.shape[0] - 1} sequences, got {views[name].shape[0]}")
    if max_rows is not None and max_rows < 1:
        raise BindingError(f"max_seqlen_q: expected 1 or more, got {max_rows}")
    check_offsets("cu_seqlens_q", offsets, query.shape[0], max_rows)
