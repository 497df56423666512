"""XLA shares out batches and heads of attention over 8 devices of the host: results and gradients beside those of the formula, and
nothing is gathered for it."""

import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from attn_mlir.jax import attention
from distributed import Whole
from sweep import LONG

SLOPES = np.linspace(0.1, 1, 8, dtype=np.float32)


def formula(q, k, v, bias, slopes, groups=4):
    k, v = (jnp.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v))
    b, h, i, j = (jnp.arange(n).reshape([-1 if d == axis else 1 for d in range(4)]) for axis, n in enumerate((*q.shape[:3], k.shape[2])))
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(q.shape[-1]) + bias + slopes[None, :, None, None] * (j - i)
    return jax.nn.softmax(jnp.where((j <= i + b) & ((i + j + h) % 5 != 1) | (j == 0), scores, -jnp.inf), -1) @ v


def ours(q, k, v, bias, slopes):
    return attention(
        q, k, v, bias=bias, mask_mod=lambda b, h, i, j: (j <= i + b) & ((i + j + h) % 5 != 1) | (j == 0),
        score_mod=lambda s, b, h, i, j: s + slopes[h] * (j - i),
    )  # fmt: skip


class Partitioning(unittest.TestCase):
    def check(self, axes, spec, key_spec, bias_shape):
        """One shape of the mesh, by which query and key are shared out."""
        generator = np.random.default_rng(3)
        shapes = [(4, 8, 40, 16), (4, 4, 40, 16), (4, 4, 40, 16), bias_shape]
        arrays = [generator.standard_normal(s).astype(np.float32) for s in shapes] + [SLOPES]
        weights = generator.standard_normal((4, 8, 40, 16)).astype(np.float32)
        mesh = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
        query, key = (NamedSharding(mesh, PartitionSpec(*s)) for s in (spec, key_spec))
        given = [jax.device_put(a, s) for a, s in zip(arrays[:3], (query, key, key))] + [jnp.asarray(a) for a in arrays[3:]]

        shared_weights = jax.device_put(weights, query)

        def loss(*t):
            output = ours(*t)
            return (output * shared_weights).sum(), output

        run = jax.jit(jax.value_and_grad(loss, (0, 1, 2, 3, 4), has_aux=True)).lower(*given).compile()
        (_, output), gradients = run(*given)
        *qkv, bias, slopes = arrays  # JAX would compile a reference for each shape
        b, h, i, j = np.indices((4, 8, 40, 40))
        change = lambda s: (s + bias + slopes[h] * (j - i), 1)  # noqa: E731
        want = Whole(*qkv, weights, np.zeros((4, 8, 40)), (j <= i + b) & ((i + j + h) % 5 != 1) | (j == 0), change)
        broadcast = tuple(axis for axis, size in enumerate(bias_shape) if size == 1)
        by_change = want.d_change.sum(broadcast, keepdims=True), (want.d_change * (j - i)).sum((0, 2, 3))
        for mine, theirs in zip((output, *gradients), (want.output, want.d_query, want.d_key, want.d_value, *by_change)):
            got = np.asarray(mine)
            self.assertEqual(got.shape, theirs.shape)
            self.assertLess(np.abs(got - theirs).max(), 3e-5 * max(1, np.abs(theirs).max()), f"{axes} {spec}")
        return run.as_text(), output, gradients, query, key

    def test_batches_and_heads(self):
        for axes, spec, key_spec in (
            ({"x": 2, "y": 4 if LONG else 2}, ("x", "y"), ("x", "y")),
            *([({"x": 4}, ("x",), ("x",)), ({"x": 4}, (None, "x"), (None, "x"))] if LONG else []),
        ):
            with self.subTest(axes=axes, spec=spec):
                text, output, gradients, query, key = self.check(axes, spec, key_spec, (1, 1, 40, 40))
                self.assertNotIn("all-gather", text)
                self.assertNotIn("all-to-all", text)
                self.assertTrue(output.sharding.is_equivalent_to(query, 4), output.sharding)
                for gradient, sharding in zip(gradients, (query, key, key)):
                    self.assertTrue(gradient.sharding.is_equivalent_to(sharding, 4), gradient.sharding)

    def test_groups(self):
        """More devices than key heads, and others than divide heads or what rows are shared out to: right, with what has to move."""
        self.check({"x": 4, "y": 2}, (None, ("x", "y")), (None, "x"), (4, 8, 40, 40))
        if LONG:
            self.check({"x": 8}, (None, "x"), (), (4, 8, 1, 40))
        self.check({"x": 8 if LONG else 4}, (None, None, "x"), (None, None, "x"), (1, 8, 40, 40))

    def test_maps_of_heads(self):
        """Batches are shared out, heads are not: any query head may need any key head."""
        generator = np.random.default_rng(5)
        q, k, v = (jnp.asarray(generator.standard_normal((4, heads, 24, 16)).astype(np.float32)) for heads in (6, 4, 4))
        heads = jnp.array([3, 0, 0, 1, 3, 3])
        mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
        shared = jax.device_put(q, NamedSharding(mesh, PartitionSpec("x", "y")))
        loss = lambda *t: jnp.square(attention(*t, head_map=heads)).sum()
        exact = lambda q, k, v: jnp.square(
            jax.nn.softmax(jnp.einsum("bhid,bhjd->bhij", q, k[:, heads]) / 4, -1) @ v[:, heads]
        ).sum()  # fmt: skip
        for mine, wanted in zip(jax.jit(jax.grad(loss, (0, 1, 2)))(shared, k, v), jax.jit(jax.grad(exact, (0, 1, 2)))(q, k, v)):
            self.assertLess(np.abs(np.asarray(mine) - np.asarray(wanted)).max(), 3e-5)

    def test_vmap(self):
        q = jnp.asarray(np.random.default_rng(1).standard_normal((2, 4, 8, 12, 16)), jnp.float32)
        bias = jnp.zeros((1, 1, 12, 12))
        got = jax.jit(jax.vmap(lambda t: ours(t, t, t, bias, jnp.asarray(SLOPES))))(q)
        want = jax.jit(jax.vmap(lambda t: formula(t, t, t, bias, SLOPES)))(q)
        self.assertLess(np.abs(np.asarray(got) - np.asarray(want)).max(), 3e-5)


if __name__ == "__main__":
    unittest.main()
