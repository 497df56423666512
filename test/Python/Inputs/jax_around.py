"""JAX: what is in front of an attention and behind it, norms, rotations and output_mods, by kernels and with gradients, against dense computations in float64
and differences."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.test_util import check_grads

from attn_mlir.errors import BindingError
from attn_mlir.jax import attention
from attn_mlir.mask import TraceError
from sweep import LONG

jax.config.update("jax_enable_x64", True)
B, H, HKV, M, N, D, DV, EPSILON = 2, 4, 2, 9, 13, 16, 12, 1e-3
rng = np.random.default_rng(8)
ANGLES = rng.uniform(-3, 3, (20, 6))
POSITIONS = rng.integers(-1, 20, (B, M)), None
LEAVES = {
    "q": rng.uniform(-1, 1, (B, H, M, D)), "k": rng.uniform(-1, 1, (B, HKV, N, D)), "v": rng.uniform(-1, 1, (B, HKV, N, DV)),
    "wq": rng.uniform(-1, 1, D), "wk": rng.uniform(0, 2, D), "cos": np.cos(ANGLES), "sin": np.sin(ANGLES),
    "gate": rng.uniform(-1, 1, (B, H, M, DV)), "shares": rng.uniform(0, 1, H),
}  # fmt: skip


def rows(x):
    return {"qk_norm": (x["wq"], x["wk"]), "qk_norm_epsilon": EPSILON, "rotary": (x["cos"], x["sin"]), "rotary_interleaved": True, "rotary_positions": POSITIONS}


def output_mod(x):
    """A gate, and the mix of a head with the values; what depends on no place is computed before."""

    def changed(o, b, h, i, c):
        share = jnp.square(x["shares"])[h]
        mixed = (1 - share) * o + share * x["v"][b, h // (H // HKV), i, c]
        return jnp.where(c > 2, mixed * jax.nn.sigmoid(x["gate"][b, h, i, c]), mixed)

    return changed


def turned(x, cos, sin):
    cos, sin = (t[:, None] if t.ndim == 3 else t for t in (cos, sin))
    a, b = x[..., 0:12:2], x[..., 1:12:2]
    pairs = jnp.stack([a * cos - b * sin, b * cos + a * sin], -1).reshape(*x.shape[:3], 12)
    return jnp.concatenate([pairs, x[..., 12:]], -1)


@jax.jit
def dense(x):
    """Causal from the bottom right, and the LSE."""
    q, k = (x[n] / jnp.sqrt(jnp.square(x[n]).mean(-1, keepdims=True) + EPSILON) * x[w] for n, w in (("q", "wq"), ("k", "wk")))
    at = np.where(POSITIONS[0] < 0, 19, POSITIONS[0])
    q, k = turned(q, x["cos"][at], x["sin"][at]), turned(k, x["cos"][:N], x["sin"][:N])
    k, v = (jnp.repeat(t, H // HKV, 1) for t in (k, x["v"]))
    s = jnp.einsum("bhid,bhjd->bhij", q, k) / D**0.5
    s = jnp.where(np.arange(N) > np.arange(M)[:, None] + N - M, -jnp.inf, s)
    shares = jnp.square(x["shares"])[:, None, None]
    mixed = (1 - shares) * (jax.nn.softmax(s) @ v) + shares * v[:, :, :M]
    return jnp.where(np.arange(DV) > 2, mixed * jax.nn.sigmoid(x["gate"]), mixed), jax.nn.logsumexp(s, -1)


def ours(x):
    return attention(x["q"], x["k"], x["v"], causal=True, return_lse=True, **rows(x), output_mod=output_mod(x))


def weighted(results, weights):
    return sum((r.astype(float) * w).sum() for r, w in zip(results, weights))


class Around(unittest.TestCase):
    def near(self, found, expected, most, what=""):
        found, expected = np.asarray(found).astype(float), np.asarray(expected)
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(np.linalg.norm(found - expected) / np.linalg.norm(expected), most, what)

    def arrays(self, dtype=jnp.float64):
        """Converted by NumPy: JAX compiles that for each shape."""
        return {name: jnp.asarray(array.astype(dtype)) for name, array in LEAVES.items()}

    def test_results(self):
        for dtype, most, run in ((jnp.float32, 1e-5, ours), *([(jnp.float16, 3e-3, jax.jit(ours))] if LONG else [])):
            x = self.arrays(dtype)
            for a, b in zip(run(x), dense({name: np.asarray(t).astype(float) for name, t in x.items()})):
                self.near(a, b, most, dtype)

    def test_kernel_stores_it(self):
        """One custom call, behind which nothing is computed."""
        x = self.arrays(jnp.float32)
        text = str(jax.make_jaxpr(lambda x: attention(x["q"], x["k"], x["v"], output_mod=output_mod(x)))(x))
        self.assertEqual(text.count("ffi_call["), 1)
        self.assertNotIn("logistic", text.split("ffi_call[")[0])

    def test_gradients(self):
        weights = rng.uniform(-1, 1, (B, H, M, DV)), rng.uniform(-1, 1, (B, H, M))
        x = self.arrays(jnp.bfloat16)
        expected = jax.jit(jax.grad(lambda x: weighted(dense(x), weights)))({name: np.asarray(t).astype(float) for name, t in x.items()})
        found = jax.jit(jax.grad(lambda x: weighted(ours(x), weights)))(x)
        for name in LEAVES:
            self.near(found[name], expected[name], 4e-2, name)

    @unittest.skipUnless(LONG, "beside those of test_gradients")
    def test_differences(self):
        few = {name: jnp.asarray(t) for name, t in LEAVES.items() if name in ("q", "gate", "shares", "cos", "wk")}
        x = self.arrays(jnp.float32)
        check_grads(jax.jit(lambda few: ours({**x, **{n: jnp.asarray(t, jnp.float32) for n, t in few.items()}})), (few,), order=1, modes=["rev"], atol=2e-2, rtol=2e-2, eps=1e-2)

    def test_batches(self):
        x = self.arrays(jnp.float32)
        many = jax.jit(jax.vmap(lambda q, gate: ours({**x, "q": q, "gate": gate})[0]))(jnp.stack([x["q"], -x["q"]]), jnp.stack([x["gate"], 2 * x["gate"]]))
        full = self.arrays()
        for k, (sign, factor) in enumerate(((1, 1), (-1, 2))):
            self.near(many[k], dense({**full, "q": sign * full["q"], "gate": factor * full["gate"]})[0], 1e-5)
        d_gate = jax.jit(jax.vmap(jax.grad(lambda gate: ours({**x, "gate": gate})[0].sum())))(jnp.stack([x["gate"], 2 * x["gate"]]))
        self.near(d_gate[1], jax.jit(jax.grad(lambda gate: dense({**full, "gate": gate})[0].sum()))(2 * full["gate"]), 1e-5)

    def test_behind_a_prob_mod(self):
        x = self.arrays(jnp.float32)
        change = {"prob_mod": lambda p, b, h, i, j: 0.5 * p, "causal": True}
        before = np.asarray(attention(x["q"], x["k"], x["v"], **change)).astype(float)
        gate = {"output_mod": lambda o, b, h, i, c: o * x["gate"][b, h, i, c]}
        self.near(attention(x["q"], x["k"], x["v"], **change, **gate), before * np.asarray(x["gate"]).astype(float), 1e-6)

    def test_messages(self):
        x = self.arrays(jnp.float32)
        few = x["gate"][..., 1:]
        tables = x["cos"], x["sin"]
        for message, options in {
            r"output_mod: expected a function of \(x, b, h, i, c\), of jax.numpy, got int": {"output_mod": 1},
            "got cumsum": {"output_mod": lambda o, b, h, i, c: jnp.cumsum(o[None])[0]},
            "expected no decision on a traced value": {"output_mod": lambda o, b, h, i, c: o if c > 2 else 0.0},
            "cos: expected a row for each of 13 positions, got 12": {"rotary": tuple(t[:12] for t in tables)},
            r"query_norm: expected f16, bf16, f32 or f64 of \(16,\), got f32 of \(11,\)": {"qk_norm": (few[0, 0, 0], None)},
            "expected no head_map with rotary, got one": {"rotary": tables, "head_map": jnp.zeros(H, jnp.int32)},
        }.items():
            with self.subTest(message), self.assertRaisesRegex((BindingError, TraceError), message):
                attention(x["q"], x["k"], x["v"], **options)


if __name__ == "__main__":
    unittest.main()
