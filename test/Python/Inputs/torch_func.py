"""PyTorch: torch.func's transforms against torch's own, what has no derivative, and layers of torch.nn under torch.compile."""

import functools
import unittest
from unittest import mock

import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.nn.functional import scaled_dot_product_attention as reference

import attn_mlir.torch as ours
from attn_mlir.errors import BindingError
from attn_mlir.torch import ops

B, H, N, D = 2, 4, 17, 16


def scaled(function):
    """An attention whose scores are multiplied by a learned number for each head."""

    def by_flex(q, k, v, slopes):
        return ours.flex_attention(q, k, v, score_mod=lambda score, b, h, q_idx, kv_idx: score * slopes[h])

    def by_scaling(q, k, v, slopes):
        return function(q * slopes[:, None, None], k, v)

    return by_flex if function is ours.flex_attention else by_scaling


def one(function):
    """Of tensors without a batch."""
    return lambda q, k, v, *others: function(q[None], k[None], v[None], *others)[0].sin().sum()


class Transforms(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.tensors = tuple(torch.randn(B, H, N, D, dtype=torch.float64) for _ in range(3))
        self.slopes = torch.randn(H, dtype=torch.float64)
        self.bias = torch.randn(2, 1, 1, N, N, dtype=torch.float64)
        self.wide = tuple(t.float() for t in (*self.tensors, self.slopes))

    def near(self, mine, theirs, most=1e-9):
        for a, b in zip(*map(torch.utils._pytree.tree_leaves, (mine, theirs))):
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            self.assertLess((a - b).abs().max().item(), most)

    def test_gradients(self):
        for transform in (
            lambda f: grad(lambda *t: f(*t).sin().sum(), (0, 1, 2))(*self.tensors),
            lambda f: vjp(f, *self.tensors)[1](self.tensors[0]),
            lambda f: vmap(grad(one(f), (0, 1, 2)))(*self.tensors),
            lambda f: vmap(grad(one(f), (0, 1)), (0, None, None))(self.tensors[0], *(t[0] for t in self.tensors[1:])),
            lambda f: vmap(f, (1, 1, 1), 1)(*(t[:, :, None] for t in self.tensors)),
            lambda f: jacrev(f)(*(t[:1, :1, :3] for t in self.tensors)),
            lambda f: vmap(grad(lambda b: f(*self.tensors, b).sin().sum()))(self.bias),
            lambda f: vmap(grad(lambda b, q: f(q, *self.tensors[1:], b).sin().sum()), (None, 0))(
                self.bias[0], torch.stack([self.tensors[0], -self.tensors[0]])
            ),
        ):
            self.near(transform(ours.scaled_dot_product_attention), transform(reference))

    def test_flex(self):
        q, k, v, slopes = self.wide
        both = torch.stack([slopes, 2 * slopes])
        for transform in (
            lambda f: grad(lambda *t: f(*t).sin().sum(), (0, 1, 2, 3))(*self.wide),
            lambda f: vmap(grad(one(f), (0, 1, 2, 3)), (0, 0, 0, None))(*self.wide),
            lambda f: vmap(lambda s: f(q, k, v, s))(both),
            lambda f: vmap(grad(lambda s: f(q, k, v, s).sin().sum()))(both),
        ):
            self.near(transform(scaled(ours.flex_attention)), transform(scaled(reference)), 1e-4)

    def test_one_call_for_a_batch(self):
        with mock.patch.object(ops.functional, "attention", side_effect=ops.functional.attention) as calls:
            vmap(ours.scaled_dot_product_attention)(*self.tensors)
        self.assertEqual(calls.call_count, 1)

    def test_dropout(self):
        q, k, v = self.tensors
        f = lambda q: ours.scaled_dot_product_attention(q, k, v, dropout_p=0.4)  # noqa: E731
        same, different = (vmap(f, randomness=r)(torch.stack([q, q])) for r in ("same", "different"))
        self.assertTrue(torch.equal(same[0], same[1]))
        self.assertFalse(torch.equal(different[0], different[1]))

    def test_no_forward_mode(self):
        """A tangent would be lost: torch calls an op without a formula as if there were none."""
        q, k, v, slopes = self.wide
        for f in (lambda q: ours.scaled_dot_product_attention(q, k, v), lambda q: ours.flex_attention(q, k, v)):
            for call in (lambda: jvp(f, (q,), (q,)), lambda: jacfwd(f)(q)):
                with self.assertRaisesRegex(BindingError, r"query: expected a tensor without a tangent, .*\(jvp, jacfwd\), only"):
                    call()
            with self.assertRaisesRegex(BindingError, "expected a tensor without a tangent"):
                hessian(lambda q: f(q).sum())(q)
            with forward_ad.dual_level(), self.assertRaisesRegex(BindingError, "query: expected a tensor without a tangent"):
                f(forward_ad.make_dual(q, q))
        with self.assertRaisesRegex(BindingError, "tensor 0 that score_mod reads: expected a tensor without a tangent"):
            jvp(lambda s: scaled(ours.flex_attention)(q, k, v, s), (slopes,), (slopes,))

    def test_no_second_derivatives(self):
        q, k, v, _ = self.wide
        leaf = q.clone().requires_grad_()
        for f in (lambda q: ours.scaled_dot_product_attention(q, k, v), lambda q: ours.flex_attention(q, k, v)):
            loss = lambda q: f(q).sin().sum()  # noqa: E731
            (first,) = torch.autograd.grad(loss(leaf), leaf, create_graph=True)
            for call in (lambda: first.sum().backward(), lambda: grad(lambda q: grad(loss)(q).sum())(q)):
                with self.assertRaisesRegex(BindingError, "expected first derivatives of attention, got a request for second"):
                    call()

    def test_meta(self):
        tensors = [t.to("meta") for t in self.tensors]
        for f in (ours.scaled_dot_product_attention, ours.flex_attention):
            self.assertEqual(f(*tensors).shape, (B, H, N, D))


class Layers(unittest.TestCase):
    """torch.compile keeps torch.nn.MultiheadAttention's function as one call."""

    def setUp(self):
        torch.manual_seed(1)
        self.x = torch.randn(2, 9, 32)
        self.calls = mock.patch.object(ops.functional, "attention", side_effect=ops.functional.attention).start()
        self.addCleanup(mock.patch.stopall)

    def check(self, layer, inner, calls, *arguments, **options):
        """Output and gradient of the input against torch's own, and how many calls were ours."""
        torch._dynamo.reset()
        self.calls.reset_mock()
        compiled = torch.compile(layer, backend=functools.partial(ours.backend, inner=inner))
        results = []
        for f in (compiled, layer):
            x = self.x.clone().requires_grad_()
            output = f(*(x for _ in arguments), **options)
            output = output[0] if isinstance(output, tuple) else output
            results.append((output, *torch.autograd.grad(output.sin().sum(), x)))
            self.assertEqual(self.calls.call_count, calls)
        for mine, theirs in zip(*results):
            self.assertLess((mine - theirs).abs().max().item(), 2e-5)

    def test_multi_head_attention(self):
        layer = torch.nn.MultiheadAttention(32, 4, batch_first=True)
        padding = torch.arange(9) > torch.tensor([[5], [8]])
        for inner in ("eager", "aot_eager"):
            self.check(layer, inner, 1, *"qkv", need_weights=False)
        self.check(layer, "inductor", 1, *"qkv", need_weights=False, key_padding_mask=padding)
        self.check(layer, "aot_eager", 0, *"qkv")  # with weights there is no call of attention

    def test_layers(self):
        options = dict(batch_first=True, dropout=0.0)
        self.check(torch.nn.TransformerEncoderLayer(32, 4, **options), "aot_eager", 1, "x")
        mask = torch.nn.Transformer.generate_square_subsequent_mask(9)
        decoder = torch.nn.TransformerDecoderLayer(32, 4, **options)
        self.check(decoder, "aot_eager", 2, *"xx", tgt_mask=mask, tgt_is_causal=True)

    def test_fast_path(self):
        layer = torch.nn.TransformerEncoderLayer(32, 4, batch_first=True).eval()
        compiled = torch.compile(layer, backend=functools.partial(ours.backend, inner="eager"))
        with torch.no_grad(), self.assertWarnsRegex(UserWarning, "_transformer_encoder_layer_fwd: expected calls of attention"):
            compiled(self.x)


if __name__ == "__main__":
    unittest.main()
