"""An attention with two output_mods and what --attn-grad makes of them, on the CPU in f64, against a computation by hand and its central
differences: a sigmoid gate, and the mix of heads with the values, which are read twice; grouped heads, a causal mask, saved and computed again."""

import itertools
import math
import random
import re

import attn_mlir
from attn_mlir.runtime.host_array import HostArray
from finite_differences import backward_of, check, differences, dot

generator = random.Random(7)
HQ, HKV, M, N, D, DV, SCALE = 2, 1, 5, 5, 12, 9, 0.3
SHAPES = {"q": (1, HQ, M, D), "k": (1, HKV, N, D), "v": (1, HKV, N, DV), "g": (1, HQ, M, DV), "u": (HQ,)}

MODULE = """func.func @f(%q: Q, %k: K, %v: V, %g: G, %u: U) -> (G, RESULTS) {
  %o, %l = attn.attention %q, %k, %v scale(SCALE) mask_mod causal(top_left) : Q, K, V -> G, L
  %z = attn.output_mod %o (%x: f64, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f64
    %gate = tensor.extract %g[%b, %h, %i, %c] : G
    %n = arith.negf %gate : f64
    %e = math.exp %n : f64
    %d = arith.addf %e, %one : f64
    %r = arith.divf %x, %d : f64
    attn.yield %r : f64
  } : G -> G
  %y = attn.output_mod %z (%x: f64, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f64
    %c2 = arith.constant 2 : index
    %u1 = tensor.extract %u[%h] : U
    %rest = arith.subf %one, %u1 : f64
    %kh = arith.divui %h, %c2 : index
    %own = tensor.extract %v[%b, %kh, %i, %c] : V
    %left = arith.mulf %rest, %x : f64
    %right = arith.mulf %u1, %own : f64
    %r = arith.addf %left, %right : f64
    attn.yield %r : f64
  } : G -> G
  return %y, RETURNED : G, RESULTS
}"""


def forward(x):
    output = []
    for h, i in itertools.product(range(HQ), range(M)):
        row = h * M + i
        weights = [math.exp(SCALE * sum(x["q"][row * D + d] * x["k"][j * D + d] for d in range(D))) for j in range(i + 1)]
        for c in range(DV):
            o = sum(w * x["v"][j * DV + c] for j, w in enumerate(weights)) / sum(weights)
            gated = o / (1 + math.exp(-x["g"][row * DV + c]))
            output.append((1 - x["u"][h]) * gated + x["u"][h] * x["v"][i * DV + c])
    return output


x = {name: [generator.gauss(0, 1) for _ in range(math.prod(shape))] for name, shape in SHAPES.items()}
types = {name.upper(): f"tensor<{'x'.join(map(str, shape))}xf64>" for name, shape in {**SHAPES, "l": (1, HQ, M)}.items()}
saving = MODULE.replace("RETURNED", "%o, %l").replace("RESULTS", "G, L")
again = MODULE.replace(", RETURNED", "").replace(", RESULTS", "")
saving, again = (re.sub(r"\b[QKVGUL]\b", lambda name: types[name[0]], text).replace("SCALE", str(SCALE)) for text in (saving, again))
arrays = [HostArray.of("f64", shape, x[name]) for name, shape in SHAPES.items()]
found = attn_mlir.compile(saving, target="cpu")(*arrays)
check("output", found[0].values(), forward(x))
d_output = [generator.gauss(0, 1) for _ in range(HQ * M * DV)]
given = HostArray.of("f64", SHAPES["g"], d_output)
expected = {name: differences(lambda: dot(forward(x), d_output), x, name) for name in SHAPES}
for text, option, saved in ((saving, "--attn-grad", found), (again, "--attn-grad=recompute", [])):
    backward = attn_mlir.compile(backward_of(text, option), target="cpu")
    for name, gradient in zip(SHAPES, backward(*arrays, *saved, given)):
        check(f"d_{name} by {option}", gradient.values(), expected[name])
