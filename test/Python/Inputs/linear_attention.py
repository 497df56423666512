"""`attn_mlir.linear_attention` on arrays without NumPy: results, a sequence continued, messages."""

import itertools
import math
import random
import sys
import unittest

import attn_mlir
from attn_mlir.errors import BindingError
from attn_mlir.runtime.host_array import HostArray, round_to

generator = random.Random(5)
B, HQ, HKV, M, D, DV = 1, 2, 1, 70, 16, 8


def normal(dtype, *shape):
    return HostArray.of(dtype, shape, [round_to(generator.gauss(0, 1), dtype) for _ in range(math.prod(shape))])


def recurrence(q, k, v, decay, state, scale):
    """Outputs and last states as lists, in the order of memory; `decay(h, i)` are logarithms."""
    q, k, v = (list(x.values()) for x in (q, k, v))
    outputs, states = [], []
    for h in range(HQ):
        s = [[state[(h * D + d) * DV + e] for e in range(DV)] for d in range(D)]
        for i in range(M):
            key, value, query = k[i * D : i * D + D], v[i * DV : i * DV + DV], q[(h * M + i) * D : (h * M + i) * D + D]
            factor = math.exp(decay(h, i))
            for d, e in itertools.product(range(D), range(DV)):
                s[d][e] = factor * s[d][e] + key[d] * value[e]
            outputs += [scale * sum(query[d] * s[d][e] for d in range(D)) for e in range(DV)]
        states += itertools.chain(*s)
    return outputs, states


class Linear(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = normal("f16", B, HQ, M, D), normal("f16", B, HKV, M, D), normal("f16", B, HKV, M, DV)

    def near(self, array, expected, tolerance):
        largest = max(abs(x) for x in expected)
        self.assertLess(max(abs(a - x) for a, x in zip(array.values(), expected)), tolerance * largest)

    def test_devices(self):
        logs = HostArray.of("f32", (B, HQ, M), [-abs(generator.gauss(0, 0.2)) for _ in range(HQ * M)])
        slopes = HostArray.of("f32", (HQ,), [-0.125, -math.inf])
        first = normal("f32", B, HQ, D, DV)
        values, heads = list(logs.values()), list(slopes.values())
        for options in ({}, {"device": "sim"}, {"device": "sim", "target": "sm_80"}):
            for decay, log in ((None, lambda h, i: 0), (logs, lambda h, i: values[h * M + i]), (slopes, lambda h, i: heads[h])):
                output, state = attn_mlir.linear_attention(
                    self.q, self.k, self.v, decay=decay, state=first, scale=0.5, return_state=True, **options
                )
                outputs, states = recurrence(self.q, self.k, self.v, log, list(first.values()), 0.5)
                self.near(output, outputs, 2e-3)
                self.near(state, states, 1e-3)

    def test_defaults(self):
        output = attn_mlir.linear_attention(self.q, self.k, self.v)
        expected, _ = recurrence(self.q, self.k, self.v, lambda h, i: 0, [0] * (HQ * D * DV), 1 / math.sqrt(D))
        self.assertEqual((output.dtype, tuple(output.shape)), ("f16", (B, HQ, M, DV)))
        self.near(output, expected, 1e-3)

    def test_walks(self):
        """In reverse: forwards on what is turned around; all keys: each output is of the final state."""

        def turned(array):
            rows, values = array.shape[2], list(array.values())
            dim = len(values) // (array.shape[0] * array.shape[1] * rows)
            blocks = [values[i : i + dim] for i in range(0, len(values), dim)]
            heads = [blocks[i : i + rows][::-1] for i in range(0, len(blocks), rows)]
            return HostArray.of(array.dtype, array.shape, itertools.chain(*itertools.chain(*heads)))

        for device in (None, "sim"):
            arrays = (self.q, self.k, self.v)
            output, state = attn_mlir.linear_attention(*arrays, reverse=True, return_state=True, device=device)
            back, last = attn_mlir.linear_attention(*map(turned, arrays), return_state=True, device=device)
            self.near(output, list(turned(back).values()), 1e-3)
            self.near(state, list(last.values()), 1e-4)
            output = attn_mlir.linear_attention(*arrays, full=True, scale=0.5, result_dtype="f32", device=device)
            self.assertEqual(output.dtype, "f32")
            s, q = list(state.values()), list(self.q.values())
            self.near(
                output,
                [
                    0.5 * sum(q[(h * M + i) * D + d] * s[(h * D + d) * DV + e] for d in range(D))
                    for h, i, e in itertools.product(range(HQ), range(M), range(DV))
                ],
                2e-3,
            )

    def test_steps(self):
        """Decoding: the state is updated in place, and no other argument is a place for results."""

        def part(array, i):
            dim, values = len(list(array.values())) // (array.shape[1] * M), list(array.values())
            rows = [values[(h * M + i) * dim : (h * M + i + 1) * dim] for h in range(array.shape[1])]
            return HostArray.of(array.dtype, (1, array.shape[1], 1, dim), itertools.chain(*rows))

        slopes = HostArray.of("f32", (HQ,), [-0.125, -0.5])
        for device in (None, "sim"):
            state = HostArray.of("f32", (B, HQ, D, DV), [0.0] * (HQ * D * DV))
            for i in range(3):
                given = [part(array, i) for array in (self.q, self.k, self.v)]
                output = HostArray.of("f16", (B, HQ, 1, DV), [0.0] * (HQ * DV))
                out = (output, state)
                attn_mlir.linear_attention(*given, decay=slopes, state=state, return_state=True, out=out, device=device)
            outputs, _ = recurrence(self.q, self.k, self.v, lambda h, i: (-0.125, -0.5)[h], [0] * (HQ * D * DV), 1 / math.sqrt(D))
            last = [outputs[(h * M + 2) * DV + e] for h, e in itertools.product(range(HQ), range(DV))]
            self.near(output, last, 2e-3)
            same = normal("f16", 1, HQ, 1, DV)
            with self.assertRaisesRegex(BindingError, "result 0: expected memory of its own, got some of argument 0"):
                attn_mlir.linear_attention(same, given[2], given[2], out=same, device=device)

    def test_messages(self):
        for options, message in (
            ({"decay": normal("f32", 3)}, r"decay: expected shape \(2,\) or \(1, 2, 70\), got \(3,\)"),
            ({"decay": normal("f16", HQ)}, "decay: expected dtype f32, got f16"),
            ({"state": normal("f32", D, DV)}, r"state: expected \[B, Hq, D, Dv\], got rank 2"),
            ({"state": normal("f32", B, HQ, D, D)}, "operand state: expected dim 3 to be 8, got 16"),
            ({"full": True, "decay": normal("f32", HQ)}, "expected no decay with full, where no position is before another"),
            ({"result_dtype": "f64"}, "expected result_dtype f16 or f32, got 'f64'"),
            ({"scale": math.inf}, "expected scale to be a finite number, got inf"),
        ):
            with self.assertRaisesRegex(BindingError, message):
                attn_mlir.linear_attention(self.q, self.k, self.v, **options)
        with self.assertRaisesRegex(BindingError, "key: expected 70 positions, those of query, got 3"):
            attn_mlir.linear_attention(self.q, normal("f16", B, HKV, 3, D), normal("f16", B, HKV, 3, DV))


if __name__ == "__main__":
    sys.exit(unittest.main())
