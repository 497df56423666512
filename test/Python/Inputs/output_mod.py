"""attn_mlir.attention with an output_mod on the CPU and in the simulator, against a computation by hand: a sigmoid gate, the mix of a head with
the values, factors of heads behind a prob_mod; rows that see no key; messages."""

import itertools
import math
import random
import unittest

import attn_mlir
from attn_mlir import mask
from attn_mlir.runtime.host_array import HostArray, round_to
from devices import some

generator = random.Random(5)
HQ, HKV, M, N, D, DV = 2, 1, 21, 21, 32, 24
SHARES = [0.25, 1.0]
ON = ({"target": "cpu"}, {"device": "sim"}, {"target": "sm_80", "device": "sim"})


def normal(*shape):
    return HostArray.of("f16", shape, [round_to(generator.gauss(0, 1), "f16") for _ in range(math.prod(shape))])


def expected(q, k, v, output_mod):
    """Row i sees the keys up to i - 2: the first two see none."""
    q, k, v = (array.values() for array in (q, k, v))
    output = []
    for h, i in itertools.product(range(HQ), range(M)):
        row = q[(h * M + i) * D :][:D]
        weights = [math.exp(sum(a * b for a, b in zip(row, k[j * D :])) / D**0.5) for j in range(max(0, i - 1))]
        for c in range(DV):
            x = sum(w * v[j * DV + c] for j, w in enumerate(weights)) / sum(weights) if weights else 0.0
            output.append(output_mod(x, h, i, c))
    return output


class OutputMod(unittest.TestCase):
    def setUp(self):
        self.arrays = normal(1, HQ, M, D), normal(1, HKV, N, D), normal(1, HKV, N, DV)
        self.gates = normal(1, HQ, M, DV)

    def check(self, traced, by_hand, **options):
        for where in some(ON):
            found = attn_mlir.attention(*self.arrays, mask_mod=lambda b, h, i, j: j < i - 1, output_mod=traced, **options, **where)
            for ours, theirs in zip(found.values(), expected(*self.arrays, by_hand)):
                self.assertAlmostEqual(ours, theirs, delta=4e-3 * max(1, abs(theirs)), msg=str(where))

    def test_gate(self):
        gates, numbers = mask.tensor(self.gates), self.gates.values()
        self.check(
            lambda x, b, h, i, c: x / (1 + mask.exp(-gates[b, h, i, c])),
            lambda x, h, i, c: x / (1 + math.exp(-numbers[(h * M + i) * DV + c])),
        )

    def test_mix_with_the_values(self):
        values, numbers = mask.tensor(self.arrays[2]), self.arrays[2].values()
        shares = mask.tensor(HostArray.of("f32", (HQ,), SHARES))
        self.check(
            lambda x, b, h, i, c: (1 - shares[h]) * x + shares[h] * values[b, h // (HQ // HKV), i, c],
            lambda x, h, i, c: (1 - SHARES[h]) * x + SHARES[h] * numbers[i * DV + c],
        )

    def test_behind_a_prob_mod(self):
        self.check(
            lambda x, b, h, i, c: x * (1.0 + h) + c, lambda x, h, i, c: 0.5 * x * (1 + h) + c, prob_mod=lambda p, b, h, i, j: 0.5 * p
        )

    def test_float64(self):
        arrays = [HostArray.of("f64", array.shape, array.values()) for array in self.arrays]
        third = attn_mlir.attention(*arrays, output_mod=lambda x, b, h, i, c: x / 3.0, target="cpu").values()
        whole = attn_mlir.attention(*arrays, target="cpu").values()
        for ours, theirs in zip(third, whole):
            self.assertAlmostEqual(ours, theirs / 3, delta=1e-15 * max(1, abs(theirs)))

    def test_messages(self):
        q, k, v = self.arrays
        few = mask.tensor(normal(1, HQ, M, DV - 1))
        for message, function in {
            r"expected a function of \(x, b, h, i, c\) as output_mod, got float": 0.5,
            r"array 0 that the output reads: expected dim 3 to be at least 24 \(Dv\), got 23": lambda x, b, h, i, c: x * few[b, h, i, c],
            "expected the output to give a number, got i1": lambda x, b, h, i, c: x > 0,
        }.items():
            with self.subTest(message), self.assertRaisesRegex((attn_mlir.BindingError, mask.TraceError), message):
                attn_mlir.attention(q, k, v, output_mod=function)


if __name__ == "__main__":
    unittest.main()
