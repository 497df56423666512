"""`attn_mlir.varlen` and `prefill` on random sequences, against float64 sums by definition.

Lengths are 0, 1, odd, all 0, or one is much longer than the others; keys are behind each other or in pages. Rows that no sequence has,
and rows of a page behind its length, hold NaN.
"""

import random
import unittest

import attn_mlir
from attn_mlir.runtime.host_array import HostArray
from devices import in_turn
from ragged import Ragged, normal, poisoned, rows_of

FORMS = (
    [0, 0, 0],  # all empty
    [1, 0, 131, 2, 1],  # a long one
    [0, 1, 17, 0, 33, 7],
    [64, 16, 1],  # around a tile
)


class RandomRagged(Ragged):
    """With heads of its own for each case; the tests of Ragged are not repeated."""

    test_varlen = test_prefill = test_bits_of_a_sequence = test_window_of_decode = test_flash_attention_names = test_wrong_arrays = None

    def draw(self, seed):
        """(generator, rows by sequence, keys by sequence, causal, window) of a case."""
        rng = random.Random(seed)
        self.key_heads = rng.choice((1, 2))
        self.heads = self.key_heads * rng.choice((1, 2, 3, 4))
        rows = rng.sample(form := FORMS[seed % len(FORMS)], len(form))
        keys = [rng.choice((0, 1, n, n + 5, 2 * n + 1, max(n - 3, 0))) for n in rows]
        causal, window = rng.choice(((False, None), (True, None), (True, (rng.randrange(20), 0)), (False, (rng.randrange(9), rng.randrange(9)))))
        return rng, rows, keys, causal, window

    def offsets_of(self, rng, lengths):
        offsets = [rng.randrange(4)]
        for length in lengths:
            offsets.append(offsets[-1] + length)
        return offsets, offsets[-1] + rng.randrange(1, 4)

    def rows_with_gaps(self, offsets, total, heads, dim):
        return poisoned(normal("f16", total, heads, dim), range(offsets[0], offsets[-1]), heads * dim)

    def sees(self, causal, window):
        def visible(i, j, rows, keys):
            distance = j - (i + keys - rows)
            return (not causal or distance <= 0) and (window is None or -window[0] <= distance <= window[1])

        return visible

    def bound(self, rng, rows):
        return rng.choice((None, max(*rows, 1)))

    def test_packed(self):
        for seed, where in in_turn(range(8)):
            rng, rows, keys, causal, window = self.draw(seed)
            q_offsets, q_total = self.offsets_of(rng, rows)
            k_offsets, k_total = self.offsets_of(rng, keys)
            query = self.rows_with_gaps(q_offsets, q_total, self.heads, self.dim)
            key = self.rows_with_gaps(k_offsets, k_total, self.key_heads, self.dim)
            value = self.rows_with_gaps(k_offsets, k_total, self.key_heads, self.value_dim)
            key_rows, value_rows = rows_of(key), rows_of(value)
            cu = [HostArray.of("i32", (len(offsets),), offsets) for offsets in (q_offsets, k_offsets)]
            most = self.bound(rng, rows)
            with self.subTest(seed=seed, **where):
                output, lse = attn_mlir.varlen(query, key, value, *cu, most, causal=causal, window=window, return_lse=True, **where)
                self.check(
                    output, lse, query, q_offsets,
                    lambda b, j, head: key_rows(k_offsets[b] + j, head),
                    lambda b, j, head: value_rows(k_offsets[b] + j, head),
                    keys, self.sees(causal, window),
                )  # fmt: skip

    def test_paged(self):
        for seed, where in in_turn(range(4)):
            rng, rows, keys, causal, window = self.draw(seed)
            offsets, total = self.offsets_of(rng, rows)
            page = (1, 3, 16, 40)[seed]
            columns = max(-(-n // page) for n in keys) + 1
            used = [-(-n // page) for n in keys]
            order = rng.sample(range(sum(used) + 3), sum(used) + 3)
            table = [[order.pop() for _ in range(n)] + [rng.choice((-1, 2147480000)) for _ in range(columns - n)] for n in used]
            pools = []
            for dim in (self.dim, self.value_dim):
                kept = {
                    (table[b][j // page] * self.key_heads + head) * page + j % page
                    for b, n in enumerate(keys) for j in range(n) for head in range(self.key_heads)
                }  # fmt: skip
                pools.append(poisoned(normal("f16", sum(used) + 3, self.key_heads, page, dim), kept, dim))
            query = self.rows_with_gaps(offsets, total, self.heads, self.dim)
            entries = HostArray.of("i32", (len(keys), columns), [entry for row in table for entry in row])
            lengths, cu = HostArray.of("i32", (len(keys),), keys), HostArray.of("i64", (len(offsets),), offsets)

            def row_of(pool):
                values, dim = pool.values(), pool.shape[3]

                def get(b, j, head):
                    start = ((table[b][j // page] * self.key_heads + head) * page + j % page) * dim
                    return values[start : start + dim]

                return get

            most = self.bound(rng, rows)
            with self.subTest(seed=seed, **where):
                output, lse = attn_mlir.prefill(query, *pools, entries, lengths, cu, most, causal=causal, window=window, return_lse=True, **where)
                self.check(output, lse, query, offsets, row_of(pools[0]), row_of(pools[1]), keys, self.sees(causal, window))


if __name__ == "__main__":
    unittest.main(argv=["ragged_random.py", "RandomRagged"])
