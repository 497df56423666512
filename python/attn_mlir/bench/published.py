# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the time model to what others have measured and published (docs/benchmarks/published.json).

Each measurement is predicted by attn-schedule for the tile that its authors publish. Series are in two halves: the assumed
numbers of the Hopper targets (FIELDS) are fitted to one, the other says how far predictions are off. Rates of data sheets are
not fitted. No measurement in the file is this project's.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import math
import os
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

from ..errors import AttnError
from ..tools import run_tool
from .fit import descend, mean_error
from .report import table

#: The numbers of a target that are fitted, from what was assumed before: to forwards, then to backwards.
FIELDS = {
    "forward": {
        "wgmma-share": 1.0, "mma-sync-share": 0.62, "lanes-per-clock": 128.0, "l2-gbps": 5500.0,
        "iteration-clocks": 250.0, "load-clocks": 800.0,
    },
    "backward": {"backward-tile-clocks": 600.0},
}  # fmt: skip
#: What --fit has found for them: the kernels of others are not this compiler's, to which the targets' own numbers are fitted.
FITTED = {
    "wgmma-share": 0.8187, "mma-sync-share": 0.4593, "lanes-per-clock": 77.64, "l2-gbps": 7424.0,
    "iteration-clocks": 237.8, "load-clocks": 977.1, "backward-tile-clocks": 1513.0,
}  # fmt: skip
#: Of the squared logarithm of a change, beside the mean squared error: what nothing depends on stays.
PULL = 1e-2
#: Times below this are left out: they are the host's.
LEAST_SECONDS = 1e-4
#: Others' kernels keep in registers what this compiler's estimate of its own does not: their tiles are priced without that limit.
REGISTERS = {"registers-per-thread": 320, "registers-per-sm": 81920}
#: A tile is as good as the first if it is predicted to be at most this much slower.
AS_GOOD = 1.02

Settings = Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class Point:
    """One published time, and how attn-schedule is asked for it."""

    series: str
    half: str  # "fit", "held out"
    target: str
    length: int
    problem: str
    schedule: str
    seconds: float


def series_name(series: Mapping[str, Any]) -> str:
    return f"{series['kernel']} {series['target']} {series['pass']} d{series['D']} {series['mask']} ({series['source']})"


def read_points(data: Mapping[str, Any]) -> list[Point]:
    """The points whose tile is published, or that are of a backward, whose tile the model chooses."""
    tiles = {(t["kernel"], t["D"], t["mask"]): t for t in data["tiles"]}
    points = []
    for series in data["measurements"]:
        tile: Any = tiles.get((series["kernel"], series["D"], series["mask"]))
        backward = series["pass"] == "backward"
        if not backward and (tile is None or not tile["schedule"]):
            continue
        for length, tflops in zip(series["lengths"], series["tflops"]):
            batch = series["B"] if "B" in series else series["tokens"] // length
            seconds = count_flops(series, batch, length) / tflops / 1e12
            if seconds < LEAST_SECONDS:
                continue
            problem = f"B={batch} Hq={series['Hq']} Hkv={series['Hkv']} M={length} N={length} D={series['D']} mask={series['mask']}"
            points.append(
                Point(
                    series_name(series), series["half"], series["target"], length,
                    problem + (" pass=backward" if backward else ""), "" if backward else tile["schedule"], seconds,
                )
            )  # fmt: skip
    return points


def count_flops(series: Mapping[str, Any], batch: int, length: int) -> float:
    """As those who publish count: half of the square for a causal mask, a backward is 2.5 forwards."""
    pairs = length * length / (2 if series["mask"] == "causal" else 1)
    return 4 * series["D"] * pairs * batch * series["Hq"] * (2.5 if series["pass"] == "backward" else 1)


# ---- predictions


def schedule_json(problem: str, target: str, schedule: str, settings: Mapping[str, Any], top: int = 1) -> Any:
    """What attn-schedule says; an AttnError where it refuses."""
    command = ["--json", f"--top={top}", f"--target={target}", "--problem", problem]
    command += [f"--set-target={name}={value:.6g}" for name, value in settings.items()]
    result = run_tool("attn-schedule", command + ([f"--schedule={schedule}"] if schedule else []))
    if result.returncode:
        raise AttnError(result.stderr.strip())
    return json.loads(result.stdout)


def predict(point: Point, settings: Settings) -> float:
    """Seconds."""
    changed = {**FITTED, **settings} if point.target != "a100" else {}
    if "mma_sync" in point.schedule:
        changed.update(REGISTERS)
    answer = schedule_json(point.problem, point.target, point.schedule, changed)
    return answer["ranked"][0]["cost"]["seconds"] if point.schedule else answer["seconds"]


def log_errors(points: Sequence[Point], settings: Settings) -> list[float]:
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as executor:
        seconds = executor.map(lambda point: predict(point, settings), points)
        return [math.log(s / point.seconds) for s, point in zip(seconds, points)]


# ---- fit


def fit_settings(points: Sequence[Point], log: Callable[[str], None]) -> dict[str, float]:
    """All of FIELDS, from the points of each pass."""
    settings: dict[str, float] = {}
    for name, fields in FIELDS.items():
        of = [point for point in points if bool(point.schedule) == (name == "forward")]
        settings.update(fit_fields(of, fields, settings, log))
    return settings


def fit_fields(points: Sequence[Point], fields: Settings, fixed: Settings, log: Callable[[str], None]) -> dict[str, float]:
    """The values that make the mean squared logarithm of the errors least, by steps along one at a time."""

    def values(logs: Sequence[float]) -> dict[str, float]:
        return {name: float(f"{value * math.exp(x):.4g}") for (name, value), x in zip(fields.items(), logs)}

    def cost(logs: Sequence[float]) -> float:
        errors = log_errors(points, {**fixed, **values(logs)})
        return sum(e * e for e in errors) / len(errors) + PULL * sum(x * x for x in logs)

    def progress(best: float, at: Sequence[float]) -> None:
        log(f"{best:.5f} at {values(at)}")

    return values(descend(cost, [0.0] * len(fields), step=0.4, least_step=0.02, progress=progress))


# ---- report


def error_rows(points: Sequence[Point], errors: Sequence[float]) -> list[list[str]]:
    """A row for each series: its half, how many points it has, predicted over published time at the ends, its error."""
    rows = [["series", "half", "points", "least", "most", "mean error"]]
    for name in dict.fromkeys(point.series for point in points):
        of = [(p, e) for p, e in zip(points, errors) if p.series == name]
        values = [e for _, e in of]
        ratios = [f"{math.exp(f(values)):.2f}" for f in (min, max)]
        rows.append([name, of[0][0].half, str(len(of)), *ratios, f"{mean_error(values):.1%}"])
    return rows


def half_errors(points: Sequence[Point], errors: Sequence[float]) -> dict[tuple[str, str], float]:
    """The mean error of each half of each pass, and of a half in "all"."""
    kinds = {"forward": (True,), "backward": (False,), "all": (True, False)}
    return {
        (half, name): mean_error([e for p, e in zip(points, errors) if p.half == half and bool(p.schedule) in kind])
        for half in ("fit", "held out")
        for name, kind in kinds.items()
    }


def tile_rows(data: Mapping[str, Any], settings: Settings) -> list[list[str]]:
    """FlashAttention-3's tiles beside this compiler's first choice: how much slower theirs is predicted to be."""
    rows = [["D", "mask", "published tile", "our first", "published / first", ""]]
    for tile in data["tiles"]:
        if tile["kernel"] != "flash-attention-3":
            continue
        problem = f"B=2 H={max(2048 // tile['D'], 1)} M=8192 N=8192 D={tile['D']} mask={tile['mask']}"
        first = schedule_json(problem, "h100", "", settings)["ranked"][0]
        fields, seconds = first["schedule"], first["cost"]["seconds"]
        row = [str(tile["D"]), tile["mask"], f"{tile['tile_m']}x{tile['tile_n']}", f"{fields['tile_m']}x{fields['tile_n']}"]
        if not tile["schedule"]:
            rows.append([*row, "-", "P in shared memory: not emitted"])
            continue
        given = f"kind=large_cache mma=wgmma tile_m={tile['tile_m']} tile_n={tile['tile_n']}"
        ratio = schedule_json(problem, "h100", given, settings)["ranked"][0]["cost"]["seconds"] / seconds
        rows.append([*row, f"{ratio:.3f}", "as good" if ratio <= AS_GOOD else "slower"])
    return rows


def published(path: Path, fit: bool, output: Optional[Path]) -> int:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise AttnError(f"{path}: {error}") from None
    points = read_points(data)
    settings: dict[str, float] = {}
    if fit:
        settings = fit_settings([p for p in points if p.half == "fit" and p.target != "a100"], print)
    errors = log_errors(points, settings)
    print("Published times of others against this project's model of time; nothing here was measured by this project.\n")
    print(table(error_rows(points, errors)))
    print()
    for (half, name), mean in half_errors(points, errors).items():
        print(f"mean error, {half}, {name}: {mean:.1%}")
    print("\n" + table(tile_rows(data, settings)))
    if fit:
        lines = [f"{name} = {value:.4g}" for name, value in settings.items()]
        print("\nfitted:\n  " + "\n  ".join(lines))
        if output:
            output.write_text("\n".join([f"# Fitted to {path.name}.", "base = h100", *lines]) + "\n")
    return 0
