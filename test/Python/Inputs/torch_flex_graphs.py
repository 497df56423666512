"""FlexAttention in models: replaced under torch.compile, with gradients and any length, and found in exported programs."""

import functools
import subprocess
import unittest
from unittest import mock

import torch
import torch.nn.attention.flex_attention as flex
from torch.nn.attention.flex_attention import create_block_mask
from torch.nn.functional import scaled_dot_product_attention

import attn_mlir
import attn_mlir.torch as ours
from attn_mlir import mask as masks
from attn_mlir.errors import BindingError
from attn_mlir.torch.graphs import FLEX, REPLACEMENTS
from attn_mlir.torch.tracing import traced_as_torch

B, H, N, D = 2, 4, 80, 32


def inputs(length=N):
    generator = torch.Generator().manual_seed(length)
    q, k, v = (torch.randn(B, H, length, D, generator=generator) for _ in range(3))
    return q, k, v, torch.sort(torch.randint(0, 3, (B, length), generator=generator)).values


class Model(torch.nn.Module):
    """Flex attention whose functions read parameters, inputs and numbers of the model."""

    def __init__(self):
        super().__init__()
        self.width = 7
        self.slopes = torch.nn.Parameter(torch.linspace(0.1, 1, H))

    def score(self, score, b, h, q_idx, kv_idx):
        near = torch.tensor(0.5) * score.tanh() + self.slopes[h] * (q_idx - kv_idx).abs()
        return near.masked_fill(q_idx == kv_idx + 1, -1.0).to(torch.float32)

    def seen(self, ids, length):
        def mask_mod(b, h, q_idx, kv_idx):
            block = q_idx // self.width >= kv_idx // self.width
            return (ids[b, q_idx] == ids[b, kv_idx]) & block & (kv_idx < length - 2)

        return mask_mod

    def attend(self, function, q, k, v, ids):
        blocks = create_block_mask(self.seen(ids, q.shape[2]), B, H, q.shape[2], k.shape[2], device="cpu", BLOCK_SIZE=16)
        output, aux = function(
            q * 2, k, v, score_mod=self.score, block_mask=blocks, return_aux=flex.AuxRequest(lse=True)
        )
        return output.sin() + function(q, k, v, score_mod=self.score), aux.lse

    def forward(self, *arguments):
        return self.attend(flex.flex_attention, *arguments)


def results(function, model, *arguments):
    """Output, LSE, and the gradients of query, key, value and the model's parameters."""
    leaves = [t.clone().requires_grad_() for t in arguments[:3]]
    output, lse = function(*leaves, *arguments[3:])
    lse = lse.masked_fill(lse == -torch.inf, 0)
    loss = output.cos().sum() + lse.sin().sum()
    return output, lse, *torch.autograd.grad(loss, [*leaves, *model.parameters()])


# On the CPU torch's own refuses gradients, before its graph is made.
@mock.patch.object(flex, "_validate_device", lambda *_: None)
class Compiled(unittest.TestCase):
    def check(self, inner, lengths, **options):
        model, compilations = Model(), []

        def backend(graph, given):
            compilations.append(ours.backend(graph, given, inner=inner))
            self.assertNotIn("higher_order.flex_attention", graph.code)
            return compilations[-1]

        torch._dynamo.reset()
        compiled = torch.compile(model, backend=backend, **options)
        counts = []
        for length in lengths:
            arguments = inputs(length)
            expected = results(functools.partial(model.attend, ours.flex_attention), model, *arguments)
            for mine, theirs in zip(results(compiled, model, *arguments), expected):
                self.assertLess((mine - theirs).abs().max().item(), 1e-5 * max(1, theirs.abs().max().item()))
            counts.append(len(compilations))
        self.assertEqual(counts, counts[:1] * len(lengths))

    def test_static(self):
        self.check("eager", [N])

    def test_dynamic(self):
        """Lengths are sizes in the graph, and what the mask compares with one is read when the kernel runs."""
        for inner in ("aot_eager", "inductor"):
            self.check(inner, [33, 20], dynamic=True)

    def test_without_gradients(self):
        """Against torch's own."""
        arguments, model = inputs(), Model()
        compiled = torch.compile(model, backend=functools.partial(ours.backend, inner="aot_eager"))
        with torch.no_grad():
            self.assertLess((compiled(*arguments)[0] - model(*arguments)[0]).abs().max().item(), 1e-5)

    def test_no_block_mask(self):
        q, k, v, _ = inputs()
        model = lambda q, k, v: flex.flex_attention(q, k[:, :2], v[:, :2], enable_gqa=True, scale=0.3)  # noqa: E731
        compiled = torch.compile(model, backend=functools.partial(ours.backend, inner="aot_eager"), fullgraph=True)
        expected = scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True, scale=0.3)
        self.assertLess((compiled(q, k, v) - expected).abs().max().item(), 1e-5)

    def test_refused(self):
        def unknown(q, k, v):
            return flex.flex_attention(q, k, v, score_mod=lambda score, *_: torch.lgamma(score))

        q, k, v, _ = inputs()
        for inner in ("eager", "aot_eager"):
            torch._dynamo.reset()
            with self.assertRaisesRegex(Exception, "lgamma of a traced value: expected one of abs, "):
                torch.compile(unknown, backend=functools.partial(ours.backend, inner=inner))(q, k, v)
        with self.assertRaisesRegex(BindingError, "return_aux: expected no maxima of scores, which an online softmax"):
            REPLACEMENTS[FLEX](q, k, v, None, (), 1.0, {"OUTPUT_MAX": True})


class DynamicSdpa(unittest.TestCase):
    def test_lengths(self):
        def model(q, k, v, seen):
            x = scaled_dot_product_attention(q * 2, k, v, attn_mask=seen)
            return scaled_dot_product_attention(x, k, v, is_causal=True)

        for inner in ("aot_eager", "inductor"):
            torch._dynamo.reset()
            backend = mock.Mock(side_effect=functools.partial(ours.backend, inner=inner))
            compiled = torch.compile(model, backend=backend, dynamic=True, fullgraph=True)
            for length in (33, 20):
                leaves = [t.requires_grad_() for t in inputs(length)[:3]]
                seen = torch.rand(B, 1, length, length, generator=torch.Generator().manual_seed(0)) > 0.3
                both = []
                for function in (compiled, model):
                    output = function(*leaves, seen)
                    both.append([output, *torch.autograd.grad(output.sin().sum(), leaves)])
                for mine, theirs in zip(*both):
                    self.assertLess((mine - theirs).abs().max().item(), 2e-5)
            self.assertEqual(backend.call_count, 1)


class Exported(unittest.TestCase):
    def exported(self):
        return torch.export.export(Model(), inputs())

    def test_modules(self):
        """The module computes what the program does, on the values of the nodes that it names."""
        program = self.exported()
        listed, plain = ours.attentions_of(program)
        self.assertTrue(listed.problem.lse)
        self.assertEqual(plain.operands, ("arguments_0", "arguments_1", "arguments_2", "p_slopes"))
        self.assertEqual(listed.operands[1:4], ("arguments_1", "arguments_2", "p_slopes"))
        self.assertIn("attn.block_listed", listed.mlir())
        self.assertNotIn("mask_mod", plain.mlir())
        for call in (listed, plain):
            result = subprocess.run(["attn-opt", "-"], input=call.mlir(), capture_output=True, text=True)
            self.assertEqual(result.stderr, "")
        q, k, v, _ = inputs()
        model = Model()
        kernel = attn_mlir.compile(plain.mlir(), target="cpu")
        mine = kernel(q, k, v, model.slopes.detach())
        theirs = ours.flex_attention(q, k, v, score_mod=model.score)
        self.assertLess((mine - theirs).abs().max().item(), 1e-5)

    def test_replaced(self):
        model, arguments = Model(), inputs()
        program = self.exported()
        module = program.module()
        self.assertEqual(ours.replace_attention(module), 2)
        self.assertEqual(ours.attentions_of(module), [])
        for mine, theirs in zip(module(*arguments), model(*arguments)):
            finite = theirs > -torch.inf
            self.assertLess((mine[finite] - theirs[finite]).abs().max().item(), 1e-5)
            self.assertTrue(torch.equal(mine.isinf(), theirs.isinf()))


class Constants(unittest.TestCase):
    def test_numbers(self):
        """A tensor of rank 0 that the function makes is a number of the region, one made outside is read."""
        outer = torch.tensor(3.0)

        def score_mod(score, b, h, q_idx, kv_idx):
            inner = torch.tensor(2.0) + torch.full((), 1) + score.new_full((), 4) + torch.ones_like(score)
            return score * inner + outer

        score = masks.trace_score(traced_as_torch(score_mod))
        self.assertEqual(len(score.arrays), 1)
        self.assertIs(score.arrays[0], outer)

    def test_refused(self):
        def whole(score, b, h, q_idx, kv_idx):
            return score.to(torch.complex64)

        def wide(score, b, h, q_idx, kv_idx):
            return score + score.new_ones((2,))

        def method(score, b, h, q_idx, kv_idx):
            return score.lgamma()

        for function, wanted in (
            (whole, "expected a traced value as an integer, a condition, float16, bfloat16 or float32, got torch.complex64"),
            (wide, r"expected a constant of rank 0 beside traced values, got size \(2,\)"),
            (method, "lgamma of a traced value: expected one of abs, "),
        ):
            with self.assertRaisesRegex(masks.TraceError, rf"torch_flex_graphs.py:\d+: {wanted}"):
                masks.trace_score(traced_as_torch(function))


if __name__ == "__main__":
    unittest.main()
