"""attn_mlir.jax.linear_attention: results and gradients against the recurrence by jax.lax.scan, second ones, jit and vmap, messages."""

import sys
import unittest

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

from attn_mlir import BindingError
from attn_mlir.jax import linear_attention
from sweep import LONG

generator = np.random.default_rng(2)
B, HQ, HKV, M, D, DV = 2, 4, 2, 70, 4, 3


def randn(*shape):
    return jnp.asarray(generator.standard_normal(shape))


def recurrence(q, k, v, decay=None, state=None, scale=0.5, reverse=False, full=False):
    """(output, final state) by a scan."""
    k, v = (jnp.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v))
    state = jnp.zeros((*q.shape[:2], q.shape[3], v.shape[3])) if state is None else state
    if full:
        state = state + jnp.einsum("bhnd,bhne->bhde", k, v)
        return scale * q @ state, state
    logs = jnp.zeros(q.shape[:3]) if decay is None else decay
    logs = jnp.broadcast_to(logs[None, :, None], q.shape[:3]) if logs.ndim == 1 else logs

    def step(s, at):
        q, k, v, g = at
        factor = jnp.exp(g)[..., None, None]
        s = (s if reverse else factor * s) + k[..., :, None] * v[..., None, :]
        return (factor * s if reverse else s), scale * jnp.einsum("bhd,bhde->bhe", q, s)

    last, outputs = jax.lax.scan(step, state, tuple(jnp.moveaxis(t, 2, 0) for t in (q, k, v, logs)), reverse=reverse)
    return jnp.moveaxis(outputs, 0, 2), last


class Linear(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = randn(B, HQ, M, D), randn(B, HKV, M, D), randn(B, HKV, M, DV)
        self.state = randn(B, HQ, D, DV)
        self.w, self.u = randn(B, HQ, M, DV), randn(B, HQ, D, DV)

    def near(self, a, b, most=1e-11):
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=0, atol=most), a, b)

    def losses(self, decay, **options):
        """Ours and that of the scan, of the list of what is read."""

        def loss(attend):
            def run(arrays):
                given = dict(zip(("state", "decay"), arrays[3:]))
                output, last = attend(*arrays[:3], scale=0.5, **given, **options)
                return (output * self.w).sum() + (jnp.sin(last) * self.u).sum()

            return run

        arrays = [self.q, self.k, self.v, self.state] + ([] if decay is None else [decay])
        return arrays, loss(lambda *a, **o: linear_attention(*a, **o, return_state=True)), loss(recurrence)

    def test_gradients(self):
        positions, heads = -jnp.abs(randn(B, HQ, M)), -jnp.abs(randn(HQ))
        for decay, options in (
            *([(positions, {}), (heads, {}), (positions, {"reverse": True})] if LONG else [(heads, {"reverse": True})]), (None, {"full": True}),
        ):  # fmt: skip
            arrays, mine, theirs = self.losses(decay, **options)
            self.near(*(jax.jit(jax.value_and_grad(f))(arrays) for f in (mine, theirs)))
        self.near(jax.grad(mine)(arrays), jax.jit(jax.grad(mine))(arrays))

    def test_second_derivatives(self):
        arrays, mine, theirs = self.losses(-jnp.abs(randn(B, HQ, M)))
        for f in (mine, theirs):
            f.squares = lambda a, f=f: sum((g**2).sum() for g in jax.grad(f)(a))
        self.near(*(jax.jit(jax.grad(f.squares))(arrays) for f in (mine, theirs)), 1e-8)

    def test_vmap(self):
        expected = linear_attention(self.q, self.k, self.v)
        each = jax.vmap(lambda q, k, v: linear_attention(q[None], k[None], v[None])[0])(self.q, self.k, self.v)
        self.near(each, expected)

    def test_messages(self):
        with self.assertRaisesRegex(BindingError, "key: expected 70 positions, those of query, got 5"):
            linear_attention(self.q, self.k[:, :, :5], self.v[:, :, :5])
        with self.assertRaisesRegex(BindingError, "expected no reverse with full"):
            linear_attention(self.q, self.k, self.v, full=True, reverse=True)


if __name__ == "__main__":
    sys.exit(unittest.main())
