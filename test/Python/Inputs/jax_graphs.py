"""Graphs of models without softmax, or with two, as JAX traces them: what the compiler recognises in each, and its results on the CPU against float64: sigmoid attention, a
MetaMixer layer, the parallel forms of TransNormer and RetNet, differential attention."""

import re

import jax
import jax.numpy as jnp
import numpy as np

import attn_mlir
from attn_mlir.jax import lower
from sweep import LONG

jax.config.update("jax_enable_x64", True)
B, H, N, D = 1, 2, 24, 16
rng = np.random.default_rng(2)
GAMMA = (1 - 2.0 ** (-5 - np.arange(H))).astype(np.float32)
DISTANCE = np.arange(N)[:, None] - np.arange(N)[None]
SEEN = DISTANCE >= 0


def products(q, k):
    return jnp.einsum("bhid,bhjd->bhij", q, k)


def sigmoid(q, k, v):
    s = products(q, k) * D**-0.5 - np.log(N)
    return jnp.einsum("bhij,bhjd->bhid", jax.nn.sigmoid(s), v)


def metamixer(x, keys, values):
    """Static keys and values [H, N, D], as a layer has them, in place of tokens."""
    weights = jax.nn.gelu(jnp.einsum("bhid,hjd->bhij", x, keys), approximate=False)
    return jnp.einsum("bhij,hjd->bhid", weights, values)


def decays():
    return jnp.where(SEEN, GAMMA[:, None, None] ** np.where(SEEN, DISTANCE, 0), 0).astype(jnp.float32)


def transnormer(q, k, v):
    """Features of ReLU, decay by head, a norm of the output."""
    o = jnp.einsum("bhij,bhjd->bhid", products(jax.nn.relu(q), jax.nn.relu(k)) * decays(), v)
    return o * jax.lax.rsqrt(jnp.mean(o * o, -1, keepdims=True) + 1e-6)


def retnet(q, k, v):
    o = jnp.einsum("bhij,bhjd->bhid", products(q, k) * D**-0.5 * decays(), v)
    return o * jax.lax.rsqrt(jnp.mean(o * o, -1, keepdims=True) + 1e-6)


def differential(q, k, v):
    """q, k of 2 H heads, the second map's behind the first's; v of H."""
    maps = [jax.nn.softmax(jnp.where(SEEN, products(q[:, h], k[:, h]) * D**-0.5, -jnp.inf)) for h in (slice(H), slice(H, None))]
    return jnp.einsum("bhij,bhjd->bhid", maps[0] - 0.4 * maps[1], v)


def two_outputs(q, k, v):
    """The same as DiffLlama has it: one softmax of all heads, and the difference of outputs."""
    o = jnp.einsum("bhij,bhjd->bhid", jax.nn.softmax(jnp.where(SEEN, products(q, k) * D**-0.5, -jnp.inf)), jnp.concatenate([v, v], 1))
    return o[:, :H] - 0.4 * o[:, H:]


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


token, heads = (B, H, N, D), (H, N, D)
of_both = [(B, 2 * H, N, D), (B, 2 * H, N, D), token]
for model, shapes, count, is_softmax in (
    (sigmoid, [token] * 3, 1, False),
    (metamixer, [token, heads, heads], 1, False),
    *([(transnormer, [token] * 3, 1, False)] if LONG else []),
    (retnet, [token] * 3, 1, False),
    (differential, of_both, 2, True),
    (two_outputs, of_both, 1, True),
):
    arrays = [draw(*shape) for shape in shapes]
    lowered = lower(model, *arrays)
    found = lowered.attentions()
    weights = len(re.findall(r"normalization\(#attn.none\)", found))
    assert (found.count(" attn.attention "), weights) == (count, 0 if is_softmax else count), f"{model.__name__}: {found}"
    got = attn_mlir.compile(lowered.mlir, target="cpu")(*arrays, *lowered.constants)
    error = np.abs(got - model(*(a.astype(np.float64) for a in arrays))).max()
    assert error < 5e-6, f"{model.__name__}: {error}"
