# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over a latent cache (MLA, absorbed: DeepSeek-V2, 2024) by the names of FlashMLA and FlashInfer. Its rows are keys, and their first columns are values."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from .arrays import view_of
from .errors import BindingError
from .flash_cache import expect_rank, flash_attn_with_kvcache, joined_cache, joined_query
from .paged import decode
from .ragged import prefill
from .serving import BatchPaged, check_ascending, check_only, dtypes_of, integers

#: Rows of a sequence up to which `decode` takes them.
FEW_ROWS = 16


def get_mla_metadata(*sizes: Any, **options: Any) -> tuple[None, None]:
    """What FlashMLA plans before a step, for flash_mla_with_kvcache: nothing, since a kernel of each launch plans."""
    return None, None


def flash_mla_with_kvcache(
    q: Any, k_cache: Any, block_table: Any, cache_seqlens: Any, head_dim_v: int, tile_scheduler_metadata: Any = None, num_splits: Any = None,
    softmax_scale: Optional[float] = None, causal: bool = False, is_fp8_kvcache: bool = False, indices: Any = None, **options: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Decode over a latent cache, by the names and the order of FlashMLA's function.

    Arguments, of NumPy or torch:
      q: [B, M, Hq, D], such as D = 576: what the latent columns are multiplied by, then what the turned ones are.
      k_cache: [pages, page size, 1, D], of any page size; its first head_dim_v columns are the values. Of i8 or f8 it has k_descale and v_descale in `options`.
      block_table: [B, columns], cache_seqlens: [B], of i32 or i64, as of `flash_attn_with_kvcache`.
      softmax_scale: None: 1/sqrt(D). causal: row i of M sees the keys up to cache_seqlens - M + i.
      tile_scheduler_metadata, num_splits: those of get_mla_metadata. is_fp8_kvcache, FlashMLA's rows of 656 bytes, and indices of single keys are False and None.
      options: those of `flash_attn_with_kvcache`: target, device, invariance, out, cache, ..

    Returns output [B, M, Hq, head_dim_v] and LSE [B, Hq, M], natural. Raises as that does.
    """
    check_only({
        "tile_scheduler_metadata": (tile_scheduler_metadata, None), "num_splits": (num_splits, None), "is_fp8_kvcache": (is_fp8_kvcache, False), "indices": (indices, None),
    })  # fmt: skip
    expect_rank("k_cache", k_cache, "[pages, page size, 1, D]")
    columns = view_of(k_cache, "k_cache").shape[3]
    if not 0 < head_dim_v <= columns:
        raise BindingError(f"expected head_dim_v from 1 to {columns}, the columns of k_cache, got {head_dim_v}")
    return flash_attn_with_kvcache(
        q, k_cache, k_cache[..., :head_dim_v], cache_seqlens=cache_seqlens, block_table=block_table, causal=causal, return_softmax_lse=True,
        softmax_scale=columns**-0.5 if softmax_scale is None else softmax_scale, **options,
    )  # fmt: skip


class BatchMLAPagedAttentionWrapper(BatchPaged):
    """New rows of each sequence over a latent cache, by the constructor, the plan and the run of FlashInfer's class of this name. Buffers are accepted and not used, as
    by BatchDecodeWithPagedKVCacheWrapper."""

    def __init__(
        self, float_workspace_buffer: Any = None, use_cuda_graph: bool = False, qo_indptr: Any = None, kv_indptr: Any = None, kv_indices: Any = None,
        kv_len_arr: Any = None, backend: str = "auto",
    ):  # fmt: skip
        check_only({"use_cuda_graph": (use_cuda_graph, False), "backend": (backend, "auto")})
        super().__init__()

    def plan(
        self, qo_indptr: Any, kv_indptr: Any, kv_indices: Any, kv_len_arr: Any, num_heads: int, head_dim_ckv: int, head_dim_kpe: int, page_size: int, causal: bool,
        sm_scale: float, q_data_type: Any = None, kv_data_type: Any = None, use_profiler: bool = False,
    ):  # fmt: skip
        """Arguments, which are read on the host:
          qo_indptr: [B + 1]: the rows of sequence b are qo_indptr[b] to qo_indptr[b + 1] - 1.
          kv_indptr: [B + 1]: its pages are kv_indices[kv_indptr[b] : kv_indptr[b + 1]]; kv_len_arr: [B]: how many keys it has.
          head_dim_ckv, head_dim_kpe: latent columns, which are the values, and turned ones. causal aligns ends.
          q_data_type, kv_data_type: types that arrays must have at `run`; None: any.

        Raises BindingError for arrays that do not fit."""
        check_only({"use_profiler": (use_profiler, False)})
        given = (qo_indptr, "qo_indptr"), (kv_indptr, "kv_indptr"), (kv_indices, "kv_indices"), (kv_len_arr, "kv_len_arr")
        offsets, starts, pages, lengths = (integers(array, name) for array, name in given)
        check_ascending("qo_indptr", offsets, None)
        check_ascending("kv_indptr", starts, len(pages))
        for name, found, wanted in (("qo_indptr", len(offsets), len(starts)), ("kv_len_arr", len(lengths), len(starts) - 1)):
            if found != wanted:
                raise BindingError(f"{name}: expected {wanted} entries beside kv_indptr, got {found}")
        check_lengths(lengths, starts, page_size)
        self.sizes, self.causal, self.scale = (num_heads, head_dim_ckv, head_dim_kpe, page_size), causal, sm_scale
        self.offsets, self.indptr, self.indices, self.lengths = offsets, starts, pages, lengths
        self.dtypes = dtypes_of(q_data_type=q_data_type, kv_data_type=kv_data_type)
        self.placed = {}

    def run(
        self, q_nope: Any, q_pe: Any, ckv_cache: Any, kpe_cache: Any, out: Any = None, lse: Any = None, return_lse: bool = False, profiler_buffer: Any = None,
        kv_len: Any = None, page_table: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Output [rows, H, ckv], or (output, lse [rows, H], natural, where FlashInfer's is to base 2), of q_nope [rows, H, ckv] and q_pe [rows, H, kpe].

        ckv_cache, kpe_cache: [pages, page size, ckv or kpe], of NumPy or torch: neighbouring columns of one array, as [..., :512] and [..., 512:], which kernels
        read once. out, lse: arrays for the results. `options` are those of `decode` and `prefill`: target, device, invariance, k_scale, v_scale, cache."""
        check_only({"profiler_buffer": (profiler_buffer, None), "kv_len": (kv_len, None), "page_table": (page_table, None)})
        if lse is not None and not return_lse:
            raise BindingError("lse: expected return_lse=True with it, got False")
        q, pool = self.joined(q_nope, q_pe, ckv_cache, kpe_cache)
        counts = {end - begin for begin, end in zip(self.offsets, self.offsets[1:])}
        pools = pool.swapaxes(1, 2), pool.swapaxes(1, 2)[..., : view_of(q_nope, "q_nope").shape[2]]
        options.update(causal=self.causal, scale=self.scale, return_lse=True)
        if len(counts) == 1 and 0 < min(counts) <= FEW_ROWS:
            table, lengths = self.table_and_others(q, (), options)
            batches = q.reshape(len(self.lengths), min(counts), *q.shape[1:]).swapaxes(1, 2)
            made = [result.swapaxes(1, 2).reshape(q.shape[0], q.shape[1], *result.shape[3:]) for result in decode(batches, *pools, table, lengths, **options)]
        else:
            table, lengths, offsets = self.table_and_others(q, [("offsets", (len(self.offsets),), self.offsets)], options)
            output, sums = prefill(q, *pools, table, lengths, offsets, max(counts, default=1) or 1, **options)
            made = [output, sums.swapaxes(0, 1)]
        results = []
        for own, result in zip((out, lse), made):
            if own is not None:
                own[...] = result
            results.append(result if own is None else own)
        return tuple(results) if return_lse else results[0]

    def joined(self, q_nope: Any, q_pe: Any, ckv_cache: Any, kpe_cache: Any) -> tuple[Any, Any]:
        """The query [rows, H, D] and the cache [pages, page size, 1, D], if they are those of the plan."""
        if self.sizes is None:
            raise BindingError("expected plan before run")
        heads, latent, turned, page = self.sizes
        rows = self.offsets[-1]
        for name, array, shape in (("q_nope", q_nope, (rows, heads, latent)), ("q_pe", q_pe, (rows, heads, turned))):
            if (found := tuple(view_of(array, name).shape)) != shape:
                raise BindingError(f"{name}: expected {shape} as planned, got {found}")
        for name, array, columns in (("ckv_cache", ckv_cache, latent), ("kpe_cache", kpe_cache, turned)):
            found = tuple(view_of(array, name).shape)
            if len(found) != 3 or found[1:] != (page, columns):
                raise BindingError(f"{name}: expected pages of {(page, columns)} as planned, got {found}")
        self.check_dtypes(view_of(q_nope, "q_nope").dtype, view_of(ckv_cache, "ckv_cache").dtype)
        pool = joined_cache(kpe_cache, ckv_cache, ("kpe_cache", "ckv_cache"))[:, :, None]
        return joined_query(q_pe, q_nope, ("q_pe", "q_nope")), pool


def check_lengths(lengths: Sequence[int], starts: Sequence[int], page: int):
    for b, count in enumerate(lengths):
        room = (starts[b + 1] - starts[b]) * page
        if not 0 <= count <= room:
            raise BindingError(f"kv_len_arr: expected 0 to {room} keys, which its pages hold, got {count} of sequence {b}")
