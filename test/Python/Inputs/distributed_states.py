"""Linear attention by states and a token over a spread cache, on ranks that are threads, against float64 of the whole."""

import sys
import unittest

import numpy as np

import attn_mlir
from attn_mlir.distributed import PlanError, decode, linear_attention, on_threads

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
