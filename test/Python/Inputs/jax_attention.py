"""JAX: attention under jit, grad and vmap against the formula, and functions whose attention the compiler recognises."""

import functools
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import attn_mlir
from attn_mlir.jax import attention, lower
from attn_mlir.jax.lowering import regroup
from sweep import LONG


def normal(seed, *shape, dtype=jnp.float32):
    """By NumPy: JAX compiles a generator for each shape."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape, np.float32), dtype)


def formula(q, k, v, bias=0.0, seen=None, cap=None, scale=None):
    """[B, H, M, D], with as many key heads."""
    scores = jnp.einsum("bhmd,bhnd->bhmn", q, k) * (scale or q.shape[-1] ** -0.5)
    scores = cap * jnp.tanh(scores / cap) if cap else scores
    scores = scores + bias
    scores = scores if seen is None else jnp.where(seen, scores, -jnp.inf)
    return jnp.einsum("bhmn,bhnd->bhmd", jax.nn.softmax(scores, axis=-1), v)


class Attention(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = (normal(s, 2, 2, 9, 16) for s in range(3))

    def near(self, a, b, tolerance=1e-5):
        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        self.assertLess(float(jnp.abs(a - b).max()), tolerance)

    def test_eager_and_jit(self):
        causal = jnp.tril(jnp.ones((9, 9), bool))
        expected = formula(self.q, self.k, self.v, seen=causal, scale=0.3)
        call = functools.partial(attention, causal="top_left", scale=0.3)
        for function in (call, jax.jit(call)):
            output = function(self.q, self.k, self.v)
            self.assertIsInstance(output, jax.Array)
            self.near(output, expected)

    def test_types_and_heads(self):
        for dtype in (jnp.float16, jnp.bfloat16)[0 if LONG else 1 :]:
            q = normal(3, 1, 4, 20, 32, dtype=dtype)
            output, lse = jax.jit(functools.partial(attention, return_lse=True))(q, q[:, :2], q[:, :2])
            wide = [jnp.repeat(t, 2, 1).astype(jnp.float32) for t in (q[:, :2], q[:, :2])]
            self.assertEqual((output.dtype, lse.dtype, lse.shape), (dtype, jnp.float32, (1, 4, 20)))
            expected = formula(q.astype(jnp.float32), *wide)
            self.near(output.astype(jnp.float32), expected, 2e-2)

    def test_gradients(self):
        bias, seen = normal(4, 1, 2, 9, 9), jnp.asarray(np.random.default_rng(5).random((2, 1, 9, 9)) > 0.2)
        weights = normal(6, 2, 2, 9, 16)

        def loss(function):
            return lambda q, k, v, b: (function(q, k, v, b) * weights).sum()

        ours = jax.grad(loss(lambda q, k, v, b: attention(q, k, v, bias=b, mask=seen)), (0, 1, 2, 3))
        arguments = (self.q, self.k, self.v, bias)
        exact = jax.jit(jax.grad(loss(lambda q, k, v, b: formula(q, k, v, b, seen)), (0, 1, 2, 3)))(*arguments)
        for function in (ours, jax.jit(ours))[0 if LONG else 1 :]:
            for mine, other in zip(function(*arguments), exact):
                self.near(mine, other)

    def test_gradient_by_the_lse(self):
        def lse(q):
            return attention(q, self.k, self.v, return_lse=True)[1].sum()

        def exact(q):
            return jax.nn.logsumexp(jnp.einsum("bhmd,bhnd->bhmn", q, self.k) / 4, axis=-1).sum()

        self.near(*(jax.jit(jax.grad(f))(self.q) for f in (lse, exact)))

    def test_maps_of_heads(self):
        """Groups of any size, of key and of value, with gradients; entries that are no heads count as the last one."""
        q, k, v = normal(8, 2, 5, 9, 16), normal(9, 2, 3, 11, 16), normal(10, 2, 2, 11, 16)
        maps, weights = (jnp.array([2, 0, 0, 2, 7]), jnp.array([1, 0, -3, 1, 0])), normal(11, 2, 5, 9, 16)
        read = (jnp.array([2, 0, 0, 2, 2]), jnp.array([1, 0, 1, 1, 0]))

        def ours(q, k, v):
            output, lse = attention(q, k, v, head_map=maps, return_lse=True)
            return (output * weights).sum() + jnp.sin(lse).sum()

        def exact(q, k, v):
            k, v = k[:, read[0]], v[:, read[1]]
            lse = jax.nn.logsumexp(jnp.einsum("bhmd,bhnd->bhmn", q, k) / 4, axis=-1)
            return (formula(q, k, v) * weights).sum() + jnp.sin(lse).sum()

        for mine, other in zip(*(jax.jit(jax.grad(f, (0, 1, 2)))(q, k, v) for f in (ours, exact))):
            self.near(mine, other)
        with self.assertRaisesRegex(attn_mlir.BindingError, "key_head_map: expected 5 heads of key, i32 or i64"):
            attention(q, k, k, head_map=jnp.zeros(5))
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected no head_map with prob_mod"):
            attention(q, k, k, head_map=maps[0], prob_mod=lambda p, b, h, i, j: p)

    def test_vmap(self):
        q = normal(7, 3, 2, 2, 9, 16)
        mapped = jax.jit(jax.vmap(lambda x: attention(x, self.k, self.v)))(q)
        self.near(mapped, jnp.stack([formula(x, self.k, self.v) for x in q]))

    def test_arrays_of_jax_beside_others(self):
        """Without attn_mlir.jax: results are JAX's too, and as `out` its arrays are refused."""
        for dtype in ("float32", "bfloat16")[0 if LONG else 1 :]:
            q = self.q.astype(dtype)
            output, lse = attn_mlir.attention(q, q, q, return_lse=True)
            self.assertIsInstance(output, jax.Array)
            self.assertEqual((output.dtype, lse.dtype), (q.dtype, jnp.float32))
            np.testing.assert_array_equal(output, attention(q, q, q))
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected a writable array, got a read-only one"):
            attn_mlir.attention(q, q, q, out=q + 1)

    def test_refused(self):
        q = self.q
        for message, function in {
            "query: expected a JAX array, got NoneType": lambda: attention(None, q, q),
            "bias: expected a JAX array, got list": lambda: attention(q, q, q, bias=[1.0]),
            r"query: expected \[batch, heads, rows, head dim\], got rank 3": lambda: attention(q[0], q, q),
            "query: expected dtype f16, bf16, f32, f64, got i32": lambda: attention(*(t.astype(int) for t in (q, q, q))),
            "query: expected dtype float16, .*, got complex64": lambda: attention(q + 0j, q, q),
            "mask: expected dtype bool, got float32": lambda: attention(q, q, q, mask=q),
            "expected dim 3 of mask to be 1 or": lambda: attention(q, q, q, mask=q > 0),
            "bias: expected dtype f16, .*, got i1": lambda: attention(q, q, q, bias=q > 0),
            "key: expected dtype f32, that of query, got f16": lambda: attention(q, q.astype(jnp.float16), q),
            r"operand key: expected dim 3 to be \d+, got 8": lambda: attention(q, q[..., :8], q),
            "expected causal to be a bool": lambda: attention(q, q, q, causal="left"),
            "expected window to be a number or": lambda: attention(q, q, q, window="wide"),
        }.items():
            for call in (function, jax.jit(function)):
                with self.assertRaisesRegex(attn_mlir.BindingError, message):
                    call()


class Lowering(unittest.TestCase):
    def check(self, function, *arguments, expected=(), tolerance=1e-5):
        """What the compiler recognises, and that the module computes what the function does."""
        module = lower(function, *arguments)
        text = module.attentions()
        for part in ("attn.attention", *expected):
            self.assertIn(part, text)
        kernel = attn_mlir.compile(module.mlir, target="cpu")
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
        result = kernel(*leaves, *module.constants)
        self.assertLess(np.abs(result.astype(np.float32) - np.asarray(function(*arguments))).max(), tolerance)

    def test_dot_product_attention(self):
        q, k, v = normal(0, 2, 24, 4, 32), normal(1, 2, 24, 2, 32), normal(2, 2, 24, 2, 32)
        function = functools.partial(jax.nn.dot_product_attention, is_causal=True)
        self.check(jax.jit(function), q, k, v, expected=("causal(top_left)", "tensor<2x2x24x32xf32>"))
        bias = normal(3, 1, 4, 24, 24)
        self.check(lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, bias=b), q, k, v, bias, expected=("bias(",))

    def test_formula(self):
        q, k, v = (normal(s, 2, 2, 9, 16) for s in range(3))
        self.check(formula, q, k, v, expected=("scale(2.5",))
        self.check(functools.partial(formula, cap=2.0), q, k, v, expected=("soft_cap(2.0",))
        seen = jnp.tril(jnp.ones((9, 9), bool))
        self.check(lambda q, k, v: formula(q, k, v, seen=jnp.tril(jnp.ones((9, 9), bool))), q, k, v, expected=("causal",))
        # An array that the function closes over is another argument.
        self.assertEqual(len(lower(lambda q: formula(q, q, q, seen=seen), q).constants), 1)
        self.check(lambda q: formula(q, q, q, seen=seen), q, expected=("mask_mod",))

    def test_a_block(self):
        """Projections around it, in a tree of parameters."""
        x, weights = normal(0, 2, 9, 32), {"qkv": normal(1, 32, 96) / 6, "out": normal(2, 32, 32) / 6}

        def block(x, weights):
            qkv = jnp.split(x @ weights["qkv"], 3, axis=-1)
            q, k, v = (t.reshape(2, 9, 2, 16).transpose(0, 2, 1, 3) for t in qkv)
            y = formula(q, k, v, seen=jnp.tril(jnp.ones((9, 9), bool)))
            return jax.nn.silu(y.transpose(0, 2, 1, 3).reshape(2, 9, 32) @ weights["out"])

        self.check(block, x, weights, expected=("causal(top_left)",))

    def test_shapes_alone(self):
        shape = jax.ShapeDtypeStruct((1, 2, 16, 64), jnp.bfloat16)
        self.assertIn("attn.attention", lower(formula, shape, shape, shape).attentions())

    def test_kernel_for_a_gpu(self):
        q = normal(0, 1, 2, 16, 64, dtype=jnp.float16)
        kernel = attn_mlir.compile(lower(formula, q, q, q).mlir, target="sm_80")
        output = kernel(*[np.asarray(q)] * 3, device="sim")
        self.assertLess(np.abs(output - np.asarray(formula(q, q, q))).max(), 4e-3)

    def test_regroup(self):
        self.assertEqual(regroup((2, 9, 32), (2, 9, 2, 16)), [([0], [0]), ([1], [1]), ([2], [2, 3])])
        self.assertEqual(regroup((4, 6), (3, 8)), [([0, 1], [0, 1])])
        self.assertEqual(regroup((5, 1), (5,)), [([0, 1], [0])])
        self.assertEqual(regroup((5,), (1, 5)), [([0], [0, 1])])

    def test_refused(self):
        for kind, message, function in (
            (attn_mlir.AttnError, r"got sort \(.*jax_attention.py:\d+\)", lambda: lower(lambda x: jax.lax.sort(x), normal(0, 4))),
            (attn_mlir.AttnError, "expected dtype float16, .*, got complex64", lambda: lower(lambda x: x * 1j, normal(0, 4))),
            (attn_mlir.CompileError, "no attention", lambda: lower(lambda x: x + 1, normal(0, 4)).attentions()),
        ):
            with self.assertRaisesRegex(kind, message):
                function()


if __name__ == "__main__":
    sys.exit(unittest.main())
