"""Heads by maps against float64: groups of any size, heads of no query head, maps of key and value apart, entries that are no heads."""

import numpy as np

import attn_mlir
from sweep import LONG

rng = np.random.default_rng(0)
CPU, GPUS = {}, ({"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"})
TOLERANCE = 2e-3  # of f16 results below 4


def reference(q, k, v, key_map, value_map, d_output):
    """Output, LSE and gradients, causal from the bottom right."""
    q, selected_k, selected_v = q.astype(float), k.astype(float)[:, key_map], v.astype(float)[:, value_map]
    scale = q.shape[3] ** -0.5
    s = scale * np.einsum("bhid,bhjd->bhij", q, selected_k)
    rows, keys = s.shape[2:]
    s = np.where(np.arange(keys)[None] <= np.arange(rows)[:, None] + keys - rows, s, -np.inf)
    lse = np.log(np.exp(s).sum(-1))
    p = np.exp(s - lse[..., None])
    output, d_output = p @ selected_v, d_output.astype(float)
    ds = p * (d_output @ selected_v.transpose(0, 1, 3, 2) - (d_output * output).sum(-1, keepdims=True))
    d_key, d_value = np.zeros(k.shape), np.zeros(v.shape)
    for h, (key_head, value_head) in enumerate(zip(key_map, value_map)):
        d_key[:, key_head] += scale * ds[:, h].transpose(0, 2, 1) @ q[:, h]
        d_value[:, value_head] += p[:, h].transpose(0, 2, 1) @ d_output[:, h]
    return output, lse, (scale * ds @ selected_k, d_key, d_value)


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float16)


def check(name, got, expected, scale=1.0):
    error = np.abs(got.astype(float) - expected).max()
    assert error <= TOLERANCE * scale, f"{name}: {error}"


for rows, key_heads, value_heads, key_map, value_map in (
    (1, 3, 3, [2, 0, 0, 2, 2], None),
    (37, 2, 4, [0, 1, 1, 0, 1, 1, 1], [3, 3, 0, 1, 3, 0, 3]),
    (20, 5, 1, [4, 2], [0, 0]),
):
    key_map = np.array(key_map, np.int32)
    maps = key_map if value_map is None else (key_map, np.array(value_map, np.int64))
    value_map = key_map if value_map is None else maps[1]
    q, k, v = draw(2, len(key_map), rows, 64), draw(2, key_heads, 90, 64), draw(2, value_heads, 90, 64)
    d_output = draw(*q.shape)
    output, lse, gradients = reference(q, k, v, key_map, value_map, d_output)
    for where in (CPU, *GPUS) if LONG else (CPU, GPUS[rows % 2]):
        got = attn_mlir.attention(q, k, v, causal=True, head_map=maps, return_lse=True, **where)
        check(f"output {where}", got[0], output)
        check(f"lse {where}", got[1], lse)
    for where in (CPU, GPUS[rows % 2]):
        grads = attn_mlir.attention_backward(q, k, v, *got, d_output, causal=True, head_map=maps, **where)
        for name, part, expected in zip(("d_query", "d_key", "d_value"), grads, gradients):
            check(f"{name} {where}", part, expected, scale=max(1, np.abs(expected).max()))

    out = tuple(np.empty_like(part) for part in grads)
    attn_mlir.attention_backward(q, k, v, *got, d_output, causal=True, head_map=maps, out=out, **where)
    assert all((a == b).all() for a, b in zip(grads, out))

# An entry that is no head counts as the last one, in gradients too; neither reads past the keys.
for where in (CPU, *GPUS) if LONG else (CPU, GPUS[1]):
    wild, last = (attn_mlir.attention(q, k, v, head_map=(np.array(heads, np.int32), maps[1]), **where) for heads in ([-1, 2**31 - 1], [4, 4]))
    assert np.isfinite(wild.astype(float)).all() and (wild == last).all(), where
    wild, last = (attn_mlir.attention_backward(q, k, v, *got, d_output, causal=True, head_map=(np.array(heads, np.int32), maps[1]), **where) for heads in ([-1, 7], [4, 4]))
    assert all((a == b).all() for a, b in zip(wild, last)), where

summed = attn_mlir.compile("""
func.func @summed(%g: tensor<2x4x3x8xf32>, %map: tensor<4xi32>) -> tensor<2x3x3x8xf32> {
  %none = tensor.empty() : tensor<2x3x3x8xf32>
  %sums = attn.sum_heads %g[%map] into %none : tensor<2x4x3x8xf32>[tensor<4xi32>] into tensor<2x3x3x8xf32>
  return %sums : tensor<2x3x3x8xf32>
}""", target="cpu")
heads = rng.standard_normal((2, 4, 3, 8)).astype(np.float32)
sums = summed(heads, np.array([-1, 0, 3, 0], np.int32))
assert np.allclose(sums, np.stack([heads[:, 1] + heads[:, 3], 0 * heads[:, 0], heads[:, 0] + heads[:, 2]], 1), atol=1e-6)

# Pools of a cache, whose unused heads and rows are NaN.
k_pool, v_pool = draw(9, 4, 16, 64), draw(9, 4, 16, 64)
table, lengths = np.array([[2, 7, 4], [8, 1, 0]], np.int32), np.array([40, 17], np.int32)
pool_map, token = np.array([3, 0, 0, 3, 3], np.int32), draw(2, 5, 2, 64)
k_pool[:, 1:3] = v_pool[:, 1:3] = k_pool[[3, 5, 6]] = v_pool[[3, 5, 6]] = k_pool[4, :, 8:] = v_pool[4, :, 8:] = np.nan
for b, count in enumerate(lengths):
    keys, values = (pool[table[b]].transpose(1, 0, 2, 3).reshape(1, 4, 48, 64)[:, :, :count] for pool in (k_pool, v_pool))
    expected = reference(token[b : b + 1], keys, values, pool_map, pool_map, token[b : b + 1])
    for where in (CPU, *GPUS) if LONG else (CPU, GPUS[0]):
        decoded = attn_mlir.decode(token, k_pool, v_pool, table, lengths, head_map=pool_map, return_lse=True, **where)
        check(f"decode {where}", decoded[0][b : b + 1], expected[0])
        check(f"decode's lse {where}", decoded[1][b : b + 1], expected[1])
        new, slots = draw(1, 4, 64), np.array([4 * 16 + 7], np.int32)
        k_grown, v_grown = k_pool.copy(), v_pool.copy()
        k_grown[4, :, 7], v_grown[4, :, 7] = new[0], new[0]
        wanted = attn_mlir.decode(token, k_grown, v_grown, table, lengths, head_map=(pool_map, pool_map), **where)
        grown = attn_mlir.decode(token, k_pool.copy(), v_pool.copy(), table, lengths, k_new=new, v_new=new, slots=slots, head_map=(pool_map, pool_map), **where)
        assert (grown == wanted).all(), where


def expect_error(message, *arguments, **options):
    try:
        attn_mlir.attention(*arguments, **options)
    except attn_mlir.BindingError as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"expected an error: {message}")


one = np.zeros(2, np.int32)
expect_error("key_head_map: expected 2 heads of key, i32 or i64, one for each query head, got i32 of (3,)", q, k, k, head_map=np.zeros(3, np.int32))
expect_error("value_head_map: expected 2 heads of value, i32 or i64, one for each query head, got f32 of (2,)", q, k, v, head_map=(one, one.astype(np.float32)))
expect_error("expected head_map to be an array [Hq], or two, of key and of value, got [0, 1, 1]", q, k, v, head_map=[0, 1, 1])
expect_error("operand key: expected at least one head, of which key_head_map selects, got none", q, k[:, :0], v[:, :0], head_map=one)
expect_error("expected no head_map with prob_mod", q, k, k, head_map=one, prob_mod=lambda p, b, h, i, j: p)
print("head maps: PASS")
