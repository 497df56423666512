"""`decode`, `prefill` and `attention` over keys and values of 8 bits, against float64 sums of what they stand for; every byte; messages."""

import itertools
import math
import random
import unittest

import attn_mlir
from attn_mlir.runtime.host_array import HostArray, decode_float8, round_to
from devices import DEVICES, in_turn, some
from ragged import attend, normal
from sweep import LONG, few

generator = random.Random(3)
#: What nobody may read: NaN, and the largest integer.
NAN = {"f8E4M3FN": 0x7F, "f8E5M2": 0x7E, "i8": 0x80}


def decode(code, dtype):
    """The number of a byte."""
    return decode_float8(code, dtype) if dtype != "i8" else float(code - 256 * (code > 127))


def stored(dtype, shape, kept=None, width=1):
    """Bytes of magnitudes around 1, subnormal ones among them, or any integers; NaN in rows of `width` that `kept` does not hold."""
    magnitudes = {"f8E4M3FN": (0, 0x48), "f8E5M2": (0, 0x44), "i8": (0, 0x80)}[dtype]
    codes = [generator.choice((0, 128)) + generator.randrange(*magnitudes) for _ in range(math.prod(shape))]
    codes = [code if kept is None or i // width in kept else NAN[dtype] for i, code in enumerate(codes)]
    return HostArray(dtype, shape, bytearray(codes))


class Cache8(unittest.TestCase):
    heads, key_heads, dim, value_dim, page = 4, 2, 32, 48, 5
    table = [[7, 0, 3, -1], [1, 9, 4, 2147480000], [5, -1, -1, -1], [2, 11, 6, 10]]
    lengths = [13, 15, 0, 18]

    def pools(self, dtype):
        used = {self.table[b][j // self.page] * self.page + j % self.page for b in range(4) for j in range(self.lengths[b])}
        rows = {(row // self.page * self.key_heads + h) * self.page + row % self.page for row in used for h in range(self.key_heads)}
        return [stored(dtype, (12, self.key_heads, self.page, dim), rows, dim) for dim in (self.dim, self.value_dim)]

    def rows_of(self, pool, scale, b, head):
        """Rows of a sequence, dequantised: `scale` is a function, or a list of one for each row of the pool."""
        values, dim, rows = pool.values(), pool.shape[3], []
        for j in range(self.lengths[b]):
            at = (self.table[b][j // self.page] * self.key_heads + head) * self.page + j % self.page
            factor = scale[at] if isinstance(scale, list) else scale(b, head)
            rows.append([factor * x for x in values[at * dim : (at + 1) * dim]])
        return rows

    def check_row(self, row, got, lse, pools, scales, b, head, sees, tolerance):
        kv = head * self.key_heads // self.heads
        keys, values = (self.rows_of(pool, scale, b, kv) for pool, scale in zip(pools, scales))
        wanted, log_sum = attend(row, keys, values, sees, self.dim**-0.5)
        for x, y in zip(got, wanted or [0.0] * self.value_dim):
            self.assertLess(abs(x - y), tolerance * max(1, abs(y)))
        self.assertTrue(lse == log_sum or abs(lse - log_sum) < 1e-4 * max(1, abs(log_sum)), (lse, log_sum))

    def test_decode(self):
        k_heads = HostArray.of("f32", (4, 2), [round_to(generator.uniform(0.1, 1), "f32") for _ in range(8)])
        v_heads = HostArray.of("f32", (4, 2), [round_to(generator.uniform(0.5, 3), "f32") for _ in range(8)])
        of_heads = [lambda b, h, values=array.values(): values[2 * b + h] for array in (k_heads, v_heads)]
        table = HostArray.of("i32", (4, 4), [entry for row in self.table for entry in row])
        lengths = HostArray.of("i32", (4,), self.lengths)
        given = (
            ({}, [lambda b, h: 1.0] * 2),
            ({"k_scale": 0.5}, [lambda b, h: 0.5, lambda b, h: 1.0]),
            ({"k_scale": k_heads, "v_scale": v_heads}, of_heads),
        )
        small = {"k_scale": 0.01, "v_scale": 0.02}, [lambda b, h: 0.01, lambda b, h: 0.02]
        of_rows = [[round_to(generator.uniform(0.002, 0.02), "f32") for _ in range(12 * 2 * self.page)] for _ in range(2)]
        pool_of_scales = [HostArray.of("f32", (12, 2, self.page), numbers) for numbers in of_rows]
        rows = {"k_scale": pool_of_scales[0], "v_scale": pool_of_scales[1]}, of_rows
        values = {"k_scale": 0.01, "v_scale": pool_of_scales[1]}, [lambda b, h: 0.01, of_rows[1]]
        cases = (
            ("f16", "i8", rows, 1),
            ("bf16", "i8", rows, 3),
            ("f16", "i8", values, 2),
            ("f16", "f8E4M3FN", given[2], 1),
            ("bf16", "f8E4M3FN", given[1], 3),
            ("f16", "f8E5M2", given[0], 1),
            ("bf16", "f8E5M2", given[0], 2),
            ("f16", "i8", small, 1),
            ("bf16", "i8", small, 2),
        )
        for (dtype, kind, (options, scales), tokens), where in in_turn(cases if LONG else [cases[n] for n in (0, 2, 3, 6, 8)]):
            pools, query = self.pools(kind), normal(dtype, 4, self.heads, tokens, self.dim)
            with self.subTest(dtype=dtype, kind=kind, tokens=tokens, **where):
                output, lse = attn_mlir.decode(query, *pools, table, lengths, return_lse=True, **options, **where)
                for at, log_sum in enumerate(lse.values()):
                    b, head, i = at // tokens // self.heads, at // tokens % self.heads, at % tokens
                    row, got = query.values()[at * self.dim :][: self.dim], output.values()[at * self.value_dim :][: self.value_dim]
                    sees = lambda j: j <= i + self.lengths[b] - tokens  # noqa: E731
                    self.check_row(row, got, log_sum, pools, scales, b, head, sees, 2e-3 if dtype == "f16" else 2e-2)

    def test_append(self):
        """Rows of bytes, which the attention sees: as if they had been there."""
        slots = HostArray.of("i32", (3,), [self.page * 9 + 4, -1, self.page * 6 + 2])
        table = HostArray.of("i32", (4, 4), [entry for row in self.table for entry in row])
        lengths, query = HostArray.of("i32", (4,), self.lengths), normal("f16", 4, self.heads, 1, self.dim)
        for where in some():
            pools = self.pools("f8E5M2")
            rows = [stored("f8E5M2", (3, self.key_heads, dim)) for dim in (self.dim, self.value_dim)]
            after = [HostArray(pool.dtype, pool.shape, bytearray(pool.data)) for pool in pools]
            for pool, new in zip(after, rows):
                width = pool.shape[3]
                for token, slot in ((0, 49), (2, 32)):
                    for h in range(self.key_heads):
                        at = ((slot // self.page * self.key_heads + h) * self.page + slot % self.page) * width
                        pool.data[at : at + width] = new.data[(token * self.key_heads + h) * width :][:width]
            plain = attn_mlir.decode(query, *after, table, lengths, v_scale=2.0, **where)
            output = attn_mlir.decode(query, *pools, table, lengths, k_new=rows[0], v_new=rows[1], slots=slots, v_scale=2.0, **where)
            self.assertEqual([bytes(pool.data) for pool in pools], [bytes(pool.data) for pool in after])
            self.assertEqual(output.data, plain.data)

    def test_prefill(self):
        pools, offsets = self.pools("f8E4M3FN"), [0, 5, 20, 20, 22]
        query = normal("f16", 22, self.heads, self.dim)
        table = HostArray.of("i32", (4, 4), [entry for row in self.table for entry in row])
        lengths, cu = HostArray.of("i32", (4,), self.lengths), HostArray.of("i32", (5,), offsets)
        scales = [lambda b, h: 0.25, lambda b, h: 3.0]
        for where in some():
            output, lse = attn_mlir.prefill(query, *pools, table, lengths, cu, 15, k_scale=0.25, v_scale=3.0, return_lse=True, **where)
            for b, (first, end) in enumerate(zip(offsets, offsets[1:])):
                for head in range(self.heads):
                    for i in range(end - first):
                        at = (first + i) * self.heads + head
                        row, got = query.values()[at * self.dim :][: self.dim], output.values()[at * self.value_dim :][: self.value_dim]
                        sees = lambda j: j <= i + self.lengths[b] - (end - first)  # noqa: E731
                        with self.subTest(b=b, head=head, i=i, **where):
                            self.check_row(row, got, lse.values()[head * 22 + first + i], pools, scales, b, head, sees, 2e-3)

    def test_scales_of_tokens(self):
        """A descale of each token, NaN behind the lengths, of keys, of values or of both, under a soft cap or none."""
        rows, keys, lengths = 3, 20, [20, 7]
        heads = range(self.key_heads)
        key, value = (stored("i8", (2, self.key_heads, keys, dim)) for dim in (self.dim, self.value_dim))
        query = normal("f16", 2, self.heads, rows, self.dim)
        exists = [j < lengths[b] for b in range(2) for _ in heads for j in range(keys)]
        numbers = [[round_to(generator.uniform(0.002, 0.02), "f32") if e else math.nan for e in exists] for _ in range(2)]
        tokens = [HostArray.of("f32", (2, self.key_heads, keys), column) for column in numbers]
        one, half = HostArray.of("f32", (1,), [0.0078125]), [0.0078125] * len(exists)
        cases = (((tokens, numbers), None), ((tokens, numbers), 2.0), (((one, tokens[1]), (half, numbers[1])), None), (((tokens[0], one), (numbers[0], half)), None))
        for ((descale, columns), cap), where in in_turn(cases):
            stands = []
            for array, column, dim in zip((key, value), columns, (self.dim, self.value_dim)):
                stands.append([[x * n for x in array.values()[row * dim :][:dim]] for row, n in enumerate(column)])
            options = {"descale": tuple(descale), "key_lengths": HostArray.of("i32", (2,), lengths), "causal": True, "soft_cap": cap, "return_lse": True}
            output, lse = (array.values() for array in attn_mlir.attention(query, key, value, **options, **where))
            for b, head, i in ((b, head, i) for b in range(2) for head in range(self.heads) for i in range(rows)):
                at = (b * self.heads + head) * rows + i
                first = (b * self.key_heads + head * self.key_heads // self.heads) * keys
                seen = range(first, first + lengths[b] - rows + i + 1)
                scores = [sum(x * y for x, y in zip(query.values()[at * self.dim :][: self.dim], stands[0][j])) * self.dim**-0.5 for j in seen]
                scores = [cap * math.tanh(score / cap) for score in scores] if cap else scores
                weights = [math.exp(score) for score in scores]
                self.assertAlmostEqual(lse[at], math.log(sum(weights)), delta=1e-4)
                for e in range(self.value_dim):
                    wanted = sum(w * stands[1][j][e] for w, j in zip(weights, seen)) / sum(weights)
                    self.assertAlmostEqual(output[at * self.value_dim + e], wanted, delta=2e-3 * max(1, abs(wanted)), msg=str((where, cap)))

    def test_scales_of_new_rows(self):
        """Rows become bytes by scales of their own, which are written beside them: rows of zeros, of subnormal and of large numbers; then decode reads both."""
        most = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0, "i8": 127.0}
        slots, heads, page = [7, -1, 0, 11, 3], self.key_heads, self.page
        sizes = [10.0 ** generator.uniform(-3, 3) for _ in slots[:-2]] + [0.0, 2.0**-24]
        new = []
        for dim in (self.dim, self.value_dim):
            numbers = [generator.uniform(-1, 1) * sizes[t] for t in range(5) for _ in range(heads * dim)]
            new.append(HostArray.of("f16", (5, heads, dim), [round_to(x, "f16") for x in numbers]))
        for kind, where in in_turn(NAN):
            pools = [HostArray(kind, (3, heads, page, dim), bytearray([1]) * (3 * heads * page * dim)) for dim in (self.dim, self.value_dim)]
            scales = [HostArray.of("f32", (3, heads, page), [0.5] * (3 * heads * page)) for _ in pools]
            attn_mlir.append(*new, *pools, HostArray.of("i32", (5,), slots), k_scale=scales[0], v_scale=scales[1], **where)
            for rows, pool, scale in zip(new, pools, scales):
                dim, written = rows.shape[2], set()
                for t, h in ((t, h) for t in range(5) if slots[t] >= 0 for h in range(heads)):
                    row = rows.values()[(t * heads + h) * dim :][:dim]
                    at = (slots[t] // page * heads + h) * page + slots[t] % page
                    written.add(at)
                    wanted = max(round_to(max(map(abs, row)) / most[kind], "f32"), 2.0**-126)
                    self.assertEqual(scale.values()[at], wanted, (kind, where, t))
                    step = {"f8E4M3FN": 2.0**-4, "f8E5M2": 2.0**-3, "i8": 0}[kind]
                    for x, y in zip(row, pool.values()[at * dim :][:dim]):
                        self.assertLessEqual(abs(x / wanted - y), max(step * abs(x / wanted), 0.5 if kind == "i8" else 2.0**-10) * 1.0001, (kind, where, t))
                for at in set(range(3 * heads * page)) - written:
                    self.assertEqual(scale.values()[at], 0.5)
            table, lengths = HostArray.of("i32", (1, 3), [2, 0, 1]), HostArray.of("i32", (1,), [2])
            query = normal("f16", 1, self.heads, 1, self.dim)
            places = HostArray.of("i32", (1, 2), [10, 11])
            two = [HostArray.of("f16", (1, heads, 2, rows.shape[2]), [x for h in range(heads) for t in (0, 2) for x in rows.values()[(t * heads + h) * rows.shape[2] :][: rows.shape[2]]]) for rows in new]
            options = {"k_scale": scales[0], "v_scale": scales[1], **where}
            output = attn_mlir.decode(query, *pools, table, lengths, k_new=two[0], v_new=two[1], slots=places, **options).values()
            again = attn_mlir.decode(query, *pools, table, lengths, **options).values()
            self.assertEqual(output, again)
            self.assertTrue(all(map(math.isfinite, output)) and any(output))

    def test_scales_of_turned_rows(self):
        """decode turns new keys, and what it divides them by follows from the turned ones."""
        heads, half = self.key_heads, self.dim // 2
        angles = [[generator.uniform(0, 6) for _ in range(half)] for _ in range(4)]
        rotary = [HostArray.of("f32", (4, half), [f(x) for row in angles for x in row]) for f in (math.cos, math.sin)]
        new = [normal("f16", 1, heads, 2, dim) for dim in (self.dim, self.value_dim)]
        query, slots, at = normal("f16", 1, self.heads, 2, self.dim), [10, 1], [3, 1]
        table, lengths = HostArray.of("i32", (1, 3), [2, 0, 1]), HostArray.of("i32", (1,), [7])
        options = {"rotary": rotary, "rotary_positions": HostArray.of("i32", (1, 2), at)}
        for kind, most in (("f8E4M3FN", 448.0), ("i8", 127.0))[0 if LONG else 1 :]:
            outputs = []
            for where in some():
                pools = [HostArray(kind, (3, heads, self.page, dim), bytearray([1]) * (3 * heads * self.page * dim)) for dim in (self.dim, self.value_dim)]
                scales = [HostArray.of("f32", (3, heads, self.page), [0.5] * (3 * heads * self.page)) for _ in pools]
                both = {"k_scale": scales[0], "v_scale": scales[1], **options, **where}
                places = HostArray.of("i32", (1, 2), slots)
                output = attn_mlir.decode(query, *pools, table, lengths, k_new=new[0], v_new=new[1], slots=places, **both).values()
                for t, h in ((t, h) for t in range(2) for h in range(heads)):
                    row = new[0].values()[(h * 2 + t) * self.dim :][: self.dim]
                    cos, sin = ([f(x) for x in angles[at[t]]] for f in (math.cos, math.sin))
                    turned = [x * c - y * s for x, y, c, s in zip(row, row[half:], cos, sin)] + [y * c + x * s for x, y, c, s in zip(row, row[half:], cos, sin)]
                    place = (slots[t] // self.page * heads + h) * self.page + slots[t] % self.page
                    wanted = max(map(abs, turned)) / most
                    self.assertAlmostEqual(scales[0].values()[place], wanted, delta=wanted * 2.0**-10, msg=str((kind, where, t, h)))
                self.assertEqual(output, attn_mlir.decode(query, *pools, table, lengths, **both).values())
                outputs.append(output)
            for output in outputs[1:]:  # a byte may be the next one
                self.assertLess(max(abs(x - y) for x, y in zip(output, outputs[0])), 0.05)

    def test_every_byte(self):
        """Of one key the output is its value, exactly, NaN and infinities too, and the score of a one-hot query an element of it."""
        dim = 256
        identity = [1.0 if i == d else 0.0 for i in range(dim) for d in range(dim)]
        queries = {dtype: (HostArray.of(dtype, (1, 1, dim, dim), identity), HostArray.of(dtype, (1, 1, 1, dim), [0.0] * dim)) for dtype in ("f16", "bf16")}
        for kind, dtype, where in few(itertools.product(NAN, queries, DEVICES)):
            cache = HostArray(kind, (1, 1, 1, dim), bytearray(range(256)))
            numbers = [decode(code, kind) for code in range(256)]
            zeros = HostArray(kind, (1, 1, 1, dim), bytearray(256))
            query, zero = queries[dtype]
            with self.subTest(kind=kind, dtype=dtype, **where):
                output = attn_mlir.attention(zero, zeros, cache, **where)
                for got, wanted in zip(output.values(), numbers):
                    self.assertTrue(got == wanted or math.isnan(got) and math.isnan(wanted), (got, wanted))
                finite = [x if math.isfinite(x) else 0.0 for x in numbers]
                codes = bytearray(code if math.isfinite(x) else 0 for code, x in enumerate(numbers))
                keys = HostArray(kind, (1, 1, 1, dim), codes)
                lse = attn_mlir.attention(query, keys, zeros, scale=1.0, return_lse=True, **where)[1]
                for got, wanted in zip(lse.values(), finite):  # kernels scale it by log2(e) and back, in f32
                    self.assertLessEqual(abs(got - wanted), 2e-7 * abs(wanted))

    def test_wrong_arrays(self):
        pools, query = self.pools("f8E4M3FN"), normal("f16", 4, self.heads, 1, self.dim)
        other = self.pools("f8E5M2")
        table, lengths = HostArray.of("i32", (4, 1), [0] * 4), HostArray.of("i32", (4,), [1] * 4)
        three, one = HostArray.of("f32", (3,), [1, 1, 1]), HostArray.of("f32", (1,), [1])
        contiguous = stored("f8E4M3FN", (4, self.key_heads, 7, self.dim))
        wrong = (
            (lambda: attn_mlir.decode(query, pools[0], other[1], table, lengths), "value: expected dtype f8E4M3FN, that of key, got f8E5M2"),
            (lambda: attn_mlir.decode(query, *pools, table, lengths, k_scale=three), r"key_descale: expected f32 of \(1,\) or \(4, 2\), got f32 of \(3,\)"),
            (lambda: attn_mlir.attention(query, query, query, descale=(three, three)), "expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got f16"),
            (lambda: attn_mlir.attention(HostArray("i8", query.shape, bytearray(query.shape[0] * self.heads * self.dim)), contiguous, contiguous), "key: expected dtype i8, that of query, got f8E4M3FN"),
            (lambda: attn_mlir.attention(query, contiguous, contiguous, descale=(one,) * 3), "expected a descale of key and value, with inputs of f16, f8E4M3FN, f8E4M3FN, got 3"),
        )
        tokens, bias = HostArray.of("f32", (4, self.key_heads, 7), [1.0] * 28 * self.key_heads), HostArray.of("f32", (1, 1, 1, 7), [0.0] * 7)
        short, per_token = HostArray.of("f32", (4, self.key_heads, 6), [1.0] * 24 * self.key_heads), "with a descale of each token"
        keep = lambda p, b, h, i, j: p  # noqa: E731
        cached = (query, contiguous, contiguous)
        pool_of_scales, wide = HostArray.of("f32", (12, self.key_heads, self.page), [1.0] * 24 * self.page), normal("f16", 4, self.key_heads, 1, self.dim)
        slots, other_pages = HostArray.of("i32", (4, 1), [-1] * 4), HostArray.of("f32", (11, self.key_heads, self.page), [1.0] * 22 * self.page)
        new, heads = (wide, normal("f16", 4, self.key_heads, 1, self.value_dim)), HostArray.of("i32", (4,), [0] * 4)
        paged = (query, *pools, table, lengths)
        wrong += (
            (lambda: attn_mlir.decode(*paged, k_scale=pool_of_scales, k_new=new[0], v_new=new[1], slots=slots), r"v_scale: expected f32 of shape \[12, 2, 5\] for slots of rank 2, got f32 of \[1\]"),
            (lambda: attn_mlir.decode(*paged, k_scale=pool_of_scales, v_scale=other_pages), r"value_descale: expected f32 of \(1,\), \(4, 2\) or \(12, 2, 5\), got f32 of \(11, 2, 5\)"),
            (lambda: attn_mlir.decode(*paged, k_scale=pool_of_scales, head_map=heads), f"expected no head_map {per_token}, got one"),
            (lambda: attn_mlir.attention(query, query, query, descale=(tokens, tokens)), f"i8 beside a query of more bits {per_token}, got f16 and f16"),
            (lambda: attn_mlir.attention(*cached, descale=(tokens, short)), r"value_descale: expected f32 of \(1,\), \(4, 2\) or \(4, 2, 7\), got f32 of \(4, 2, 6\)"),
            (lambda: attn_mlir.attention(*cached, descale=(tokens, one), bias=bias), f"expected no bias {per_token}, got one"),
            (lambda: attn_mlir.attention(*cached, descale=(tokens, one), prob_mod=keep), f"expected no prob_mod {per_token}, got one"),
            (lambda: attn_mlir.attention(*cached, descale=(tokens, one), normalization="none"), f"expected no normalization {per_token}, got one"),
        )
        for call, message in wrong:
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                call()


if __name__ == "__main__":
    unittest.main(argv=["cache8.py", "Cache8"])
