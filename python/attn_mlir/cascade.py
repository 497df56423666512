# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over caches that sequences share: levels of keys, from those of many rows to those of each sequence, whose results are merged."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from .arrays import view_of
from .errors import BindingError
from .serving import BatchPrefillWithPagedKVCacheWrapper, check_only, integers
from .states import merge_states_of


class MultiLevelCascadeAttentionWrapper:
    """Levels of a cache by the constructor, the plan and the run of FlashInfer's class of this name: the keys of a prompt that sequences begin with are read once for
    all of their rows (cascade inference, Ye et al. 2024). Each level is a BatchPrefillWithPagedKVCacheWrapper, whose sequences are the ranges of rows that share pages
    there; levels have different keys, and each row is in one range of each. The workspace and the buffers are accepted and not used."""

    def __init__(
        self, num_levels: int, float_workspace_buffer: Any = None, kv_layout: str = "NHD", use_cuda_graph: bool = False, qo_indptr_buf_arr: Any = None,
        paged_kv_indptr_buf_arr: Any = None, paged_kv_indices_buf_arr: Any = None, paged_kv_last_page_len_buf_arr: Any = None, backend: str = "auto",
    ):  # fmt: skip
        if num_levels < 1:
            raise BindingError(f"num_levels: expected 1 or more, got {num_levels}")
        check_only({"use_cuda_graph": (use_cuda_graph, False), "backend": (backend, "auto")})
        self.levels = [BatchPrefillWithPagedKVCacheWrapper(kv_layout=kv_layout) for _ in range(num_levels)]
        self.rows: Optional[int] = None

    def plan(
        self, qo_indptr_arr: Sequence[Any], paged_kv_indptr_arr: Sequence[Any], paged_kv_indices_arr: Sequence[Any], paged_kv_last_page_len: Sequence[Any],
        num_qo_heads: int, num_kv_heads: int, head_dim: int, page_size: int, causal: bool = False, pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False, sm_scale: Optional[float] = None, window_left: int = -1, logits_soft_cap: Optional[float] = None,
        rope_scale: Optional[float] = None, rope_theta: Optional[float] = None, q_data_type: Any = None, kv_data_type: Any = None,
    ):  # fmt: skip
        """Arrays for each level, the most shared one first, as BatchPrefillWithPagedKVCacheWrapper.plan takes them. causal: of the last level, whose ends it aligns;
        rows see all keys of the others. window_left: -1 alone, since a level does not know where its keys are among those of a sequence. Raises BindingError
        for arrays that do not fit."""
        arrays = {"qo_indptr_arr": qo_indptr_arr, "paged_kv_indptr_arr": paged_kv_indptr_arr, "paged_kv_indices_arr": paged_kv_indices_arr, "paged_kv_last_page_len": paged_kv_last_page_len}
        for name, given in arrays.items():
            if len(given) != len(self.levels):
                raise BindingError(f"{name}: expected an array for each of {len(self.levels)} levels, got {len(given)}")
        check_only({"window_left": (window_left, -1)})
        ends = [integers(offsets, "qo_indptr_arr")[-1:] for offsets in qo_indptr_arr]
        if any(end != ends[0] for end in ends):
            raise BindingError(f"qo_indptr_arr: expected levels that end at the same row, got {', '.join(str(*end) for end in ends)}")
        for number, (level, *vectors) in enumerate(zip(self.levels, *arrays.values())):
            level.plan(
                *vectors, num_qo_heads, num_kv_heads, head_dim, page_size, causal=causal and number == len(self.levels) - 1, pos_encoding_mode=pos_encoding_mode,
                use_fp16_qk_reduction=use_fp16_qk_reduction, sm_scale=sm_scale, logits_soft_cap=logits_soft_cap, rope_scale=rope_scale, rope_theta=rope_theta,
                q_data_type=q_data_type, kv_data_type=kv_data_type,
            )  # fmt: skip
        self.rows = ends[0][0] if ends[0] else 0

    def run(self, q: Any, paged_kv_cache: Any, *, return_lse: bool = False, **options: Any) -> Any:
        """Output [rows, Hq, Dv] of q [rows, Hq, D] over the pages of all levels, which are of one cache; or (output, lse) with lse [rows, Hq], natural, where FlashInfer's
        levels have base 2. `options` are those of BatchPrefill.run, of every level; a sink would count once for each: there is none."""
        if self.rows is None:
            raise BindingError("expected plan before run")
        if (rows := view_of(q, "q").shape[0]) != self.rows:
            raise BindingError(f"q: expected {self.rows} rows as planned, got {rows}")
        check_only({name: (options.pop(name, None), None) for name in ("sinks", "out", "lse")})
        parts = [level.run(q, paged_kv_cache, return_lse=True, **options) for level in self.levels]
        output, lse = merge_states_of([(part, sums.swapaxes(0, 1)) for part, sums in parts])
        return (output, lse) if return_lse else output
