"""FlashInfer's wrappers and append_paged_kv_cache by its names and orders, against float64 sums by definition. With the argument torch on tensors."""

import inspect
import sys
import unittest
from unittest import mock

import ml_dtypes
import numpy as np

import attn_mlir
from attn_mlir.serving import BatchDecode, BatchDecodeWithPagedKVCacheWrapper, BatchPrefill, BatchPrefillWithPagedKVCacheWrapper, append_paged_kv_cache
from devices import in_turn, some

TORCH = sys.argv[1:] == ["torch"]
HEADS, KEY_HEADS, DIM, PAGE, PAGES = 4, 2, 32, 4, 12
SIZES = HEADS, KEY_HEADS, DIM, PAGE
INDPTR, INDICES, LAST = [0, 3, 3, 4, 8], [7, 2, 9, 5, 0, 10, 1, 4], [3, 0, 4, 1]
LENGTHS = [11, 0, 4, 13]
INTS = [np.asarray(x, np.int32) for x in (INDPTR, INDICES, LAST)]
OFFSETS = np.array([0, 3, 5, 6, 9], np.int32)
FLOAT8 = ml_dtypes.float8_e4m3fn


def given(value):
    """A tensor in the memory of an array, where tensors are asked for."""
    if not TORCH or not isinstance(value, np.ndarray):
        return value
    import torch

    narrow = {"float8_e4m3fn": (np.uint8, torch.float8_e4m3fn), "bfloat16": (np.int16, torch.bfloat16)}.get(value.dtype.name)
    return torch.from_numpy(value.view(narrow[0])).view(narrow[1]) if narrow else torch.from_numpy(value)


def taken(array):
    return (array.float().numpy() if TORCH else array).astype(np.float64)


def sequence(pool, b):
    """[keys, Hkv, D] of an NHD pool."""
    return pool[INDICES[INDPTR[b] : INDPTR[b + 1]]].reshape(-1, KEY_HEADS, DIM)[: LENGTHS[b]].astype(np.float64)


def expected(q, cache, counts, scale=DIM**-0.5, left=99, cap=None):
    """(output, LSE) of rows [.., Hq, D], counts of each sequence, causal."""
    outputs, lses, first = [], [], 0
    for b, count in enumerate(counts):
        keys, values = (sequence(cache[:, i], b).repeat(HEADS // KEY_HEADS, 1) for i in range(2))
        s = np.einsum("ihd,jhd->ihj", q[first : first + count].astype(np.float64), keys) * scale
        s = cap * np.tanh(s / cap) if cap else s
        back = (np.arange(count) + len(keys) - count)[:, None, None] - np.arange(len(keys))
        weights = np.where((back >= 0) & (back <= left), np.exp(s), 0)
        total = weights.sum(-1)
        outputs.append(np.einsum("ihj,jhd->ihd", weights, values) / np.where(total, total, 1)[..., None])
        lses.append(np.log(np.where(total, total, 1)) + np.where(total, 0, -np.inf))
        first += count
    return np.concatenate(outputs), np.concatenate(lses)


class Names(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(12)
        self.cache = rng.normal(size=(PAGES, 2, PAGE, KEY_HEADS, DIM)).astype(np.float16)
        self.q, self.rows = rng.normal(size=(4, HEADS, DIM)).astype(np.float16), rng.normal(size=(9, HEADS, DIM)).astype(np.float16)
        self.rng = rng

    def close(self, got, wanted, tolerance=4e-3):
        got = taken(got)
        self.assertEqual(got.shape, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance)

    def decoding(self, *options, **more):
        layer = BatchDecodeWithPagedKVCacheWrapper(*options)
        layer.plan(*map(given, INTS), *SIZES, **more)
        return layer

    def test_signatures(self):
        """Names and order of FlashInfer's arguments, as far as they are given by position."""
        names = lambda function: list(inspect.signature(function).parameters)[1:]  # noqa: E731
        paged = ["num_qo_heads", "num_kv_heads"]
        self.assertEqual(names(BatchDecodeWithPagedKVCacheWrapper.plan)[:10], [
            "indptr", "indices", "last_page_len", *paged, "head_dim", "page_size", "pos_encoding_mode", "window_left", "logits_soft_cap"
        ])  # fmt: skip
        self.assertEqual(names(BatchPrefillWithPagedKVCacheWrapper.plan)[:12], [
            "qo_indptr", "paged_kv_indptr", "paged_kv_indices", "paged_kv_last_page_len", *paged, "head_dim_qk", "page_size", "head_dim_vo",
            "custom_mask", "packed_custom_mask", "causal",
        ])  # fmt: skip
        for kind in (BatchDecodeWithPagedKVCacheWrapper, BatchPrefillWithPagedKVCacheWrapper):
            self.assertEqual(names(kind.__init__)[:3], ["float_workspace_buffer", "kv_layout", "use_cuda_graph"])

    def test_decode(self):
        """With all that changes nothing, into arrays of the caller's, both, or either alone."""
        output, lse = expected(self.q, self.cache, [1] * 4, left=6, cap=5.0)
        workspace = given(np.zeros(16, np.uint8))
        more = {"logits_soft_cap": 5.0, "non_blocking": False, "block_tables": None, "seq_lens": given(np.array(LENGTHS, np.int32)), "q_data_type": np.float16, "data_type": "float16"}
        layer = self.decoding(workspace, "NHD", False, True, None, None, None, "auto", pos_encoding_mode="NONE", window_left=6, **more)
        for where in some():
            q, cache = given(self.q), given(self.cache)
            for names in (("out",), ("lse",), ("out", "lse"), ()):
                own = {"out": np.full((4, HEADS, DIM), np.nan, np.float16), "lse": np.full((4, HEADS), np.nan, np.float32)}
                handed = {name: given(own[name]) for name in names}
                got = layer.run(q, cache, return_lse=True, enable_pdl=True, **handed, **where)
                for array, wanted, name in zip(got, (output, lse), own):
                    self.close(array, wanted)
                    if name in names:
                        self.assertIs(array, handed[name])
                        np.testing.assert_array_equal(taken(array), own[name].astype(np.float64))
            # One array, every second head of a wider one.
            wide = np.zeros((4, 2 * HEADS, DIM), np.float16)
            layer.run(q, cache, out=given(wide)[:, ::2], k_scale=1.0, v_scale=1, q_scale=1.0, **where)
            self.close(given(wide[:, ::2].copy()), output)
            self.assertFalse(wide[:, 1::2].any())
            self.close(layer.run_return_lse(q, cache, **where)[1], lse)

    def test_scales(self):
        """Of a query of 16 bits a factor of scores; of one of 8 bits, and such a cache, descales."""
        layer = self.decoding(None, sm_scale=0.25)
        narrow = self.cache.astype(FLOAT8)
        for where in some(({}, {"target": "sm_89", "device": "sim"}, {"target": "sm_90a", "device": "sim"})):
            self.close(layer.run(given(self.q), given(self.cache), q_scale=2.0, **where), expected(self.q, self.cache, [1] * 4, scale=0.5)[0])
            self.close(self.decoding().run(given(self.q), given(self.cache), q_scale=2.0, **where), expected(self.q, self.cache, [1] * 4, scale=2 * DIM**-0.5)[0])
            q8 = self.q.astype(FLOAT8)
            output, lse = expected(q8, narrow, [1] * 4, scale=0.25 * 0.5 * 2)
            own, own_lse = np.zeros((4, HEADS, DIM), ml_dtypes.bfloat16), np.zeros((4, HEADS), np.float32)
            got = layer.run(given(q8), given(narrow), q_scale=0.5, k_scale=2.0, v_scale=0.25, return_lse=True, out=given(own), lse=given(own_lse), **where)
            self.close(got[0], output / 4, 0.04)
            self.close(got[1], lse)
            self.assertTrue((taken(got[0]) == own.astype(float)).all() and (taken(got[1]) == own_lse).all())
            self.close(layer.run(given(q8), given(narrow), q_scale=0.5, k_scale=2.0, **where), output, 0.06)

    def test_prefill(self):
        output, lse = expected(self.rows, self.cache, np.diff(OFFSETS), left=5)
        layer = BatchPrefillWithPagedKVCacheWrapper(given(np.zeros(8, np.uint8)), "HND", use_cuda_graph=False, qo_indptr_buf=None)
        layer.plan(
            qo_indptr=given(OFFSETS), **{f"paged_kv_{name}": given(array) for name, array in zip(("indptr", "indices", "last_page_len"), INTS)}, num_qo_heads=HEADS,
            num_kv_heads=KEY_HEADS, head_dim_qk=DIM, page_size=PAGE, head_dim_vo=DIM, causal=True, window_left=5, q_data_type="float16", kv_data_type="float16",
            o_data_type="float16", max_token_per_sequence=3, max_sequence_kv=13,
        )  # fmt: skip
        pools = tuple(given(np.ascontiguousarray(self.cache[:, i].swapaxes(1, 2))) for i in range(2))
        for where in some():
            own, own_lse = given(np.zeros((9, HEADS, DIM), np.float16)), given(np.zeros((HEADS, 9), np.float32))
            got = layer.run_return_lse(given(self.rows), pools, out=own, lse=own_lse, enable_pdl=False, k_scale=1.0, **where)
            self.assertTrue(got[0] is own and got[1] is own_lse)
            self.close(own, output)
            self.close(own_lse, lse.T)
            self.close(layer.run(given(self.rows), pools, return_lse=True, lse=own_lse, **where)[0], output)
            scaled = layer.run(given(self.rows), pools, q_scale=0.5, **where)
            self.close(scaled, expected(self.rows, self.cache, np.diff(OFFSETS), scale=0.5 * DIM**-0.5, left=5)[0])

    def test_append(self):
        """New rows of sequences, in any order, into both layouts, one array or two; nothing else changes."""
        sequences, positions = np.array([3, 0, 3, 2, 0], np.int32), np.array([11, 10, 12, 0, 8], np.int32)
        new = [self.rng.normal(size=(5, KEY_HEADS, DIM)).astype(np.float16) for _ in range(2)]
        wanted = self.cache.copy()
        for row, (b, at) in enumerate(zip(sequences, positions)):
            for i in range(2):
                wanted[INDICES[INDPTR[b] + at // PAGE], i, at % PAGE] = new[i][row]
        for (layout, is_one), where in in_turn((("NHD", True), ("HND", True), ("NHD", False), ("HND", False))):
            cache = self.cache if layout == "NHD" else np.ascontiguousarray(self.cache.swapaxes(2, 3))
            cache = cache.copy() if is_one else tuple(cache[:, i].copy() for i in range(2))
            handed = given(cache) if is_one else tuple(map(given, cache))
            append_paged_kv_cache(*map(given, new), *map(given, (sequences, positions)), handed, *map(given, (INTS[1], INTS[0], INTS[2])), layout, **where)
            got = cache if is_one else np.stack(cache, 1)
            np.testing.assert_array_equal(got if layout == "NHD" else got.swapaxes(2, 3), wanted)

    def test_slots_on_device(self):
        """The arithmetic of vectors that are not looked at."""
        sequences, positions = np.array([3, 0, 3], np.int64), np.array([11, 10, 12], np.int64)
        cache, other, new = self.cache.copy(), self.cache.copy(), self.rng.normal(size=(3, KEY_HEADS, DIM)).astype(np.float16)
        arrays = [given(new)] * 2 + [given(sequences), given(positions)]
        vectors = list(map(given, (INTS[1], INTS[0], INTS[2])))
        append_paged_kv_cache(*arrays, given(cache), *vectors)
        with mock.patch.object(attn_mlir.serving, "are_on_host", lambda arrays: False):
            append_paged_kv_cache(*arrays, given(other), *vectors)
        np.testing.assert_array_equal(cache, other)

    def test_refused(self):
        q, cache, new = given(self.q), given(self.cache), given(self.rng.normal(size=(2, KEY_HEADS, DIM)).astype(np.float16))

        def add(sequences=(3, 0), positions=(11, 10), kind=np.int32, layout="NHD"):
            vectors = (given(np.array(x, kind)) for x in (sequences, positions))
            append_paged_kv_cache(new, new, *vectors, cache, *map(given, (INTS[1], INTS[0], INTS[2])), layout)

        def prefill(**options):
            BatchPrefillWithPagedKVCacheWrapper().plan(given(OFFSETS), *map(given, INTS), *SIZES, **options)

        def planned(**options):
            layer = BatchPrefillWithPagedKVCacheWrapper()
            layer.plan(given(OFFSETS), *map(given, INTS), *SIZES, **options)
            return layer.run(given(self.rows), cache)

        for message, call in {
            "use_cuda_graph: expected False, got True": lambda: BatchDecodeWithPagedKVCacheWrapper(None, "NHD", True),
            "backend: expected 'auto', got 'fa3'": lambda: BatchPrefillWithPagedKVCacheWrapper(backend="fa3"),
            "jit_args: expected None, got \\[\\]": lambda: BatchDecodeWithPagedKVCacheWrapper(jit_args=[]),
            "jit_kwargs: expected None, got {}": lambda: BatchPrefillWithPagedKVCacheWrapper(jit_kwargs={}),
            "expected kv_layout NHD or HND, got 'NH'": lambda: BatchDecodeWithPagedKVCacheWrapper(None, "NH"),
            "pos_encoding_mode: expected 'NONE', got 'ROPE_LLAMA'": lambda: self.decoding(pos_encoding_mode="ROPE_LLAMA"),
            "rope_scale: expected None, got 1.0": lambda: self.decoding(rope_scale=1.0),
            "rope_theta: expected None, got 10000.0": lambda: prefill(rope_theta=1e4),
            "use_fp16_qk_reduction: expected False, got True": lambda: prefill(use_fp16_qk_reduction=True),
            "prefix_len_ptr: expected None, got (ndarray|Tensor)": lambda: prefill(prefix_len_ptr=given(OFFSETS)),
            "token_pos_in_items_len: expected 0, got 5": lambda: prefill(token_pos_in_items_len=5),
            "q_data_type: expected one of float16, bfloat16, .*, got int4": lambda: self.decoding(q_data_type="int4"),
            "q_data_type: expected arrays of bf16 as planned, got f16": lambda: self.decoding(data_type=ml_dtypes.bfloat16).run(q, cache),
            "kv_data_type: expected arrays of f8E4M3FN as planned, got f16": lambda: self.decoding(kv_data_type=FLOAT8).run(q, cache),
            "o_data_type: expected arrays of f32 as planned, got f16": lambda: planned(o_data_type="float32"),
            "head_dim_vo: expected values of 16 columns as planned, got 32": lambda: planned(head_dim_vo=16),
            "lse: expected return_lse=True with it, got False": lambda: self.decoding().run(q, cache, lse=given(np.zeros((4, HEADS), np.float32))),
            r"result 0: expected f16 \(4, 4, 1, 32\), got f16 \(3, 4, 1, 32\)": lambda: self.decoding().run(q, cache, out=given(np.zeros((3, HEADS, DIM), np.float16))),
            "q_scale: expected a number beside a q of f16, got (ndarray|Tensor)": lambda: self.decoding().run(q, cache, q_scale=given(np.ones(1, np.float32))),
            "expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got f16": lambda: self.decoding().run(q, cache, k_scale=0.5),
            "batch_indices: expected sequences from 0 to 3, got 4 of row 1": lambda: add((3, 4)),
            "batch_indices: expected sequences from 0 to 3, got -1 of row 0": lambda: add((-1, 2)),
            "positions: expected 0 to 12 in sequence 3, as its pages have, got 13 of row 0": lambda: add(positions=(13, 0)),
            "positions: expected 0 to -1 in sequence 1, as its pages have, got 0 of row 1": lambda: add((3, 1), (0, 0)),
            r"positions: expected \[2\] of i32 or i64, got i32 of \(3,\)": lambda: add(positions=(1, 2, 3)),
            r"batch_indices: expected \[2\] of i32 or i64, got f32": lambda: add(kind=np.float32),
            "slots: expected slots that differ, got 41 again of token 1": lambda: add((3, 3), (5, 5)),
            "expected kv_layout NHD or HND, got 'NN'": lambda: add(layout="NN"),
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                call()
        self.assertTrue(issubclass(BatchDecodeWithPagedKVCacheWrapper, BatchDecode) and issubclass(BatchPrefillWithPagedKVCacheWrapper, BatchPrefill))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
