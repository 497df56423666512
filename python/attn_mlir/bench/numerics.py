# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proves a kernel against float64, by the rule of include/attn/Reference/ErrorBound.h: at most twice the error of the
unfused computation in the kernel's precision, in the largest error and in the Frobenius norm at once.

The yardstick's error can be 0 by luck, so each bound has the floor of what any kernel's roundings cost: u, the unit
roundoff of the result's type, or 4 u for f32. A result that is 0 everywhere, as the gradients of queries are where each row
sees one key, is what cancels of sums of the size of the other gradients: it may be off by CANCELLED of the largest of those.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional

from ..errors import AttnError
from ..runtime.devices import Program
from .configurations import Problem
from .failures import describe_errors, keep, shrink, sizes_text

#: Errors up to so many times what the rule allows are marginal: the kernel is timed, and that is said beside its times.
MARGIN = 3
CANCELLED = 2.0**-17
ROUNDOFF = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 4 * 2.0**-24}
#: Of a result: largest error, relative error, largest value.
Stats = tuple[float, float, float]


def judge_all(stats: dict[str, tuple[Stats, Stats]], dtype_of: Callable[[str], str]) -> dict[str, dict[str, Any]]:
    """The verdicts on results of one kernel from the stats of the kernel's and of the unfused ones, by name."""
    gradients = max((unfused[2] for name, (_, unfused) in stats.items() if name.startswith("d_")), default=0.0)
    return {name: judge(actual, unfused, dtype_of(name), gradients) for name, (actual, unfused) in stats.items()}


def judge(actual: Stats, unfused: Stats, dtype: str, others: float = 0.0) -> dict[str, Any]:
    """The verdict on one result from the stats (largest error, relative error, largest value) of both; `others` is the largest
    value of all gradients, 0 where there are none."""
    finite = [
        x if x < float("inf") else 0.0 for x in unfused[:2]
    ]  # a yardstick that is infinitely wrong excuses nothing
    bounds = (2 * max(finite[0], ROUNDOFF[dtype] * unfused[2]), 2 * max(finite[1], ROUNDOFF[dtype]))
    if unfused[2] == 0 and others > 0:
        bounds = (max(bounds[0], CANCELLED * others), float("inf"))
    return {
        "max_abs": actual[0],
        "max_abs_bound": bounds[0],
        "relative": actual[1],
        "relative_bound": bounds[1],
        "passed": actual[0] <= bounds[0] and actual[1] <= bounds[1],
        "marginal": actual[0] <= MARGIN * bounds[0] and actual[1] <= MARGIN * bounds[1],
    }


def check(
    problem: Problem, program: Program, device, arrays, seed: int = 1, folder: Optional[Path] = None
) -> dict[str, Any]:
    """Runs a problem; {"status": "passed", "marginal" or "failed", "results": {"output": ..., "lse": ...}}. A backward runs
    twice: where its manifest says that it is deterministic, its gradients are the same bits each time. Of what is wrong, some
    is kept in `folder`, and "smallest" are the least sizes that are wrong too."""
    inputs = arrays.inputs(problem, seed)
    outputs = arrays.run(device, program, problem, inputs)
    reference = arrays.reference(problem, inputs)
    dtypes = {operand.name: operand.dtype for operand in program.manifest.operands}
    results = judge_all({name: arrays.errors(reference, name, outputs[name]) for name in problem.results}, dtypes.__getitem__)
    if problem.attention.gradient:
        again = arrays.run(device, program, problem, inputs)
        for name, result in results.items():
            result["deterministic"] = arrays.same_bits(outputs[name], again[name])
            if program.manifest.semantics.get("deterministic", True) and not result["deterministic"]:
                result["passed"] = result["marginal"] = False
    reply: dict[str, Any] = {"status": status_of(results), "results": results}
    if folder and reply["status"] != "passed":
        for name, result in results.items():
            if not result["passed"]:
                actual, expected, shape = arrays.both_sides(reference, name, outputs[name])
                result["errors"] = describe_errors(actual, expected, shape, result["max_abs_bound"])
                if "first" in result["errors"]:
                    keep(folder, name, actual, expected, shape, result["errors"]["first"])
        fails = lambda smaller: is_wrong(smaller, program, device, arrays, seed)  # noqa: E731
        reply["smallest"] = sizes_text(shrink(problem, fails))
    return reply


def is_wrong(problem: Problem, program: Program, device, arrays, seed: int) -> bool:
    """Whether a problem does not pass; one that the program refuses does."""
    try:
        return check(problem, program, device, arrays, seed)["status"] != "passed"
    except AttnError:
        return False


def status_of(results: dict[str, dict[str, Any]]) -> str:
    if all(r["passed"] for r in results.values()):
        return "passed"
    return "marginal" if all(r["passed"] or r["marginal"] for r in results.values()) else "failed"


def describe(result: dict[str, Any]) -> str:
    """ "output 1.2e-03 of 3.9e-03, lse 2.4e-07 of 1.9e-06" (largest errors and their bounds)."""
    parts = []
    for name, r in result["results"].items():
        parts.append(f"{name} {r['max_abs']:.1e} of {r['max_abs_bound']:.1e}")
    return ", ".join(parts)


def describe_failure(result: dict[str, Any]) -> str:
    """Lines about what is wrong: how much, where first, and the map of the head; "" where nothing is."""
    lines = []
    for name, r in result["results"].items():
        errors = r.get("errors", {})
        if r["passed"] or not errors:
            continue
        lines.append(f"  {name}: {errors['wrong']} of {errors['elements']} elements wrong, {errors['nan']} of them NaN")
        if "first" in errors:
            got, expected = errors["first_values"]
            lines.append(f"  the first at {errors['first']}: expected {expected}, got {got}; its head by 16 x 16:")
            lines += [f"    {row}" for row in errors["map"]]
    if "smallest" in result:
        lines.append(f"  the least sizes that are wrong too: {result['smallest']}")
    return "".join(line + "\n" for line in lines)
