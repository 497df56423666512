"""NumPy arrays: strided views, results of NumPy's kind, and what is refused."""

import re
import sys
import unittest
from unittest import mock

import numpy as np

import attn_mlir
from attn_mlir import mask, cpu
from attn_mlir.arrays import view_of


def unfused(q, k, v, visible):
    scores = np.einsum("bhid,bhjd->bhij", q, k, dtype=np.float64) / np.sqrt(q.shape[-1])
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhij,bhjd->bhid", weights / weights.sum(-1, keepdims=True), v, dtype=np.float64)


class NumPy(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        # [B, S, H, D] in memory, as projections leave them.
        self.q, self.k, self.v = (
            random.standard_normal((2, 33, 3, 32)).astype(np.float16).transpose(0, 2, 1, 3) for _ in range(3)
        )
        self.causal = np.tri(33, dtype=bool)

    def test_devices(self):
        for options in ({}, {"device": "sim"}, {"device": "sim", "target": "sm_80"}):
            output = attn_mlir.attention(self.q, self.k, self.v, causal=True, **options)
            self.assertEqual((type(output), output.dtype, output.shape), (np.ndarray, np.float16, (2, 3, 33, 32)))
            self.assertLess(np.abs(output - unfused(self.q, self.k, self.v, self.causal)).max(), 4e-3)

    def test_out_with_strides(self):
        memory = np.full((2, 33, 3, 40), 7, np.float16)
        out = memory.transpose(0, 2, 1, 3)[..., :32]
        attn_mlir.attention(self.q, self.k, self.v, causal=True, device="sim", out=out)
        self.assertLess(np.abs(out - unfused(self.q, self.k, self.v, self.causal)).max(), 4e-3)
        self.assertTrue((memory[..., 32:] == 7).all())

    def test_captures(self):
        ids = np.repeat([0, 1, 2], 11).astype(np.int64)
        output = attn_mlir.attention(self.q, self.k, self.v, mask_mod=mask.document(ids), device="sim")
        self.assertLess(np.abs(output - unfused(self.q, self.k, self.v, ids[:, None] == ids)).max(), 4e-3)

    def test_threads_begin_together(self):
        """Between a call and what is remembered of it another thread may have put one in its place, of which nothing is known yet."""
        run = cpu.DirectKernel.run

        def run_beside_others(kernel, *arguments):
            results = run(kernel, *arguments)
            kernel.calls.clear()
            return results

        with mock.patch.object(cpu.DirectKernel, "run", run_beside_others):
            for _ in range(3):
                output, lse = attn_mlir.attention(self.q[:1, :1], self.k[:1, :1], self.v[:1, :1], return_lse=True)
                self.assertEqual((output.shape, lse.shape), ((1, 1, 33, 32), (1, 1, 33)))

    def test_calls_of_threads_that_begin_together(self):
        """The one that is there first is that of all."""
        views = [view_of(array) for array in (self.q, self.k, self.v)]
        kernel = object.__new__(cpu.DirectKernel)
        kernel.function, kernel.calls = None, {}

        def make(function, views):
            """While it is made, another thread makes one."""
            with mock.patch.object(cpu, "Call", lambda *_: "first"):
                kernel.checked(views)
            return "second"

        with mock.patch.object(cpu, "Call", make):
            self.assertEqual(kernel.checked(views), "first")
        self.assertEqual(kernel.checked(views), "first")

    def test_few_rows_on_the_cpu(self):
        """Tiles have as few rows; one kernel serves 5 to 16 of them, one 17 to 32, one 33 to 64."""
        texts = set()
        for rows in (1, 2, 9, 16, 17, 32, 33, 64, 66):
            query = np.concatenate([self.q, self.q[:, :, ::-1]], axis=2)[:, :, :rows]
            is_causal = rows <= 33
            seen = np.tri(rows, 33, 33 - rows, dtype=bool) if is_causal else np.ones((rows, 33), dtype=bool)
            run = cpu.DirectKernel.run
            with mock.patch.object(cpu.DirectKernel, "run", autospec=True, side_effect=run) as called:
                output = attn_mlir.attention(query, self.k, self.v, causal="bottom_right" if is_causal else False)
            self.assertLess(np.abs(output - unfused(query, self.k, self.v, seen)).max(), 4e-3)
            text = called.call_args[0][0].mlir
            texts.add((re.findall("tile_m = [0-9]+", text)[0] if "tile_m" in text else "", text))
        # With and without a mask: 64.
        self.assertEqual(sorted(tile for tile, _ in texts), ["", "tile_m = 1", "tile_m = 2", "tile_m = 32", "tile_m = 64", "tile_m = 64", "tile_m = 8"])

    def test_prob_mod(self):
        """Keys have views, of which the attention for the LSE multiplies one."""
        for options in ({}, {"device": "sim"}):
            change = lambda p, b, h, i, j: mask.where(i == j, p, 0.0)  # noqa: E731
            output, lse = attn_mlir.attention(self.q, self.k, self.v, causal=True, prob_mod=change, return_lse=True, **options)
            scores = np.einsum("bhid,bhjd->bhij", self.q, self.k, dtype=np.float64) / np.sqrt(32)
            expected = np.log(np.where(self.causal, np.exp(scores), 0).sum(-1))
            self.assertLess(np.abs(lse - expected).max(), 1e-4)
            own = np.exp(np.einsum("bhii->bhi", scores) - expected)[..., None] * self.v
            self.assertLess(np.abs(output - own).max(), 4e-3)

    def test_untraceable(self):
        ids = np.zeros(33, np.int32)
        with self.assertRaisesRegex(mask.TraceError, "to read an array at it, wrap the array by attn_mlir.mask.tensor"):
            attn_mlir.attention(self.q, self.k, self.v, mask_mod=lambda b, h, i, j: ids[i] == ids[j])

    def test_refused(self):
        for message, array in {
            "query: expected dtype f16, f32, .*, got '<c8'": self.q.astype(np.complex64),
            "query: expected dtype f16, f32, .*, got '>f2'": self.q.astype(">f2"),
            "operand query: expected stride 3 to be 1, got 2": np.repeat(self.q, 2, axis=3)[..., ::2],
            "operand query: expected stride 2 to be at least 0, got -": self.q[:, :, ::-1],
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                attn_mlir.attention(array, self.k, self.v, device="sim")


if __name__ == "__main__":
    sys.exit(unittest.main())
