"""An attention with a prob_mod and what --attn-grad makes of it, on the CPU in f64, against a computation by hand and its central differences:
a mix with the identity and squares of probabilities over a score_mod, grouped heads, a bias, a sink, rows that see no key, and the
gradient of the LSE."""

import itertools
import math
import random
import re

import attn_mlir
from attn_mlir.runtime.host_array import HostArray
from finite_differences import backward_of, check, differences, dot

generator = random.Random(7)
HQ, HKV, M, N, D, DV, SCALE = 2, 1, 6, 4, 20, 18, 0.3
SHAPES = {"q": (1, HQ, M, D), "k": (1, HKV, N, D), "v": (1, HKV, N, DV), "b": (1, HQ, M, N), "s": (HQ,), "t": (HQ,), "u": (HQ,)}

MODULE = """func.func @f(%q: Q, %k: K, %v: V, %b: B, %s: S, %t: T, %u: U) -> (O, L) {
  %o, %l = attn.attention %q, %k, %v bias(%b : B) sink(%s : S) scale(SCALE)
      score_mod (%x: f64, %i0: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %t[%h] : T
        %y = arith.mulf %x, %slope : f64
        attn.yield %y : f64
      } mask_mod causal(bottom_right)
      prob_mod (%p: f64, %i0: index, %h: index, %i: index, %j: index) {
        %share = tensor.extract %u[%h] : U
        %slope = tensor.extract %t[%h] : T
        %one = arith.constant 1.0 : f64
        %zero = arith.constant 0.0 : f64
        %rest = arith.subf %one, %share : f64
        %square = arith.mulf %p, %p : f64
        %scaled = arith.mulf %square, %slope : f64
        %left = arith.mulf %rest, %scaled : f64
        %is = arith.cmpi eq, %i, %j : index
        %right = arith.select %is, %share, %zero : f64
        %w = arith.addf %left, %right : f64
        attn.yield %w : f64
      } : Q, K, V -> O, L
  return %o, %l : O, L
}"""


def forward(x):
    """Output and LSE; row i sees the keys up to i + N - M."""
    output, lse = [], []
    for h, i in itertools.product(range(HQ), range(M)):
        row, scores = h * M + i, []
        for j in range(max(0, i + N - M + 1)):
            score = SCALE * sum(x["q"][row * D + d] * x["k"][j * D + d] for d in range(D)) + x["b"][row * N + j]
            scores.append(x["t"][h] * score)
        total = sum(map(math.exp, scores)) + math.exp(x["s"][h])
        lse.append(math.log(total))
        weights = []
        for j, score in enumerate(scores):
            p, share = math.exp(score) / total, x["u"][h]
            weights.append((1 - share) * x["t"][h] * p * p + (share if i == j else 0))
        output += [sum(w * x["v"][j * DV + e] for j, w in enumerate(weights)) for e in range(DV)]
    return output, lse


def loss(x, weights):
    return sum(map(dot, forward(x), weights))


x = {name: [generator.gauss(0, 1) for _ in range(math.prod(shape))] for name, shape in SHAPES.items()}
results = {"o": (1, HQ, M, DV), "l": (1, HQ, M)}
types = {name.upper(): f"tensor<{'x'.join(map(str, shape))}xf64>" for name, shape in {**SHAPES, **results}.items()}
text = re.sub(r"\b[QKVBSTUOL]\b", lambda name: types[name[0]], MODULE).replace("SCALE", str(SCALE))
arrays = [HostArray.of("f64", shape, x[name]) for name, shape in SHAPES.items()]
found = attn_mlir.compile(text, target="cpu")(*arrays)
for name, array, expected in zip(results, found, forward(x)):
    check(name, array.values(), expected)

weights = [[generator.gauss(0, 1) for _ in range(math.prod(shape))] for shape in results.values()]
backward = attn_mlir.compile(backward_of(text, "--attn-grad=lse-gradient=true"), target="cpu")
arrays += [*found, *(HostArray.of("f64", shape, w) for shape, w in zip(results.values(), weights))]
for name, gradient in zip(SHAPES, backward(*arrays)):
    check(f"d_{name}", gradient.values(), differences(lambda: loss(x, weights), x, name))
