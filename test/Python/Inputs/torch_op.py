"""PyTorch: the drop-in for scaled_dot_product_attention, eagerly, with gradients, compiled and exported."""

import functools
import subprocess
import sys
import unittest
from unittest import mock

import torch
import torch.utils.checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

import attn_mlir
import attn_mlir.torch as ours
from attn_mlir.torch import attention, attention_op, scaled_dot_product_attention
from attn_mlir.torch.transforms import is_plain

reference = torch.nn.functional.scaled_dot_product_attention


def randn(*shape, dtype=torch.float16):
    return torch.randn(*shape, dtype=torch.float64).to(dtype)


class Derived(torch.Tensor):
    """As users' classes are."""


class DropIn(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        # [B, S, H, D] in memory.
        self.q, self.k, self.v = (randn(2, 33, 4, 32).transpose(1, 2) for _ in range(3))

    def near(self, *tensors, most=4e-3, **options):
        mine, theirs = scaled_dot_product_attention(*tensors, **options), reference(*tensors, **options)
        self.assertEqual((mine.shape, mine.dtype), (theirs.shape, theirs.dtype))
        self.assertLess((mine - theirs).abs().max().item(), most)

    def test_options(self):
        q, k, v = self.q, self.k, self.v
        self.near(q, k, v)
        self.near(q, k, v, is_causal=True, scale=0.3)
        self.near(q, k[:, :2], v[:, :2], enable_gqa=True)
        self.near(q, k, v, attn_mask=randn(2, 1, 33, 33))
        self.near(q, k, v, attn_mask=torch.rand(33, 33) > 0.3)
        self.near(q, k, v, attn_mask=torch.rand(2, 1, 1, 33) > 0.3)
        self.near(q, k, v, attn_mask=torch.randn(1, 33))

    def test_ranks(self):
        q, k, v = self.q, self.k, self.v
        self.near(q[0], k[0], v[0])
        self.near(q[0], k[0], v[0], attn_mask=torch.rand(4, 33, 33) > 0.3)
        self.near(q[0, 0], k[0, 0], v[0, 0])
        five = [t.reshape(2, 2, 2, 33, 32) for t in (q, k, v)]
        self.near(*five)
        self.near(*five, attn_mask=torch.rand(2, 1, 2, 33, 33) > 0.3)
        self.near(*five, attn_mask=torch.rand(33, 33) > 0.3)

    def test_strides(self):
        """Head dims that are not contiguous are copied."""
        wide = randn(2, 4, 32, 33)
        self.near(wide.transpose(2, 3), self.k, self.v)
        self.near(self.q, self.k.flip(2), self.v)
        self.near(self.q, self.k[:, :1].expand(2, 4, 33, 32), self.v)

    def test_broadcast(self):
        """Batches of one, and one key head for all."""
        q, k, v = self.q, self.k, self.v
        self.near(q, k[:1], v[:1])
        self.near(q[:1], k, v)
        self.near(q[:1], k[:1], v)
        self.near(q, k[:, :1], v[:, :1])
        self.near(q, k, v[:, :1])
        self.near(q[:1], k, v, attn_mask=torch.rand(2, 1, 1, 33) > 0.3)
        self.near(q[:, :1], k, v)
        self.near(q[:1], k[:, :1], v)
        self.near(q, k[0], v[0])
        self.near(q[0], k, v, attn_mask=torch.rand(2, 1, 33, 33) > 0.3)
        self.near(torch.stack((q, k)), k[0, :1], v)
        three = k[:1].expand(3, 4, 33, 32)
        for tensors, got in ((q, three, v), r"\(2,\), \(3,\) and \(2,\)"), ((q[:1], three, v), r"\(1,\), \(3,\) and \(2,\)"):
            with self.assertRaisesRegex(attn_mlir.BindingError, f"expected batch dims that broadcast, got {got}"):
                scaled_dot_product_attention(*tensors)

    def test_autocast(self):
        wide = [t.float() for t in (self.q, self.k, self.v)]
        for dtype in (torch.bfloat16, torch.float16):
            with torch.autocast("cpu", dtype=dtype):
                mine, theirs = scaled_dot_product_attention(*wide), reference(*wide)
            self.assertEqual(mine.dtype, theirs.dtype)
            self.assertLess((mine - theirs).abs().max().item(), 3e-2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.near(*wide, attn_mask=torch.rand(33, 33) > 0.3, most=3e-2)
            self.assertEqual(attention(*wide, bias=torch.randn(1, 1, 33, 33)).dtype, torch.bfloat16)

    def test_nothing_is_left(self):
        """All is dropped, or there are no heads: as torch's, with gradients that are zero."""
        q, k, v = (t.float().requires_grad_() for t in (self.q, self.k, self.v))
        for tensors, options in (((q, k, v), {"dropout_p": 1.0}), ((q[:, :0], k[:, :0], v[:, :0]), {})):
            mine, theirs = scaled_dot_product_attention(*tensors, **options), reference(*tensors, **options)
            self.assertTrue(torch.equal(mine, theirs))
            mine.sum().backward()
            self.assertEqual([t.grad.abs().max().item() for t in (q, k, v)], [0, 0, 0])

    def test_gradients_are_not_lost(self):
        q = self.q.clone().requires_grad_()
        with self.assertRaisesRegex(attn_mlir.BindingError, "operand query: expected a tensor that requires no gradient"):
            attn_mlir.attention(q, self.k, self.v)
        with self.assertRaisesRegex(attn_mlir.BindingError, "operand bias: .*attn_mlir.torch.attention"):
            attn_mlir.attention(self.q, self.k, self.v, bias=torch.zeros(1, 1, 33, 33, requires_grad=True))
        with torch.no_grad():
            plain = attn_mlir.attention(q, self.k, self.v)
        self.assertTrue(torch.equal(plain, attn_mlir.attention(q.detach(), self.k, self.v)))

    def test_derived_class(self):
        class Derived(torch.Tensor):
            pass

        output = attn_mlir.attention(self.q.as_subclass(Derived), self.k, self.v, dropout=0.5, seed=1)
        self.assertTrue(torch.equal(output, attn_mlir.attention(self.q, self.k, self.v, dropout=0.5, seed=1)))

    def test_unequal_heads(self):
        for heads in ((2, 1), (1, 4), (1, 2)):
            k, v = (t[:, :h] for t, h in zip((self.k, self.v), heads))
            self.near(self.q, k, v, enable_gqa=True)

    def test_unequal_sizes(self):
        self.near(self.q[:, :, :5], self.k, randn(2, 4, 33, 48))

    def test_rows_without_keys(self):
        mask = torch.ones(33, 33, dtype=torch.bool)
        mask[3] = False
        output = scaled_dot_product_attention(self.q, self.k, self.v, attn_mask=mask)
        self.assertEqual(output[:, :, 3].abs().max().item(), 0)
        self.assertFalse(output.isnan().any().item())

    def test_tensors(self):
        q = randn(1, 2, 20, 64, dtype=torch.bfloat16)
        output, lse = attn_mlir.attention(q, q, q, causal=True, return_lse=True, device="sim")
        self.assertEqual((type(output), output.dtype, lse.dtype), (torch.Tensor, torch.bfloat16, torch.float32))
        self.assertLess((output - reference(q, q, q, is_causal=True)).abs().max().item(), 2e-2)

    def test_float8(self):
        """Weights of 8 bits on the simulator, none on the CPU."""
        q, k, v = (torch.randn(1, 2, 40, 64).to(torch.float8_e4m3fn) for _ in range(3))
        wanted = torch.nn.functional.scaled_dot_product_attention(*(t.double() for t in (q, k, v)), is_causal=True)
        for device, bound in (("cpu", 3e-3), ("sim", 3e-2)):
            output = attn_mlir.attention(q, k, v, causal=True, device=device)
            self.assertEqual(output.dtype, torch.bfloat16)
            self.assertLess((output.double() - wanted).norm() / wanted.norm(), bound)

    def test_refused(self):
        q = self.q
        for message, function in {
            "expected dropout_p to be from 0 to 1, got 1.5": lambda: scaled_dot_product_attention(
                q, q, q, dropout_p=1.5
            ),
            "attn_mask: expected a rank of at most 4, got 5": lambda: scaled_dot_product_attention(
                q, q, q, attn_mask=torch.ones(1, 1, 1, 33, 33)
            ),
            "expected heads that broadcast, or enable_gqa, got 4, 2 and 2": lambda: scaled_dot_product_attention(q, q[:, :2], q[:, :2]),
            "expected is_causal or attn_mask, got both": lambda: scaled_dot_product_attention(
                q, q, q, attn_mask=torch.ones(33, 33), is_causal=True
            ),
            "key: expected a rank of at least 2, got 1": lambda: scaled_dot_product_attention(q, q[0, 0, 0], q),
            "key: expected a strided tensor, got torch.sparse": lambda: scaled_dot_product_attention(q, q.to_sparse(), q),
            "attn_mask: expected dtype torch.bool or torch.float32 or torch.float16, got torch.int64": lambda: (
                scaled_dot_product_attention(q, q, q, attn_mask=torch.ones(33, 33, dtype=torch.int64))
            ),
            "expected causal to be a bool, 'top_left' or 'bottom_right', got 'left'": lambda: attention(
                q, q, q, causal="left"
            ),
            "query: expected a torch.Tensor, got NoneType": lambda: attention(None, q, q),
            "key: expected a torch.Tensor, got ndarray": lambda: scaled_dot_product_attention(q, q.numpy(), q),
            "attn_mask: expected a torch.Tensor, got list": lambda: scaled_dot_product_attention(q, q, q, attn_mask=[1]),
            r"query: expected \[batch, heads, rows, head dim\], got rank 0": lambda: attention(torch.tensor(1.0), q, q),
            "key: expected a tensor on cpu, as query, got one on meta": lambda: attention(q, q.to("meta"), q),
            "value: expected a strided tensor, got torch.sparse": lambda: attention(q, q, q.to_sparse()),
            "query: expected dtype f16, .*, got torch.complex": lambda: attention(q + 0j, q, q),
            "query: expected dtype f8E4M3FN, f8E5M2, i8, f16, bf16, f32, f64, got i32": lambda: attention(*(t.int() for t in (q, q, q))),
            "mask: expected dtype bool, got torch.float32": lambda: attention(q, q, q, mask=torch.ones(1, 1, 33, 33)),
            r"expected dim 3 of mask to be 1 or 33 \(N\), got 9": lambda: attention(
                q, q, q, mask=torch.ones(1, 1, 33, 9, dtype=torch.bool)
            ),
            "bias: expected dtype f16, .*, got i1": lambda: attention(q, q, q, bias=torch.ones(1, 1, 33, 33).bool()),
            "expected window to be a number or": lambda: attention(q, q, q, window=(1, 2, 3)),
            "expected scale to be a finite number": lambda: attention(q, q, q, scale="1"),
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                function()
        with self.assertRaisesRegex(attn_mlir.AttnError, "expected cap to be a positive number of f32, got 0"):
            attention(q, q, q, soft_cap=0)


class Gradients(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2)

    def compare(self, function, other, *tensors, tolerance=1e-9):
        """Gradients of the sum of outputs weighted at random."""
        grads = []
        weights = torch.randn_like(other(*tensors))
        for f in (function, other):
            inputs = [t.detach().clone().requires_grad_() for t in tensors]
            (f(*inputs) * weights).sum().backward()
            grads.append([t.grad for t in inputs])
        for mine, theirs in zip(*grads):
            self.assertEqual((mine.shape, mine.dtype), (theirs.shape, theirs.dtype))
            self.assertLess((mine - theirs).abs().max().item(), tolerance)

    def test_against_torch(self):
        q, k, v = (randn(2, h, 9, 16, dtype=torch.float64) for h in (4, 2, 2))
        options = {"is_causal": True, "enable_gqa": True, "scale": 0.3}
        self.compare(*(functools.partial(f, **options) for f in (scaled_dot_product_attention, reference)), q, k, v)

    def test_masks(self):
        q, k, v = (randn(2, 2, 7, 16, dtype=torch.float64) for _ in range(3))
        seen = torch.rand(2, 1, 7, 7) > 0.2
        self.compare(*(lambda *t, f=f: f(*t, attn_mask=seen) for f in (scaled_dot_product_attention, reference)), q, k, v)
        bias = randn(1, 2, 7, 7, dtype=torch.float64)
        self.compare(*(lambda *t, f=f: f(*t) for f in (scaled_dot_product_attention, reference)), q, k, v, bias)

    def test_dropout(self):
        """With the unit matrix as value the output is what is kept; the gradients are those of that."""
        q, k = (randn(1, 2, 16, 16, dtype=torch.float64) for _ in range(2))
        v, unit = randn(1, 2, 16, 16, dtype=torch.float64), torch.eye(16, dtype=torch.float64).expand(1, 2, 16, 16)

        def seeded(q, k, v):
            torch.manual_seed(7)
            return scaled_dot_product_attention(q, k, v, dropout_p=0.3)

        kept = (seeded(q, k, unit) != 0).double() / 0.7
        self.assertTrue(0.5 < (kept != 0).double().mean().item() < 0.9)
        self.assertFalse(torch.equal(scaled_dot_product_attention(q, k, unit, dropout_p=0.3) != 0, kept != 0))
        formula = lambda q, k, v: ((q @ k.transpose(-1, -2) / 4).softmax(-1) * kept) @ v  # noqa: E731
        self.compare(seeded, formula, q, k, v)

    def test_half(self):
        q, k, v = (randn(1, 2, 21, 32) for _ in range(3))
        self.compare(
            *(functools.partial(f, is_causal=True) for f in (scaled_dot_product_attention, reference)),
            *(q, k, v),
            tolerance=2e-2,
        )

    def test_lse_and_soft_cap(self):
        """By output and LSE, against the formula."""

        def formula(q, k, v):
            scores = 2 * torch.tanh(q @ k.transpose(-1, -2) / 4 / 2)
            i, j = torch.arange(6)[:, None], torch.arange(6)
            scores = scores.masked_fill(~((j <= i) & (j >= i - 3)), -torch.inf)
            return torch.cat([scores.softmax(-1) @ v, scores.logsumexp(-1)[..., None]], -1)

        def fused(q, k, v):
            output, lse = attention(q, k, v, causal=True, window=3, soft_cap=2.0, return_lse=True)
            return torch.cat([output, lse[..., None]], -1)

        tensors = [randn(1, 2, 6, 16, dtype=torch.float32) for _ in range(3)]
        self.compare(fused, formula, *tensors, tolerance=1e-5)
        # By the LSE alone.
        self.compare(lambda *t: fused(*t)[..., -1], lambda *t: formula(*t)[..., -1], *tensors, tolerance=1e-5)

    def test_sink(self):
        """By output and LSE, against a column that is cut off after the softmax; rows that see no key."""

        def formula(q, k, v, sink):
            scores = q @ k.transpose(-1, -2) / 4
            i, j = torch.arange(6)[:, None], torch.arange(4)
            scores = scores.masked_fill(j > i - 2, -torch.inf)
            scores = torch.cat([scores, sink[:, None, None].expand(1, 2, 6, 1)], -1)
            return torch.cat([scores.softmax(-1)[..., :-1] @ v, scores.logsumexp(-1)[..., None]], -1)

        def fused(q, k, v, sink):
            output, lse = attention(q, k, v, causal=True, sink=sink, return_lse=True)
            return torch.cat([output, lse[..., None]], -1)

        q, k, v = (randn(1, 2, rows, 16, dtype=torch.float64) for rows in (6, 4, 4))
        self.compare(fused, formula, q, k, v, randn(2, dtype=torch.float64))
        self.compare(lambda *t: fused(*t)[..., :-1], lambda *t: formula(*t)[..., :-1], q, k, v, randn(2, dtype=torch.float64))

    def test_maps_of_heads(self):
        """Groups of any size, maps of key and value apart; entries that are no heads count as the last one."""
        def formula(q, k, v):
            scores = q @ k[:, [2, 0, 0, 2, 2]].transpose(-1, -2) / 4
            return torch.softmax(scores, -1) @ v[:, [1, 0, 1, 1, 0]], torch.logsumexp(scores, -1)

        maps = torch.tensor([2, 0, 0, 2, 7]), torch.tensor([1, 0, -3, 1, 0], dtype=torch.int32)
        fused = lambda q, k, v: attention(q, k, v, head_map=maps, return_lse=True)
        joined = lambda function: lambda *t: torch.cat([(r := function(*t))[0], r[1][..., None]], -1)
        shapes = (2, 5, 6, 16), (2, 3, 7, 16), (2, 2, 7, 16)
        q, k, v = (randn(*shape, dtype=torch.float64) for shape in shapes)
        self.compare(joined(fused), joined(formula), q, k, v)
        batches = [torch.stack([t, 2 * t]) for t in (q, k, v)]
        for mine, other in zip(torch.func.vmap(fused)(*batches), torch.func.vmap(formula)(*batches)):
            torch.testing.assert_close(mine, other)
        arguments = [t.requires_grad_() for t in (q, k, v)]
        torch.library.opcheck(attention_op, (*arguments, None, None, None, "", [], 0.0, None, 0.0, None, *maps))
        with self.assertRaisesRegex(attn_mlir.BindingError, "key_head_map: expected a torch.Tensor, got ndarray"):
            attention(q, k, v, head_map=maps[0].numpy())
        with self.assertRaisesRegex(attn_mlir.BindingError, "key_head_map: expected 5 heads of key, i32 or i64, one for each query head, got i64 of"):
            attention(q, k, k, head_map=maps[0][:2])

    def test_only_what_is_asked_for(self):
        q, k = randn(1, 1, 5, 16).requires_grad_(), randn(1, 1, 5, 16)
        scaled_dot_product_attention(q, k, k).sum().backward()
        self.assertIsNotNone(q.grad)
        self.assertIsNone(k.grad)


class Tracing(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.q, self.k, self.v = (randn(2, 4, 33, 32) for _ in range(3))

    def test_op(self):
        q, k, v = (t[:, :2, :9].contiguous().requires_grad_() for t in (self.q, self.k, self.v))
        torch.library.opcheck(attention_op, (q, k, v, None, None, None, "top_left", [], 0.0, None, 0.0, None))
        seen = torch.rand(1, 1, 9, 9) > 0.2
        sink = randn(2).requires_grad_()
        torch.library.opcheck(attention_op, (q, k, v, None, seen, sink, "", [4, 2], 3.0, 0.5, 0.2, torch.tensor([1, 2])))

    def test_who_sees_the_op(self):
        """Its dispatch is left out only where neither a gradient, a mode, a class nor a profile would see it."""
        tensors = [t[:, :2, :9].contiguous() for t in (self.q, self.k, self.v)]
        wrapped, operands = torch.Tensor._make_subclass(Derived, tensors[0]), [torch.nn.Parameter(t) for t in tensors]
        self.assertTrue(is_plain((*tensors, None, "", 0.0)))
        self.assertFalse(is_plain(operands))
        self.assertFalse(is_plain((wrapped, *tensors[1:])))
        self.assertFalse(is_plain([t.to("meta") for t in tensors]))
        with torch.no_grad():
            self.assertTrue(is_plain(operands))
            plain = attention(*operands, causal=True)
        seen = []

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                seen.append(str(function))
                return function(*args, **(kwargs or {}))

        with Mode():
            watched = attention(*tensors, causal=True)
        self.assertIn("attn_mlir.attention.default", seen)
        with torch.profiler.profile() as profile:
            attention(*tensors, causal=True)
        self.assertIn("attn_mlir::attention", [event.key for event in profile.key_averages()])
        recorded = attention(*operands, causal=True)
        self.assertTrue(recorded.requires_grad)
        self.assertTrue(torch.equal(plain, watched) and torch.equal(plain, recorded))

    def test_compile_with_gradients(self):
        def model(f, q):
            return f(q * 2, self.k, self.v, is_causal=True) + 1

        grads = []
        for f in (torch.compile(model, backend="aot_eager", fullgraph=True), model):
            q = self.q.clone().requires_grad_()
            f(scaled_dot_product_attention if f is not model else reference, q).sum().backward()
            grads.append(q.grad)
        self.assertLess((grads[0] - grads[1]).abs().max().item(), 2e-2)

    def test_backend(self):
        """Replaces torch's own attention, for any length without tracing again."""
        calls = []
        noted = lambda *a, **k: calls.append(a) or scaled_dot_product_attention(*a, **k)  # noqa: E731
        replaced = mock.patch.dict(ours.graphs.REPLACEMENTS, dict.fromkeys(ours.graphs.SDPA, noted))
        replaced.start()
        self.addCleanup(replaced.stop)
        backend = functools.partial(ours.backend, inner="eager")
        compiled = torch.compile(lambda q, k, v: reference(q, k, v) * 2, backend=backend, dynamic=True)
        for length in (33, 20):
            q = self.q[:, :, :length]
            expected = reference(q, self.k, self.v) * 2
            self.assertLess((compiled(q, self.k, self.v) - expected).abs().max().item(), 8e-3)
        self.assertEqual(len(calls), 2)


    def test_backend_and_checkpoints(self):
        """Attention in a part that the backward computes again."""

        def model(q):
            return torch.utils.checkpoint.checkpoint(lambda x: reference(x * 2, self.k, self.v), q, use_reentrant=False)

        counts, replace = [], ours.graphs.replace_attention
        with mock.patch.object(ours.graphs, "replace_attention", lambda graph: counts.append(replace(graph))):
            compiled = torch.compile(model, backend=functools.partial(ours.backend, inner="aot_eager"), fullgraph=True)
            grads = []
            for f in (compiled, model):
                q = self.q.clone().requires_grad_()
                f(q).float().sin().sum().backward()
                grads.append(q.grad)
        self.assertEqual(counts, [1])
        self.assertLess((grads[0] - grads[1]).abs().max().item(), 2e-2)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(64, 192).half()
        self.register_buffer("mask", torch.rand(1, 9) > 0.1)

    def forward(self, x):
        q, k, v = self.project(x).unflatten(-1, (3, 2, 32)).permute(2, 0, 3, 1, 4)
        x = reference(q, k, v, is_causal=True)
        return reference(x, k, v, attn_mask=self.mask, scale=0.5)


class Graphs(unittest.TestCase):
    def exported(self):
        torch.manual_seed(4)
        return torch.export.export(Model(), (randn(1, 9, 64),))

    def test_modules(self):
        calls = ours.attentions_of(self.exported())
        self.assertEqual(len(calls), 2)
        texts = []
        for call in calls:
            result = subprocess.run(["attn-opt", "-"], input=call.mlir(), capture_output=True, text=True)
            self.assertEqual(result.stderr, "")
            texts.append(result.stdout)
        self.assertIn("mask_mod causal(top_left)", texts[0])
        self.assertIn("tensor<?x?x?x32xf16>", texts[0])
        self.assertRegex(texts[1], r"scale\(5.0+e-01\) mask_mod \(")

    def test_in_branches(self):
        """Of torch.cond: each branch's call, by the branch's name."""

        class Branches(torch.nn.Module):
            def forward(self, q, k):
                causal = lambda q, k: reference(q, k, k, is_causal=True)  # noqa: E731
                plain = lambda q, k: reference(q, k, k, scale=0.5)  # noqa: E731
                return torch.cond(q.sum() > 0, causal, plain, (q, k))

        program = torch.export.export(Branches(), (randn(1, 2, 9, 32), randn(1, 2, 7, 32)))
        calls = ours.attentions_of(program)
        self.assertEqual([call.name.partition(".")[0] for call in calls], ["true_graph_0", "false_graph_0"])
        first, second = (call.mlir() for call in calls)
        self.assertIn("mask_mod causal(top_left)", first)
        self.assertRegex(second, r"scale\((0\.5|5\.0+e-01)\)")
        self.assertRegex(first, r"@true_graph_0_\w+\(")

    def test_replaced(self):
        torch.manual_seed(4)
        model, x = Model(), randn(1, 9, 64)
        traced = torch.fx.symbolic_trace(model)
        self.assertEqual(ours.replace_attention(traced), 2)
        self.assertIn("attn_mlir", traced.code)
        self.assertLess((traced(x) - model(x)).abs().max().item(), 4e-3)

    def test_refused(self):
        q = randn(1, 2, 9, 32)
        for message, function in {
            "expected a node with a known shape, got none: use torch.export": lambda: ours.attentions_of(
                torch.fx.symbolic_trace(Model())
            ),
            "expected a GraphModule or an ExportedProgram, got Model": lambda: ours.attentions_of(Model()),
        }.items():
            with self.assertRaisesRegex(attn_mlir.AttnError, message):
                function()


if __name__ == "__main__":
    sys.exit(unittest.main())
