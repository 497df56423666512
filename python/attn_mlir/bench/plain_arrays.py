# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs, reference and errors without any package: Python floats, for the sizes that the simulator runs."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Sequence

from ..runtime.devices import Program
from ..runtime.host_array import HostArray, round_to
from .configurations import DISTANCE_SLOPE, Problem


@dataclasses.dataclass
class Reference:
    """The results in float64, and those of an unfused computation in the kernel's precision; flat, row-major."""

    results: dict[str, Sequence[float]]
    unfused: dict[str, Sequence[float]]


class PlainArrays:
    name = "plain"

    def inputs(self, problem: Problem, seed: int) -> dict[str, HostArray]:
        """Normal numbers, those of query and key times the problem's magnitude."""
        generator = random.Random(seed)
        tensors = {}
        for name, shape in problem.shapes().items():
            if name in ("output", "lse"):
                continue
            dtype = "f32" if name == "bias" else problem.attention.dtype
            deviation = problem.magnitude if name in ("query", "key") else 1.0
            values = (round_to(generator.gauss(0, deviation), dtype) for _ in range(math.prod(shape)))
            tensors[name] = HostArray.of(dtype, shape, values)
        return tensors

    def run(self, device, program: Program, problem: Problem, inputs: dict[str, HostArray]) -> dict[str, list[float]]:
        operands = program.manifest.operands
        ordered = [inputs[operand.name] for operand in operands if operand.role == "input"]
        outputs = device.run(program, ordered, problem.strides())
        names = [operand.name for operand in operands if operand.role == "output"]
        return {name: tensor.values() for name, tensor in zip(names, outputs)}

    def reference(self, problem: Problem, inputs: dict[str, HostArray]) -> Reference:
        a, p = problem.attention, problem
        values = {name: tensor.values() for name, tensor in inputs.items()}
        rows = {name: split(values[name], inputs[name].shape[-1]) for name in ("query", "key", "value")}
        exact: dict[str, list[float]] = {"output": [], "lse": []}
        unfused: dict[str, list[float]] = {"output": [], "lse": []}
        for b in range(p.B):
            for h in range(p.Hq):
                first = (b * p.Hkv + h // (p.Hq // p.Hkv)) * p.N
                keys, vectors = rows["key"][first : first + p.N], rows["value"][first : first + p.N]
                for i in range(p.M):
                    query = rows["query"][(b * p.Hq + h) * p.M + i]
                    scores = self.scores(problem, query, keys, values.get("bias"), h, i)
                    for results, dtype in ((exact, "f64"), (unfused, a.dtype)):
                        output, lse = attend(scores, vectors, a.Dv, dtype)
                        results["output"] += output
                        results["lse"].append(lse)
        names = ("output", "lse") if a.lse else ("output",)
        return Reference({n: exact[n] for n in names}, {n: unfused[n] for n in names})

    @staticmethod
    def scores(problem: Problem, query, keys, bias, h: int, i: int) -> list[float]:
        a = problem.attention
        begin, end = problem.key_range(i)
        scores = [-math.inf] * len(keys)
        for j in range(begin, end):
            s = math.fsum(x * y for x, y in zip(query, keys[j])) / math.sqrt(a.D)
            if bias is not None:
                s += bias[i * problem.N + j]
            if a.soft_cap:
                s = a.soft_cap * math.tanh(s / a.soft_cap)
            if a.score == "distance":
                s += (j - i) * DISTANCE_SLOPE * h
            scores[j] = s
        return scores

    @staticmethod
    def stats(actual: Sequence[float], expected: Sequence[float]) -> tuple[float, float, float]:
        """(largest error, error in the Frobenius norm relative to expected, largest finite |expected|)."""
        worst, errors, norm, largest = 0.0, 0.0, 0.0, 0.0
        for x, y in zip(actual, expected, strict=True):
            difference = 0.0 if x == y or (math.isnan(x) and math.isnan(y)) else abs(x - y)
            difference = math.inf if math.isnan(difference) else difference
            worst, errors = max(worst, difference), errors + difference * difference
            if math.isfinite(y):
                norm, largest = norm + y * y, max(largest, abs(y))
        relative = math.sqrt(errors) / math.sqrt(norm) if errors and norm else (math.inf if errors else 0.0)
        return worst, relative, largest


def split(flat: list[float], width: int) -> list[list[float]]:
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def attend(scores: list[float], values: list[list[float]], width: int, dtype: str) -> tuple[list[float], float]:
    """One row: output and LSE. For a 16-bit dtype as an unfused kernel does: scores, exponentials and sums rounded
    to f32, P and the output to the dtype."""
    step = "f64" if dtype == "f64" else "f32"
    scores = [round_to(s, step) for s in scores]
    top = max(scores, default=-math.inf)
    if top == -math.inf:
        return [0.0] * width, -math.inf
    weights = [round_to(math.exp(s - top), step) for s in scores]
    total = round_to(math.fsum(weights), step)
    weights = [round_to(w / total, dtype) for w in weights]
    visible = [(w, v) for w, v in zip(weights, values) if w]
    output = [round_to(math.fsum(w * v[d] for w, v in visible), dtype) for d in range(width)]
    return output, round_to(top + math.log(total), step)
