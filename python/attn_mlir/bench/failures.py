# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is kept of a result that is wrong: how much of it, where, both sides of a part of it, and the least size that shows it."""

from __future__ import annotations

import dataclasses
import json
import math
import zipfile
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from ..runtime.host_array import HostArray, write_npy
from .configurations import Problem

#: Rows and columns of the pieces that the map of errors is made of.
MAP_ROWS, MAP_COLUMNS = 16, 16
#: Rows of a head that are kept.
KEPT_ROWS = 256


def describe_errors(actual: Sequence[float], expected: Sequence[float], shape: Sequence[int], bound: float) -> dict[str, Any]:
    """Of results of this shape, row-major: how many are wrong by more than `bound` and how many are NaN that should not be, the
    index of the first, and of its head a map by MAP_ROWS x MAP_COLUMNS elements: "#" wrong, "." right."""
    wrong = [k for k, (a, e) in enumerate(zip(actual, expected)) if not is_near(a, e, bound)]
    result: dict[str, Any] = {
        "elements": len(expected),
        "wrong": len(wrong),
        "nan": sum(math.isnan(actual[k]) for k in wrong),
    }
    if not wrong:
        return result
    rows, columns = (shape[-2], shape[-1]) if len(shape) == 4 else (shape[-1], 1)
    head = wrong[0] // (rows * columns)
    marks = {(k % (rows * columns) // columns // MAP_ROWS, k % columns // MAP_COLUMNS) for k in wrong if k // (rows * columns) == head}
    result["first"] = index_of(wrong[0], shape)
    result["first_values"] = [repr(actual[wrong[0]]), repr(expected[wrong[0]])]
    result["map"] = [
        "".join(".#"[(r, c) in marks] for c in range(-(-columns // MAP_COLUMNS))) for r in range(-(-rows // MAP_ROWS))
    ]
    return result


def is_near(actual: float, expected: float, bound: float) -> bool:
    return actual == expected or (math.isnan(actual) and math.isnan(expected)) or abs(actual - expected) <= bound


def index_of(flat: int, shape: Sequence[int]) -> list[int]:
    """The index of an element of a row-major tensor."""
    index: list[int] = []
    for size in reversed(shape):
        flat, last = divmod(flat, size)
        index.insert(0, last)
    return index


def keep(folder: Path, name: str, actual: Sequence[float], expected: Sequence[float], shape: Sequence[int], first: Sequence[int]):
    """Writes KEPT_ROWS rows of both, from the row of the index `first` on, as NAME.actual.npy and NAME.expected.npy, f32 [rows,
    columns]."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = shape[-1] if len(shape) == 4 else 1
    *leading, row = first[:-1] if len(shape) == 4 else first
    size, head = shape[len(leading)], 0
    for index, extent in zip(leading, shape):
        head = head * extent + index
    begin, count = (head * size + row) * columns, min(KEPT_ROWS, size - row)
    for side, values in (("actual", actual), ("expected", expected)):
        part = values[begin : begin + count * columns]
        write_npy(folder / f"{name}.{side}.npy", HostArray.of("f32", (count, columns), part))


def smaller(problem: Problem) -> Iterator[Problem]:
    """Problems that are one step smaller: one batch, one key head, half the rows or keys."""
    if problem.lengths or problem.density != 1:
        return
    group = problem.Hq // problem.Hkv
    if problem.B > 1:
        yield dataclasses.replace(problem, B=1)
    if problem.Hkv > 1:
        yield dataclasses.replace(problem, Hq=group, Hkv=1)
    if problem.M == problem.N and problem.M > 1:
        yield dataclasses.replace(problem, M=problem.M // 2, N=problem.N // 2)
    if problem.M > 1:
        yield dataclasses.replace(problem, M=problem.M // 2)
    if problem.N > 1:
        yield dataclasses.replace(problem, N=problem.N // 2)


def shrink(problem: Problem, fails: Callable[[Problem], bool], tries: int = 24) -> Problem:
    """The smallest problem that `fails`, by halves; a problem that cannot be run does not fail."""
    found = True
    while found:
        found = False
        for candidate in smaller(problem):
            if tries == 0:
                return problem
            tries -= 1
            if fails(candidate):
                problem, found = candidate, True
                break
    return problem


def sizes_text(problem: Problem) -> str:
    """ "B=1,Hq=2,Hkv=1,M=64,N=64"."""
    return ",".join(f"{name}={size}" for name, size in problem.sizes.items())


def archive(folder: Path, results: dict[str, Any], bundle, log: Path) -> list[str]:
    """Takes what failed into FOLDER/failures.zip: the results, both sides, PTX and manifest of each kernel, and what workers
    printed. Returns the names of the files."""
    failed = [r for part in ("smoke", "numerics") for r in results.get(part, []) if r["status"] in ("failed", "marginal", "lost", "error")]
    if not failed:
        return []
    path = folder / "failures.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("failures.json", json.dumps(failed, indent=1) + "\n")
        for file in sorted((folder / "failures").rglob("*.npy")):
            target.write(file, file.relative_to(folder))
        for key in dict.fromkeys(r["kernel"] for r in failed):
            for name in bundle.files_of(key):
                target.writestr(f"kernels/{name}", bundle.archive.read(name))
        if log.exists():
            target.write(log, "workers.log")
    return [path.name]
