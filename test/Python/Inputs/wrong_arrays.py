"""Arrays of every wrong kind: what is said, on the CPU and with a GPU's kernel in the simulator; and odd ones that are fine."""

import sys
import unittest

import numpy as np

import attn_mlir

DEVICES = ({}, {"device": "sim"})


def normal(*shape, dtype=np.float16):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


class Refused(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = normal(2, 4, 9, 32), normal(2, 2, 11, 32), normal(2, 2, 11, 48)

    def refuses(self, message, *arrays, **options):
        for device in DEVICES:
            with self.assertRaises(attn_mlir.BindingError) as caught:
                attn_mlir.attention(*arrays, **options, **device)
            self.assertIn(message, str(caught.exception))

    def test_no_arrays(self):
        for thing, name in ((None, "NoneType"), ([[1.0]], "list"), (1.0, "float"), ("q", "str"), (object(), "object")):
            self.refuses(
                f"query: expected an array with __dlpack__, __array_interface__ or __cuda_array_interface__, got {name}",
                thing, self.k, self.v,
            )  # fmt: skip

    def test_types(self):
        for dtype, said in ((np.int32, "i32"), (bool, "i1"), (np.int64, "i64")):
            arrays = [t.astype(dtype) for t in (self.q, self.k, self.v)]
            self.refuses(f"query: expected dtype f8E4M3FN, f8E5M2, i8, f16, bf16, f32, f64, got {said}", *arrays)
        for dtype, said in ((np.complex64, "<c8"), (">f4", ">f4"), (np.uint16, "<u2"), (object, "|O"), (np.longdouble, "<f16")):
            self.refuses(f", got '{said}'", self.q.astype(dtype), self.k, self.v)
        self.refuses("key: expected dtype f16, that of query, got f32", self.q, self.k.astype(np.float32), self.v)

    def test_ranks_and_sizes(self):
        q, k, v = self.q, self.k, self.v
        self.refuses("query: expected [batch, heads, rows, head dim], got rank 3", q[0], k, v)
        self.refuses("value: expected [batch, heads, rows, head dim], got rank 5", q, k, v[None])
        self.refuses("operand key: expected dim 0 (B) to be 2, got 1", q, k[:1], v)
        self.refuses("operand key: expected dim 3 to be 32, got 16", q, k[..., :16], v)
        self.refuses("operand value: expected dim 1 (Hkv) to be 2, got 1", q, k, v[:, :1])
        self.refuses("operand value: expected dim 2 (N) to be 11, got 10", q, k, v[:, :, :10])
        self.refuses("to be a multiple of the number of key heads, got 3 and 2", q[:, :3], k, v)
        self.refuses("to be a multiple of the number of key heads, got 4 and 0", q, k[:, :0], v[:, :0])
        self.refuses("operand query: expected dim 3 to be at least 1, got 0", q[..., :0], k[..., :0], v)
        self.refuses("operand value: expected dim 3 to be at least 1, got 0", q, k, v[..., :0])

    def test_bias_and_out(self):
        arrays = self.q, self.k, self.v
        self.refuses("expected a bias of rank 4, got 2", *arrays, bias=normal(9, 11))
        self.refuses("expected dim 3 of bias to be 1 or 11 (N), got 9", *arrays, bias=normal(1, 1, 9, 9))
        self.refuses("sink: expected shape (4,), one for each query head, got (3,)", *arrays, sink=normal(3))
        self.refuses("expected 2 results in out, got 1", *arrays, return_lse=True, out=normal(2, 4, 9, 48))
        self.refuses("expected 1 results in out, got 2", *arrays, out=[normal(2, 4, 9, 48)] * 2)

    def test_out_of_another_type(self):
        for options, message in zip(DEVICES, ("result 0: expected f16", "operand output: expected dtype f16, got f32")):
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                attn_mlir.attention(self.q, self.k, self.v, out=normal(2, 4, 9, 48, dtype=np.float32), **options)

    def test_strides_for_a_gpu(self):
        """The CPU takes any; a GPU's kernel says which it needs."""
        doubled = np.repeat(self.q, 2, axis=3)[..., ::2]
        for message, query in {
            "operand query: expected stride 3 to be 1, got 2": doubled,
            "operand query: expected stride 2 to be at least 0, got -32": self.q[:, :, ::-1],
            "operand query: expected stride 0 to be a multiple of 8, got 1188": normal(2, 4, 9, 33)[..., :32],
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                attn_mlir.attention(query, self.k, self.v, device="sim")

    def test_address_for_a_gpu(self):
        """Kernels of a GPU copy 16 bytes at a time; arrays in host memory are copied to it first, wherever they are."""
        shifted = normal(2 * 4 * 9 * 32 + 1)[1:].reshape(2, 4, 9, 32)
        expected = attn_mlir.attention(shifted.copy(), self.k, self.v, device="sim")
        np.testing.assert_array_equal(attn_mlir.attention(shifted, self.k, self.v, device="sim"), expected)

    def test_pools_of_their_own(self):
        """Rows are appended in place, to memory that may be written, once for each element."""
        new, pool, slots = normal(1, 2, 48), normal(3, 2, 4, 48), np.array([5])
        read_only = pool.copy()
        read_only.flags.writeable = False
        repeated = np.lib.stride_tricks.as_strided(pool, pool.shape, (0, *pool.strides[1:]))
        for message, pools in {
            "v_pool: expected a writable array, got a read-only one": (pool, read_only),
            "k_pool: expected elements that do not overlap, got strides (0, 192, 48, 1)": (repeated, pool),
            "v_pool: expected memory of its own, got some of k_pool": (pool, pool),
        }.items():
            for device in ("cpu", "sim"):
                with self.assertRaises(attn_mlir.BindingError) as caught:
                    attn_mlir.append(new, new, *pools, slots, device=device)
                self.assertEqual(str(caught.exception), message)

    def test_results_of_their_own(self):
        """Written by nobody else: in memory that may be written, once for each element, and that nothing else has."""
        read_only, shared = normal(2, 4, 9, 48), np.zeros(20000, np.uint8)
        read_only.flags.writeable = False
        self.refuses("result 0: expected a writable array, got a read-only one", self.q, self.k, self.v, out=read_only)
        repeated = np.lib.stride_tricks.as_strided(normal(9, 48), (2, 4, 9, 48), (0, 0, 96, 2))
        said = "result 0: expected elements that do not overlap, got shape (2, 4, 9, 48) with strides (0, 0, 48, 1)"
        self.refuses(said, self.q, self.k, self.v, out=repeated)
        output = shared[: 2 * 4 * 9 * 48 * 2].view(np.float16).reshape(2, 4, 9, 48)
        lse = shared[: 2 * 4 * 9 * 4].view(np.float32).reshape(2, 4, 9)
        said = "result 1: expected memory of its own, got some of result 0"
        self.refuses(said, self.q, self.k, self.v, return_lse=True, out=(output, lse))
        said = "result 0: expected memory of its own, got some of argument 0"
        self.refuses(said, self.q, self.k, self.v[..., :32], out=self.q)

    def test_masks_and_scores(self):
        arrays = self.q, self.k, self.v
        for mask in (3, np.ones((9, 11), bool)):
            said = f"expected a mask or a function of (b, h, i, j), got {type(mask).__name__}"
            self.refuses(said, *arrays, mask_mod=mask)
        self.refuses("expected a score or a function of (score, b, h, i, j), got int", *arrays, score_mod=3)
        said = "bias: expected dtype f16, bf16, f32, f64, got i1; a bool mask is a mask_mod"
        self.refuses(said, *arrays, bias=np.ones((1, 1, 9, 11), bool))
        said = "bias: expected dtype f16, bf16 or f32, which scores of f32 have room for, got f64"
        self.refuses(said, *arrays, bias=np.ones((1, 1, 9, 11), np.float64))

    def test_calls_of_kernels(self):
        problem = attn_mlir.AttentionProblem("f16", 32, 32, mask=attn_mlir.mask.document(np.zeros(11, np.int32)).region)
        for target, options in (("cpu", {}), ("sm_80", {"device": "sim"})):
            captured, v = np.zeros(11, np.int32), self.v[..., :32].copy()
            kernel = attn_mlir.compile(problem, target=target)
            for message, arguments in {
                "expected 4 arguments, got 3": (self.q, self.k, v),
                "expected 4 arguments, got 5": (self.q, self.k, v, captured, v),
                "argument 1: expected an array with": (self.q, self.k.tolist(), v, captured),
                "expected rank 4": (self.q[0], self.k, v, captured),
                "got f32": (self.q.astype(np.float32), self.k, v, captured),
                "11": (self.q, self.k, v[:, :, :5], captured),
            }.items():
                with self.assertRaises(attn_mlir.BindingError) as caught:
                    kernel(*arguments, **options)
                self.assertIn(message, str(caught.exception))
                self.assertNotIn(".npy", str(caught.exception))

    def test_bytes_between_elements(self):
        records = np.zeros((2, 4, 9, 32), np.dtype([("x", np.float16), ("y", np.uint8)]))
        self.refuses("query: expected strides that are multiples of 2 bytes", records["x"], self.k, self.v)

    def test_masked_array(self):
        self.refuses("query: expected an array without a mask, got a masked one", np.ma.masked_less(self.q, 0), self.k, self.v)

    def test_options(self):
        arrays = self.q, self.k, self.v
        self.refuses("expected causal to be a bool, 'top_left' or 'bottom_right', got 'right'", *arrays, causal="right")
        self.refuses("expected window to be a number or (left, right), got 'wide'", *arrays, window="wide")
        self.refuses("expected window to be a number or (left, right), got (1, 2, 3)", *arrays, window=[1, 2, 3])
        self.refuses("expected scale to be a finite number, got nan", *arrays, scale=float("nan"))
        self.refuses("expected scale to be a finite number, got '1'", *arrays, scale="1")
        for cap in (-1, 0, float("inf"), "1"):
            with self.assertRaisesRegex(attn_mlir.AttnError, "expected cap to be a positive number of f32, got"):
                attn_mlir.attention(*arrays, soft_cap=cap)


class Fine(unittest.TestCase):
    def setUp(self):
        self.q, self.k = normal(2, 4, 9, 32), normal(2, 2, 11, 32)

    def same(self, query, key):
        expected = attn_mlir.attention(np.ascontiguousarray(query), np.ascontiguousarray(key), np.ascontiguousarray(key))
        np.testing.assert_array_equal(attn_mlir.attention(query, key, key), expected)

    def test_any_strides_on_the_cpu(self):
        self.same(np.repeat(self.q, 2, axis=3)[..., ::2], self.k)
        self.same(self.q[:, :, ::-1], self.k[:, ::-1])
        self.same(np.asfortranarray(self.q), self.k)
        self.same(np.broadcast_to(self.q[:1, :1], (2, 4, 9, 32)), np.broadcast_to(self.k[:, :1], (2, 2, 11, 32)))
        read_only = self.q.copy()
        read_only.flags.writeable = False
        self.same(read_only, self.k)

    def test_results_between_others(self):
        """Rows of the result lie between those of the arguments, and a result may have gaps."""
        packed = normal(2, 9, 3, 4, 32)
        q, k, out = (packed[:, :, n].transpose(0, 2, 1, 3) for n in range(3))
        expected = attn_mlir.attention(q.copy(), k.copy(), k.copy())
        for device in DEVICES:
            attn_mlir.attention(q, k, k, out=out, **device)
            np.testing.assert_allclose(out.astype(np.float32), expected.astype(np.float32), atol=2e-3)

    def test_nothing_to_do(self):
        """No batch, no rows: empty results. No keys: zeros."""
        for device in DEVICES:
            for q, k in ((self.q[:0], self.k[:0]), (self.q[:, :, :0], self.k), (self.q, self.k[:, :, :0])):
                output, lse = attn_mlir.attention(q, k, k, return_lse=True, **device)
                self.assertEqual((output.shape, lse.shape), (q.shape, q.shape[:3]))
                self.assertTrue((output == 0).all() and np.isneginf(lse).all())

    def test_memory_is_not_kept(self):
        array = self.q.copy()
        before = sys.getrefcount(array)
        attn_mlir.attention(array, self.k, self.k)
        self.assertEqual(sys.getrefcount(array), before)


if __name__ == "__main__":
    sys.exit(unittest.main())
