"""invariance="prefix": the bits of a token are the same in a prompt, in a chunk of one, guessed with others, alone, and over keys behind each other in
place of pages; whatever sequences are beside it, and whatever keys of the prompt follow that it does not see. Against float64, too."""

import unittest

import numpy as np

import attn_mlir
from attn_mlir import mask
from sweep import LONG

HEADS, KEY_HEADS, PAGE, LENGTH = 4, 2, 16, 210
#: Of each prompt: rows, around tiles of keys, splits of 64, and windows; how many tokens are computed with them.
PLACES = [(0, 1), (63, 1), (64, 5), (127, 1), (196, 1), (209, 5), *([(32, 2), (140, 1)] if LONG else [])]


def attend(q, k, v, sees):
    """[M, D] of one head, in float64; `sees` is [M, N]."""
    s = np.where(sees, q @ k.T / np.sqrt(q.shape[-1]), -np.inf)
    p = np.exp(s - np.maximum(s.max(-1, keepdims=True), -1e30))
    return p @ v / np.maximum(p.sum(-1, keepdims=True), 1e-30)


def same_bits(a, b):
    return a.shape == b.shape and a.tobytes() == np.ascontiguousarray(b).tobytes()


class PrefixInvariance(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)
        self.where = {"target": "sm_80", "device": "sim", "invariance": "prefix"}

    def draw(self, dim, dtype=np.float16):
        """A prompt behind another, and its pages at any places of pools that hold NaN otherwise."""
        self.k, self.v = (self.rng.normal(size=(30 + LENGTH, KEY_HEADS, dim)).astype(dtype) for _ in range(2))
        self.q = self.rng.normal(size=(30 + LENGTH, HEADS, dim)).astype(dtype)
        places = self.rng.permutation(17).astype(np.int32)
        self.table = np.full((2, 14), -1, np.int32)
        self.table[0, :2], self.table[1] = places[:2], places[2:16]
        self.pools = [np.full((17, KEY_HEADS, PAGE, dim), np.nan, dtype) for _ in range(2)]
        for pool, rows in zip(self.pools, (self.k, self.v)):
            for b, (first, count) in enumerate(((0, 30), (30, LENGTH))):
                for j in range(count):
                    pool[self.table[b, j // PAGE], :, j % PAGE] = rows[first + j]

    def of_prompt(self, **options):
        """(output, lse) of the second sequence's rows, [LENGTH, Hq, D] and [Hq, LENGTH]."""
        cu, lengths = np.asarray([0, 30, 30 + LENGTH], np.int32), np.asarray([30, LENGTH], np.int32)
        output, lse = attn_mlir.prefill(self.q, *self.pools, self.table, lengths, cu, LENGTH, return_lse=True, **self.where, **options)
        return output[30:], np.ascontiguousarray(lse[:, 30:])

    def check(self, whole, **options):
        """That each of PLACES has its bits of the prompt."""
        for i, count in PLACES:
            rows = slice(i + 1 - count, i + 1)
            q = np.ascontiguousarray(self.q[30:][rows].swapaxes(0, 1)[None])
            got = attn_mlir.decode(q, *self.pools, self.table[1:], np.asarray([i + 1], np.int32), return_lse=True, **self.where, **options)
            wanted = whole[0][rows].swapaxes(0, 1), whole[1][:, rows]
            for x, y in zip(got, wanted):
                self.assertTrue(same_bits(x[0], y), (i, count, options))
        chunk, lse = attn_mlir.prefill(
            self.q[130:200], *self.pools, self.table[1:], np.asarray([170], np.int32), np.asarray([0, 70], np.int32), 70, return_lse=True, **self.where, **options,
        )  # fmt: skip
        self.assertTrue(same_bits(chunk, whole[0][100:170]) and same_bits(lse, whole[1][:, 100:170]), options)

    def test_masks_and_scores(self):
        """A window hides whole tiles on the left, so that those of a tile of rows come in another order unless that is kept; a mask that reads data."""
        self.draw(64)
        kinds = np.ascontiguousarray(self.rng.integers(0, 3, (2, 14 * PAGE)).astype(np.int32))
        kind, sink = mask.tensor(kinds), self.rng.normal(size=HEADS).astype(np.float16)
        shown = mask.trace_mask(lambda b, h, i, j: (kind[0, j] != 1) | (j % 5 == 0))
        apart = {"disable_split_kv": True, "window": (150, 0)}, {"window": (70, 0), "fixed_split_size": 8}, {"soft_cap": 3.0, "sink": sink}, {"mask_mod": shown}
        together = {**apart[0], **apart[2]}, {**apart[1], **apart[3]}
        for options in (*apart, {"fixed_split_size": 4}, {"window": (150, 0)}) if LONG else together:
            self.check(self.of_prompt(**options), **options)

    def test_targets_and_keys_behind_each_other(self):
        for target, dim in (("sm_90a", 128), ("sm_120", 256), ("sm_100a", 64)) if LONG else (("sm_90a", 64), ("sm_120", 32), ("sm_100a", 64)):
            self.draw(dim)
            self.where["target"] = target
            whole = self.of_prompt()
            self.check(whole)
            cu = np.asarray([0, 30, 30 + LENGTH], np.int32)
            packed = attn_mlir.varlen(self.q, self.k, self.v, cu, cu, causal=True, **self.where)
            self.assertTrue(same_bits(packed[30:], whole[0]))
            alone = attn_mlir.attention(*(x[30:].swapaxes(0, 1)[None] for x in (self.q, self.k, self.v)), causal=True, **self.where)
            self.assertTrue(same_bits(np.ascontiguousarray(alone[0].swapaxes(0, 1)), whole[0]))
            for h in range(HEADS):
                q, k, v = (x[30:, h // n].astype(np.float64) for x, n in ((self.q, 1), (self.k, 2), (self.v, 2)))
                wanted = attend(q, k, v, np.tri(LENGTH, dtype=bool))
                self.assertLess(np.abs(whole[0][:, h] - wanted).max(), 2e-3)

    def test_caches_of_bytes(self):
        self.draw(64)
        scales = []
        for number, pool in enumerate(self.pools):
            rows = np.nan_to_num(pool).astype(np.float32)
            scales.append(np.maximum(np.abs(rows).max(-1) / 127, 1e-6).astype(np.float32))
            self.pools[number] = np.round(rows / scales[-1][..., None]).astype(np.int8)
        options = {"k_scale": scales[0], "v_scale": scales[1], "fixed_split_size": 4}
        self.check(self.of_prompt(**options), **options)

    def test_zeros(self):
        """A key far above the others leaves -0 of a small negative sum, and its tile adds -0: tiles behind, which a row does not see, would make it 0. It is
        0 always."""
        self.draw(64)
        self.q[...], self.pools[0][...], self.pools[1][...] = 0, 0, 0
        self.q[..., 0] = 8  # the score is the first column of a key
        row = lambda j: (self.table[1, j // PAGE], slice(None), j % PAGE)  # noqa: E731
        for j in range(LENGTH):
            self.pools[0][row(j)][:, 0] = -100
        self.pools[0][row(70)][:, 0] = 90
        for j in range(LENGTH):
            self.pools[1][row(j)][...] = -0.0 if j == 70 else -(2.0**-24) if j < 128 else 1
        for options in ({"disable_split_kv": True}, {"fixed_split_size": 4})[0 if LONG else 1 :]:
            whole = self.of_prompt(**options)
            self.check(whole, **options)
            self.assertFalse(np.signbit(whole[0][70:]).any() or whole[0][70:].any())


unittest.main()
