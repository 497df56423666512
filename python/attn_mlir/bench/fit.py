# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the rates of the time model (docs/CostModel.md, section 5) to the schedules that runs have tuned over.

The model's time is (sum of term^4)^(1/4) over what overlaps, plus what does not. Each term gets a factor; those are found that
make the mean squared error of the logarithms least, with a weak pull to 1, where a term that nothing depends on stays.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from ..errors import AttnError
from .report import load_results, table
from .statistics_of import rank_correlation

OVERLAPPING = ("mma", "exp", "issue", "shared_memory", "tensor_memory", "l2", "dram", "dsmem", "latency")
ADDED = ("exposed", "launch")
#: The numbers of a target (attn-opt --set-target) that a term follows: rates are divided by its factor, times multiplied.
FIELDS = {
    "mma": ("f16-tflops", -1), "exp": ("ex2-per-clock", -1), "issue": ("lanes-per-clock", -1),
    "shared_memory": ("smem-bytes-per-clock", -1), "tensor_memory": ("tmem-bytes-per-clock", -1), "l2": ("l2-gbps", -1), "dram": ("dram-gbps", -1),
    "dsmem": ("dsmem-gbps", -1), "latency": ("iteration-clocks", 1), "exposed": ("load-clocks", 1), "launch": ("launch-us", 1),
}  # fmt: skip
#: Of the squared logarithm of a factor, beside the errors.
PULL = 1e-3

Factors = dict[str, float]
#: Terms in seconds and the measured seconds of each schedule of a problem.
Points = list[tuple[dict[str, float], float]]


def predict(terms: dict[str, float], factors: Factors) -> float:
    """Seconds."""
    overlapping = sum((terms.get(name, 0) * factors.get(name, 1)) ** 4 for name in OVERLAPPING) ** 0.25
    return overlapping + sum(terms.get(name, 0) * factors.get(name, 1) for name in ADDED)


def log_errors(points: Points, factors: Factors) -> list[float]:
    return [math.log(predict(terms, factors) / measured) for terms, measured in points]


def fit_factors(points: Points) -> Factors:
    """The factors of all terms."""
    names = [n for n in (*OVERLAPPING, *ADDED) if any(terms.get(n, 0) > 0 for terms, _ in points)]

    def cost(logs: Sequence[float]) -> float:
        factors = dict(zip(names, map(math.exp, logs)))
        errors = log_errors(points, factors)
        return sum(e * e for e in errors) / len(errors) + PULL * sum(x * x for x in logs)

    return dict(zip(names, map(math.exp, descend(cost, [0.0] * len(names)))))


def descend(
    cost: Callable[[Sequence[float]], float],
    at: list[float],
    step: float = 0.5,
    least_step: float = 1e-3,
    progress: Callable[[float, list[float]], None] = lambda best, at: None,
) -> list[float]:
    """A minimum, by steps along one coordinate at a time that are halved where none helps; tells `progress` of each round."""
    best = cost(at)
    while step > least_step:
        improved = False
        for k, sign in itertools.product(range(len(at)), (1, -1)):
            candidate = [x + sign * step * (i == k) for i, x in enumerate(at)]
            value = cost(candidate)
            if value < best:
                at, best, improved = candidate, value, True
        if not improved:
            step /= 2
        progress(best, at)
    return at


def mean_error(errors: Sequence[float]) -> float:
    """The typical relative error: 0.1 where predictions are off by a tenth either way."""
    return math.exp(sum(map(abs, errors)) / len(errors)) - 1


def mean_rank(problems: list[Points], factors: Factors) -> Optional[float]:
    """Spearman's correlation of predicted and measured order, the mean over problems."""
    ranks = [rank_correlation([predict(t, factors) for t, _ in p], [m for _, m in p]) for p in problems]
    known = [r for r in ranks if r is not None]
    return sum(known) / len(known) if known else None


def held_out(problems: list[Points]) -> Optional[float]:
    """The mean error of problems on whose neighbours in the list the factors were fitted; None if there are fewer than two."""
    if len(problems) < 2:
        return None
    halves = [list(itertools.chain(*problems[k::2])) for k in (0, 1)]
    errors = [mean_error(log_errors(halves[1 - k], fit_factors(halves[k]))) for k in (0, 1)]
    return sum(errors) / 2


def read_points(results: dict[str, Any]) -> list[Points]:
    """The problems that were tuned over, by those schedules that have both terms and a time."""
    problems = []
    for result in results.get("tune", []):
        timed = [c for c in result["candidates"] if "measured_seconds" in c and c.get("terms")]
        if timed:
            problems.append([(c["terms"], c["measured_seconds"]) for c in timed])
    return problems


def target_text(factors: Factors, numbers: dict[str, float], base: str, origin: str) -> str:
    """A target file of the fitted numbers, from those of the base."""
    lines = [f"# Fitted by python -m attn_mlir.bench fit to {origin}.", f"base = {base}"]
    for term, factor in factors.items():
        name, power = FIELDS[term]
        if name in numbers:
            lines.append(f"{name} = {numbers[name] * factor**power:.6g}")
    return "\n".join(lines) + "\n"


def fit(paths: list[Path], output: Optional[Path]) -> int:
    results = [load_results(path) for path in paths]
    problems = [points for r in results for points in read_points(r)]
    if not problems:
        raise AttnError("expected results of the part 'tune' with times, got none: run the kit with --parts tune on a GPU")
    gpus = sorted({r["environment"].get("gpu", "") for r in results})
    if len(gpus) > 1:
        raise AttnError(f"expected results of one kind of GPU, got {', '.join(gpus)}")
    points = list(itertools.chain(*problems))
    factors = fit_factors(points)
    print(fit_text(problems, factors))
    if output:
        target = results[0]["bundle"]["target"]
        origin = f"{len(points)} schedules of {len(problems)} problems on {gpus[0]}"
        output.write_text(target_text(factors, target["numbers"], target["name"], origin))
        print(f"{output}: for attn-opt --target-file")
    return 0


def fit_text(problems: list[Points], factors: Factors) -> str:
    points = list(itertools.chain(*problems))
    rows = [["", "as it is", "fitted", "fitted to the other half"]]
    other = held_out(problems)
    error = [f"{mean_error(log_errors(points, f)):.1%}" for f in ({}, factors)] + ["-" if other is None else f"{other:.1%}"]
    ranks = [mean_rank(problems, f) for f in ({}, factors)]
    rows.append(["mean error", *error])
    rows.append(["rank correlation", *("-" if r is None else f"{r:.3f}" for r in ranks), "-"])
    numbers = [["term", "factor"], *([name, f"{factor:.3f}"] for name, factor in factors.items())]
    head = f"{len(points)} schedules of {len(problems)} problems"
    return "\n\n".join([head, table(rows), table(numbers)])
