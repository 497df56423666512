"""merge_state and merge_states against float64 over all keys: random partitions, parts without keys, far LSEs, bases. With the argument torch on tensors."""

import sys
import unittest

import ml_dtypes
import numpy as np

import attn_mlir

ROWS, HEADS, DIM = 5, 3, 8
TORCH = sys.argv[1:] == ["torch"]
#: Rounding of outputs, a part of the largest.
TOLERANCE = {np.float64: 1e-13, np.float32: 1e-6, np.float16: 6e-4, ml_dtypes.bfloat16: 5e-3}


def given(array):
    if not TORCH:
        return array
    import torch

    return torch.from_numpy(array.astype(np.float32)).bfloat16() if array.dtype == ml_dtypes.bfloat16 else torch.from_numpy(array)


def taken(array):
    return (array.double().numpy() if TORCH else array).astype(np.float64)


def merge(function, *arrays, **options):
    got = function(*map(given, arrays), **options)
    if not TORCH:
        assert [array.dtype for array in got] == [array.dtype for array in arrays[:2]]
    return [taken(array) for array in got]


def attend(scores, values):
    """(output, LSE) of scores [ROWS, HEADS, keys] and values [keys, HEADS, DIM]; NaN and -inf of no keys."""
    if not scores.shape[-1]:
        return np.full((ROWS, HEADS, DIM), np.nan), np.full((ROWS, HEADS), -np.inf)
    most = scores.max(-1, keepdims=True)
    weights = np.exp(scores - most)
    total = weights.sum(-1)
    return np.einsum("rhk,khd->rhd", weights / total[..., None], values), most[..., 0] + np.log(total)


class States(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(9)

    def drawn(self, parts, dtype=np.float32, shift=0.0, spread=1.0, keys=50):
        """The outputs and LSEs of random parts, some of which have no keys, and of all keys in float64."""
        scores, values = spread * self.rng.standard_normal((ROWS, HEADS, keys)) + shift, self.rng.standard_normal((keys, HEADS, DIM))
        owner = self.rng.integers(0, max(1, parts * 2 // 3), keys)
        owner = self.rng.permutation(parts)[owner]
        states = [attend(scores[..., owner == p], values[owner == p]) for p in range(parts)]
        v, s = (np.stack(arrays, 1) for arrays in zip(*states))
        return v.astype(dtype), s.astype(np.float64 if dtype == np.float64 else np.float32), *attend(scores, values)

    def near(self, got, v, s, dtype=np.float32):
        self.assertEqual((got[0].shape, got[1].shape), (v.shape, s.shape))
        self.assertLess(np.abs(got[0] - v).max(), TOLERANCE[dtype] * np.abs(v).max())
        self.assertLess(np.abs(got[1] - s).max(), max(TOLERANCE[np.float64 if dtype == np.float64 else np.float32] * np.abs(s).max(), 1e-14))

    def test_partitions(self):
        for parts in (1, 2, 3, 7, 33):
            for dtype in TOLERANCE:
                v, s, output, lse = self.drawn(parts, dtype)
                self.near(merge(attn_mlir.merge_states, v, s), output, lse, dtype)

    def test_far(self):
        """Exponentials that no f32 holds, of LSEs far from 0 and from each other."""
        for shift, spread in ((80, 1), (-80, 1), (-1e4, 1), (1e4, 1), (0, 80)):
            v, s, output, lse = self.drawn(6, shift=shift, spread=spread)
            got = merge(attn_mlir.merge_states, v, s)
            # As exact as s is: its rounding is a factor of weights.
            self.assertLess(np.abs(got[0] - output).max(), 1e-6 * max(8, abs(shift), spread))
            self.assertLess(np.abs(got[1] - lse).max(), 2e-7 * max(8, np.abs(lse).max()))
        v, s = np.array([[[[1.0]], [[2.0]], [[3.0]]]], np.float32), np.array([[[80.0], [-1e4], [-80.0]]], np.float32)
        output, lse = merge(attn_mlir.merge_states, v, s)
        self.assertEqual((output.item(), lse.item()), (1.0, 80.0))

    def test_empty(self):
        """Parts without keys leave the others' bits as they are, whatever their outputs are; all of them give 0 and -inf."""
        v, s = self.rng.standard_normal((ROWS, HEADS, DIM)).astype(np.float16), self.rng.standard_normal((ROWS, HEADS)).astype(np.float32)
        nothing = np.full_like(s, -np.inf)
        for thing in (np.nan, np.inf, -np.inf, 7):
            empty = np.full_like(v, thing)
            for a, b in (((v, s), (empty, nothing)), ((empty, nothing), (v, s))):
                output, lse = merge(attn_mlir.merge_state, *a, *b)
                np.testing.assert_array_equal(output, v)
                np.testing.assert_array_equal(lse, s)
            output, lse = merge(attn_mlir.merge_state, empty, nothing, empty, nothing)
            np.testing.assert_array_equal(output, 0 * v)
            np.testing.assert_array_equal(lse, nothing)
        self.assertEqual(merge(attn_mlir.merge_states, np.zeros((0, 2, 3, 4), np.float32), np.zeros((0, 2, 3), np.float32))[0].shape, (0, 3, 4))

    def test_associative(self):
        v, s, output, lse = self.drawn(3, np.float64)
        a, b, c = ((v[:, p], s[:, p]) for p in range(3))
        left = merge(attn_mlir.merge_state, *merge(attn_mlir.merge_state, *a, *b), *c)
        right = merge(attn_mlir.merge_state, *a, *merge(attn_mlir.merge_state, *b, *c))
        for got in (left, right, merge(attn_mlir.merge_states, v, s)):
            self.near(got, output, lse, np.float64)

    def test_base_2(self):
        for dtype in (np.float32, np.float64):
            v, s, output, lse = self.drawn(5, dtype)
            got, other = merge(attn_mlir.merge_states, v, s / np.log(dtype(2)), base=2)
            self.near((got, other * np.log(2)), output, lse, dtype)
            two = merge(attn_mlir.merge_state, v[:, 0], s[:, 0] / np.log(dtype(2)), v[:, 1], s[:, 1] / np.log(dtype(2)), base=2)
            natural = merge(attn_mlir.merge_state, v[:, 0], s[:, 0], v[:, 1], s[:, 1])
            np.testing.assert_allclose(two[0], natural[0], rtol=0, atol=TOLERANCE[dtype] * 4)
            np.testing.assert_allclose(two[1] * np.log(2), natural[1], rtol=0, atol=TOLERANCE[dtype] * 4)

    def test_attention(self):
        """Of what `attention` returns over two halves of the keys."""
        q, k, v = (self.rng.standard_normal((1, 2, 9, 16)).astype(np.float32) for _ in range(3))
        rows = lambda state: (state[0][0].swapaxes(0, 1), state[1][0].swapaxes(0, 1))  # noqa: E731
        halves = [rows(attn_mlir.attention(q, k[:, :, part], v[:, :, part], return_lse=True)) for part in (slice(4), slice(4, 9))]
        whole = rows(attn_mlir.attention(q, k, v, return_lse=True))
        got = merge(attn_mlir.merge_state, *halves[0], *halves[1])
        np.testing.assert_allclose(got[0], whole[0], atol=2e-6)
        np.testing.assert_allclose(got[1], whole[1], atol=2e-6)

    def test_refused(self):
        v, s = np.zeros((ROWS, 2, HEADS, DIM), np.float16), np.zeros((ROWS, 2, HEADS), np.float32)
        wrong = s.copy()
        wrong[3, 1, 2] = np.inf
        missing = np.where(wrong == np.inf, np.float32(np.nan), wrong)
        one = lambda array: array[:, 0]  # noqa: E731
        for message, call in {
            "s: expected numbers, or -inf of parts without keys, got inf": lambda: attn_mlir.merge_states(given(v), given(wrong)),
            "s: expected numbers, or -inf of parts without keys, got nan": lambda: attn_mlir.merge_states(given(v), given(missing)),
            "s_b: expected numbers, or -inf of parts without keys, got inf": lambda: attn_mlir.merge_state(*map(given, (one(v), one(s), one(v), wrong[:, 1]))),
            r"v: expected \[rows, parts, heads, head dim\] of f16, bf16, f32, f64, got f16 of \(5, 3, 8\)": lambda: attn_mlir.merge_states(given(one(v)), given(s)),
            r"v_a: expected \[rows, heads, head dim\] of .*, got f16 of \(5, 2, 3, 8\)": lambda: attn_mlir.merge_state(*map(given, (v, s, v, s))),
            r"v: expected .*, got i32 of": lambda: attn_mlir.merge_states(given(v.astype(np.int32)), given(s)),
            r"v: expected 1 part or more, got 0": lambda: attn_mlir.merge_states(given(v[:, :0]), given(s[:, :0])),
            r"s: expected f32 of \(5, 2, 3\), got f64": lambda: attn_mlir.merge_states(given(v), given(s.astype(np.float64))),
            r"s: expected f32 of \(5, 2, 3\), got f32 of \(5, 2, 1\)": lambda: attn_mlir.merge_states(given(v), given(s[..., :1])),
            r"v_b: expected f16 of \(5, 3, 8\), as v_a, got f32": lambda: attn_mlir.merge_state(*map(given, (one(v), one(s), one(v).astype(np.float32), one(s)))),
            "expected base None, for natural logarithms, or 2, got 10": lambda: attn_mlir.merge_states(given(v), given(s), base=10),
            "v: expected an array of NumPy or torch, got HostArray": lambda: attn_mlir.merge_states(attn_mlir.runtime.host_array.HostArray("f16", v.shape, bytearray(v.nbytes)), given(s)),
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                call()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
