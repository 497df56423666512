"""Calls that repeat an earlier one's types and layouts, against float64; and those that only seem to."""

import threading
import unittest

import numpy as np
import torch

import attn_mlir
from attn_mlir import functional
from attn_mlir.torch import attention, scaled_dot_product_attention

SHAPE = (1, 2, 24, 16)


def tensors(seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(SHAPE, generator=generator, dtype=dtype) for _ in range(3)]


def expected(q, k, v, causal=False, scale=None):
    return torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal, scale=scale)


class Prepared(unittest.TestCase):
    def check(self, result, wanted, tolerance=2e-6):
        self.assertLess((result.double() - wanted).abs().max().item(), tolerance)

    def checked_calls(self, call):
        """How often `call` looks at the arrays."""
        original, count = functional.check_arrays, []
        functional.check_arrays = lambda *arguments: (count.append(1), original(*arguments))[1]
        try:
            call()
        finally:
            functional.check_arrays = original
        return len(count)

    def test_repeated(self):
        for function, causal in ((attn_mlir.attention, {"causal": "top_left"}), (attention, {"causal": "top_left"}), (scaled_dot_product_attention, {"is_causal": True})):
            first = function(*tensors(1), **causal)
            copy, results = first.clone(), []
            count = self.checked_calls(lambda: results.append(function(*tensors(2), **causal)))
            self.assertEqual(count, 0)
            self.check(results[0], expected(*tensors(2), causal=True))
            self.assertTrue(torch.equal(first, copy))

    def test_options_and_layouts(self):
        q, k, v = tensors()
        for scale in (None, 0.5, 1, True, 1.0):
            self.check(scaled_dot_product_attention(q, k, v, scale=scale), expected(q, k, v, scale=scale))
        transposed = k.transpose(2, 3).contiguous().transpose(2, 3)
        offset = torch.cat([v, v], 3)[..., 16:]
        for _ in range(2):
            self.check(attn_mlir.attention(q, transposed, offset), expected(q, k, v))
            self.check(attn_mlir.attention(q, k[:, :1], v[:, :1]), expected(q, k[:, :1], v[:, :1]))
            output, lse = attn_mlir.attention(q, k, v, return_lse=True)
            scores = q.double() @ k.double().transpose(2, 3) / 4
            self.check(output, expected(q, k, v))
            self.check(lse, scores.logsumexp(-1))
        with self.assertRaisesRegex(attn_mlir.BindingError, "key: expected"):
            attn_mlir.attention(q, k[..., :8], v)

    def test_gradients(self):
        q, k, v = tensors(3)
        attention(q, k, v), scaled_dot_product_attention(q, k, v), attn_mlir.attention(q, k, v)
        q.requires_grad_()
        with self.assertRaisesRegex(attn_mlir.BindingError, "requires no gradient"):
            attn_mlir.attention(q, k, v)
        for function in (attention, scaled_dot_product_attention):
            (gradient,) = torch.autograd.grad(function(q, k, v).sum(), q)
            (wanted,) = torch.autograd.grad(expected(q, k, v).sum(), q)
            self.check(gradient, wanted, 1e-5)
        batched = torch.func.vmap(scaled_dot_product_attention)(*(t.detach()[None] for t in (q, k, v)))
        self.check(batched[0], expected(q, k, v).detach())

    def test_autocast(self):
        for function in (attention, scaled_dot_product_attention):
            with torch.autocast("cpu", torch.bfloat16):
                self.assertEqual(function(*tensors(4)).dtype, torch.bfloat16)
            for _ in range(2):
                result = function(*tensors(4))
                self.assertEqual(result.dtype, torch.float32)
                self.check(result, expected(*tensors(4)))
            with torch.autocast("cpu", torch.bfloat16):
                self.assertEqual(function(*tensors(4)).dtype, torch.bfloat16)

    def test_lazy_tensors(self):
        """Of a negative view torch's memory has the opposite sign."""
        q, k, v = tensors(5)
        attn_mlir.attention(q, k, v), scaled_dot_product_attention(q, k, v)
        lazy = torch.complex(torch.zeros(SHAPE), -v).conj().imag
        self.assertTrue(lazy.is_neg() and lazy.stride(3) == 2)
        for function in (attn_mlir.attention, scaled_dot_product_attention):
            if function is attn_mlir.attention:
                with self.assertRaisesRegex(attn_mlir.BindingError, "value: expected a tensor whose memory has its values, got a lazy one"):
                    function(q, k, lazy)
            else:
                self.check(function(q, k, lazy), expected(q, k, v))

    def test_compiled(self):
        """torch.compile traces through."""
        for function in (attention, scaled_dot_product_attention):
            function(*tensors(7))
            compiled = torch.compile(lambda q, k, v: function(q, k, v) * 2, fullgraph=True, backend="eager")
            self.check(compiled(*tensors(7)), 2 * expected(*tensors(7)))

    def test_numpy(self):
        q, k, v = (t.numpy() for t in tensors(6))
        attn_mlir.attention(q, k, v)
        self.assertEqual(self.checked_calls(lambda: attn_mlir.attention(q, k, v)), 0)
        swapped = np.ascontiguousarray(k.swapaxes(1, 2)).swapaxes(1, 2)
        for _ in range(2):
            result = attn_mlir.attention(q, swapped, v)
            self.assertIs(type(result), np.ndarray)
            self.check(torch.from_numpy(result), expected(*tensors(6)))
        with self.assertRaisesRegex(attn_mlir.BindingError, "got '>f4'"):
            attn_mlir.attention(q.astype(">f4"), k, v)

    def test_threads(self):
        inputs = [tensors(seed) for seed in range(8)]
        attn_mlir.attention(*inputs[0])
        results = [None] * 8

        def work(n):
            for _ in range(20):
                results[n] = attn_mlir.attention(*inputs[n])

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result, arrays in zip(results, inputs):
            self.check(result, expected(*arrays))

    def test_few_keys(self):
        """Tiles of as many keys as there are."""
        for keys in (1, 15, 16, 17, 33, 64, 65):
            q, k, v = (torch.randn(2, 2, n, 16, dtype=torch.float64).float() for n in (5, keys, keys))
            for _ in range(2):
                self.check(attn_mlir.attention(q, k, v), expected(q, k, v))


if __name__ == "__main__":
    unittest.main()
