"""mask_mod, score_mod and scales of tokens of `attn_mlir.varlen`, `prefill` and `decode`, trees of guessed tokens, FlashAttention's names for slopes and
pages, FlashInfer's custom masks; against float64 sums by definition. Pages and their tails that no sequence has hold NaN."""

import types
import unittest

import numpy as np

import attn_mlir
from attn_mlir import mask
from attn_mlir.checks import check_signed
from attn_mlir.serving import BatchPrefill
from devices import in_turn, some
from sweep import LONG

HEADS, KEY_HEADS, DIM, PAGE = 4, 2, 16, 16
#: Of sequences: rows, and keys.
ROWS, KEYS = [1, 39, 0, 7], [33, 39, 5, 64]
OFFSETS, KEY_OFFSETS = (np.cumsum([0, *lengths]).astype(np.int32) for lengths in (ROWS, KEYS))


def attend(q, k, v, sees, change=lambda s: s):
    """[M, D] of one head; `sees` is [M, N], `change` a function of the scores."""
    if not len(q):
        return q
    s = np.where(sees, change(q @ k.T / np.sqrt(DIM)), -np.inf)
    p = np.exp(s - np.maximum(s.max(-1, keepdims=True), -1e30))
    return p @ v / np.maximum(p.sum(-1, keepdims=True), 1e-30)


class Mods(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)
        self.keys, self.values = (self.rng.normal(size=(sum(KEYS), KEY_HEADS, DIM)).astype(np.float16) for _ in range(2))
        self.q = self.rng.normal(size=(sum(ROWS), HEADS, DIM)).astype(np.float16)

    def paged(self, keys=KEYS, poison=np.nan):
        """Pools with the rows of all sequences in pages in any order, and the table."""
        count = [-(-n // PAGE) for n in keys]
        places = iter(self.rng.permutation(sum(count) + 2).astype(np.int32))
        table = np.full((len(keys), max(count)), -1, np.int32)
        pools = [np.full((sum(count) + 2, KEY_HEADS, PAGE, DIM), poison, np.float16) for _ in range(2)]
        starts = np.cumsum([0, *keys])
        for b, pages in enumerate(count):
            for number in range(pages):
                at, first = next(places), number * PAGE
                table[b, number] = at
                for pool, rows in zip(pools, (self.keys, self.values)):
                    part = rows[starts[b] : starts[b + 1]][first : first + PAGE]
                    pool[at, :, : len(part)] = part.swapaxes(0, 1)
        return *pools, table

    def expected(self, sees, change=lambda s, b, h: s, keys=None, values=None):
        """[rows, Hq, D]; sees(b, i, j) of arrays, change(s, b, h)."""
        keys, values = (self.keys if keys is None else keys), (self.values if values is None else values)
        result = np.zeros((sum(ROWS), HEADS, DIM))
        for b in range(len(ROWS)):
            rows, cols = slice(*OFFSETS[b : b + 2]), slice(*KEY_OFFSETS[b : b + 2])
            shown = np.broadcast_to(sees(b, np.arange(ROWS[b])[:, None], np.arange(KEYS[b])[None]), (ROWS[b], KEYS[b]))
            for h in range(HEADS):
                kv = h * KEY_HEADS // HEADS
                q, k, v = (x.astype(np.float64) for x in (self.q[rows, h], keys[cols, kv], values[cols, kv]))
                result[rows, h] = attend(q, k, v, shown, lambda s: change(s, b, h))
        return result

    def close(self, got, wanted, tolerance=4e-3):
        self.assertLess(np.abs(got.astype(np.float64) - wanted).max(), tolerance)

    def test_scores_and_masks(self):
        """Functions that read arrays at a row, a key and a sequence, behind each other and in pages; lengths are those of the sequence."""
        of_rows, of_keys = (self.rng.normal(size=(4, n)).astype(np.float32) for n in (39, sum(KEYS)))
        in_pages = np.ascontiguousarray(of_keys[:, : 4 * PAGE])
        step = np.asarray([1, 2, 3, 5], np.int32)

        def mods(column):
            rows, keys, steps = (mask.tensor(x) for x in (of_rows, column, step))
            shown = lambda b, h, i, j: (mask.key_length() - 1 - j) % steps[b] == 0  # noqa: E731
            return {"mask_mod": shown, "score_mod": lambda s, b, h, i, j: s + rows[b, i] * keys[b, j]}

        def sees(b, i, j):
            return ((KEYS[b] - 1 - j) % step[b] == 0) & (j <= i + KEYS[b] - ROWS[b])

        wanted = self.expected(sees, lambda s, b, h: s + of_rows[b, : ROWS[b], None] * of_keys[b, None, : KEYS[b]])
        *pools, table = self.paged()
        lengths = np.asarray(KEYS, np.int32)
        for where in some():
            got = attn_mlir.varlen(self.q, self.keys, self.values, OFFSETS, KEY_OFFSETS, 39, causal=True, **mods(of_keys), **where)
            self.close(got, wanted)
            self.close(attn_mlir.prefill(self.q, *pools, table, lengths, OFFSETS, 39, **mods(in_pages), **where), wanted)
        with self.assertRaisesRegex(attn_mlir.BindingError, r"expected dim 1 to be at least 40 \(M\), got 39"):
            attn_mlir.varlen(self.q, self.keys, self.values, OFFSETS, KEY_OFFSETS, 40, **mods(of_keys))
        with self.assertRaisesRegex(attn_mlir.BindingError, r"expected dim 1 to be at least 64 \(N\), got 63"):
            attn_mlir.prefill(self.q, *pools, table, lengths, OFFSETS, 39, **mods(np.ascontiguousarray(of_keys[:, :63])))

    def test_trees(self):
        """Of 7 guessed tokens, and of 40, whose bits are two words: constants, or read by sequence and row."""
        for count, keys in ((7, [40, 7, 64]), (40, [64, 41, 50])):
            self.keys, self.values = (self.rng.normal(size=(sum(keys), KEY_HEADS, DIM)).astype(np.float16) for _ in range(2))
            *pools, table = self.paged(keys)
            lengths, starts = np.asarray(keys, np.int32), np.cumsum([0, *keys])
            parents = [-1] + [int(self.rng.integers(-1, t)) for t in range(1, count)]
            ancestors = np.zeros((count, count), bool)
            for t, parent in enumerate(parents):
                ancestors[t] = ancestors[parent] if parent >= 0 else False
                ancestors[t, t] = True
            words = -(-count // 32)
            bits = np.zeros((3, count, words), np.uint32)
            for i, t in zip(*np.nonzero(ancestors)):
                bits[:, i, t // 32] |= np.uint32(1 << t % 32)
            bits = bits.view(np.int32) if words > 1 else np.ascontiguousarray(bits[..., 0].view(np.int32))
            q = self.rng.normal(size=(3, HEADS, count, DIM)).astype(np.float16)
            wanted = np.zeros(q.shape)
            for b, n in enumerate(keys):
                sees = np.concatenate([np.ones((count, n - count), bool), ancestors], axis=1)
                for h in range(HEADS):
                    k, v = (x[starts[b] : starts[b + 1], h // 2].astype(np.float64) for x in (self.keys, self.values))
                    wanted[b, h] = attend(q[b, h].astype(np.float64), k, v, sees)
            cu = np.arange(4, dtype=np.int32) * count
            packed, packed_wanted = (x.swapaxes(1, 2).reshape(3 * count, HEADS, DIM) for x in (q, wanted))
            of_rows = bits.reshape(3 * count, *bits.shape[2:])
            masks = (mask.tree(parents),) * 2, (mask.tree_bits(bits), mask.tree_bits(of_rows, cu))
            for (of_batch, of_packed), where in in_turn(masks[:: 1 if count == 7 else -1])[: None if LONG or count == 7 else 2]:
                self.close(attn_mlir.decode(q, *pools, table, lengths, mask_mod=of_batch, **where), wanted)
                self.close(attn_mlir.prefill(packed, *pools, table, lengths, cu, count, mask_mod=of_packed, **where), packed_wanted)
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected at most 39 query rows, which the mask is for, got 40"):
            attn_mlir.decode(q, *pools, table, lengths, mask_mod=mask.tree([-1] * 39) & mask.causal())
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected at most 39 query rows, which the mask is for, got 40"):
            attn_mlir.prefill(packed, *pools, table, lengths, cu, 64, mask_mod=mask.tree([-1] * 39))
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected at most 32 query rows, which the mask is for, got 40"):
            attn_mlir.decode(q, *pools, table, lengths, mask_mod=mask.tree_bits(np.ascontiguousarray(bits[..., 0])))
        for parents, message in (([-1, 2, 0], "parent of token 1 to be -1 or a token before it, got 2"), ([], "1 token or more, got none")):
            with self.assertRaisesRegex(attn_mlir.AttnError, message):
                mask.tree(parents)
        with self.assertRaisesRegex(attn_mlir.AttnError, "expected bits to be i32 of rank 2 or 3, got i64 of rank 2"):
            mask.tree_bits(np.zeros((3, 7), np.int64))

    def test_scales_of_tokens(self):
        """Chunks over pools of 8 bits with a scale for each row; a table with rows or of all behind each other; a score that is changed, too."""
        keys, values, table = self.paged(poison=0)
        lengths = np.asarray(KEYS, np.int32)
        count = [-(-n // PAGE) for n in KEYS]
        csr = np.concatenate([table[b, :pages] for b, pages in enumerate(count)]), np.cumsum([0, *count]).astype(np.int32)
        pools, scales, rows = [], [], []
        for pool, own in ((keys, self.keys), (values, self.values)):
            scale = np.maximum(np.abs(pool.astype(np.float32)).max(-1) / 127, 1e-6)
            pools.append(np.round(pool / scale[..., None]).astype(np.int8))
            spread = np.abs(own.astype(np.float32)).max(-1, keepdims=True) / 127
            rows.append(np.round(own / spread) * spread)
            exists = np.zeros((len(pool), PAGE), bool)
            for b, n in enumerate(KEYS):
                exists[table[b, np.arange(n) // PAGE], np.arange(n) % PAGE] = True
            scales.append(np.where(exists[:, None], scale, np.nan).astype(np.float32))
        wanted = self.expected(lambda b, i, j: j <= i + KEYS[b] - ROWS[b], lambda s, b, h: 3 * np.tanh(s / 3), *rows)
        for where in some():
            for pages, split in ((table, {}), (csr, {}), (table, {"fixed_split_size": 1})):
                if split and where["target"] == "cpu":
                    continue
                got = attn_mlir.prefill(self.q, *pools, pages, lengths, OFFSETS, 39, k_scale=scales[0], v_scale=scales[1], soft_cap=3.0, **split, **where)
                self.close(got, wanted)
        with self.assertRaisesRegex(attn_mlir.BindingError, "key: expected a signed or float dtype, got uint8"):
            check_signed(key=types.SimpleNamespace(dtype="torch.uint8"))  # whose view would be of i8
        with self.assertRaisesRegex(attn_mlir.BindingError, r"value_descale: expected f32 of \(1,\), \(4, 2\) or \(13, 2, 16\), got f32 of \(13, 2, 15\)"):
            attn_mlir.prefill(self.q, *pools, table, lengths, OFFSETS, 39, k_scale=scales[0], v_scale=np.ascontiguousarray(scales[1][..., 1:]))

    def test_new_rows(self):
        """The rows of chunks appended in the launch of their attention give the bits of an append before: of 16 bits, quantised by a number, by scales of their own."""
        keys, values, table = self.paged(poison=0)
        lengths = np.asarray(KEYS, np.int32)
        # The last rows of each sequence, but for one that is skipped.
        places = [(b, KEYS[b] - ROWS[b] + i) for b in range(4) for i in range(ROWS[b])]
        slots = np.asarray([table[b, j // PAGE] * PAGE + j % PAGE for b, j in places], np.int64)
        slots[5] = -1
        new = [np.stack([rows[KEY_OFFSETS[b] + j] for b, j in places]) for rows in (self.keys, self.values)]
        of_rows = np.full((len(keys), KEY_HEADS, PAGE), 0.5, np.float32)
        for (dtype, scales), where in in_turn(((np.float16, None), (np.int8, (0.02, 0.02)), (np.int8, (of_rows, of_rows)))):
            results = []
            for is_together in (False, True):
                pools = [np.zeros(keys.shape, dtype) for _ in range(2)]
                own = {} if scales is None else dict(zip(("k_scale", "v_scale"), (s.copy() if isinstance(s, np.ndarray) else s for s in scales)))
                rows = {"k_new": new[0], "v_new": new[1], "slots": slots}
                if not is_together:
                    attn_mlir.append(*new, *pools, slots, **own, **where)
                output = attn_mlir.prefill(self.q, *pools, table, lengths, OFFSETS, 39, **own, **(rows if is_together else {}), **where)
                results.append([output, *pools, *(s for s in own.values() if isinstance(s, np.ndarray))])
            for apart, together in zip(*results):
                self.assertTrue(np.array_equal(apart, together), (dtype, where))
            self.assertTrue(results[0][0].any())
        with self.assertRaisesRegex(attn_mlir.BindingError, r"slots: expected \[tokens\], as packed rows have them, got \(1, 47\)"):
            both = (rows[None].swapaxes(1, 2) for rows in new)
            attn_mlir.prefill(self.q, keys, values, table, lengths, OFFSETS, 39, **dict(zip(("k_new", "v_new"), both)), slots=slots[None])

    def test_slopes_and_pages_by_flash_attention(self):
        """alibi_slopes beside a cap, of heads and of batches; block_table with seqused_k, and with cu_seqlens_k alone."""
        keys, values, table = self.paged()
        blocks = keys.swapaxes(1, 2), values.swapaxes(1, 2)
        for slopes, where in in_turn((self.rng.random(HEADS), self.rng.random((4, HEADS)))):
            slopes = slopes.astype(np.float32)

            def change(s, b, h):
                distance = np.abs(np.arange(ROWS[b])[:, None] + KEYS[b] - ROWS[b] - np.arange(KEYS[b]))
                return 3 * np.tanh(s / 3) - slopes[(b, h)[2 - slopes.ndim :]] * distance

            wanted = self.expected(lambda b, i, j: j <= i + KEYS[b] - ROWS[b], change)
            options = {"causal": True, "alibi_slopes": slopes, "softcap": 3.0}
            self.close(attn_mlir.flash_attn_varlen_func(self.q, self.keys, self.values, OFFSETS, KEY_OFFSETS, 39, **options, **where), wanted)
            for used in (None, np.asarray(KEYS, np.int32)):
                got = attn_mlir.flash_attn_varlen_func(self.q, *blocks, OFFSETS, KEY_OFFSETS, 39, block_table=table, seqused_k=used, **options, **where)
                self.close(got, wanted)
        with self.assertRaisesRegex(attn_mlir.BindingError, r"alibi_slopes: expected f32 \[Hq\] or \[B, Hq\], got i32 of rank 1"):
            attn_mlir.flash_attn_varlen_func(self.q, self.keys, self.values, OFFSETS, KEY_OFFSETS, 39, alibi_slopes=OFFSETS)
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected no seqused_k without block_table"):
            attn_mlir.flash_attn_varlen_func(self.q, self.keys, self.values, OFFSETS, KEY_OFFSETS, 39, seqused_k=OFFSETS)

    def test_chunks_by_flash_attention(self):
        """attention_chunk: keys of the chunk of 10 positions that the row's own is in, the last row at the last key; with a mask_mod beside."""
        at = [np.arange(m)[:, None] + n - m for m, n in zip(ROWS, KEYS)]
        wanted = self.expected(lambda b, i, j: (j // 10 == at[b] // 10) & (j <= at[b]) & (j % 4 != 1))
        options = {"causal": True, "attention_chunk": 10, "mask_mod": lambda b, h, i, j: j % 4 != 1}
        for where in some():
            self.close(attn_mlir.flash_attn_varlen_func(self.q, self.keys, self.values, OFFSETS, KEY_OFFSETS, 39, **options, **where), wanted)
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected attention_chunk to be a number of positions, 0 for all, got 2.5"):
            attn_mlir.flash_attn_varlen_func(self.q, self.keys, self.values, OFFSETS, KEY_OFFSETS, 39, attention_chunk=2.5)

    def test_custom_masks_by_flashinfer(self):
        """Of each sequence rows by keys, as bools and as bits of bytes; beside a mask_mod; causal does not count."""
        keys, values, table = self.paged()
        count = [-(-n // PAGE) for n in KEYS]
        pages = [np.cumsum([0, *count]).astype(np.int32), np.concatenate([table[b, :n] for b, n in enumerate(count)])]
        pages.append(np.asarray([(n - 1) % PAGE + 1 for n in KEYS], np.int32))
        shown = [self.rng.random((m, n)) < 0.5 for m, n in zip(ROWS, KEYS)]
        flat = np.concatenate([part.reshape(-1) for part in shown])
        packed = np.concatenate([np.packbits(part.reshape(-1), bitorder="little") for part in shown])
        wanted = self.expected(lambda b, i, j: shown[b])
        odd = self.expected(lambda b, i, j: shown[b] & (j % 2 == 1))
        for given, where in in_turn(({"custom_mask": flat}, {"packed_custom_mask": packed})):
            layer = BatchPrefill("HND")
            layer.plan(OFFSETS, *pages, HEADS, KEY_HEADS, DIM, PAGE, causal=True, **given)
            self.close(layer.run(self.q, (keys, values), **where), wanted)
            self.close(layer.run(self.q, (keys, values), mask_mod=lambda b, h, i, j: j % 2 == 1, **where), odd)
        for given, message in (
            ({"custom_mask": flat[1:]}, rf"custom_mask: expected i1 of \({len(flat)},\), rows by keys of each sequence, got i1 of \({len(flat) - 1},\)"),
            ({"packed_custom_mask": flat}, rf"packed_custom_mask: expected i8 of \({len(packed)},\), .*, got i1 of \({len(flat)},\)"),
            ({"custom_mask": flat, "packed_custom_mask": packed}, "expected custom_mask or packed_custom_mask, got both"),
        ):
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                BatchPrefill().plan(OFFSETS, *pages, HEADS, KEY_HEADS, DIM, PAGE, **given)


unittest.main()
