"""jax.shard_map: plans on 8 devices of the host, against the whole attention, with gradients."""

import functools
import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

import attn_mlir
from attn_mlir import mask
from attn_mlir.jax.distributed import PlanError, attention, from_ranks, make_plan, tables_of, to_ranks
from distributed import Whole
from sweep import LONG


class Distributed(unittest.TestCase):
    def check(self, plan, sees, change=None, **options):
        generator = np.random.default_rng(plan.tokens)
        arrays = [generator.standard_normal((1, h, plan.tokens, 16)).astype(np.float32) for h in (4, 2, 2, 4)]
        q, k, v, weights = map(jnp.asarray, arrays)
        mesh = jax.make_mesh((plan.size,), ("ranks",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[: plan.size])
        spec = PartitionSpec(None, None, "ranks")
        part = functools.partial(attention, plan=plan, axis_name="ranks", **options)
        call = jax.shard_map(part, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)

        @jax.jit
        def run(q, k, v):
            def loss(q, k, v):
                output = from_ranks(plan, call(*(to_ranks(plan, t) for t in (q, k, v))))
                return (output * weights).sum(), output

            return jax.value_and_grad(loss, (0, 1, 2), has_aux=True)(q, k, v)

        (_, output), gradients = run(q, k, v)
        whole = Whole(*arrays, np.zeros((1, 4, plan.tokens)), sees, change)
        for got, want in zip((output, *gradients), (whole.output, whole.d_query, whole.d_key, whole.d_value)):
            self.assertLess(np.abs(np.asarray(got) - want).max(), 2e-5, f"{plan.scheme}, {plan.placement}")

    def plan(self, tokens, ranks, **options):
        return make_plan(ranks=ranks, tokens=tokens, heads=4, key_heads=2, head_dim=16, dtype="f32", chunk=16, **options)

    def test_masks(self):
        i, j = np.indices((250, 250))
        ids = np.repeat(np.arange(3), (40, 199, 11))
        slopes = np.linspace(0.1, 1, 4, dtype=np.float32)
        self.check(self.plan(250, 8 if LONG else 3, causal=True, scheme="group-cast", placement="zigzag"), j <= i)
        if LONG:
            self.check(self.plan(250, 3, window=(20, 2)), (j >= i - 20) & (j <= i + 2))
            self.check(self.plan(250, 4, causal=True, documents=(40, 199, 11)), (j <= i) & (ids[:, None] == ids))
        array = jnp.asarray(slopes)
        self.check(
            self.plan(250, 2, causal=True), (j <= i) & ((i + j) % 5 != 1), lambda s: (s + slopes[:, None, None] * (j - i), 1),
            mask_mod=lambda b, h, i, j: (i + j) % 5 != 1, score_mod=lambda s, b, h, i, j: s + array[h] * (j - i),
        )  # fmt: skip

    def test_only_what_is_seen_moves(self):
        tables = tables_of(self.plan(256, 4, window=(31, 0), placement="contiguous", scheme="group-cast"))
        self.assertEqual(tables.send.shape, (4, 4, 31))
        self.assertEqual(tables.keys.shape, (4, 64 + 31))

    def test_refused(self):
        for scheme in ("all-to-all", "query-cast"):
            with self.assertRaisesRegex(PlanError, f"expected a plan that moves keys, with head_shards 1, got {scheme}"):
                tables_of(self.plan(64, 2, scheme=scheme, head_shards=None))
        # The fastest exchanges heads, among all.
        self.assertEqual(make_plan(ranks=8, tokens=1024, heads=8, key_heads=2, head_dim=32, causal=True).head_shards, 1)
        plan = self.plan(64, 2, causal=True, placement="contiguous", scheme="group-cast")
        ranks = functools.partial(jax.vmap, in_axes=2, out_axes=2, axis_name="ranks")
        x = jnp.zeros((1, 4, 2, 32, 16))
        for error, message, options, size in (
            (PlanError, "expected a plan for 3 ranks, as axis ranks has, got one for 2", {}, (1, 4, 3, 32, 16)),
            (attn_mlir.BindingError, r"query: expected \[batch, heads, 32, head dim\], as to_ranks gives, got", {}, (1, 4, 2, 30, 16)),
            (attn_mlir.BindingError, "expected a mask_mod of jax.numpy", {"mask_mod": mask.causal()}, x.shape),
        ):
            x = jnp.zeros(size)
            with self.assertRaisesRegex(error, message):
                ranks(functools.partial(attention, plan=plan, axis_name="ranks", **options))(x, x, x)


if __name__ == "__main__":
    unittest.main()
