# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs, reference and errors without any package: Python floats, for the sizes that the simulator runs."""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import math
import operator
import random
from typing import Any, Iterable, Iterator, Sequence

from ..runtime.devices import Program
from ..runtime.host_array import FLOAT8, HostArray, decode_float8, round_to
from .configurations import DESCALE, DESCALED, Problem, distance
from .masks import visible_ranges

#: Of a result against the expected one: largest error, relative error, largest expected value.
Stats = tuple[float, float, float]


@dataclasses.dataclass
class Reference:
    """The results in float64, and those of an unfused computation in the kernel's precision: row-major lists, or tensors."""

    results: dict[str, Any]
    unfused: dict[str, Any]


class PlainArrays:
    name = "plain"

    def inputs(self, problem: Problem, seed: int) -> dict[str, HostArray]:
        """Normal numbers, those of query and key times the problem's magnitude; of a backward, the output and LSE of its
        forward too."""
        generator = random.Random(seed)
        integers = problem.integers()
        tensors = {}
        for name, shape in problem.shapes().items():
            if name in (*problem.results, "output", "lse"):
                continue
            dtype = problem.dtype_of(name)
            if name in integers:
                tensors[name] = HostArray.of(dtype, shape, integers[name][1])
                continue
            if problem.attention.cache and name in DESCALED:
                tensors[name] = HostArray.of(dtype, shape, [DESCALE])
                continue
            if name == "value" and problem.attention.latent:
                keys = split(tensors["key"].values(), problem.attention.D)
                tensors[name] = HostArray.of(dtype, shape, itertools.chain(*(key[: problem.attention.Dv] for key in keys)))
                continue
            deviation = problem.magnitude if name in ("query", "key") else 1.0
            values = (generator.gauss(0, deviation) for _ in range(math.prod(shape)))
            if dtype in FLOAT8:
                tensors[name] = HostArray(dtype, shape, float8_bytes(values, dtype))
            else:
                tensors[name] = HostArray.of(dtype, shape, (round_to(x, dtype) for x in values))
        if problem.attention.gradient:
            saved = self.forward(problem, tensors, "f64")
            for name in ("output", "lse"):
                dtype = problem.dtype_of(name)
                tensors[name] = HostArray.of(dtype, problem.shapes()[name], [round_to(x, dtype) for x in saved[name]])
        return tensors

    def run(self, device, program: Program, problem: Problem, inputs: dict[str, HostArray]) -> dict[str, list[float]]:
        operands = program.manifest.operands
        ordered = [inputs[operand.name] for operand in operands if operand.role == "input"]
        outputs = device.run(program, ordered, problem.strides_for(operand.name for operand in operands))
        names = [operand.name for operand in operands if operand.role == "output"]
        return {name: tensor.values() for name, tensor in zip(names, outputs)}

    def reference(self, problem: Problem, inputs: dict[str, HostArray]) -> Reference:
        self.shapes = problem.shapes()
        compute = self.gradients if problem.attention.gradient else self.forward
        exact, unfused = (compute(problem, inputs, dtype) for dtype in ("f64", problem.attention.dtype))
        return Reference({n: exact[n] for n in problem.results}, {n: unfused[n] for n in problem.results})

    def forward(self, problem: Problem, inputs: dict[str, HostArray], dtype: str) -> dict[str, list[float]]:
        """Output and LSE."""
        rows = Rows(problem, inputs)
        results: dict[str, list[float]] = {"output": [], "lse": []}
        for b, h, i in rows.positions():
            _, vectors = rows.of_keys(b, h)
            output, lse = attend(self.scores(problem, rows, b, h, i), vectors, problem.attention.Dv, dtype)
            results["output"] += output
            results["lse"].append(lse)
        return results

    def gradients(self, problem: Problem, inputs: dict[str, HostArray], dtype: str) -> dict[str, list[float]]:
        """Of query, key and value, from output and LSE as they were saved. For a 16-bit dtype as unfused kernels do: scores
        and exponentials rounded to f32, P and dS, as factors of products, and the sums to the dtype."""
        rows, a, step = Rows(problem, inputs), problem.attention, "f64" if dtype == "f64" else "f32"
        sums = {f"d_{name}": [0.0] * math.prod(problem.shapes()[name]) for name in ("query", "key", "value")}
        for b, h, i in rows.positions():
            at, first = (b * problem.Hq + h) * problem.M + i, rows.first_key(b, h)
            lse, d_output = rows["lse"][at], rows["d_output"][at]
            delta = dot(d_output, rows["output"][at])
            for j, s in enumerate(self.scores(problem, rows, b, h, i)):
                if s == -math.inf:
                    continue
                p = round_to(math.exp(round_to(s, step) - lse), step)
                ds = p * (dot(d_output, rows["value"][first + j]) - delta)
                if a.soft_cap:
                    ds *= 1 - (s / a.soft_cap) ** 2
                p, ds = round_to(p, dtype), round_to(ds, dtype) / math.sqrt(a.D)
                accumulate(sums["d_query"], at, ds, rows["key"][first + j])
                accumulate(sums["d_key"], first + j, ds, rows["query"][at])
                accumulate(sums["d_value"], first + j, p, d_output)
        return {name: [round_to(x, dtype) for x in values] for name, values in sums.items()}

    @staticmethod
    def scores(problem: Problem, rows: "Rows", b: int, h: int, i: int) -> list[float]:
        a = problem.attention
        query, (keys, _) = rows["query"][(b * problem.Hq + h) * problem.M + i], rows.of_keys(b, h)
        scores = [-math.inf] * len(keys)
        for j in (j for begin, end in visible_ranges(problem, i) for j in range(begin, min(end, len(keys)))):
            s = dot(query, keys[j]) / math.sqrt(a.D)
            if problem.attention.bias:
                s += rows["bias"][i][j]
            if a.soft_cap:
                s = a.soft_cap * math.tanh(s / a.soft_cap)
            if a.score == "distance":
                s = distance(s, b, h, i, j)
            scores[j] = s
        return scores

    def errors(self, reference: Reference, name: str, actual: Sequence[float]) -> tuple[Stats, Stats]:
        """The stats of a result and of its unfused computation."""
        exact = reference.results[name]
        return self.stats(actual, exact), self.stats(reference.unfused[name], exact)

    def both_sides(
        self, reference: Reference, name: str, actual: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float], tuple[int, ...]]:
        """A result and what is expected of it, row-major, and their shape."""
        return actual, reference.results[name], self.shapes[name]

    @staticmethod
    def same_bits(a: Sequence[float], b: Sequence[float]) -> bool:
        return [x.hex() for x in a] == [x.hex() for x in b]

    @staticmethod
    def stats(actual: Sequence[float], expected: Sequence[float]) -> Stats:
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


class Rows:
    """The inputs by row, flat over batches and heads: query, key, value, bias, output, d_output; and the LSE of each row."""

    def __init__(self, problem: Problem, inputs: dict[str, HostArray]):
        self.problem = problem
        values = {name: tensor.values() for name, tensor in inputs.items()}
        self.rows = {n: split(v, inputs[n].shape[-1]) if len(inputs[n].shape) == 4 else v for n, v in values.items()}

    def __getitem__(self, name: str) -> list[Any]:
        return self.rows[name]

    def positions(self) -> Iterator[tuple[int, int, int]]:
        """(batch, query head, row)."""
        p = self.problem
        return itertools.product(range(p.B), range(p.Hq), range(p.M))

    def first_key(self, b: int, h: int) -> int:
        """The row in key and value of the first key that a query head has."""
        p = self.problem
        return (b * p.Hkv + h // (p.Hq // p.Hkv)) * p.N

    def of_keys(self, b: int, h: int) -> tuple[list[list[float]], list[list[float]]]:
        """Keys and values of a query head."""
        p = self.problem
        if p.attention.page:
            size, group, table = p.attention.page, h // (p.Hq // p.Hkv), self["key_table"]
            places = ((table[b * p.pages + j // size], j % size) for j in range(p.key_lengths[b]))
            at = [(int(page) * p.Hkv + group) * size + slot for page, slot in places]
            keys, values = ([self[name][row] for row in at] for name in ("key", "value"))
            if p.attention.cache:
                keys, values = ([[DESCALE * x for x in row] for row in rows] for rows in (keys, values))
            return keys, values
        rows = slice(self.first_key(b, h), self.first_key(b, h) + self.problem.N)
        return self["key"][rows], self["value"][rows]


def float8_bytes(values: Iterable[float], dtype: str) -> bytearray:
    """The nearest number of 8 bits of each, of those that are finite."""
    codes = sorted((decode_float8(code, dtype), code) for code in range(256) if code != 128)
    codes = [(number, code) for number, code in codes if math.isfinite(number)]
    result = bytearray()
    for value in values:
        at = bisect.bisect_left(codes, (value, 0))
        result.append(min(codes[max(at - 1, 0) : at + 1], key=lambda near: abs(near[0] - value))[1])
    return result


def split(flat: list[float], width: int) -> list[list[float]]:
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, a, b))


def accumulate(sums: list[float], row: int, factor: float, source: list[float]):
    """sums[row] += factor * source, of rows as long as source."""
    first = row * len(source)
    for d, x in enumerate(source):
        sums[first + d] += factor * x


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
    factors, columns = [w for w, _ in visible], zip(*(v for _, v in visible))
    output = [round_to(dot(factors, column), dtype) for column in columns] or [0.0] * width
    return output, round_to(top + math.log(total), step)
