"""attn_mlir.attention with a prob_mod on the CPU and in the simulator, against a computation by hand: scales of heads and a mix with the
identity, floors, grouped heads, a sink, rows that see no key; messages."""

import itertools
import math
import random
import unittest

import attn_mlir
from attn_mlir import mask
from attn_mlir.runtime.host_array import HostArray, round_to
from devices import in_turn, some

generator = random.Random(5)
HQ, HKV, M, N, D, DV, SINK = 2, 1, 21, 19, 32, 24, 0.5
SHARES = [0.25, 1.0]
ON = ({"target": "cpu"}, {"device": "sim"}, {"target": "sm_80", "device": "sim"})


def normal(*shape):
    return HostArray.of("f16", shape, [round_to(generator.gauss(0, 1), "f16") for _ in range(math.prod(shape))])


def expected(q, k, v, prob_mod):
    """Row i sees the keys up to i + N - M: the first two see none."""
    q, k, v = (array.values() for array in (q, k, v))
    output, lse = [], []
    for h, i in itertools.product(range(HQ), range(M)):
        row = q[(h * M + i) * D :][:D]
        scores = [sum(a * b for a, b in zip(row, k[j * D :])) / D**0.5 for j in range(max(0, i + N - M + 1))]
        total = sum(map(math.exp, scores)) + math.exp(SINK)
        weights = [prob_mod(math.exp(score) / total, h, i, j) for j, score in enumerate(scores)]
        output += [sum(w * v[j * DV + e] for j, w in enumerate(weights)) for e in range(DV)]
        lse.append(math.log(total))
    return output, lse


class ProbMod(unittest.TestCase):
    def setUp(self):
        self.arrays = normal(1, HQ, M, D), normal(1, HKV, N, D), normal(1, HKV, N, DV)

    def check(self, traced, by_hand):
        options = {"causal": True, "sink": HostArray.of("f32", (HQ,), [SINK] * HQ), "prob_mod": traced, "return_lse": True}
        for where in some(ON):
            found = attn_mlir.attention(*self.arrays, **options, **where)
            for array, numbers in zip(found, expected(*self.arrays, by_hand)):
                for ours, theirs in zip(array.values(), numbers):
                    self.assertAlmostEqual(ours, theirs, delta=4e-3 * max(1, abs(theirs)), msg=str(where))

    def test_mix_with_the_identity(self):
        shares = mask.tensor(HostArray.of("f32", (HQ,), SHARES))
        self.check(
            lambda p, b, h, i, j: (1 - shares[h]) * p + mask.where(i == j, shares[h], 0.0),
            lambda p, h, i, j: (1 - SHARES[h]) * p + (SHARES[h] if i == j else 0.0),
        )

    def test_floor(self):
        self.check(lambda p, b, h, i, j: mask.maximum(p - 0.05, 0.0), lambda p, h, i, j: max(p - 0.05, 0.0))

    def test_rows_that_a_finite_mask_hides(self):
        """All scores of a row are the lowest number, as left padding makes them: each probability is 1/N."""
        lowest, (q, k, v) = -3.4028234663852886e38, self.arrays
        bias = HostArray.of("f32", (1, 1, M, N), [lowest * (i == 4) for i in range(M) for _ in range(N)])
        hide = lambda s, b, h, i, j: mask.where(i == 4, lowest, s)  # noqa: E731
        columns = [sum(v.values()[e::DV]) / N / N for e in range(DV)]
        for options, where in in_turn(({"bias": bias}, {"score_mod": hide}), ON):
            output = attn_mlir.attention(q, k, v, prob_mod=lambda p, b, h, i, j: p * p * N, **options, **where).values()
            for ours, theirs in zip(output[4 * DV : 5 * DV], (N * c for c in columns)):
                self.assertAlmostEqual(ours, theirs, delta=4e-3, msg=str((options, where)))

    def test_messages(self):
        keep = lambda p, b, h, i, j: p  # noqa: E731
        f64 = HostArray.of("f64", (1, 1, 2, 16), [0.0] * 32)
        q, k, v = self.arrays
        for message, call in {
            "expected no prob_mod with normalization 'none': its score_mod gives the weights": lambda: attn_mlir.attention(
                q, k, v, prob_mod=keep, normalization="none"
            ),
            "query: expected dtype f16, bf16 or f32 with prob_mod, got f64": lambda: attn_mlir.attention(f64, f64, f64, prob_mod=keep),
            "expected out or return_lse with prob_mod, got both": lambda: attn_mlir.attention(
                q, k, v, prob_mod=keep, return_lse=True, out=(q, q)
            ),
            "expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got f16": lambda: attn_mlir.attention(
                q, k, v, prob_mod=keep, descale=[HostArray.of("f32", (1,), [1.0])] * 3
            ),
            r"expected a function of \(probability, b, h, i, j\) as prob_mod, got float": lambda: attn_mlir.attention(q, k, v, prob_mod=0.5),
        }.items():
            with self.subTest(message), self.assertRaisesRegex(attn_mlir.BindingError, message):
                call()


if __name__ == "__main__":
    unittest.main()
