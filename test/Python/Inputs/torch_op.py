"""PyTorch: the drop-in for scaled_dot_product_attention, eagerly and under torch.compile; tensors as they are."""

import sys
import unittest

import torch

import attn_mlir
from attn_mlir.torch import attention_op, scaled_dot_product_attention

reference = torch.nn.functional.scaled_dot_product_attention


class DropIn(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        # [B, S, H, D] in memory.
        self.q, self.k, self.v = (torch.randn(2, 33, 4, 32).half().transpose(1, 2) for _ in range(3))

    def near(self, *tensors, **options):
        ours, theirs = scaled_dot_product_attention(*tensors, **options), reference(*tensors, **options)
        self.assertEqual((ours.shape, ours.dtype), (theirs.shape, theirs.dtype))
        self.assertLess((ours - theirs).abs().max().item(), 4e-3)

    def test_options(self):
        q, k, v = self.q, self.k, self.v
        self.near(q, k, v)
        self.near(q, k, v, is_causal=True, scale=0.3)
        self.near(q, k[:, :2], v[:, :2], enable_gqa=True)
        self.near(q[0], k[0], v[0])
        self.near(q, k, v, attn_mask=torch.randn(2, 1, 33, 33).half())
        self.near(q, k, v, attn_mask=torch.rand(33, 33) > 0.3)
        self.near(q, k, v, attn_mask=torch.randn(1, 33))

    def test_compile(self):
        compiled = torch.compile(
            lambda q, k, v: scaled_dot_product_attention(q * 2, k, v, is_causal=True) + 1, backend="aot_eager"
        )
        expected = reference(self.q * 2, self.k, self.v, is_causal=True) + 1
        self.assertLess((compiled(self.q, self.k, self.v) - expected).abs().max().item(), 4e-3)

    def test_op(self):
        torch.library.opcheck(attention_op, (self.q, self.k, self.v, None, "top_left", None, True))
        torch.library.opcheck(attention_op, (self.q, self.k, self.v, None, "", 0.5, False))

    def test_tensors(self):
        q = torch.randn(1, 2, 20, 64).bfloat16().requires_grad_()
        output, lse = attn_mlir.attention(q, q, q, causal=True, return_lse=True, device="sim")
        self.assertEqual((type(output), output.dtype, lse.dtype), (torch.Tensor, torch.bfloat16, torch.float32))
        self.assertLess((output - reference(q, q, q, is_causal=True)).abs().max().item(), 2e-2)

    def test_refused(self):
        q = self.q
        for message, function in {
            "expected dropout_p to be 0, got 0.1": lambda: scaled_dot_product_attention(q, q, q, dropout_p=0.1),
            "expected 4 key heads, or enable_gqa, got 2": lambda: scaled_dot_product_attention(q, q[:, :2], q[:, :2]),
            "there is no backward here yet": lambda: scaled_dot_product_attention(q.clone().requires_grad_(), q, q),
            "expected is_causal or attn_mask, got both": lambda: scaled_dot_product_attention(
                q, q, q, attn_mask=torch.ones(33, 33), is_causal=True
            ),
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                function()


if __name__ == "__main__":
    sys.exit(unittest.main())
