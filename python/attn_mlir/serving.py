# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches over a paged cache in the shape of FlashInfer's wrappers: `plan` takes the pages of each sequence, `run` the arrays of a layer."""

from __future__ import annotations

import sys
from typing import Any, Mapping, Optional, Sequence

from .arrays import library_of, view_of
from .checks import Causal
from .errors import BindingError
from .mask import flat, tensor, trace_mask
from .paged import decode
from .ragged import prefill
from .runtime.host_array import HostArray

#: A window without an end on one side.
FAR = 1 << 30


class BatchPaged:
    """What decoding and prefill share. `kv_layout` is "NHD", [pages, page size, Hkv, D], or "HND", [pages, Hkv, page size, D]."""

    def __init__(self, kv_layout: str = "NHD"):
        if kv_layout not in ("NHD", "HND"):
            raise BindingError(f"expected kv_layout NHD or HND, got {kv_layout!r}")
        self.kv_layout = kv_layout
        self.sizes: Optional[tuple[int, int, int, int]] = None
        self.fixed_split_size: Optional[int] = None

    def plan_pages(self, indptr, indices, last_page_len, sizes, window_left, logits_soft_cap, sm_scale):
        """Takes pages by sequence, `indices[indptr[b] : indptr[b + 1]]`, and turns last_page_len into lengths."""
        starts, pages, last = (integers(array, name) for array, name in ((indptr, "indptr"), (indices, "indices"), (last_page_len, "last_page_len")))
        check_pages(starts, pages, last, sizes[3])
        if window_left < -1:
            raise BindingError(f"expected window_left from -1, no window, got {window_left}")
        self.sizes, self.window_left = sizes, window_left
        self.soft_cap, self.scale = logits_soft_cap or None, sm_scale
        self.indices, self.indptr = pages, starts
        self.lengths = [(end - begin - 1) * sizes[3] + n if end > begin else 0 for begin, end, n in zip(starts, starts[1:], last)]
        self.placed: dict[tuple[str, str], Any] = {}

    def place(self, query: Any, vectors: Sequence[tuple[str, Sequence[int], Sequence[int]]]) -> list[Any]:
        """Arrays of a shape and numbers, where `query` is; made once for each plan."""
        device = view_of(query, "q").device
        for name, shape, numbers in vectors:
            if (name, device) not in self.placed:
                self.placed[name, device] = integers_like(query, shape, numbers)
        return [self.placed[name, device] for name, _, _ in vectors]

    def arrays(self, query: Any, cache: Any) -> tuple[Any, Any]:
        """Key and value pools [pages, Hkv, page size, D], if they and the query are those of the plan."""
        if self.sizes is None:
            raise BindingError("expected plan before run")
        heads, key_heads, dim, page = self.sizes
        shape = tuple(view_of(query, "q").shape)
        if len(shape) != 3 or shape[1:] != (heads, dim):
            raise BindingError(f"q: expected [.., {heads}, {dim}] as planned, got {shape}")
        if isinstance(cache, (tuple, list)):
            if len(cache) != 2:
                raise BindingError(f"expected a cache of keys and values, got {len(cache)} arrays")
            pools = tuple(cache)
        else:
            shape = tuple(view_of(cache, "paged_kv_cache").shape)
            if len(shape) != 5 or shape[1] != 2:
                raise BindingError(f"paged_kv_cache: expected two arrays, or one [pages, 2, ..], got {shape}")
            pools = (cache[:, 0], cache[:, 1])
        if self.kv_layout == "NHD":
            pools = tuple(pool.swapaxes(1, 2) for pool in pools)
        for name, pool in zip(("keys", "values"), pools):
            if (shape := tuple(view_of(pool, name).shape))[1:3] != (key_heads, page):
                raise BindingError(f"paged_kv_cache: expected {key_heads} heads and pages of {page} rows as planned, got {name} of {shape} (HND)")
        return pools

    def entries(self, options: Mapping[str, Any]) -> list[tuple[str, Sequence[int], Sequence[int]]]:
        """The table, one array or two, and the lengths. Ranges of a size are as many as the longest sequence may have: of a table with a row for each that
        is seen by its columns, of one of all behind each other only that one may have all pages."""
        lengths = ("lengths", (len(self.lengths),), self.lengths)
        is_of_size = self.fixed_split_size is not None or options.get("balance") == "plan"
        if not is_of_size and options.get("invariance", "none") == "none":
            return [(name, (len(numbers),), numbers) for name, numbers in (("indices", self.indices), ("indptr", self.indptr))] + [lengths]
        spans = list(zip(self.indptr, self.indptr[1:]))
        columns = max((end - begin for begin, end in spans), default=0)
        # Entries behind a sequence are not read.
        rows = [[*self.indices[begin:end], *[-1] * (columns - (end - begin))] for begin, end in spans]
        return [("table", (len(spans), columns), [entry for row in rows for entry in row]), lengths]

    def table_and_others(self, query: Any, others: Sequence[tuple[str, Sequence[int], Sequence[int]]], options: Mapping[str, Any]) -> tuple[Any, ...]:
        """What `decode` takes as table, the lengths, and arrays of `others`."""
        entries = self.entries(options)
        placed = self.place(query, [*entries, *others])
        table, rest = placed[: len(entries) - 1], placed[len(entries) - 1 :]
        return (tuple(table) if len(table) > 1 else table[0], *rest)


class BatchDecode(BatchPaged):
    """A token of each sequence over its pages (FlashInfer's BatchDecodeWithPagedKVCacheWrapper)."""

    def plan(
        self, indptr: Any, indices: Any, last_page_len: Any, num_qo_heads: int, num_kv_heads: int, head_dim: int, page_size: int,
        *, window_left: int = -1, logits_soft_cap: Optional[float] = None, sm_scale: Optional[float] = None,
        fixed_split_size: Optional[int] = None, disable_split_kv: bool = False,
    ):  # fmt: skip
        """Arguments, which are read on the host:
          indptr: [B + 1]: sequence b has the pages indices[indptr[b] : indptr[b + 1]].
          last_page_len: [B]: rows of its last page that exist, 1 to page_size; of a sequence without pages it is not looked at.
          window_left: as many keys before its own a token sees; -1: all. logits_soft_cap, sm_scale: None for none, 1/sqrt(head_dim).
          fixed_split_size, disable_split_kv: as of `decode`.

        A plan serves all layers of a step, whose kernels are those of `decode`. Raises BindingError for arrays that do not fit."""
        self.plan_pages(indptr, indices, last_page_len, (num_qo_heads, num_kv_heads, head_dim, page_size), window_left, logits_soft_cap, sm_scale)
        self.fixed_split_size, self.disable_split_kv = fixed_split_size, disable_split_kv

    def run(self, q: Any, paged_kv_cache: Any, *, k_scale: Any = None, v_scale: Any = None, sinks: Any = None, return_lse: bool = False, **options: Any) -> Any:
        """Output [B, Hq, Dv] of q [B, Hq, D] over two pools, or one [pages, 2, ..]; or (output, lse) with lse [B, Hq], in natural logarithms,
        where FlashInfer's are to base 2. k_scale, v_scale: of pools of 8 bits; `options` are those of `decode`: target, device, balance, invariance,
        cache."""
        pools = self.arrays(q, paged_kv_cache)
        tokens, heads, dim = view_of(q, "q").shape
        if tokens != len(self.lengths):
            raise BindingError(f"q: expected {len(self.lengths)} tokens as planned, got {tokens}")
        table, lengths = self.table_and_others(q, [], options)
        window = None if self.window_left < 0 else (self.window_left, 0)
        result = decode(
            reshaped(q, (tokens, heads, 1, dim)), *pools, table, lengths, window=window, sink=sinks, soft_cap=self.soft_cap, scale=self.scale,
            k_scale=k_scale, v_scale=v_scale, return_lse=return_lse, fixed_split_size=self.fixed_split_size,
            disable_split_kv=self.disable_split_kv, **options,
        )  # fmt: skip
        without_row = [reshaped(x, [n for dim, n in enumerate(view_of(x, "result").shape) if dim != 2]) for x in (result if return_lse else [result])]
        return tuple(without_row) if return_lse else without_row[0]


class BatchPrefill(BatchPaged):
    """New rows of each sequence, packed, over its pages (FlashInfer's BatchPrefillWithPagedKVCacheWrapper)."""

    def plan(
        self, qo_indptr: Any, indptr: Any, indices: Any, last_page_len: Any, num_qo_heads: int, num_kv_heads: int, head_dim: int, page_size: int,
        *, causal: Causal = False, custom_mask: Any = None, packed_custom_mask: Any = None, window_left: int = -1,
        logits_soft_cap: Optional[float] = None, sm_scale: Optional[float] = None,
        fixed_split_size: Optional[int] = None, disable_split_kv: bool = False,
    ):  # fmt: skip
        """As that of BatchDecode; the rows of sequence b are [qo_indptr[b], qo_indptr[b + 1]), and causal masks align its ends.

        custom_mask: bools, where q is: what each row of each sequence sees of its keys, rows by keys of sequence after sequence, in place of `causal`. Or
        packed_custom_mask: uint8, eight of them to a byte, the first in the lowest bit, each sequence from a new byte on (FlashInfer's segment_packbits).
        For a tree of guessed tokens mask_mod=attn_mlir.mask.tree_bits(..) of `run` is much less to read: `options` take it, too."""
        self.plan_pages(indptr, indices, last_page_len, (num_qo_heads, num_kv_heads, head_dim, page_size), window_left, logits_soft_cap, sm_scale)
        self.offsets, self.causal = integers(qo_indptr, "qo_indptr"), causal
        self.fixed_split_size, self.disable_split_kv = fixed_split_size, disable_split_kv
        if len(self.offsets) != len(self.lengths) + 1:
            raise BindingError(f"qo_indptr: expected {len(self.lengths) + 1} offsets, as indptr has, got {len(self.offsets)}")
        check_ascending("qo_indptr", self.offsets, None)
        self.plan_mask(custom_mask, packed_custom_mask)

    def plan_mask(self, conditions: Any, packed: Any):
        """Where the conditions of each sequence begin, in elements."""
        given, self.conditions, self.starts = conditions if packed is None else packed, None, [0]
        if given is None:
            return
        name, wanted = ("custom_mask", "i1") if packed is None else ("packed_custom_mask", "i8")
        if conditions is not None and packed is not None:
            raise BindingError("expected custom_mask or packed_custom_mask, got both")
        for begin, end, keys in zip(self.offsets, self.offsets[1:], self.lengths):
            pairs = (end - begin) * keys
            self.starts.append(self.starts[-1] + (pairs if packed is None else -(-pairs // 8)))
        self.conditions = tensor(given)
        view = view_of(self.conditions.array, name)
        if view.dtype != wanted or tuple(view.shape) != (self.starts[-1],):
            raise BindingError(f"{name}: expected {wanted} of {(self.starts[-1],)}, rows by keys of each sequence, got {view.dtype} of {tuple(view.shape)}")
        if self.starts[-1] >= 1 << 31:
            raise BindingError(f"{name}: expected fewer than 2^31 elements, got {self.starts[-1]}")

    def run(
        self, q: Any, paged_kv_cache: Any, *, q_scale: Any = None, k_scale: Any = None, v_scale: Any = None, sinks: Any = None, return_lse: bool = False,
        **options: Any,
    ) -> Any:  # fmt: skip
        """Output [rows, Hq, Dv] of q [rows, Hq, D]; or (output, lse) with lse [Hq, rows], natural. q_scale: of a q of 8 bits. The others are as of
        BatchDecode."""
        pools = self.arrays(q, paged_kv_cache)
        others = [(name, (len(numbers),), numbers) for name, numbers in (("offsets", self.offsets), ("starts", self.starts))]
        table, lengths, offsets, starts = self.table_and_others(q, others, options)
        causal = self.causal and self.conditions is None
        if self.conditions is not None:
            own, more = flat(self.conditions, starts), options.pop("mask_mod", None)
            options["mask_mod"] = own if more is None else own & trace_mask(more)
        most = max((end - begin for begin, end in zip(self.offsets, self.offsets[1:])), default=0)
        window = None if self.window_left < 0 else (self.window_left, 0 if causal else FAR)
        return prefill(
            q, *pools, table, lengths, offsets, max(most, 1), causal=causal, window=window, sink=sinks, soft_cap=self.soft_cap, scale=self.scale,
            q_scale=q_scale, k_scale=k_scale, v_scale=v_scale, return_lse=return_lse, fixed_split_size=self.fixed_split_size,
            disable_split_kv=self.disable_split_kv, **options,
        )  # fmt: skip


def integers(array: Any, name: str) -> list[int]:
    """The numbers of a vector, copied to the host."""
    view = view_of(array, name)
    if view.dtype not in ("i32", "i64") or len(view.shape) != 1:
        raise BindingError(f"{name}: expected a vector of i32 or i64, got {view.dtype} of {tuple(view.shape)}")
    if view.device != "cpu":
        return [int(x) for x in array.tolist()]
    return [int(x) for x in view.to_host().values()]


def reshaped(array: Any, shape: Sequence[int]) -> Any:
    """With dimensions of size 1 put in or left out, which copies nothing."""
    return HostArray(array.dtype, tuple(shape), array.data) if isinstance(array, HostArray) else array.reshape(tuple(shape))


def integers_like(array: Any, shape: Sequence[int], numbers: Sequence[int]) -> Any:
    """i32, of the library and on the device of `array`."""
    module = library_of(array)
    if module == "torch":
        torch = sys.modules["torch"]
        return torch.tensor(list(numbers), dtype=torch.int32, device=array.device).reshape(tuple(shape))
    if module == "cupy":
        return sys.modules[module].array(list(numbers), dtype="int32").reshape(tuple(shape))
    return HostArray.of("i32", tuple(shape), numbers)


def check_ascending(name: str, offsets: Sequence[int], end: Optional[int]):
    """From 0, to `end` at most."""
    if not offsets or offsets[0] != 0:
        raise BindingError(f"{name}: expected offsets from 0, got {offsets[0] if offsets else 'none'}")
    for number, (before, offset) in enumerate(zip(offsets, offsets[1:]), 1):
        if offset < before or end is not None and offset > end:
            limit = "" if end is None else f" to {end}, the number of indices,"
            raise BindingError(f"{name}: expected ascending offsets from 0{limit or ','} got {offset} at position {number}")


def check_pages(starts: Sequence[int], pages: Sequence[int], last: Sequence[int], page_size: int):
    check_ascending("indptr", starts, len(pages))
    if len(last) != len(starts) - 1:
        raise BindingError(f"last_page_len: expected {len(starts) - 1} entries, one for each sequence, got {len(last)}")
    for number, rows in enumerate(last):
        if starts[number + 1] > starts[number] and not 1 <= rows <= page_size:
            raise BindingError(f"last_page_len: expected 1 to {page_size}, got {rows} of sequence {number}")
