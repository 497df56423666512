"""PyTorch: what is in front of an attention and behind it, norms, rotations and output_mods, by kernels and with gradients, against dense computations in float64
and differences."""

import unittest

import numpy as np
import torch

from attn_mlir.errors import BindingError
from attn_mlir.mask import TraceError
from attn_mlir.torch import attention, flex_attention
from attn_mlir.torch.transforms import is_plain

B, H, HKV, M, N, D, DV, EPSILON = 2, 4, 2, 9, 13, 16, 12, 1e-3
GENERATOR = torch.Generator().manual_seed(8)


def uniform(*shape):
    return 2 * torch.rand(*shape, generator=GENERATOR, dtype=torch.float64) - 1


ANGLES = 3 * uniform(20, 6)
POSITIONS = torch.randint(0, 20, (B, M), generator=GENERATOR), None
LEAVES = {
    "q": uniform(B, H, M, D), "k": uniform(B, HKV, N, D), "v": uniform(B, HKV, N, DV), "wq": uniform(D), "wk": 1 + uniform(D),
    "cos": ANGLES.cos(), "sin": ANGLES.sin(), "gate": uniform(B, H, M, DV), "shares": uniform(H),
}  # fmt: skip


def rows(x):
    return {"qk_norm": (x["wq"], x["wk"]), "qk_norm_epsilon": EPSILON, "rotary": (x["cos"], x["sin"]), "rotary_interleaved": True, "rotary_positions": POSITIONS}


def output_mod(x):
    """A gate, and the mix of a head with the values; a row of weights is read whole."""

    def changed(o, b, h, i, c):
        mixed = (1 - x["shares"][h]) * o + torch.where(i < N, x["shares"][h] * x["v"][b, h // (H // HKV), i, c], 0.0)
        return mixed * torch.sigmoid(x["gate"][b, h, i, c]) + x["wk"][:4].sum() * (c > 2)

    return changed


def turned(x, cos, sin):
    cos, sin = (t[:, None] if t.dim() == 3 else t for t in (cos, sin))
    pairs = torch.complex(x[..., 0:12:2], x[..., 1:12:2]) * torch.complex(cos, sin)
    return torch.cat([torch.view_as_real(pairs).flatten(-2), x[..., 12:]], -1)


def dense(x):
    """Causal from the bottom right, and the LSE."""
    q, k = (x[n] * (x[n].square().mean(-1, keepdim=True) + EPSILON).rsqrt() * x[w] for n, w in (("q", "wq"), ("k", "wk")))
    q, k = turned(q, x["cos"][POSITIONS[0]], x["sin"][POSITIONS[0]]), turned(k, x["cos"][:N], x["sin"][:N])
    k, v = (t.repeat_interleave(H // HKV, 1) for t in (k, x["v"]))
    s = (q @ k.mT / D**0.5).masked_fill(torch.arange(N) > torch.arange(M)[:, None] + N - M, -float("inf"))
    shares = x["shares"][:, None, None]
    mixed = (1 - shares) * (s.softmax(-1) @ v) + shares * v[:, :, :M]
    return mixed * torch.sigmoid(x["gate"]) + x["wk"][:4].sum() * (torch.arange(DV) > 2), s.logsumexp(-1)


def ours(x):
    return attention(x["q"], x["k"], x["v"], causal=True, return_lse=True, **rows(x), output_mod=output_mod(x))


class Around(unittest.TestCase):
    def near(self, found, expected, most, what=""):
        for a, b in zip(found, expected, strict=True):
            self.assertEqual(a.shape, b.shape)
            self.assertLess(((a.double() - b).norm() / b.norm()).item(), most, what)

    def test_one_kernel(self):
        """Without a gradient one launch computes all."""
        for dtype, most in ((torch.float32, 1e-5), (torch.float16, 3e-3), (torch.bfloat16, 2e-2), (torch.float64, 1e-10)):
            x = {name: t.to(dtype) for name, t in LEAVES.items()}
            self.assertTrue(is_plain(x.values()))
            self.near(ours(x), dense({name: t.double() for name, t in x.items()}), most, dtype)

    def test_gradients(self):
        for dtype, most in ((torch.float32, 1e-4), (torch.bfloat16, 4e-2)):
            mine = {name: t.to(dtype).requires_grad_() for name, t in LEAVES.items()}
            theirs = {name: t.detach().double().requires_grad_() for name, t in mine.items()}
            weights = uniform(B, H, M, DV), uniform(B, H, M)
            found, expected = ours(mine), dense(theirs)
            self.near(found, expected, most, dtype)
            gradients = torch.autograd.grad(found, list(mine.values()), [w.to(f.dtype) for w, f in zip(weights, found)])
            for name, a, b in zip(mine, gradients, torch.autograd.grad(expected, list(theirs.values()), weights), strict=True):
                self.near([a], [b], most, f"{name} of {dtype}")

    def test_differences(self):
        leaves = [t.clone().requires_grad_() for t in LEAVES.values()]
        self.assertTrue(torch.autograd.gradcheck(lambda *given: ours(dict(zip(LEAVES, given))), leaves, fast_mode=True, atol=1e-6))

    def test_transforms_and_graphs(self):
        x = {name: t.float() for name, t in LEAVES.items()}
        expected = torch.autograd.functional.vjp(lambda q: dense({**LEAVES, "q": q})[0].sum(), LEAVES["q"])[1]
        self.near([torch.func.grad(lambda q: ours({**x, "q": q})[0].sum())(x["q"])], [expected], 1e-5)
        many = torch.func.vmap(lambda q: ours({**x, "q": q})[0])(torch.stack([x["q"], -x["q"]]))
        self.near(many, [dense({**LEAVES, "q": q})[0] for q in (LEAVES["q"], -LEAVES["q"])], 1e-5)
        turn = torch.compile(lambda q, k, v: attention(q, k, v, **rows(x)), backend="eager", fullgraph=True)
        self.near([turn(x["q"], x["k"], x["v"])], [attention(x["q"], x["k"], x["v"], **rows(x))], 1e-6)
        whole = torch.compile(lambda q: ours({**x, "q": q})[0], backend="eager")
        self.near([whole(x["q"])], [dense(LEAVES)[0]], 1e-5)

    def test_flex_attention(self):
        for prob_mod in (None, lambda p, b, h, i, j: p * 0.5):
            x = {name: t.float() for name, t in LEAVES.items()}
            options = {"enable_gqa": True, "prob_mod": prob_mod, "output_mod": output_mod(x)}
            before = flex_attention(x["q"], x["k"], x["v"], enable_gqa=True, prob_mod=prob_mod).double()
            v, shares = x["v"].repeat_interleave(H // HKV, 1)[:, :, :M], x["shares"][:, None, None]
            expected = ((1 - shares) * before + shares * v) * torch.sigmoid(x["gate"]) + x["wk"][:4].sum() * (torch.arange(DV) > 2)
            self.near([flex_attention(x["q"], x["k"], x["v"], **options)], [expected], 1e-5)
            x["gate"].requires_grad_()
            recorded = flex_attention(x["q"], x["k"], x["v"], **options)
            self.near([recorded.detach()], [expected], 1e-5)
            (d_gate,) = torch.autograd.grad(recorded.sum(), x["gate"])
            sigmoid = torch.sigmoid(x["gate"].detach().double())
            self.near([d_gate], [((1 - shares) * before + shares * v) * sigmoid * (1 - sigmoid)], 1e-5)

    def test_positions_that_tables_do_not_have(self):
        """The last row counts, in a kernel and in torch."""
        x = {name: t.float() for name, t in LEAVES.items()}
        positions = torch.full((1, M), -1), torch.full((1, N), 99)
        kernel = attention(x["q"], x["k"], x["v"], rotary=(x["cos"], x["sin"]), rotary_positions=positions)
        q = x["q"].clone().requires_grad_()
        by_torch = attention(q, x["k"], x["v"], rotary=(x["cos"], x["sin"]), rotary_positions=positions)
        self.near([kernel], [by_torch.detach().double()], 1e-6)

    def test_nothing(self):
        q = torch.zeros(0, H, M, D, requires_grad=True)
        found = attention(q, q, q, output_mod=lambda x, b, h, i, c: x + 1)
        self.assertEqual(found.shape, q.shape)

    def test_messages(self):
        q, k, v = (LEAVES[name].float() for name in "qkv")
        few = torch.zeros(B, H, M, DV - 1)
        tables = LEAVES["cos"].float(), LEAVES["sin"].float()
        for message, options in {
            r"output_mod: expected a function of \(x, b, h, i, c\), of torch, got Tensor": {"output_mod": few},
            r"array 0 that the output reads: expected dim 3 to be at least 12 \(Dv\), got 11": {"output_mod": lambda x, b, h, i, c: x * few[b, h, i, c]},
            "cumsum of a traced value": {"output_mod": lambda x, b, h, i, c: torch.cumsum(x, 0)},
            "cos: expected a torch.Tensor, got ndarray": {"rotary": tuple(np.ones((20, 4), np.float32) for _ in range(2))},
            r"cos: expected a row for each of 13 positions, got 12": {"rotary": tuple(t[:12] for t in tables)},
            r"sin: expected f32 of \(20, 6\), as cos, got f32 of \(20, 5\)": {"rotary": (tables[0], tables[1][:, :5])},
            r"query_norm: expected f16, bf16, f32 or f64 of \(16,\), got f32 of \(15,\)": {"qk_norm": (torch.ones(15), None)},
            "expected no head_map with rotary, got one": {"rotary": tables, "head_map": torch.zeros(H, dtype=torch.int32)},
        }.items():
            for leaf in (q, q.clone().requires_grad_()):
                with self.subTest(message), self.assertRaisesRegex((BindingError, TraceError), message):
                    attention(leaf, k, v, **options)


if __name__ == "__main__":
    unittest.main()
