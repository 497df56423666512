"""attn_mlir.torch.linear_attention: results and gradients against the quadratic form in float64, gradcheck of first and second ones, messages."""

import math
import sys
import unittest

import torch

import attn_mlir
from attn_mlir import BindingError
from attn_mlir.torch import linear_attention, linear_attention_op

B, HQ, HKV, M, D, DV = 2, 4, 2, 70, 16, 8


def quadratic(q, k, v, decay=None, state=None, scale=None, reverse=False, full=False):
    """All pairs of positions, without a recurrence: (output, final state)."""
    q, k, v = (t.double() for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    rows, keys = q.shape[2], k.shape[2]
    logs = torch.zeros(q.shape[:3], dtype=torch.float64) if decay is None else decay.double()
    logs = logs[None, :, None].expand(q.shape[:3]) if logs.dim() == 1 else logs
    sums = logs.cumsum(-1)
    between, begin, end = sums[..., :, None] - sums[..., None, :], sums, sums[..., -1:] - sums
    if reverse:
        between, begin, end = between.mT, end, begin
    sees = torch.ones(rows, keys, dtype=torch.bool)
    sees = sees if full else sees.triu() if reverse else sees.tril()
    if full:
        between, end = torch.zeros(rows, keys), torch.zeros(1, 1, keys)
    weights = torch.where(sees, torch.exp(torch.where(sees, between, 0.0)), 0.0)
    output = (q @ k.mT * weights) @ v
    last = (k * torch.exp(end)[..., None]).mT @ v
    if state is not None:
        output = output + torch.exp(begin)[..., None] * (q @ state.double())
        last = last + torch.exp(sums[..., -1])[..., None, None] * state.double()
    return output * (1 / math.sqrt(q.shape[3]) if scale is None else scale), last


class Linear(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def randn(self, *shape, dtype):
        return torch.randn(*shape, dtype=torch.float64).to(dtype).requires_grad_()

    def inputs(self, dtype, keys=M):
        number = torch.float64 if dtype == torch.float64 else torch.float32
        q, k, v = (self.randn(*shape, dtype=dtype) for shape in ((B, HQ, M, D), (B, HKV, keys, D), (B, HKV, keys, DV)))
        return q, k, v, self.randn(B, HQ, D, DV, dtype=number), number

    def compare(self, dtype, most, decay=None, keys=M, **options):
        q, k, v, state, number = self.inputs(dtype, keys)
        given = {"state": state}
        if decay:
            shape = (HQ,) if decay == "heads" else (B, HQ, M)
            given["decay"] = (-0.2 * torch.rand(shape, dtype=torch.float64)).to(number).requires_grad_()
        tensors = [q, k, v, *given.values()]
        results = linear_attention(q, k, v, **given, **options, return_state=True)
        expected = quadratic(q, k, v, **given, **options)
        weights = [torch.randn(x.shape, dtype=torch.float64) for x in expected]
        gradients = torch.autograd.grad(sum((x.double() * w).sum() for x, w in zip(results, weights)), tensors)
        wanted = torch.autograd.grad(sum((x * w).sum() for x, w in zip(expected, weights)), tensors)
        for mine, theirs in zip((*results, *gradients), (*expected, *wanted)):
            self.assertEqual(mine.shape, theirs.shape)
            self.assertLess((mine.double() - theirs.double()).abs().max(), most * theirs.abs().max())
        self.assertEqual([t.dtype for t in gradients], [t.dtype for t in tensors])

    def test_gradients(self):
        for dtype, most in ((torch.float64, 1e-12), (torch.float32, 1e-5), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)):
            for decay in (None, "heads", "positions"):
                self.compare(dtype, most, decay)
            self.compare(dtype, most, "positions", reverse=True, scale=0.5)
            self.compare(dtype, most, full=True, keys=90)

    def test_second_derivatives(self):
        q, k, v = (torch.randn(1, h, 3, 2, dtype=torch.float64, requires_grad=True) for h in (2, 1, 1))
        decay = (-torch.rand(1, 2, 3, dtype=torch.float64)).requires_grad_()
        state = torch.randn(1, 2, 2, 2, dtype=torch.float64, requires_grad=True)

        def run(q, k, v, decay, state):
            return linear_attention(q, k, v, decay=decay, state=state, return_state=True)

        self.assertTrue(torch.autograd.gradcheck(run, (q, k, v, decay, state)))
        self.assertTrue(torch.autograd.gradgradcheck(run, (q, k, v, decay, state)))

    def test_second_derivatives_of_long_sums(self):
        """Of more positions than are summed up at once."""
        q, k, v = (torch.randn(1, 1, 70, 2, dtype=torch.float64, requires_grad=True) for _ in range(3))
        for reverse in (False, True):
            decay = (-torch.rand(1, 1, 70, dtype=torch.float64)).requires_grad_()
            run = lambda q, k, v, decay: linear_attention(q, k, v, decay=decay, reverse=reverse)  # noqa: E731, B023
            self.assertTrue(torch.autograd.gradgradcheck(run, (q, k, v, decay), fast_mode=True))

    def test_output_alone(self):
        """No gradient of the final state; what needs none has none; -inf forgets."""
        q, k, v, _, _ = self.inputs(torch.float64)
        decay = torch.full((B, HQ, M), -0.1, dtype=torch.float64)
        decay[:, :, 5] = -math.inf
        decay.requires_grad_()
        linear_attention(q, k.detach(), v, decay=decay).sum().backward()
        self.assertIsNone(k.grad)
        self.assertEqual(decay.grad[:, :, 5].abs().max(), 0)
        self.assertGreater(decay.grad[:, :, 6].abs().max(), 0)

    def test_feature_map(self):
        """elu + 1, and the denominator as a column of ones."""
        q, k, v, _, _ = self.inputs(torch.float64)

        def normalised(attend):
            phi = lambda x: torch.nn.functional.elu(x) + 1
            made = attend(phi(q), phi(k), torch.cat((v, torch.ones_like(v[..., :1])), -1))
            return made[..., :-1] / (made[..., -1:] + 1e-6)

        mine, theirs = (normalised(attend) for attend in (linear_attention, lambda *t: quadratic(*t)[0]))
        self.assertLess((mine - theirs).abs().max(), 1e-12)
        grads = [torch.autograd.grad(x.square().sum(), (q, k, v)) for x in (mine, theirs)]
        for a, b in zip(*grads):
            self.assertLess((a - b).abs().max(), 1e-10)

    def test_graphs(self):
        q, k, v, state, _ = self.inputs(torch.float32)
        expected = linear_attention(q, k, v, state=state)
        compiled = torch.compile(linear_attention, backend="aot_eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(q, k, v, state=state), expected))
        torch.library.opcheck(linear_attention_op, (q, k, v, None, state, 0.5, False, False, True, True, True))

    def test_func(self):
        q, k, v, _, _ = self.inputs(torch.float32)
        q, k, v = (t.detach() for t in (q, k, v))
        loss = lambda q, k, v: linear_attention(q, k, v).square().sum()
        whole = torch.func.grad(lambda q: loss(q, k, v))(q)
        each = torch.func.vmap(torch.func.grad(lambda q, k, v: loss(q[None], k[None], v[None])))(q, k, v)
        self.assertLess((whole - each).abs().max(), 1e-4)

    def test_messages(self):
        q, k, v, state, _ = self.inputs(torch.float32)
        for tensors, options, message in (
            ((q[0], k, v), {}, r"query: expected \[batch, heads, rows, head dim\], got rank 3"),
            ((q, k, v), {"full": True, "reverse": True}, "expected no reverse with full, where no position is before another"),
            ((q, k, v), {"full": True, "decay": torch.zeros(HQ)}, "expected no decay with full"),
            ((q, k, v), {"decay": torch.zeros(3)}, r"decay: expected shape \(4,\) or \(2, 4, 70\), got \(3,\)"),
        ):
            with self.assertRaisesRegex(BindingError, message):
                linear_attention(*tensors, **options)
        with self.assertRaisesRegex(BindingError, "query: expected a tensor that requires no gradient.*call attn_mlir.torch.linear_attention"):
            attn_mlir.linear_attention(q, k, v)
        with self.assertRaisesRegex(BindingError, "expected a scale from 1e-30 to 1e30, or from -1e30 to -1e-30, by which the gradient of the final state is divided"):
            linear_attention(q, k, v, scale=0.0, return_state=True)[1].sum().backward()


if __name__ == "__main__":
    sys.exit(unittest.main())
