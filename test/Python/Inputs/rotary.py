"""Rotary embedding within attention against complex numbers in float64: both kinds of pairs, some columns, more keys than queries, positions of batches."""

import numpy as np

import attn_mlir
from attn_mlir.rotary import rotate
from devices import some

rng = np.random.default_rng(0)
CPU, GPUS = {}, ({"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"})
TOLERANCE = 2e-3  # of f16 results below 4


def turned(x, angles, interleaved):
    """`angles` [1 or B, 1, N, r/2]."""
    x, columns = x.astype(float), 2 * angles.shape[-1]
    first = np.arange(0, columns, 2) if interleaved else np.arange(columns // 2)
    second = first + (1 if interleaved else columns // 2)
    pairs = (x[..., first] + 1j * x[..., second]) * np.exp(1j * angles)
    out = x.copy()
    out[..., first], out[..., second] = pairs.real, pairs.imag
    return out


def reference(q, k, v, angles, positions, interleaved):
    """Causal from the bottom right."""
    of_queries, of_keys = (angles[p][:, None] for p in positions)
    q, k = turned(q, of_queries, interleaved), turned(k, of_keys, interleaved).repeat(q.shape[1] // k.shape[1], 1)
    s = q.shape[3] ** -0.5 * np.einsum("bhid,bhjd->bhij", q, k)
    rows, keys = s.shape[2:]
    p = np.exp(np.where(np.arange(keys)[None] <= np.arange(rows)[:, None] + keys - rows, s, -np.inf))
    return (p / p.sum(-1, keepdims=True)) @ v.astype(float).repeat(q.shape[1] // v.shape[1], 1)


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float16)


def check(name, got, expected):
    error = np.abs(got.astype(float) - expected).max()
    assert error <= TOLERANCE, f"{name}: {error}"


for rows, keys, half, interleaved, given in ((40, 40, 32, False, False), (1, 50, 32, True, False), (17, 60, 8, False, False), (5, 33, 16, True, True)):
    angles = rng.uniform(-3, 3, (80, half))
    tables = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    q, k, v = draw(2, 4, rows, 64), draw(2, 2, keys, 64), draw(2, 2, keys, 64)
    positions = np.arange(keys - rows, keys)[None], np.arange(keys)[None]
    more = {}
    if given:
        positions = rng.integers(0, 80, (2, rows)).astype(np.int32), rng.integers(0, 80, (1, keys))
        more = {"rotary_positions": positions}
    expected = reference(q, k, v, angles, positions, interleaved)
    for where in some((CPU, *GPUS)):
        got = attn_mlir.attention(q, k, v, causal=True, rotary=tables, rotary_interleaved=interleaved, **more, **where)
        check(f"output {rows} {where}", got, expected)
    # By itself, and back.
    once = rotate(q, *tables, interleaved=interleaved, positions=positions[0][0] if positions[0].shape[0] == 1 else positions[0])
    check("rotate", once, turned(q, angles[positions[0]][:, None], interleaved))
    back = rotate(once, *tables, interleaved=interleaved, positions=positions[0] if given else positions[0][0], inverse=True)
    check("back", back, q.astype(float))


def expect_error(message, *arguments, **options):
    try:
        attn_mlir.attention(*arguments, **options)
    except attn_mlir.BindingError as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"expected an error: {message}")


wide = np.zeros((80, 33), np.float32)
longs = np.zeros((1, 5), np.int64)
expect_error("expected rotary to be two arrays, cos and sin", q, k, v, rotary=tables[0])
expect_error("cos: expected [positions, columns], a column for each of at most 32 pairs, got (80, 33)", q, k, v, rotary=(wide, wide))
expect_error("sin: expected f32 of (80, 16), as cos, got f32 of (79, 16)", q, k, v, rotary=(tables[0], tables[1][1:]))
expect_error("cos: expected a row for each of 33 positions, got 20", q, k, v, rotary=tuple(t[:20] for t in tables))
expect_error("query_positions: expected i32 or i64 of (1, 5) or (2, 5), got f32 of (1, 5)", q, k, v, rotary=tables, rotary_positions=(longs.astype(np.float32), None))
expect_error("expected rotary_positions to be those of query and of key", q, k, v, rotary=tables, rotary_positions=longs)
expect_error("expected rotary with rotary_positions, got none", q, k, v, rotary_positions=(longs, None))
expect_error("expected rotary_positions, or at most as many queries as keys, got 33 and 5", k, q[:, :2], q[:, :2], rotary=tables)
expect_error("expected rotary_positions with key_lengths", q, k, v, rotary=tables, key_lengths=np.array([3, 4], np.int32))
expect_error("expected no head_map with rotary, got one", q, k, v, rotary=tables, head_map=np.zeros(4, np.int32))
