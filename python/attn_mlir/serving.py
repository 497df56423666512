# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches over a paged cache in the shape of FlashInfer's wrappers: `plan` takes the pages of each sequence, `run` the arrays of a layer."""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any, Mapping, Optional, Sequence

from .arrays import TORCH_DTYPES, empty_like, library_of, view_of
from .checks import BYTES, FLOAT8, Causal
from .errors import BindingError, described
from .mask import flat, tensor, trace_mask
from .paged import append, decode
from .ragged import prefill
from .runtime.host_array import HostArray

#: A window without an end on one side.
FAR = 1 << 30


class BatchPaged:
    """What decoding and prefill share. `kv_layout` is "NHD", [pages, page size, Hkv, D], or "HND", [pages, Hkv, page size, D]."""

    #: What a plan says of arrays beside `sizes`: types by its arguments' names, and Dv.
    dtypes: Mapping[str, str] = {}
    value_dim: Optional[int] = None

    def __init__(self, kv_layout: str = "NHD"):
        check_layout(kv_layout)
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
        self.lengths = lengths_of(starts, last, sizes[3])
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
        pools = pools_of(cache, self.kv_layout)
        self.check_dtypes(view_of(query, "q").dtype, view_of(pools[0], "keys").dtype)
        for name, pool in zip(("keys", "values"), pools):
            if (shape := tuple(view_of(pool, name).shape))[1:3] != (key_heads, page):
                raise BindingError(f"paged_kv_cache: expected {key_heads} heads and pages of {page} rows as planned, got {name} of {shape} (HND)")
        if self.value_dim not in (None, dim := view_of(pools[1], "values").shape[3]):
            raise BindingError(f"head_dim_vo: expected values of {self.value_dim} columns as planned, got {dim}")
        return pools

    def check_dtypes(self, query: str, cache: str):
        """Raises a BindingError where arrays have other types than the plan says."""
        found = {"q_data_type": query, "kv_data_type": cache, "o_data_type": result_dtype(query)}
        for name, dtype in self.dtypes.items():
            if dtype != found[name]:
                raise BindingError(f"{name}: expected arrays of {dtype} as planned, got {found[name]}")

    def scales(self, query: Any, cache: Any, q_scale: Any, k_scale: Any, v_scale: Any) -> tuple[Optional[float], dict[str, Any]]:
        """The scale of scores, and the descales that there are: a number beside a query of more bits is a factor of the scale, and 1 beside such a cache is none."""
        scale, view = self.scale, view_of(query, "q")
        if q_scale is not None and view.dtype not in BYTES:
            if not isinstance(q_scale, Real):
                raise BindingError(f"q_scale: expected a number beside a q of {view.dtype}, got {described(q_scale)}")
            scale, q_scale = float(q_scale) * (1 / math.sqrt(view.shape[2]) if scale is None else scale), None
        found = {"q_scale": q_scale, "k_scale": k_scale, "v_scale": v_scale}
        if view_of(cache, "keys").dtype not in BYTES:
            found.update((name, None) for name in ("k_scale", "v_scale") if isinstance(found[name], Real) and found[name] == 1)
        return scale, {name: array for name, array in found.items() if array is not None}

    def entries(self, options: Mapping[str, Any]) -> list[tuple[str, Sequence[int], Sequence[int]]]:
        """The table, one array or two, and the lengths. Ranges of a size are as many as the longest sequence may have: of a table with a row for each that
        is seen by its columns, of one of all behind each other only that one may have all pages."""
        lengths: tuple[str, Sequence[int], Sequence[int]] = ("lengths", (len(self.lengths),), self.lengths)
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

    def run(
        self, q: Any, paged_kv_cache: Any, *, q_scale: Any = None, k_scale: Any = None, v_scale: Any = None, out: Any = None, lse: Any = None,
        sinks: Any = None, return_lse: bool = False, enable_pdl: Optional[bool] = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Output [B, Hq, Dv] of q [B, Hq, D] over two pools, or one [pages, 2, ..]; or (output, lse) with lse [B, Hq], in natural logarithms,
        where FlashInfer's are to base 2. k_scale, v_scale: of pools of 8 bits, beside others 1 or None. q_scale: of a q of 8 bits, beside pools of its type; of
        another a number, by which scores are multiplied. out, lse: arrays for the results, either alone, too; lse with return_lse. enable_pdl changes nothing: kernels
        of a launch overlap where they can. `options` are those of `decode`: target, device, balance, invariance, cache."""
        pools = self.arrays(q, paged_kv_cache)
        tokens, heads, dim = view_of(q, "q").shape
        if tokens != len(self.lengths):
            raise BindingError(f"q: expected {len(self.lengths)} tokens as planned, got {tokens}")
        scale, scales = self.scales(q, pools[0], q_scale, k_scale, v_scale)
        given = results_for(q, pools[1], out, lse, return_lse, (tokens, heads))
        is_narrow = view_of(q, "q").dtype in FLOAT8
        others = [("tokens", (tokens + 1,), range(tokens + 1))] if is_narrow else []
        table, lengths, *offsets = self.table_and_others(q, others, options)
        options.update(
            window=None if self.window_left < 0 else (self.window_left, 0), sink=sinks, soft_cap=self.soft_cap, scale=scale, return_lse=return_lse,
            fixed_split_size=self.fixed_split_size, disable_split_kv=self.disable_split_kv, **scales,
        )  # fmt: skip
        if is_narrow:  # which has no kernel in batches
            result = prefill(q, *pools, table, lengths, offsets[0], 1, **options)
            results = [result[0], result[1].swapaxes(0, 1)] if return_lse else [result]
            for own, made in zip(given or (), results):
                own[...] = made
        else:
            result = decode(with_row(q), *pools, table, lengths, out=None if given is None else [with_row(array) for array in given], **options)
            results = [without_row(array) for array in (result if return_lse else [result])]
        results = given or results
        return tuple(results) if return_lse else results[0]

    def run_return_lse(self, *arrays: Any, **options: Any) -> Any:
        """`run` with return_lse."""
        return self.run(*arrays, return_lse=True, **options)


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
        self, q: Any, paged_kv_cache: Any, *, q_scale: Any = None, k_scale: Any = None, v_scale: Any = None, out: Any = None, lse: Any = None,
        sinks: Any = None, return_lse: bool = False, enable_pdl: Optional[bool] = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Output [rows, Hq, Dv] of q [rows, Hq, D]; or (output, lse) with lse [Hq, rows], natural. Arguments are as of BatchDecode."""
        pools = self.arrays(q, paged_kv_cache)
        scale, scales = self.scales(q, pools[0], q_scale, k_scale, v_scale)
        rows, heads, _ = view_of(q, "q").shape
        given = results_for(q, pools[1], out, lse, return_lse, (heads, rows))
        others = [(name, (len(numbers),), numbers) for name, numbers in (("offsets", self.offsets), ("starts", self.starts))]
        table, lengths, offsets, starts = self.table_and_others(q, others, options)
        causal = self.causal and self.conditions is None
        if self.conditions is not None:
            own, more = flat(self.conditions, starts), options.pop("mask_mod", None)
            options["mask_mod"] = own if more is None else own & trace_mask(more)
        options.update(scales)
        most = max((end - begin for begin, end in zip(self.offsets, self.offsets[1:])), default=0)
        window = None if self.window_left < 0 else (self.window_left, 0 if causal else FAR)
        return prefill(
            q, *pools, table, lengths, offsets, max(most, 1), causal=causal, window=window, sink=sinks, soft_cap=self.soft_cap, scale=scale,
            return_lse=return_lse, out=given, fixed_split_size=self.fixed_split_size, disable_split_kv=self.disable_split_kv, **options,
        )  # fmt: skip

    def run_return_lse(self, *arrays: Any, **options: Any) -> Any:
        """`run` with return_lse."""
        return self.run(*arrays, return_lse=True, **options)


class BatchDecodeWithPagedKVCacheWrapper(BatchDecode):
    """BatchDecode by the constructor and the plan of FlashInfer's class of this name. The workspace and the buffers are accepted and not used: a plan makes its own
    arrays, and kernels theirs. A captured launch keeps the arrays of its plan, so that use_cuda_graph is False."""

    def __init__(
        self, float_workspace_buffer: Any = None, kv_layout: str = "NHD", use_cuda_graph: bool = False, use_tensor_cores: bool = False,
        paged_kv_indptr_buffer: Any = None, paged_kv_indices_buffer: Any = None, paged_kv_last_page_len_buffer: Any = None, backend: str = "auto",
        jit_args: Any = None,
    ):  # fmt: skip
        check_only({"use_cuda_graph": (use_cuda_graph, False), "backend": (backend, "auto"), "jit_args": (jit_args, None)})
        super().__init__(kv_layout)

    def plan(  # type: ignore[override]
        self, indptr: Any, indices: Any, last_page_len: Any, num_qo_heads: int, num_kv_heads: int, head_dim: int, page_size: int,
        pos_encoding_mode: str = "NONE", window_left: int = -1, logits_soft_cap: Optional[float] = None, q_data_type: Any = None, kv_data_type: Any = None,
        o_data_type: Any = None, data_type: Any = None, sm_scale: Optional[float] = None, rope_scale: Optional[float] = None,
        rope_theta: Optional[float] = None, non_blocking: bool = True, block_tables: Any = None, seq_lens: Any = None,
        fixed_split_size: Optional[int] = None, disable_split_kv: bool = False,
    ):  # fmt: skip
        """As that of BatchDecode, in FlashInfer's order. Types are those that arrays must have at `run`, None: any; data_type is that of q and the cache. block_tables and
        seq_lens, which repeat what the others say, and non_blocking change nothing; rotary embedding is of `decode`: pos_encoding_mode is "NONE"."""
        check_only({"pos_encoding_mode": (pos_encoding_mode, "NONE"), "rope_scale": (rope_scale, None), "rope_theta": (rope_theta, None)})
        q_data_type, kv_data_type = (data_type if dtype is None else dtype for dtype in (q_data_type, kv_data_type))
        dtypes = dtypes_of(q_data_type=q_data_type, kv_data_type=kv_data_type, o_data_type=o_data_type)
        super().plan(
            indptr, indices, last_page_len, num_qo_heads, num_kv_heads, head_dim, page_size, window_left=window_left, logits_soft_cap=logits_soft_cap,
            sm_scale=sm_scale, fixed_split_size=fixed_split_size, disable_split_kv=disable_split_kv,
        )  # fmt: skip
        self.dtypes = dtypes


class BatchPrefillWithPagedKVCacheWrapper(BatchPrefill):
    """BatchPrefill by the constructor and the plan of FlashInfer's class of this name, as BatchDecodeWithPagedKVCacheWrapper is BatchDecode. Its LSE is
    [Hq, rows], too."""

    def __init__(
        self, float_workspace_buffer: Any = None, kv_layout: str = "NHD", use_cuda_graph: bool = False, qo_indptr_buf: Any = None,
        paged_kv_indptr_buf: Any = None, paged_kv_indices_buf: Any = None, paged_kv_last_page_len_buf: Any = None, custom_mask_buf: Any = None,
        mask_indptr_buf: Any = None, backend: str = "auto", jit_args: Any = None, jit_kwargs: Any = None,
    ):  # fmt: skip
        check_only({"use_cuda_graph": (use_cuda_graph, False), "backend": (backend, "auto"), "jit_args": (jit_args, None), "jit_kwargs": (jit_kwargs, None)})
        super().__init__(kv_layout)

    def plan(  # type: ignore[override]
        self, qo_indptr: Any, paged_kv_indptr: Any, paged_kv_indices: Any, paged_kv_last_page_len: Any, num_qo_heads: int, num_kv_heads: int,
        head_dim_qk: int, page_size: int, head_dim_vo: Optional[int] = None, custom_mask: Any = None, packed_custom_mask: Any = None,
        causal: bool = False, pos_encoding_mode: str = "NONE", use_fp16_qk_reduction: bool = False, sm_scale: Optional[float] = None,
        window_left: int = -1, logits_soft_cap: Optional[float] = None, rope_scale: Optional[float] = None, rope_theta: Optional[float] = None,
        q_data_type: Any = None, kv_data_type: Any = None, o_data_type: Any = None, non_blocking: bool = True, prefix_len_ptr: Any = None,
        token_pos_in_items_ptr: Any = None, token_pos_in_items_len: int = 0, max_item_len_ptr: Any = None, seq_lens: Any = None,
        block_tables: Any = None, max_token_per_sequence: Optional[int] = None, max_sequence_kv: Optional[int] = None,
        fixed_split_size: Optional[int] = None, disable_split_kv: bool = False,
    ):  # fmt: skip
        """As that of BatchPrefill, in FlashInfer's order. head_dim_vo: Dv, which the cache has at `run`; None: any. max_token_per_sequence and max_sequence_kv, which follow
        from the others, change nothing either; items of several kinds in a sequence are a custom_mask."""
        check_only({
            "pos_encoding_mode": (pos_encoding_mode, "NONE"), "use_fp16_qk_reduction": (use_fp16_qk_reduction, False), "rope_scale": (rope_scale, None),
            "rope_theta": (rope_theta, None), "prefix_len_ptr": (prefix_len_ptr, None), "token_pos_in_items_ptr": (token_pos_in_items_ptr, None),
            "token_pos_in_items_len": (token_pos_in_items_len, 0), "max_item_len_ptr": (max_item_len_ptr, None),
        })  # fmt: skip
        dtypes = dtypes_of(q_data_type=q_data_type, kv_data_type=kv_data_type, o_data_type=o_data_type)
        super().plan(
            qo_indptr, paged_kv_indptr, paged_kv_indices, paged_kv_last_page_len, num_qo_heads, num_kv_heads, head_dim_qk, page_size, causal=causal,
            custom_mask=custom_mask, packed_custom_mask=packed_custom_mask, window_left=window_left, logits_soft_cap=logits_soft_cap, sm_scale=sm_scale,
            fixed_split_size=fixed_split_size, disable_split_kv=disable_split_kv,
        )  # fmt: skip
        self.dtypes, self.value_dim = dtypes, head_dim_vo


def append_paged_kv_cache(
    append_key: Any, append_value: Any, batch_indices: Any, positions: Any, paged_kv_cache: Any, kv_indices: Any, kv_indptr: Any, kv_last_page_len: Any,
    kv_layout: str = "NHD", **options: Any,
):  # fmt: skip
    """`append` by the names and the order of FlashInfer's function: writes new rows to a cache, in place.

    Arguments:
      append_key, append_value: [rows, Hkv, D or Dv]; batch_indices, positions: [rows], i32 or i64: the sequence of each row, and its position there.
      paged_kv_cache, kv_layout: as of BatchDecode.
      kv_indices, kv_indptr, kv_last_page_len: as indices, indptr and last_page_len of BatchDecode.plan, with the new rows.
      options: those of `append`: k_scale, v_scale, target, device, cache.

    Raises BindingError for arrays that do not fit, and for what vectors in host memory say: those on a GPU are not looked at.
    """
    check_layout(kv_layout)
    pools = pools_of(paged_kv_cache, kv_layout)
    rows, pages = (view_of(array, name).shape for array, name in ((append_key, "append_key"), (pools[0], "paged_kv_cache")))
    vectors = {"batch_indices": batch_indices, "positions": positions, "kv_indices": kv_indices, "kv_indptr": kv_indptr, "kv_last_page_len": kv_last_page_len}
    for name, array in vectors.items():
        view = view_of(array, name)
        if view.dtype not in ("i32", "i64") or len(view.shape) != 1 or name in ("batch_indices", "positions") and view.shape[0] != rows[0]:
            wanted = f"[{rows[0]}]" if name in ("batch_indices", "positions") else "a vector"
            raise BindingError(f"{name}: expected {wanted} of i32 or i64, got {view.dtype} of {tuple(view.shape)}")
    if are_on_host(vectors):
        slots = integers_like(append_key, rows[:1], slots_of({name: integers(array, name) for name, array in vectors.items()}, pages[2]))
    else:
        slots = kv_indices[kv_indptr[batch_indices] + positions // pages[2]] * pages[2] + positions % pages[2]
    append(append_key, append_value, *pools, slots, **options)


def are_on_host(arrays: Mapping[str, Any]) -> bool:
    return all(view_of(array, name).device == "cpu" for name, array in arrays.items())


def slots_of(vectors: Mapping[str, Sequence[int]], page: int) -> list[int]:
    """Where rows go, by the vectors of append_paged_kv_cache, in pages of so many rows."""
    pages, starts, last = (vectors[name] for name in ("kv_indices", "kv_indptr", "kv_last_page_len"))
    check_pages(starts, pages, last, page)
    lengths = lengths_of(starts, last, page)
    slots = []
    for row, (b, at) in enumerate(zip(vectors["batch_indices"], vectors["positions"])):
        if not 0 <= b < len(lengths):
            raise BindingError(f"batch_indices: expected sequences from 0 to {len(lengths) - 1}, got {b} of row {row}")
        if not 0 <= at < lengths[b]:
            raise BindingError(f"positions: expected 0 to {lengths[b] - 1} in sequence {b}, as its pages have, got {at} of row {row}")
        slots.append(pages[starts[b] + at // page] * page + at % page)
    return slots


def lengths_of(starts: Sequence[int], last: Sequence[int], page: int) -> list[int]:
    """Keys of each sequence, of which `last` are in its last page."""
    return [(end - begin - 1) * page + n if end > begin else 0 for begin, end, n in zip(starts, starts[1:], last)]


def check_layout(kv_layout: str):
    if kv_layout not in ("NHD", "HND"):
        raise BindingError(f"expected kv_layout NHD or HND, got {kv_layout!r}")


def check_only(options: Mapping[str, tuple[Any, Any]]):
    """Of options by name, their values and the only ones that there are here."""
    for name, (value, only) in options.items():
        if not isinstance(value, type(only)) or value != only:
            raise BindingError(f"{name}: expected {only!r}, got {described(value)}")


def dtypes_of(**types: Any) -> dict[str, str]:
    """By arguments' names, of torch's or NumPy's types, or names of such, of those that are given."""
    found = {}
    for name, dtype in types.items():
        if dtype is None:
            continue
        spelling = getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")
        if spelling not in TORCH_DTYPES:
            raise BindingError(f"{name}: expected one of {', '.join(TORCH_DTYPES)}, got {spelling}")
        found[name] = TORCH_DTYPES[spelling]
    return found


def result_dtype(query: str) -> str:
    """Of an output."""
    return "bf16" if query in FLOAT8 else query


def pools_of(cache: Any, kv_layout: str) -> tuple[Any, Any]:
    """[pages, Hkv, page size, D or Dv] of two arrays, or one."""
    if isinstance(cache, (tuple, list)):
        if len(cache) != 2:
            raise BindingError(f"expected a cache of keys and values, got {len(cache)} arrays")
        pools = cache[0], cache[1]
    else:
        shape = tuple(view_of(cache, "paged_kv_cache").shape)
        if len(shape) != 5 or shape[1] != 2:
            raise BindingError(f"paged_kv_cache: expected two arrays, or one [pages, 2, ..], got {shape}")
        pools = cache[:, 0], cache[:, 1]
    return (pools[0].swapaxes(1, 2), pools[1].swapaxes(1, 2)) if kv_layout == "NHD" else pools


def results_for(query: Any, value: Any, out: Any, lse: Any, return_lse: bool, rows: tuple[int, int]) -> Optional[list[Any]]:
    """Arrays for the results, of which some are given, or none: an output like query [.., Hq, D], of value's columns, and an LSE of `rows`."""
    if isinstance(out, (tuple, list)):
        return list(out)
    if lse is not None and not return_lse:
        raise BindingError("lse: expected return_lse=True with it, got False")
    if out is None and lse is None:
        return None
    view = view_of(query, "q")
    if out is None:
        out = empty_like(query, (*view.shape[:2], view_of(value, "values").shape[3]), result_dtype(view.dtype))
    if return_lse and lse is None:
        lse = empty_like(query, rows, "f64" if view.dtype == "f64" else "f32")
    return [out, lse] if return_lse else [out]


def with_row(array: Any) -> Any:
    """[B, Hq, ..] as [B, Hq, 1, ..], in the same memory."""
    if not isinstance(array, HostArray):
        return array[:, :, None]
    return HostArray(array.dtype, (*array.shape[:2], 1, *array.shape[2:]), array.data)


def without_row(array: Any) -> Any:
    """The inverse of with_row."""
    if not isinstance(array, HostArray):
        return array[:, :, 0]
    return HostArray(array.dtype, (*array.shape[:2], *array.shape[3:]), array.data)


def integers(array: Any, name: str) -> list[int]:
    """The numbers of a vector, copied to the host."""
    view = view_of(array, name)
    if view.dtype not in ("i32", "i64") or len(view.shape) != 1:
        raise BindingError(f"{name}: expected a vector of i32 or i64, got {view.dtype} of {tuple(view.shape)}")
    if view.device != "cpu":
        return [int(x) for x in array.tolist()]
    return [int(x) for x in view.to_host().values()]


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
