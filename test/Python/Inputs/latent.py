"""Decode over a latent cache (MLA, absorbed): values are a view of the first 512 of 576 columns of the keys, in the same memory."""

import numpy as np

import attn_mlir

rng = np.random.default_rng(1)
pool, query = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((7, 1, 16, 576), (2, 16, 1, 576)))
table, lengths = np.array([[3, 1], [6, 0]], np.int32), np.array([25, 9], np.int32)
pool[[2, 4, 5]] = pool[1, :, 9:] = pool[6, :, 9:] = np.nan  # rows that no sequence has
for where in ({}, {"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"}):
    output = attn_mlir.decode(query, pool, pool[..., :512], table, lengths, scale=192**-0.5, **where)
    for got, q, pages, count in zip(output, query, table, lengths):
        rows = pool[pages].reshape(-1, 576)[:count].astype(float)
        weights = np.exp(q[:, 0].astype(float) @ rows.T * 192**-0.5)
        expected = weights / weights.sum(-1, keepdims=True) @ rows[:, :512]
        assert np.abs(got[:, 0] - expected).max() <= 5e-4, where  # of f16 below 1

# Of 8 bits.
bytes_, ones = rng.integers(-127, 128, (7, 1, 16, 576)).astype(np.int8), np.full(1, 1 / 127, np.float32)
for target in ("sm_80", "sm_90a"):
    output = attn_mlir.decode(query, bytes_, bytes_[..., :512], table, lengths, scale=192**-0.5, k_scale=ones, v_scale=ones, target=target, device="sim")
    for got, q, pages, count in zip(output, query, table, lengths):
        rows = bytes_[pages].reshape(-1, 576)[:count] / 127
        weights = np.exp(q[:, 0].astype(float) @ rows.T * 192**-0.5)
        assert np.abs(got[:, 0] - weights / weights.sum(-1, keepdims=True) @ rows[:, :512]).max() <= 5e-4, target
print("latent: PASS")
