"""What --attn-grad makes of attn.linear_attention, on the CPU in f64, against central differences of the recurrence: query, key, value, decays of
positions and heads, -inf among them, and states; by output and final state; both directions and full; grouped heads; a chunk's end."""

import itertools
import math
import random
import re
import subprocess
import sys

import attn_mlir
from attn_mlir.runtime.host_array import HostArray
from sweep import LONG, few

generator = random.Random(3)
HQ, HKV, D, DV, SCALE, STEP = 2, 1, 3, 2, 0.7, 1e-5


class Case:
    """Names and shapes of what is read, and the module."""

    def __init__(self, walk, decay, has_state, rows, keys):
        self.walk, self.decay, self.rows, self.keys = walk, decay, rows, keys
        self.shapes = {"q": (1, HQ, rows, D), "k": (1, HKV, keys, D), "v": (1, HKV, keys, DV)}
        if decay:
            self.shapes["g"] = (HQ,) if decay == "slope" else (1, HQ, rows)
        if has_state:
            self.shapes["s"] = (1, HQ, D, DV)

    def module(self):
        types = {name: f"tensor<{'x'.join(map(str, shape))}xf64>" for name, shape in self.shapes.items()}
        clauses = f"{self.walk} " + (f"{self.decay}(%g : {types['g']}) " if self.decay else "")
        clauses += f"state(%s : {types['s']}) " if "s" in types else ""
        out, end = f"tensor<1x{HQ}x{self.rows}x{DV}xf64>", f"tensor<1x{HQ}x{D}x{DV}xf64>"
        arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
        return f"""func.func @linear({arguments}) -> ({out}, {end}) {{
  %o, %e = attn.linear_attention %q, %k, %v {clauses}scale({SCALE}) : {types['q']}, {types['k']}, {types['v']} -> {out}, {end}
  return %o, %e : {out}, {end}
}}"""

    def loss(self, x, weights):
        """Outputs and final states, weighted: the recurrence as docs/Spec.md has it."""
        total = 0.0
        for h in range(HQ):
            state = list(x["s"][h * D * DV : (h + 1) * D * DV]) if "s" in x else [0.0] * (D * DV)

            def forget(i):
                if self.decay:
                    factor = math.exp(x["g"][h] if self.decay == "slope" else x["g"][h * self.rows + i])
                    state[:] = [factor * s for s in state]

            def add(j):
                for d, e in itertools.product(range(D), range(DV)):
                    state[d * DV + e] += x["k"][j * D + d] * x["v"][j * DV + e]

            def weigh(i):
                at = h * self.rows + i
                outputs = [sum(x["q"][at * D + d] * state[d * DV + e] for d in range(D)) for e in range(DV)]
                return SCALE * sum(w * o for w, o in zip(weights["o"][at * DV : at * DV + DV], outputs))

            if self.walk == "full":
                for j in range(self.keys):
                    add(j)
                total += sum(map(weigh, range(self.rows)))
            for i in range(self.rows) if self.walk == "" else []:
                forget(i)
                add(i)
                total += weigh(i)
            for i in reversed(range(self.rows)) if self.walk == "reverse" else []:
                add(i)
                total += weigh(i)
                forget(i)
            total += sum(w * s for w, s in zip(weights["e"][h * D * DV : (h + 1) * D * DV], state))
        return total

    def difference(self, x, weights, name, i):
        given = x[name][i]
        if given == -math.inf:
            return 0.0
        sides = []
        for step in (STEP, -STEP):
            x[name][i] = given + step
            sides.append(self.loss(x, weights))
        x[name][i] = given
        return (sides[0] - sides[1]) / (2 * STEP)

    def check(self):
        x = {name: [generator.gauss(0, 1) for _ in range(math.prod(shape))] for name, shape in self.shapes.items()}
        if self.decay:
            x["g"] = [-0.3 * abs(g) - 1e-3 for g in x["g"]]
            x["g"][-1] = -math.inf
        weights = {"o": HQ * self.rows * DV, "e": HQ * D * DV}
        weights = {name: [generator.gauss(0, 1) for _ in range(count)] for name, count in weights.items()}
        made = subprocess.run(["attn-opt", "--attn-grad"], input=self.module(), capture_output=True, text=True, check=True).stdout
        backward = re.sub(r"  func\.func @linear\(.*?\n  }\n", "", made, flags=re.DOTALL)
        arrays = [HostArray.of("f64", shape, x[name]) for name, shape in self.shapes.items()]
        arrays.append(HostArray.of("f64", (1, HQ, self.rows, DV), weights["o"]))
        arrays.append(HostArray.of("f64", (1, HQ, D, DV), weights["e"]))
        gradients = attn_mlir.compile(backward, target="cpu")(*arrays)
        for name, gradient in zip(self.shapes, gradients):
            expected = [self.difference(x, weights, name, i) for i in range(len(x[name]))]
            largest = max(map(abs, expected))
            error = max(abs(a - b) for a, b in zip(gradient.values(), expected))
            if not error <= 1e-7 * max(largest, 1):
                sys.exit(f"{self.walk} {self.decay} {name}, {self.rows} rows: off by {error} of {largest}")


for walk, rows, decay, has_state in few(itertools.product(("", "reverse"), (7, 1), ("", "slope", "decay"), (False, True))):
    Case(walk, decay, has_state, rows, rows).check()
for walk in ("", "reverse") if LONG else ("reverse",):
    Case(walk, "decay", True, 67, 67).check()
for rows, keys in ((3, 5), (66, 2), (2, 66)):
    Case("full", "", True, rows, keys).check()
