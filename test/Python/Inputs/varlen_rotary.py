"""Rotary embedding and norms of queries and keys that lie behind each other, against complex numbers in float64: on the CPU and through the simulator, where keys
begin at 0 and at positions that are given; messages."""

import unittest

import numpy as np

import attn_mlir
from attn_mlir.runtime.host_array import HostArray
from devices import some

ON = {"target": "cpu"}, {"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"}
H, HKV, D, COLUMNS, LONGEST = 4, 2, 64, 16, 37
ROWS, KEYS = [1, 20, 0, LONGEST], [9, 20, 5, LONGEST]
OFFSETS, KEY_OFFSETS = (np.cumsum([0, *lengths]).astype(np.int32) for lengths in (ROWS, KEYS))
OWN = np.concatenate([np.arange(n - m, n) for m, n in zip(ROWS, KEYS)]), np.concatenate([np.arange(n) for n in KEYS])


class VarlenRotary(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(1)
        self.q = rng.uniform(-1, 1, (sum(ROWS), H, D)).astype(np.float16)
        self.k, self.v = (rng.uniform(-1, 1, (sum(KEYS), HKV, D)).astype(np.float16) for _ in range(2))
        self.angles = rng.uniform(-3, 3, (60, COLUMNS))
        self.tables = np.cos(self.angles).astype(np.float32), np.sin(self.angles).astype(np.float32)
        self.weights = rng.uniform(0.5, 2, D).astype(np.float32), None
        self.others = rng.integers(0, 60, sum(ROWS)).astype(np.int64), rng.integers(0, 60, sum(KEYS)).astype(np.int32)

    def changed(self, x, positions, interleaved, weight=None, is_normed=False):
        """x [rows, H, D] in float64."""
        x = x.astype(float)
        if is_normed:
            x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * (1 if weight is None else weight)
        first = np.arange(0, 2 * COLUMNS, 2) if interleaved else np.arange(COLUMNS)
        second = first + (1 if interleaved else COLUMNS)
        pairs = (x[..., first] + 1j * x[..., second]) * np.exp(1j * self.angles[positions])[:, None]
        x[..., first], x[..., second] = pairs.real, pairs.imag
        return x

    def expected(self, positions, interleaved=False, weights=(), is_causal=True):
        norms = weights or (None, None)
        q, k = (self.changed(x, at, interleaved, weight, bool(weights)) for x, at, weight in zip((self.q, self.k), positions, norms))
        out = np.zeros(self.q.shape)
        for b, (m, n) in enumerate(zip(ROWS, KEYS)):
            rows, keys = slice(*OFFSETS[b : b + 2]), slice(*KEY_OFFSETS[b : b + 2])
            for h in range(H):
                s = q[rows, h] @ k[keys, h * HKV // H].T / np.sqrt(D)
                s = np.where((np.arange(n) <= np.arange(m)[:, None] + n - m) | (not is_causal), s, -np.inf)
                p = np.exp(s)
                out[rows, h] = p / p.sum(-1, keepdims=True) @ self.v[keys, h * HKV // H]
        return out

    def check(self, wanted, **options):
        for where in some(ON):
            got = attn_mlir.varlen(self.q, self.k, self.v, OFFSETS, KEY_OFFSETS, LONGEST, rotary=self.tables, **options, **where)
            self.assertLess(np.abs(got - wanted).max(), 2e-3, where)

    def test_own_positions(self):
        self.check(self.expected(OWN), causal=True)

    def test_given_positions(self):
        self.check(self.expected(self.others, True, is_causal=False), rotary_positions=self.others, rotary_interleaved=True)

    def test_one_of_both(self):
        self.check(self.expected((OWN[0], self.others[1])), causal=True, rotary_positions=(None, self.others[1]))

    def test_norm(self):
        self.check(self.expected(OWN, weights=self.weights), causal=True, qk_norm=self.weights)

    def test_norm_alone(self):
        self.angles[:] = 0
        wanted = self.expected(OWN, weights=self.weights)
        got = attn_mlir.varlen(self.q, self.k, self.v, OFFSETS, KEY_OFFSETS, LONGEST, causal=True, qk_norm=self.weights, target="cpu")
        self.assertLess(np.abs(got - wanted).max(), 2e-3)

    def test_host_arrays(self):
        """Positions without a library that counts."""
        q, k, v = (HostArray.of("f16", x.shape, x.astype(float).ravel().tolist()) for x in (self.q, self.k, self.v))
        offsets = [HostArray.of("i32", (5,), x.tolist()) for x in (OFFSETS, KEY_OFFSETS)]
        tables = [HostArray.of("f32", x.shape, x.astype(float).ravel().tolist()) for x in self.tables]
        got = attn_mlir.varlen(q, k, v, *offsets, LONGEST, causal=True, rotary=tables, target="cpu")
        self.assertLess(np.abs(np.reshape(got.values(), self.q.shape) - self.expected(OWN)).max(), 2e-3)

    def test_messages(self):
        short = np.zeros(3, np.int32)
        for options, message in (
            ({"rotary_positions": (None, None)}, "expected rotary with rotary_positions, got none"),
            ({"rotary": self.tables[0]}, "expected rotary to be two arrays, cos and sin"),
            ({"rotary": self.tables, "rotary_positions": short}, "expected rotary_positions to be those of query and of key"),
            ({"rotary": self.tables, "rotary_positions": (short, None)}, r"expected i32 or i64 of \(58,\), a position for each row of query, got i32 of \(3,\)"),
            ({"rotary": self.tables, "rotary_positions": (None, short)}, r"expected i32 or i64 of \(71,\), a position for each row of key, got i32 of \(3,\)"),
            ({"qk_norm": (short, None)}, r"query_norm: expected f16, bf16, f32 or f64 of \(64,\), got i32 of \(3,\)"),
            ({"qk_norm": short[0]}, "expected qk_norm to be the weights of query and of key"),
        ):
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                attn_mlir.varlen(self.q, self.k, self.v, OFFSETS, KEY_OFFSETS, LONGEST, **options)
        with self.assertRaisesRegex(attn_mlir.BindingError, "at most as many queries as keys in each sequence, got 20 and 9 in sequence 0"):
            attn_mlir.varlen(self.q[:20], self.k[:9], self.v[:9], np.array([0, 20], np.int32), np.array([0, 9], np.int32), rotary=self.tables)
        bytes = [HostArray("i8", x.shape, bytearray(x.size)) for x in (self.k, self.v)]
        scales = [np.ones(1, np.float32)] * 2
        for changes, name in (({"rotary": self.tables}, "rotary"), ({"qk_norm": (None, None)}, "qk_norm")):
            with self.assertRaisesRegex(attn_mlir.BindingError, f"key: expected dtype f16, bf16, f32 or f64 with {name}, got i8"):
                attn_mlir.varlen(self.q, *bytes, OFFSETS, KEY_OFFSETS, LONGEST, descale=scales, **changes)


unittest.main(argv=["varlen_rotary"], verbosity=0)
