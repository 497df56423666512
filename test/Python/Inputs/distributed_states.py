"""Linear attention by states and a token over a spread cache, on ranks that are threads, against float64 of the whole."""

import sys
import unittest

import numpy as np

import attn_mlir
from attn_mlir.distributed import PlanError, decode, linear_attention, on_threads
from attn_mlir.distributed.calls import merge
from attn_mlir.distributed.tokens import Library
from devices import in_turn

#: A part of the largest element.
TOLERANCE = {np.float32: 3e-6, np.float16: 2e-3}


def recurrence(q, k, v, decay, state, scale):
    """Outputs and the last state in float64; decay [B, H, N] are logarithms."""
    group = q.shape[1] // k.shape[1]
    q, k, v = (array.astype(np.float64) for array in (q, np.repeat(k, group, 1), np.repeat(v, group, 1)))
    state, outputs = state.astype(np.float64), []
    for i in range(q.shape[2]):
        state = np.exp(decay[:, :, i])[..., None, None] * state + k[:, :, i, :, None] * v[:, :, i, None, :]
        outputs.append(scale * np.einsum("bhd,bhde->bhe", q[:, :, i], state))
    return np.stack(outputs, 2), state


class States(unittest.TestCase):
    def near(self, got, want, dtype):
        self.assertEqual(got.shape, want.shape)
        self.assertLess(np.abs(got - want).max(), TOLERANCE[dtype] * np.abs(want).max())

    def linear(self, dtype, bounds, decay=None, has_state=False, batch=2, heads=4, key_heads=2, dim=16, value_dim=8, **options):
        """`bounds`: where the ranks' tokens end. `decay` is drawn by its shape."""
        generator = np.random.default_rng(len(bounds))
        draw = lambda *shape: generator.standard_normal(shape).astype(dtype)  # noqa: E731
        tokens = bounds[-1]
        q, k, v = draw(batch, heads, tokens, dim), draw(batch, key_heads, tokens, dim), draw(batch, key_heads, tokens, value_dim)
        state = generator.standard_normal((batch, heads, dim, value_dim)).astype(np.float32) if has_state else None
        logs = np.zeros((batch, heads, tokens), np.float32)
        if decay is not None:
            logs += decay if decay.ndim == 3 else decay[:, None]
        first = state if has_state else np.zeros((batch, heads, dim, value_dim))
        output, last = recurrence(q, k, v, logs, first, 0.5)

        def work(communicator):
            part = slice(([0] + bounds)[communicator.rank], bounds[communicator.rank])
            own = decay if decay is None or decay.ndim == 1 else decay[:, :, part]
            got = linear_attention(
                q[:, :, part], k[:, :, part], v[:, :, part], communicator=communicator, decay=own, state=state, scale=0.5,
                return_state=True, **options,
            )  # fmt: skip
            return *got, communicator.sent_bytes

        results = on_threads(len(bounds), work)
        self.near(np.concatenate([result[0] for result in results], 2), output, dtype)
        for result in results:
            self.near(result[1], last, dtype)
        moved = heads * (dim * value_dim + 1) if decay is not None else key_heads * dim * value_dim
        self.assertEqual([result[2] for result in results], [4 * (len(bounds) - 1) * batch * moved] * len(bounds))

    def test_linear(self):
        generator = np.random.default_rng(3)
        logs = -np.abs(generator.standard_normal((2, 4, 70))).astype(np.float32) / 8
        logs[0, 1, 20:23] = -np.inf
        slopes = np.array([-0.5, -0.125, 0, -np.inf], np.float32)
        self.linear(np.float32, [70])
        self.linear(np.float32, [20, 40, 70], has_state=True)
        self.linear(np.float32, [5, 5, 21, 70], decay=logs, has_state=True)
        self.linear(np.float32, [0, 1, 69, 70], decay=slopes)
        self.linear(np.float16, [33, 70], decay=logs, device="sim")

    def test_decode(self):
        """Sequences whose keys are on one rank, on all of them, or nowhere; pages of which nothing was written."""
        generator = np.random.default_rng(4)
        ranks, batch, heads, key_heads, dim, page = 3, 4, 4, 2, 16, 4
        lengths = np.array([[3, 0, 0, 9], [0, 0, 5, 2], [8, 0, 0, 11]], np.int32)
        q = generator.standard_normal((batch, heads, 1, dim)).astype(np.float32)
        sink = generator.standard_normal(heads).astype(np.float32)
        pools = [np.full((2, batch * 3 + 1, key_heads, page, dim), np.nan, np.float32) for _ in range(ranks)]
        tables = [generator.permutation(batch * 3 + 1)[: batch * 3].reshape(batch, 3).astype(np.int32) for _ in range(ranks)]
        keys = [[[], []] for _ in range(batch)]
        for rank in range(ranks):
            for b in range(batch):
                for j in range(lengths[rank, b]):
                    row = generator.standard_normal((2, key_heads, dim)).astype(np.float32)
                    pools[rank][:, tables[rank][b, j // page], :, j % page] = row
                    keys[b][0].append(row[0])
                    keys[b][1].append(row[1])
        for sinks in (None, sink):
            def work(communicator):
                r = communicator.rank
                got = decode(q, *pools[r], tables[r], lengths[r], communicator=communicator, sink=sinks, return_lse=True)  # noqa: B023
                return *got, communicator.sent_bytes

            results = on_threads(ranks, work)
            for b in range(batch):
                for h in range(heads):
                    k, v = (np.array([row[h // 2] for row in rows], np.float64).reshape(-1, dim) for rows in keys[b])
                    scores = k @ q[b, h, 0].astype(np.float64) / np.sqrt(dim)
                    weights = np.exp(scores)
                    total = weights.sum() + (np.exp(np.float64(sink[h])) if sinks is not None else 0)
                    output = weights @ v / total if total else np.zeros(dim)
                    self.assertLess(np.abs(results[0][0][b, h, 0] - output).max(), 3e-6)
                    if total:
                        self.assertLess(abs(results[0][1][b, h, 0] - np.log(total)), 3e-6)
                    else:
                        self.assertEqual(results[0][1][b, h, 0], -np.inf)
            for output, lse, sent in results:
                self.assertEqual(output.tobytes(), results[0][0].tobytes())
                self.assertEqual(lse.tobytes(), results[0][1].tobytes())
                self.assertEqual(sent, 4 * (ranks - 1) * batch * heads * (dim + 1))
            # Rank 0 has one sequence, rank 1 none and rank 2 three: the same results, where they are wanted.
            begins, counts = (0, 1, 1), (1, 0, 3)

            def work_on_own(communicator):
                r = communicator.rank
                own = q[begins[r] : begins[r] + counts[r]]
                got = decode(own, *pools[r], tables[r], lengths[r], communicator=communicator, own_queries=True, sink=sinks, return_lse=True)  # noqa: B023
                return *got, communicator.sent_bytes

            for r, (output, lse, sent) in enumerate(on_threads(ranks, work_on_own)):
                own = slice(begins[r], begins[r] + counts[r])
                self.assertEqual(output.tobytes(), results[0][0][own].tobytes())
                self.assertEqual(lse.tobytes(), results[0][1][own].tobytes())
                # b Hq D e to each other rank, Hq (Dv + 1) of f32 for each sequence of others.
                self.assertEqual(sent, 4 * heads * (2 * counts[r] * dim + (batch - counts[r]) * (dim + 1)))

    def spread(self, ranks, lengths, interleaved, rng, dtype=np.int32):
        """(keys and values [B, tokens, Hkv, D]; pools, table, lengths and positions of each rank): key j is on rank j % ranks, or on a random one, or all are on rank 1."""
        batch, heads, dim, page = len(lengths), 2, 16, 4
        columns = max(lengths) // page + 1
        whole = rng.standard_normal((2, batch, max(lengths), heads, dim)).astype(np.float32)
        parts = []
        owner = [np.arange(n) % ranks if interleaved else rng.integers(0, ranks, n) if b else np.ones(n, int) for b, n in enumerate(lengths)]
        for rank in range(ranks):
            pools = np.full((2, batch * columns, heads, page, dim), np.nan, np.float32)
            table = rng.permutation(batch * columns).reshape(batch, columns).astype(np.int32)
            own = [np.flatnonzero(owner[b] == rank) for b in range(batch)]
            positions = rng.integers(-(2**31), 2**31, (batch, columns * page)).astype(dtype)
            for b, at in enumerate(own):
                positions[b, : len(at)] = at
                for j, place in enumerate(at):
                    pools[:, table[b, j // page], :, j % page] = whole[:, b, place]
            parts.append((*pools, table, np.array([len(at) for at in own], np.int32), positions))
        return whole, parts

    def test_decode_positions(self):
        """Windows, masks and scores by positions in the whole sequence, of ranks that have every R-th key, any keys, or none."""
        rng, heads, dim = np.random.default_rng(6), 4, 16
        bits = rng.integers(0, 2, 40).astype(np.int32)
        slopes, seen = attn_mlir.mask.tensor(np.linspace(0.1, 0.7, heads, dtype=np.float32)), attn_mlir.mask.tensor(bits)
        length = attn_mlir.mask.key_length
        mods = {
            "mask_mod": lambda b, h, i, j: (seen[j] == 1) & (i + length() - 1 - j < 25),
            "score_mod": lambda s, b, h, i, j: s - slopes[h] * (length() - attn_mlir.mask.query_length() - j),
        }
        cases = (
            ({"window": (7, 0)}, 3, True, np.int32), ({"window": 12}, 3, False, np.int64), (mods, 4, True, np.int64),
            ({**mods, "window": (18, 3)}, 2, False, np.int32), ({"score_mod": mods["score_mod"]}, 7, True, np.int32),
        )  # fmt: skip
        for (options, ranks, interleaved, dtype), where in in_turn(cases, ({}, {}, {"device": "sim", "allow_tf32": True})):
            lengths = np.array([37, 1, 0, 5, 22], dtype)
            whole, parts = self.spread(ranks, lengths, interleaved, rng, dtype)
            q = rng.standard_normal((len(lengths), heads, 1, dim)).astype(np.float32)

            def work(communicator, own_queries=False):
                *arrays, positions = parts[communicator.rank]  # noqa: B023
                given = {"positions": positions, "total_lengths": lengths, "own_queries": own_queries, **options, **where}  # noqa: B023
                own = np.array_split(q, communicator.size)[communicator.rank] if own_queries else q  # noqa: B023
                return decode(own, *arrays, communicator=communicator, return_lse=True, **given)

            results = on_threads(ranks, work)
            owned = [np.concatenate(arrays) for arrays in zip(*on_threads(ranks, lambda c: work(c, True)))]  # noqa: B023
            self.assertEqual([array.tobytes() for array in owned], [array.tobytes() for array in results[0]])
            for b, n in enumerate(lengths):
                at = np.arange(n)
                window = options.get("window", (99, 0))
                shown = at >= n - 1 - (window if isinstance(window, int) else window[0])
                if "mask_mod" in options:
                    shown &= (bits[:n] == 1) & (n - 1 - at < 25)
                for h in range(heads):
                    k, v = (array[b, :n, h // 2][shown].astype(np.float64) for array in whole)
                    scores = k @ q[b, h, 0].astype(np.float64) / np.sqrt(dim)
                    if "score_mod" in options:
                        scores -= slopes.array[h].astype(np.float64) * (n - 1 - at[shown])
                    total = np.exp(scores).sum()
                    output = np.exp(scores) @ v / total if total else np.zeros(dim)
                    for got, lse in results:
                        self.assertLess(np.abs(got[b, h, 0] - output).max(), 2e-3 if where else 3e-6)
                        self.assertLess(abs(lse[b, h, 0] - np.log(total)), 2e-3 if where else 3e-6) if total else self.assertEqual(lse[b, h, 0], -np.inf)

    def test_merge(self):
        """A part without keys is left out, whatever its output is; two of them give 0 and -inf."""
        library = Library(np.zeros(1))
        empty, full = np.full((1, 1, 2, 3), np.nan), np.arange(6.0).reshape(1, 1, 2, 3)
        empty[0, 0, 0, 0] = np.inf
        nothing, some = np.full((1, 1, 2), -np.inf), np.array([[[80.0, -1e4]]])
        for pair in (((empty, nothing), (full, some)), ((full, some), (empty, nothing))):
            output, lse = merge(library, *pair)
            np.testing.assert_array_equal(output, full)
            np.testing.assert_array_equal(lse, some)
        output, lse = merge(library, (empty, nothing), (empty, nothing))
        np.testing.assert_array_equal(output, np.zeros((1, 1, 2, 3)))
        np.testing.assert_array_equal(lse, nothing)

    def test_decode_refused(self):
        """What would count a rank's keys in place of those of all."""
        q, pool = np.zeros((1, 2, 1, 16), np.float32), np.zeros((3, 2, 4, 16), np.float32)
        table, lengths = np.array([[0, 2]], np.int32), np.ones(1, np.int32)
        placed = {"positions": np.zeros((1, 8), np.int32), "total_lengths": lengths}
        tables = (np.ones((9, 8), np.float32),) * 2
        for message, options in {
            r"window: expected positions and total_lengths with it, .*, got \(3, 0\)": {"window": (3, 0)},
            "window: expected positions and total_lengths with it, .*, got 4": {"window": 4, "positions": placed["positions"]},
            "mask_mod: expected positions and total_lengths with it": {"mask_mod": lambda b, h, i, j: j > 3, "total_lengths": lengths},
            "score_mod: expected positions and total_lengths with it": {"score_mod": lambda s, b, h, i, j: s + j},
            r"positions: expected i32 or i64 of \(1, 8\), got i32 of \(1, 4\)": {**placed, "positions": np.zeros((1, 4), np.int32)},
            r"positions: expected i32 or i64 of \(1, 8\), got f32": {**placed, "positions": np.zeros((1, 8), np.float32)},
            r"total_lengths: expected i32 or i64 of \(1,\), got i32 of \(2,\)": {**placed, "total_lengths": np.ones(2, np.int32)},
            r"expected window to be a number or \(left, right\), got 'wide'": {**placed, "window": "wide"},
            "expected no causal on several ranks, got True: a token sees all keys of its sequence": {"causal": True},
            "expected no out on several ranks, got ndarray: results are those of the merge": {"out": q},
            "expected a mask or a function of .*, got int": {**placed, "mask_mod": 0},
            "expected no result_dtype on several ranks, got 'f16': partial results": {"result_dtype": "f16"},
            "expected no widow on several ranks, got 3: there are k_new, ": {"widow": 3},
            "expected rotary_positions with rotary on several ranks": {"rotary": tables},
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                on_threads(1, lambda c: decode(q, pool, pool, table, lengths, communicator=c, **options))  # noqa: B023
        masks = [lambda b, h, i, j: j > 3, lambda b, h, i, j: j > 4]
        with self.assertRaisesRegex(PlanError, "rank 1: expected what rank 0 has"):
            on_threads(2, lambda c: decode(q, pool, pool, table, lengths, communicator=c, mask_mod=masks[c.rank], **placed))

    def test_refused(self):
        def arrays(tokens=4, heads=2, dim=16):
            return [np.zeros((1, heads, tokens, dim), np.float32) for _ in range(3)]

        def differ(communicator):
            linear_attention(*arrays(dim=16 + 16 * communicator.rank), communicator=communicator)

        with self.assertRaisesRegex(PlanError, r"rank 1: expected what rank 0 has, linear_attention f32 \[1, 2, 2, 16, 16\]"):
            on_threads(2, differ)

        def one_wrong(communicator):
            q, k, v = arrays()
            linear_attention(q, k if communicator.rank else k[:, :, 1:], v, communicator=communicator)

        with self.assertRaisesRegex((PlanError, attn_mlir.BindingError), "key: expected 4 tokens, those of query, got 3"):
            on_threads(2, one_wrong)
        three = [a[:, :1].repeat(n, 1) for a, n in zip(arrays(), (3, 2, 2))]
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected a number of query heads that 2 key heads divide, got 3"):
            on_threads(1, lambda c: linear_attention(*three, communicator=c))
        with self.assertRaisesRegex(attn_mlir.BindingError, r"key: expected \[batch, heads, tokens, head dim\], got rank 3"):
            on_threads(1, lambda c: linear_attention(arrays()[0], arrays()[1][0], arrays()[2], communicator=c))
        pool, table, lengths = np.zeros((1, 2, 4, 16), np.float32), np.zeros((1, 1), np.int32), np.ones(1, np.int32)
        with self.assertRaisesRegex(attn_mlir.BindingError, r"query: expected \[batch, heads, 1, head dim\], .* got \[1, 2, 4, 16\]"):
            on_threads(1, lambda c: decode(arrays()[0], pool, pool, table, lengths, communicator=c))
        with self.assertRaisesRegex(PlanError, "table: expected 2 rows, as many as ranks have queries, got 1"):
            on_threads(2, lambda c: decode(arrays(1)[0], pool, pool, table, lengths, communicator=c, own_queries=True))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
