"""What --attn-grad makes of #attn.sum, on the CPU in f64, against central differences: squares of scores as weights, grouped heads, a bias, rows
that see no key, with an epsilon and without."""

import itertools
import math
import random
import re

import attn_mlir
from attn_mlir.runtime.host_array import HostArray
from finite_differences import backward_of, check, differences

generator = random.Random(4)
HQ, HKV, M, N, D, DV, SCALE = 2, 1, 6, 4, 3, 2, 0.7
SHAPES = {"q": (1, HQ, M, D), "k": (1, HKV, N, D), "v": (1, HKV, N, DV), "b": (1, HQ, M, N)}

MODULE = """func.func @f(%q: Q, %k: K, %v: V, %b: B) -> O {
  %o = attn.attention %q, %k, %v bias(%b : B) scale(SCALE) normalization(#attn.sum<EPSILON>)
      score_mod (%s: f64, %x: index, %h: index, %i: index, %j: index) {
        %w = arith.mulf %s, %s : f64
        attn.yield %w : f64
      } mask_mod causal(bottom_right) : Q, K, V -> O
  return %o : O
}"""


def loss(x, weights, epsilon):
    """The outputs, weighted; row i sees the keys up to i + N - M."""
    total = 0.0
    for h, i in itertools.product(range(HQ), range(M)):
        row = h * M + i
        scores = []
        for j in range(max(0, i + N - M + 1)):
            score = SCALE * sum(x["q"][row * D + d] * x["k"][j * D + d] for d in range(D)) + x["b"][row * N + j]
            scores.append(score * score)
        divisor = sum(scores) + epsilon
        for e in range(DV if scores else 0):
            total += weights[row * DV + e] * sum(s * x["v"][j * DV + e] for j, s in enumerate(scores)) / divisor
    return total


for epsilon in (0.0, 0.5):
    x = {name: [generator.gauss(0, 1) for _ in range(math.prod(shape))] for name, shape in SHAPES.items()}
    weights = [generator.gauss(0, 1) for _ in range(HQ * M * DV)]
    types = {name.upper(): f"tensor<{'x'.join(map(str, shape))}xf64>" for name, shape in {**SHAPES, "o": (1, HQ, M, DV)}.items()}
    text = re.sub(r"\b[QKVBO]\b", lambda name: types[name[0]], MODULE).replace("SCALE", str(SCALE)).replace("EPSILON", str(epsilon))
    backward = attn_mlir.compile(backward_of(text), target="cpu")
    arrays = [HostArray.of("f64", shape, x[name]) for name, shape in SHAPES.items()]
    arrays.append(HostArray.of("f64", (1, HQ, M, DV), weights))
    for name, gradient in zip(SHAPES, backward(*arrays)):
        check(f"epsilon {epsilon}, {name}", gradient.values(), differences(lambda: loss(x, weights, epsilon), x, name))
