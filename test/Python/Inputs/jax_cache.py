"""JAX arrays as caches: `flash_attn_with_kvcache`, `decode`, `prefill` and `varlen` give JAX arrays, with the bits of NumPy's; nothing is appended to them, which nobody may write."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np

import attn_mlir

rng = np.random.default_rng(0)
B, H, HKV, D, ROOM = 2, 4, 2, 64, 24


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float16)


class Caches(unittest.TestCase):
    def check(self, function, *arrays, **options):
        """Of arrays, and of options that are arrays."""
        wanted = function(*arrays, **options)
        moved = {name: jnp.asarray(x) if isinstance(x, np.ndarray) else x for name, x in options.items()}
        got = function(*map(jnp.asarray, arrays), **moved)
        self.assertIsInstance(got, jax.Array)
        np.testing.assert_array_equal(np.asarray(got), wanted)

    def setUp(self):
        self.lengths = np.array([20, 9], np.int32)
        self.caches = draw(B, ROOM, HKV, D), draw(B, ROOM, HKV, D)
        self.offsets = np.array([0, 3, 4], np.int32)
        angles = rng.uniform(-3, 3, (ROOM, D // 2)).astype(np.float32)
        self.tables = np.cos(angles), np.sin(angles)

    def test_flash_attention(self):
        padding = np.array([4, 0], np.int32)
        self.check(attn_mlir.flash_attn_with_kvcache, draw(B, 1, H, D), *self.caches, cache_seqlens=self.lengths, cache_leftpad=padding)
        self.check(attn_mlir.flash_attn_with_kvcache, draw(B, 2, H, D), *self.caches, cache_seqlens=20, causal=True, cache_batch_idx=np.array([1, 0]))

    def test_pages(self):
        pools = [x.reshape(6, 8, HKV, D).swapaxes(1, 2) for x in self.caches]
        table = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
        self.check(attn_mlir.decode, draw(B, H, 2, D), *pools, table, self.lengths)
        for tables in (self.tables, tuple(map(jnp.asarray, self.tables))):
            self.check(attn_mlir.prefill, draw(4, H, D), *pools, table, self.lengths, self.offsets, rotary=tables)

    def test_sequences(self):
        self.check(attn_mlir.varlen, draw(4, H, D), draw(29, HKV, D), draw(29, HKV, D), self.offsets, np.array([0, 20, 29], np.int32), causal=True, rotary=self.tables)

    def test_append(self):
        q, new = jnp.asarray(draw(B, 1, H, D)), jnp.asarray(draw(B, 1, HKV, D))
        with self.assertRaisesRegex(attn_mlir.BindingError, "k_pool: expected a writable array, got a read-only one"):
            attn_mlir.flash_attn_with_kvcache(q, *map(jnp.asarray, self.caches), new, new, cache_seqlens=jnp.asarray(self.lengths))


unittest.main(argv=["jax_cache"], verbosity=0)
