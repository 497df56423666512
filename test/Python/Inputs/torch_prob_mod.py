"""PyTorch: probabilities that flex_attention's prob_mod changes, and all gradients, against a dense computation in float64."""

import unittest

import torch

from attn_mlir.errors import BindingError
from attn_mlir.torch import flex_attention

B, H, HKV, N, D = 2, 4, 2, 50, 32
GENERATOR = torch.Generator().manual_seed(3)
SHARES, SLOPES = (torch.rand(H, generator=GENERATOR) for _ in range(2))


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def mix(shares):
    return lambda p, b, h, q_idx, kv_idx: (1 - shares[h]) * p + torch.where(q_idx == kv_idx, shares[h], 0.0)


def squared(shares):
    return lambda p, b, h, q_idx, kv_idx: torch.where(h == 1, 0.0, p * p / (p + 0.1)) * shares[h]


def dense(q, k, v, slopes, prob_mod):
    k, v = (t.repeat_interleave(H // HKV, 1) for t in (k, v))
    b, h, i, j = torch.meshgrid(*map(torch.arange, (B, H, N, N)), indexing="ij")
    scores = q @ k.mT / D**0.5 + slopes[h] * (j - i)
    scores = scores.masked_fill(i < j, -float("inf"))
    weights = prob_mod(scores.softmax(-1), b, h, i, j).masked_fill(i < j, 0)
    return weights @ v, scores.logsumexp(-1)


class ProbMod(unittest.TestCase):
    def test_results_and_gradients(self):
        for dtype, most in ((torch.float32, 1e-5), (torch.float16, 4e-3)):
            for change in (mix, squared):
                with self.subTest(change.__name__, dtype=dtype):
                    self.check(change, dtype, most)

    def check(self, change, dtype, most):
        shapes = (B, H, N, D), (B, HKV, N, D), (B, HKV, N, D)
        leaves = [torch.randn(shape, generator=GENERATOR).to(dtype) for shape in shapes] + [SLOPES.clone(), SHARES.clone()]
        weights = torch.randn(B, H, N, D, generator=GENERATOR).to(dtype), torch.randn(B, H, N, generator=GENERATOR)
        mine, theirs = ([t.to(type).requires_grad_() for t, type in zip(leaves, types)] for types in ([t.dtype for t in leaves], [torch.float64] * 5))
        q, k, v, slopes, shares = mine
        score_mod = lambda s, b, h, q_idx, kv_idx: s + slopes[h] * (kv_idx - q_idx)  # noqa: E731
        found = flex_attention(q, k, v, score_mod, causal, enable_gqa=True, return_lse=True, prob_mod=change(shares))
        expected = dense(*theirs[:4], change(theirs[4]))
        for a, b in zip(found, expected):
            self.near(a, b, most)
        gradients = torch.autograd.grad(found, mine, weights)
        for a, b in zip(gradients, torch.autograd.grad(expected, theirs, [w.double() for w in weights])):
            self.near(a, b, most)

    def near(self, mine, theirs, most):
        """By the norm, as rounding is."""
        error = (mine.double() - theirs).norm() / theirs.norm()
        self.assertLess(error.item(), most)

    def test_what_is_none(self):
        q = torch.randn(1, 1, 4, 8)
        with self.assertRaisesRegex(BindingError, r"prob_mod: expected a function of \(probability, b, h, q_idx, kv_idx\), got Tensor"):
            flex_attention(q, q, q, prob_mod=q)
        with self.assertRaisesRegex(BindingError, "query: expected dtype float16, bfloat16 or float32 with prob_mod, got torch.float64"):
            flex_attention(*(t.double() for t in (q, q, q)), prob_mod=mix(SHARES))


if __name__ == "__main__":
    unittest.main()
