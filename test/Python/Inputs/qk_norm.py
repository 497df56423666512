"""Norms of queries and keys within attention against float64, alone and in front of a rotation, on the CPU and through the simulator; messages."""

import numpy as np

import attn_mlir
from attn_mlir.norms import norm
from attn_mlir.rotary import rotate
from devices import some

rng = np.random.default_rng(4)
ON = {}, {"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"}
EPSILON = 1e-3


def normed(x, weight):
    x = x.astype(float)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * (1 if weight is None else weight.astype(float))


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float16)


q, k, v = draw(2, 4, 19, 64), draw(2, 2, 37, 64), draw(2, 2, 37, 64)
wq, wk = draw(64), rng.uniform(0.5, 2, 64).astype(np.float32)
angles = rng.uniform(-3, 3, (37, 16))
tables = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
for weights, rotary in (((wq, wk), None), ((None, wk), tables), ((None, None), None)):
    a, b = (normed(x, w) for x, w in zip((q, k), weights))
    assert np.abs(norm(q, weights[0], epsilon=EPSILON) - a).max() < 2e-3
    if rotary:
        a, b = rotate(a, *tables, positions=np.arange(18, 37)), rotate(b, *tables)
    s = np.einsum("bhid,bhjd->bhij", a, b.repeat(2, 1)) / 8
    p = np.exp(np.where(np.arange(37) <= np.arange(19)[:, None] + 18, s, -np.inf))
    expected = (p / p.sum(-1, keepdims=True)) @ v.astype(float).repeat(2, 1)
    for where in some(ON):
        got = attn_mlir.attention(q, k, v, causal=True, qk_norm=weights, qk_norm_epsilon=EPSILON, rotary=rotary, **where)
        error = np.abs(got - expected).max()
        assert error < 3e-3, f"{where}: {error}"
for message, more in {
    "expected qk_norm to be the weights of query and of key": {"qk_norm": wq},
    "query_norm: expected f16, bf16, f32 or f64 of (64,), got f16 of (63,)": {"qk_norm": (wq[:63], wk)},
    "expected qk_norm_epsilon to be finite and at least 0, got -1": {"qk_norm": (wq, wk), "qk_norm_epsilon": -1},
    "expected no head_map with qk_norm, got one": {"qk_norm": (wq, wk), "head_map": np.zeros(4, np.int32)},
}.items():
    try:
        attn_mlir.attention(q, k, v, **more)
    except attn_mlir.BindingError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)
