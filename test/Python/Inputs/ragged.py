"""`attn_mlir.varlen`, `prefill` and `flash_attn_varlen_func` on arrays without NumPy, against float64 sums by definition; messages."""

import math
import operator
import random
import unittest

import attn_mlir
from attn_mlir.runtime.host_array import HostArray, round_to
from devices import DEVICES, in_turn, some

generator = random.Random(11)


def normal(dtype, *shape):
    return HostArray.of(dtype, shape, [round_to(generator.gauss(0, 1), dtype) for _ in range(math.prod(shape))])


def poisoned(array, kept, width):
    """With NaN in the rows of `width` elements that `kept` does not hold."""
    return HostArray.of(array.dtype, array.shape, [x if i // width in kept else math.nan for i, x in enumerate(array.values())])


def attend(query, keys, values, sees, scale):
    """(output, LSE) of one row in float64, over the keys that it sees."""
    seen = [j for j in range(len(keys)) if sees(j)]
    if not seen:
        return [0.0] * (len(values[0]) if values else 0), -math.inf
    scores = [scale * sum(map(operator.mul, query, keys[j])) for j in seen]
    most = max(scores)
    weights = [math.exp(score - most) for score in scores]
    total = sum(weights)
    return [sum(map(operator.mul, weights, column)) / total for column in zip(*(values[j] for j in seen))], most + math.log(total)


def rows_of(array):
    """Row `row` of head `head` of [rows, heads, dim], as a function: the array is decoded once."""
    values, (_, heads, width) = array.values(), array.shape

    def get(row, head):
        start = (row * heads + head) * width
        return values[start : start + width]

    return get


class Ragged(unittest.TestCase):
    heads, key_heads, dim, value_dim = 4, 2, 16, 24

    def check(self, output, lse, query, offsets, key_of, value_of, lengths, sees, tolerance=4e-3):
        """`key_of(b, j, head)`: key j of sequence b; `sees(i, j, rows, keys)`."""
        values, statistics, dv, total = output.values(), lse.values(), self.value_dim, query.shape[0]
        row_of = rows_of(query)
        for b, (first, end) in enumerate(zip(offsets, offsets[1:])):
            for head in range(self.heads):
                kv = head * self.key_heads // self.heads
                keys = [key_of(b, j, kv) for j in range(lengths[b])]
                vectors = [value_of(b, j, kv) for j in range(lengths[b])]
                for i in range(end - first):
                    row = row_of(first + i, head)
                    wanted, log_sum = attend(row, keys, vectors, lambda j: sees(i, j, end - first, lengths[b]), self.dim**-0.5)
                    place = ((first + i) * self.heads + head) * dv
                    got = values[place : place + dv]
                    for x, y in zip(got, wanted or [0.0] * dv):
                        self.assertLess(abs(x - y), tolerance, (b, head, i))
                    if log_sum == -math.inf:
                        self.assertEqual(statistics[head * total + first + i], log_sum)
                    else:
                        self.assertLess(abs(statistics[head * total + first + i] - log_sum), tolerance)

    def test_varlen(self):
        """Empty sequences; more rows than keys; rows of no sequence before, between the ends and behind, which hold NaN and are not written."""
        q_offsets, k_offsets = [2, 2, 71, 72, 85], [1, 34, 100, 100, 149]
        lengths = [b - a for a, b in zip(k_offsets, k_offsets[1:])]
        for dtype, kind in (("f16", "i32"), ("bf16", "i64")):
            query = poisoned(normal(dtype, 90, self.heads, self.dim), range(2, 85), self.heads * self.dim)
            key = poisoned(normal(dtype, 155, self.key_heads, self.dim), range(1, 149), self.key_heads * self.dim)
            value = poisoned(normal(dtype, 155, self.key_heads, self.value_dim), range(1, 149), self.key_heads * self.value_dim)
            key_rows, value_rows = rows_of(key), rows_of(value)
            cu_q, cu_k = HostArray.of(kind, (5,), q_offsets), HostArray.of("i32", (5,), k_offsets)
            tolerance = 4e-3 if dtype == "f16" else 3e-2
            for (causal, most), where in in_turn(((False, None), (True, 69))[:: 1 if dtype == "f16" else -1]):
                out = HostArray.of(dtype, (90, self.heads, self.value_dim), [7.0] * (90 * self.heads * self.value_dim))
                lse = HostArray.of("f32", (self.heads, 90), [7.0] * (self.heads * 90))
                attn_mlir.varlen(query, key, value, cu_q, cu_k, most, causal=causal, return_lse=True, out=(out, lse), **where)
                self.check(
                    out, lse, query, q_offsets,
                    lambda b, j, head: key_rows(k_offsets[b] + j, head),
                    lambda b, j, head: value_rows(k_offsets[b] + j, head),
                    lengths, lambda i, j, m, n: not causal or j <= i + n - m, tolerance,
                )  # fmt: skip
                width = self.heads * self.value_dim
                self.assertEqual({x for i, x in enumerate(out.values()) if not 2 <= i // width < 85}, {7.0})
                self.assertEqual({x for i, x in enumerate(lse.values()) if not 2 <= i % 90 < 85}, {7.0})

    def test_prefill(self):
        """Chunks over pages whose tails and spare rows hold NaN, entries that are no pages; a window; sizes of a token beside a chunk."""
        pages, page = 12, 16
        offsets, lengths = [0, 1, 40, 40, 47], [33, 39, 5, 64]
        table = [[7, 0, 3, -1], [1, 9, 4, 2147480000], [5, -1, -1, -1], [2, 11, 6, 10]]
        used = {table[b][j // page] * page + j % page for b in range(4) for j in range(lengths[b])}
        pools = []
        for dim in (self.dim, self.value_dim):
            pool = normal("f16", pages, self.key_heads, page, dim)
            rows = {(row // page * self.key_heads + h) * page + row % page for row in used for h in range(self.key_heads)}
            pools.append(poisoned(pool, rows, dim))
        query = normal("f16", 47, self.heads, self.dim)
        entries = HostArray.of("i32", (4, 4), [entry for row in table for entry in row])

        def row_of(pool):
            values, dim = pool.values(), pool.shape[3]

            def get(b, j, head):
                start = ((table[b][j // page] * self.key_heads + head) * page + j % page) * dim
                return values[start : start + dim]

            return get

        cu_q, keys = HostArray.of("i32", (5,), offsets), HostArray.of("i32", (4,), lengths)
        windows = ((9, 0), lambda i, j, m, n: -9 <= j - i - n + m <= 0), (None, lambda i, j, m, n: j <= i + n - m)
        for (window, sees), where in in_turn(windows):
            output, lse = attn_mlir.prefill(query, *pools, entries, keys, cu_q, 39, window=window, return_lse=True, **where)
            self.check(output, lse, query, offsets, row_of(pools[0]), row_of(pools[1]), lengths, sees)
        # A few tokens of each: heads are packed in a tile.
        few = HostArray.of("i32", (5,), [0, 1, 4, 4, 6])
        tokens = HostArray.of("f16", (6, self.heads, self.dim), query.values()[: 6 * self.heads * self.dim])
        for where in some():
            for splits in ({}, {"fixed_split_size": 1}, {"disable_split_kv": True}):
                if splits and where["target"] == "cpu":
                    continue
                output, lse = attn_mlir.prefill(tokens, *pools, entries, keys, few, 3, return_lse=True, **splits, **where)
                self.check(output, lse, tokens, [0, 1, 4, 4, 6], row_of(pools[0]), row_of(pools[1]), lengths, lambda i, j, m, n: j <= i + n - m)

    def test_bits_of_a_sequence(self):
        """They do not depend on what is beside it, nor on where it lies."""
        query, key = normal("f16", 60, self.heads, self.dim), normal("f16", 60, self.key_heads, self.dim)
        value = normal("f16", 60, self.key_heads, self.value_dim)
        for where in DEVICES[1:]:
            whole = HostArray.of("i32", (4,), [0, 13, 50, 60])
            part = HostArray.of("i32", (2,), [13, 50])
            both = attn_mlir.varlen(query, key, value, whole, whole, 37, causal=True, **where).values()
            alone = attn_mlir.varlen(query, key, value, part, part, 37, causal=True, **where).values()
            width = self.heads * self.value_dim
            self.assertEqual(both[13 * width : 50 * width], alone[13 * width : 50 * width])

    def test_window_of_decode(self):
        """It is around the position of a token, which is not its number among the new ones."""
        query, key = HostArray.of("f16", (1, 1, 1, 16), [0.0] * 16), HostArray.of("f16", (2, 1, 16, 16), [0.0] * 512)
        value = HostArray.of("f16", (2, 1, 16, 8), [float(i // 8) for i in range(256)])
        table, lengths = HostArray.of("i32", (1, 2), [0, 1]), HostArray.of("i32", (1,), [20])
        for where in some():
            output = attn_mlir.decode(query, key, value, table, lengths, window=(3, 0), **where)
            self.assertEqual(output.values(), [17.5] * 8)  # the mean of 16 to 19

    def test_flash_attention_names(self):
        q, k, v = normal("f16", 20, 4, 16), normal("f16", 20, 2, 16), normal("f16", 20, 2, 16)
        cu = HostArray.of("i32", (3,), [0, 13, 20])
        own = attn_mlir.varlen(q, k, v, cu, cu, 13, window=(4, 1), soft_cap=5.0, scale=0.3, target="cpu", return_lse=True)
        output, lse, probabilities = attn_mlir.flash_attn_varlen_func(
            q, k, v, cu, cu, 13, 13, softmax_scale=0.3, window_size=(4, 1), softcap=5.0, return_attn_probs=True, target="cpu"
        )
        self.assertEqual((output.data, lse.data, probabilities), (own[0].data, own[1].data, None))
        causal = attn_mlir.flash_attn_varlen_func(q, k, v, cu, cu, 13, 13, causal=True, target="cpu")
        self.assertEqual(causal.data, attn_mlir.varlen(q, k, v, cu, cu, causal=True, target="cpu").data)
        left = attn_mlir.flash_attn_varlen_func(q, k, v, cu, cu, 13, 13, window_size=(2, -1), target="cpu")
        self.assertEqual(left.data, attn_mlir.varlen(q, k, v, cu, cu, window=(2, 99), target="cpu").data)
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected no dropout_p"):
            attn_mlir.flash_attn_varlen_func(q, k, v, cu, cu, 13, 13, dropout_p=0.1)

    def test_wrong_arrays(self):
        q, k = normal("f16", 20, 4, 16), normal("f16", 20, 2, 16)
        cu, table, lengths = HostArray.of("i32", (3,), [0, 13, 20]), HostArray.of("i32", (2, 1), [0, 1]), HostArray.of("i32", (2,), [3, 4])
        pool = normal("f16", 4, 2, 16, 16)

        def offsets(*numbers):
            return HostArray.of("i32", (len(numbers),), numbers)

        wrong = (
            ((normal("f16", 1, 20, 4, 16), k, k, cu, cu), r"query: expected \[rows, heads, head dim\], got \(1, 20, 4, 16\)"),
            ((q, normal("bf16", 20, 2, 16), k, cu, cu), "key: expected one dtype of .*, got bf16"),
            ((q, normal("f16", 20, 2, 8), k, cu, cu), "key: expected head dim 16, that of query, got 8"),
            ((q, k, normal("f16", 19, 2, 16), cu, cu), "value: expected rows and heads of key"),
            ((q, normal("f16", 20, 3, 16), normal("f16", 20, 3, 16), cu, cu), "multiple of the number of key heads, got 4 and 3"),
            ((q, k, k, HostArray.of("f32", (3,), [0, 13, 20]), cu), "query_offsets: expected a vector of i32 or i64, got f32"),
            ((q, k, k, offsets(), offsets()), "query_offsets: expected an offset for each sequence"),
            ((q, k, k, cu, offsets(0, 20)), "key_offsets: expected 3 entries for 2 sequences, got 2"),
            ((q, k, k, offsets(0, 13, 12), cu), "cu_seqlens_q: expected ascending offsets from 0 to 20, got 12 at position 2"),
            ((q, k, k, cu, offsets(0, 13, 21)), "cu_seqlens_k: expected ascending offsets from 0 to 20, got 21 at position 2"),
            ((q, k, k, cu, cu, 12), "cu_seqlens_q: expected at most max_seqlen_q = 12 rows of a sequence, got 13 of sequence 0"),
            ((q, k, k, cu, cu, 0), "max_seqlen_q: expected 1 or more, got 0"),
        )
        for arguments, message in wrong:
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                attn_mlir.varlen(*arguments)
        with self.assertRaisesRegex(attn_mlir.BindingError, "sink: expected 4 numbers of f16 or f32"):
            attn_mlir.varlen(q, k, k, cu, cu, sink=HostArray.of("f32", (2,), [0, 0]))
        with self.assertRaisesRegex(attn_mlir.BindingError, "key_lengths: expected 2 entries for 2 sequences, got 3"):
            attn_mlir.prefill(q, pool, pool, table, offsets(1, 2, 3), cu)
        with self.assertRaisesRegex(attn_mlir.BindingError, r"key_table: expected \[2, columns\] of i32 or i64"):
            attn_mlir.prefill(q, pool, pool, lengths, lengths, cu)


if __name__ == "__main__":
    unittest.main()
