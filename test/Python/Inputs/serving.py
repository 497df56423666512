"""`attn_mlir.serving`: FlashInfer's plan and run over pages by sequence, against float64 sums by definition."""

import unittest

import numpy as np

import attn_mlir
from attn_mlir.serving import BatchDecode, BatchPrefill
from devices import DEVICES, in_turn

HEADS, KEY_HEADS, DIM, PAGE, PAGES = 4, 2, 32, 6, 14
INDPTR, INDICES, LAST = [0, 3, 3, 4, 9], [7, 2, 12, 5, 0, 13, 1, 9, 4], [5, 0, 6, 1]
LENGTHS = [17, 0, 6, 25]
INTS = [np.asarray(x, np.int32) for x in (INDPTR, INDICES, LAST)]


def sequence(pool, b):
    """[keys, Hkv, D] of an NHD pool."""
    pages = INDICES[INDPTR[b] : INDPTR[b + 1]]
    return np.concatenate([pool[pages].reshape(-1, KEY_HEADS, DIM), np.zeros((0, KEY_HEADS, DIM))])[: LENGTHS[b]].astype(np.float64)


def expected(q, keys, values, rows, left, causal=True):
    """(output, lse) of rows [M, Hq, D] of a sequence."""
    output, lse = np.zeros((rows, HEADS, DIM)), np.full((rows, HEADS), -np.inf)
    for i in range(rows):
        at = i + len(keys) - rows
        seen = [j for j in range(len(keys)) if (not causal or j <= at) and (left < 0 or j >= at - left)]
        for h in range(HEADS):
            if seen:
                s = keys[seen, h // 2] @ q[i, h].astype(np.float64) / np.sqrt(DIM)
                lse[i, h] = s.max() + np.log(np.exp(s - s.max()).sum())
                output[i, h] = np.exp(s - lse[i, h]) @ values[seen, h // 2]
    return output, lse


class Serving(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(5)
        self.cache = rng.normal(size=(PAGES, 2, PAGE, KEY_HEADS, DIM)).astype(np.float16)
        for b, n in enumerate(LENGTHS):
            for j in range(n, (INDPTR[b + 1] - INDPTR[b]) * PAGE):
                self.cache[INDICES[INDPTR[b] + j // PAGE], :, j % PAGE] = np.nan
        self.cache[[3, 6, 8, 10, 11]] = np.nan
        self.q = rng.normal(size=(19, HEADS, DIM)).astype(np.float16)

    def close(self, got, wanted, tolerance=4e-3):
        self.assertEqual(got.shape, wanted.shape)
        same = np.isneginf(wanted) & np.isneginf(got)
        self.assertTrue(np.all(same | (np.abs(np.where(same, 0, got.astype(np.float64)) - np.where(same, 0, wanted)) < tolerance)))

    def test_decode(self):
        keys, values = self.cache[:, 0], self.cache[:, 1]
        for left, where in in_turn((4, -1)):
            rows = [expected(self.q[b : b + 1], sequence(keys, b), sequence(values, b), 1, left) for b in range(4)]
            wanted = [np.concatenate(parts) for parts in zip(*rows)]
            layer = BatchDecode()
            layer.plan(*INTS, HEADS, KEY_HEADS, DIM, PAGE, window_left=left)
            output, lse = layer.run(self.q[:4], self.cache, return_lse=True, **where)
            self.close(output, wanted[0])
            self.close(lse, wanted[1])
            # Another layer by the same plan, as two pools.
            self.close(layer.run(self.q[:4], (keys, values), **where), wanted[0])
        hnd = BatchDecode("HND")
        hnd.plan(*INTS, HEADS, KEY_HEADS, DIM, PAGE, window_left=left)
        pools = [np.ascontiguousarray(pool.swapaxes(1, 2)) for pool in (keys, values)]
        self.close(hnd.run(self.q[:4], pools, target="cpu"), wanted[0])

    def test_prefill(self):
        offsets = [0, 3, 5, 11, 19]
        for (causal, left), where in in_turn(((True, -1), (False, 3))):
            parts = []
            for b, (first, end) in enumerate(zip(offsets, offsets[1:])):
                parts.append(expected(self.q[first:end], sequence(self.cache[:, 0], b), sequence(self.cache[:, 1], b), end - first, left, causal))
            output, lse = (np.concatenate(part) for part in zip(*parts))
            layer = BatchPrefill()
            layer.plan(np.asarray(offsets, np.int32), *INTS, HEADS, KEY_HEADS, DIM, PAGE, causal=causal, window_left=left)
            got = layer.run(self.q, self.cache, return_lse=True, **where)
            self.close(got[0], output)
            self.close(got[1], lse.T)

    def test_batch_invariance(self):
        """A sequence has the bits that it has alone: decoded, by splits of 8 pages or as the compiler likes, and of a prompt."""
        keys, values = (np.ascontiguousarray(self.cache[:, i].swapaxes(1, 2)) for i in range(2))
        table = np.array([[7, 2, 12, -1, -1], [-1] * 5, [5, -1, -1, -1, -1], [0, 13, 1, 9, 4]], np.int32)
        lengths, offsets = np.array(LENGTHS, np.int32), np.array([0, 3, 5, 11, 19], np.int32)
        for where in DEVICES[1:]:
            for options in ({}, {"fixed_split_size": 8, "return_lse": True}):
                options = {**options, **where, "invariance": "batch"}
                q = self.q[:4, :, None]
                batch = attn_mlir.decode(q, keys, values, table, lengths, **options)
                alone = attn_mlir.decode(q[3:], keys, values, table[3:], lengths[3:], **options)
                for together, own in zip(batch, alone) if "return_lse" in options else [(batch, alone)]:
                    self.assertEqual(together[3:].tobytes(), own.tobytes())
            options = {**where, "invariance": "batch"}
            batch = attn_mlir.prefill(self.q, keys, values, table, lengths, offsets, 8, **options)
            alone = attn_mlir.prefill(self.q[:3], keys, values, table[:1], lengths[:1], offsets[:2], 3, **options)
            self.assertEqual(batch[:3].tobytes(), alone.tobytes())

    def test_fixed_splits(self):
        layer = BatchDecode()
        layer.plan(*INTS, HEADS, KEY_HEADS, DIM, PAGE, fixed_split_size=8)
        rows = [expected(self.q[b : b + 1], sequence(self.cache[:, 0], b), sequence(self.cache[:, 1], b), 1, -1)[0] for b in range(4)]
        self.close(layer.run(self.q[:4], self.cache, **DEVICES[1]), np.concatenate(rows))
        layer.plan(*INTS, HEADS, KEY_HEADS, DIM, PAGE, disable_split_kv=True)
        self.close(layer.run(self.q[:4], self.cache, **DEVICES[1]), np.concatenate(rows))
        layer.plan(*INTS, HEADS, KEY_HEADS, DIM, PAGE, fixed_split_size=1)
        with self.assertRaisesRegex(attn_mlir.CompileError, "expected split_keys a positive multiple of 16, got 6"):
            layer.run(self.q[:4], self.cache, **DEVICES[1])
        # Several rows of a sequence, and the same with its bits whatever is beside it.
        offsets = np.array([0, 3, 5, 11, 19], np.int32)
        whole = [expected(self.q[a:b], *(sequence(self.cache[:, i], n) for i in range(2)), b - a, -1, True)[0] for n, (a, b) in enumerate(zip(offsets, offsets[1:]))]
        for where in DEVICES[1:]:
            layer = BatchPrefill()
            layer.plan(offsets, *INTS, HEADS, KEY_HEADS, DIM, PAGE, causal=True, fixed_split_size=8)
            self.close(layer.run(self.q, self.cache, **where), np.concatenate(whole))

    def test_plan(self):
        """Ranges that persistent CTAs share out, of a size of their own or 48 keys; the bits are those of a grid of such ranges."""
        rows = [expected(self.q[b : b + 1], sequence(self.cache[:, 0], b), sequence(self.cache[:, 1], b), 1, -1)[0] for b in range(4)]
        offsets = np.array([0, 3, 5, 11, 19], np.int32)
        whole = [expected(self.q[a:b], *(sequence(self.cache[:, i], n) for i in range(2)), b - a, -1, True)[0] for n, (a, b) in enumerate(zip(offsets, offsets[1:]))]
        for size, where in in_turn((None, 8), DEVICES[1:]):
            layer = BatchDecode()
            layer.plan(*INTS, HEADS, KEY_HEADS, DIM, PAGE, fixed_split_size=size)
            for balance in ("plan", *[None, "grid", "share"] * (size is None)):
                self.close(layer.run(self.q[:4], self.cache, balance=balance, **where), np.concatenate(rows))
            self.close(layer.run(self.q[:4], self.cache, **({} if size else {"num_splits": 2}), **where), np.concatenate(rows))
            prefill = BatchPrefill()
            prefill.plan(offsets, *INTS, HEADS, KEY_HEADS, DIM, PAGE, causal=True, fixed_split_size=size)
            planned = prefill.run(self.q, self.cache, balance="plan", **where)
            self.close(planned, np.concatenate(whole))
            grid = prefill.run(self.q, self.cache, **({} if size else {"num_splits": 3}), **where)
            self.close(grid, np.concatenate(whole))

    def test_wrong(self):
        def plan(indptr=INDPTR, indices=INDICES, last=LAST, **options):
            layer = BatchDecode()
            layer.plan(*(np.asarray(x, np.int32) for x in (indptr, indices, last)), HEADS, KEY_HEADS, DIM, PAGE, **options)
            return layer

        prefill = BatchPrefill()
        for call, message in (
            (lambda: BatchDecode("NDH"), "expected kv_layout NHD or HND, got 'NDH'"),
            (lambda: BatchDecode().run(self.q, self.cache), "expected plan before run"),
            (lambda: plan(indptr=[1, 3, 3, 4, 9]), "indptr: expected offsets from 0, got 1"),
            (lambda: plan(indptr=[0, 3, 2, 4, 9]), "indptr: expected ascending offsets from 0 to 9, the number of indices, got 2 at position 2"),
            (lambda: plan(indptr=[0, 3, 3, 4, 10]), "got 10 at position 4"),
            (lambda: plan(last=[5, 0, 7, 1]), "last_page_len: expected 1 to 6, got 7 of sequence 2"),
            (lambda: plan(last=[0, 0, 6, 1]), "last_page_len: expected 1 to 6, got 0 of sequence 0"),
            (lambda: plan(last=[5, 0, 6]), "last_page_len: expected 4 entries, one for each sequence, got 3"),
            (lambda: plan(window_left=-2), "expected window_left from -1, no window, got -2"),
            (lambda: BatchDecode().plan(*INTS[:2], self.q, HEADS, KEY_HEADS, DIM, PAGE), "last_page_len: expected a vector of i32 or i64, got f16"),
            (lambda: plan().run(self.q, self.cache), "q: expected 4 tokens as planned, got 19"),
            (lambda: plan().run(self.q[:4, :2], self.cache), r"q: expected \[.., 4, 32\] as planned, got \(4, 2, 32\)"),
            (lambda: plan().run(self.q[:4], self.cache[:, 0]), r"paged_kv_cache: expected two arrays, or one \[pages, 2, ..\]"),
            (lambda: plan().run(self.q[:4], (self.cache,)), "expected a cache of keys and values, got 1 arrays"),
            (lambda: plan().run(self.q[:4], self.cache.swapaxes(2, 3)), "expected 2 heads and pages of 6 rows as planned, got keys of"),
            (lambda: plan(fixed_split_size=0).run(self.q[:4], self.cache), "expected fixed_split_size from 1 page on, got 0"),
            (lambda: plan(fixed_split_size=2, disable_split_kv=True).run(self.q[:4], self.cache), "expected one of fixed_split_size, num_splits and disable_split_kv, got 2, None and True"),
            (lambda: plan(fixed_split_size=2).run(self.q[:4], self.cache), "expected no fixed_split_size, num_splits, disable_split_kv or balance for target cpu"),
            (lambda: plan().run(self.q[:4], self.cache, balance="plan"), "or balance for target cpu"),
            (lambda: plan().run(self.q[:4], self.cache, balance="even"), "expected balance grid or plan or share, got 'even'"),
            (lambda: plan(fixed_split_size=2).run(self.q[:4], self.cache, balance="share"), "expected no fixed_split_size with balance 'share', which chooses one, got 2"),
            (lambda: plan().run(self.q[:4], self.cache, num_splits=0), "expected num_splits from 1 on, got 0"),
            (lambda: plan().run(self.q[:4], self.cache, num_splits=2, balance="plan"), "expected balance 'grid' with num_splits or disable_split_kv"),
            (lambda: plan().run(self.q[:4], self.cache, invariance="batch"), "expected invariance none for target cpu, of whose bits nothing is said, got 'batch'"),
            (lambda: plan().run(self.q[:4], self.cache, invariance="all"), "expected invariance none or batch or prefix, got 'all'"),
            (lambda: prefill.plan(np.zeros(2, np.int32), *INTS, HEADS, KEY_HEADS, DIM, PAGE), "qo_indptr: expected 5 offsets, as indptr has, got 2"),
        ):  # fmt: skip
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                call()


if __name__ == "__main__":
    unittest.main()
