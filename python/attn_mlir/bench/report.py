# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results as text tables. Speeds are TFLOP/s over the exact visible area, from medians."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Optional, Sequence

from ..errors import AttnError
from . import silicon
from .configurations import Problem
from .masks import visible_pairs, visited_share
from .peers import DETERMINISTIC, OURS, PEER_DESCRIPTIONS
from .suites import TIMED_PARTS


def load_results(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise AttnError(f"{path}: expected results of the benchmark kit: {error}") from None


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need, the first to the left; the first row is the header."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(w) if c == 0 else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths)))
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(line.rstrip() for line in lines)


def speed_line(result: dict[str, Any]) -> str:
    """One problem: "hd128 causal S8192 B2 H16: attn-mlir 612.3, cudnn 640.1 TFLOP/s; flash2 not available: ..."."""
    timed = [f"{name} {r['tflops']:.1f}" for name, r in result["peers"].items() if "tflops" in r]
    missing = [f"{name} not available: {r['unavailable']}" for name, r in result["peers"].items() if "unavailable" in r]
    return f"{result['label']}: {', '.join(timed) or 'nothing timed'}{' TFLOP/s' if timed else ''}" + "".join(
        f"; {m}" for m in missing
    )


def spread(seconds: dict[str, float]) -> str:
    """Half the distance between the quartiles, as a share of the median."""
    return f"{(seconds['q3'] - seconds['q1']) / 2 / seconds['median']:.1%}"


PART_TITLES = {
    "speed": "forward",
    "backward": "backward, by 2.5 times the flops of the forward",
    "masks": "forward under masks, by the exact visible area",
    "serving": "decode and chunks of prompts over a cache, by the bytes of query, key, value and output",
    "slow": "beside peers that compile for seconds",
}


def part_sections(results: dict[str, Any], part: str) -> list[str]:
    """What is said of the problems of a part."""
    timed = [r for r in results[part] if any("tflops" in p for p in r["peers"].values())]
    sections = speed_tables(timed, "TB/s" if part == "serving" else "TFLOP/s") if timed else ["nothing timed"]
    if part == "backward" and timed:
        sections.append(determinism_text(timed))
    if part == "masks":
        sections += density_tables(timed)
    title = f"== {PART_TITLES[part]}"
    return [title, *sections, missing_text(results[part]), compile_text(results[part])]


def determinism_text(timed: Sequence[dict[str, Any]]) -> str:
    peers = [name for name in PEER_DESCRIPTIONS if any("tflops" in r["peers"].get(name, {}) for r in timed)]
    fixed = [name for name in peers if name in DETERMINISTIC]
    free = [name for name in peers if name not in (*fixed, "gemm")]
    return f"the same bits in every run: {', '.join(fixed) or 'none'}; not: {', '.join(free) or 'none'}"


def density_tables(timed: Sequence[dict[str, Any]]) -> list[str]:
    """For each dense attention, the times of the same sizes under masks, as multiples of its time by the share of its tiles
    that are visited: 1 where skipping costs nothing."""
    problems = [(Problem.from_json(r["problem"]), r["peers"]) for r in timed]
    sections = []
    for dense, dense_peers in problems:
        for name in OURS:
            if dense.attention.mask or "seconds" not in dense_peers.get(name, {}):
                continue
            rows = [
                density_row(problem, peers[name], dense_peers[name])
                for problem, peers in problems
                if problem.attention.mask and "seconds" in peers.get(name, {}) and without_mask(problem) == dense
            ]
            head = [f"{name} against {dense.label}", "visible", "visited", "time", "time / (dense x visited)"]
            sections += [table([head, *rows])] if rows else []
    return sections


def without_mask(problem: Problem) -> Problem:
    attention = dataclasses.replace(problem.attention, mask="")
    return dataclasses.replace(problem, attention=attention, lengths=(), density=1.0)


def density_row(problem: Problem, timed: dict[str, Any], dense: dict[str, Any]) -> list[str]:
    fields = dict(re.findall(r"(\w+)=(\d+)", timed["schedule"]))
    visible = visible_pairs(problem) / (problem.M * problem.N)
    visited = visited_share(problem, int(fields["tile_m"]), int(fields["tile_n"]))
    seconds, of_dense = timed["seconds"]["median"], dense["seconds"]["median"]
    ratio = seconds / (of_dense * visited)
    return [problem.label, f"{visible:.2%}", f"{visited:.2%}", f"{seconds * 1e6:.1f} us", f"{ratio:.3f}"]


def speed_tables(timed: Sequence[dict[str, Any]], unit: str = "TFLOP/s") -> list[str]:
    """TFLOP/s or TB/s of every peer, and ratios of ours to theirs."""
    peers = [name for name in PEER_DESCRIPTIONS if any("tflops" in r["peers"].get(name, {}) for r in timed)]
    rows, ratios = [[unit, *peers]], [["attn-mlir as a multiple of", *(p for p in peers if p != "attn-mlir")]]
    for result in timed:
        cells = [result["peers"].get(name, {}) for name in peers]
        rows.append(
            [result["label"]]
            + [f"{rate(result, c, unit)} ±{spread(c['seconds'])}" if "tflops" in c else "-" for c in cells]
        )
        mine = result["peers"].get("attn-mlir", {}).get("tflops")
        if mine:
            others = [c for name, c in zip(peers, cells) if name != "attn-mlir"]
            ratios.append([result["label"]] + [f"{mine / c['tflops']:.3f}" if "tflops" in c else "-" for c in others])
    sections = [table(rows)]
    if len(ratios) > 1 and len(ratios[0]) > 1:
        sections.append(table(ratios))
    return sections


def rate(result: dict[str, Any], timed: dict[str, Any], unit: str) -> str:
    """A peer's TFLOP/s or TB/s on a problem."""
    return f"{timed['tflops']:.1f}" if unit == "TFLOP/s" else f"{result['bytes'] / timed['seconds']['median'] / 1e12:.3f}"


def missing_text(problems: Sequence[dict[str, Any]]) -> str:
    """Each reason why a peer was not timed, once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for result in problems:
        for name, peer in result["peers"].items():
            if "unavailable" in peer:
                reasons.setdefault((name, peer["unavailable"]), []).append(result["label"])
    lines = []
    for (name, reason), labels in reasons.items():
        where = f"all {len(labels)}" if len(labels) == len(problems) else f"{len(labels)}, first {labels[0]}"
        lines.append(f"{name} not available: {reason} ({where})")
    peers = [(name, p) for r in problems for name, p in r["peers"].items() if "tflops" in p]
    unproven = Counter(name for name, p in peers if p.get("numerics") == "not run")
    lines += [f"{name}: {count} timed, with no numerics in this run" for name, count in unproven.items()]
    for result in problems:
        for name, peer in result["peers"].items():
            notes = [peer["note"]] if peer.get("note") else []
            notes += ["its numerics are marginal"] if peer.get("numerics") == "marginal" else []
            lines += [f"{name}, {result['label']}: {note}" for note in notes]
    return "\n".join(lines)


def compile_text(problems: Sequence[dict[str, Any]]) -> str:
    """What the first calls of peers that compile take."""
    lines = []
    for name in ("triton", "flex", "jax-mosaic"):
        seconds = [
            r["peers"][name]["prepare_seconds"] for r in problems if "prepare_seconds" in r["peers"].get(name, {})
        ]
        if seconds:
            lines.append(f"first call of {name}, compilation included: {min(seconds):.2f} to {max(seconds):.2f} s")
    return "\n".join(lines)


def numerics_text(results: dict[str, Any]) -> str:
    lines = []
    for part in ("smoke", "numerics"):
        entries = results.get(part, [])
        counts = Counter(entry["status"] for entry in entries)
        lines.append(f"{part}: {', '.join(f'{n} {status}' for status, n in sorted(counts.items())) or 'not run'}")
        lines += [
            f"  {e['status']}: {e['name']}: {e.get('reason') or describe_failure(e)}"
            for e in entries
            if e["status"] != "passed"
        ]
    return "\n".join(lines)


def describe_failure(entry: dict[str, Any]) -> str:
    def text(number: Optional[float]) -> str:  # None: an infinite one
        return "inf" if number is None else f"{number:.3g}"

    parts = []
    for name, r in entry["results"].items():
        if not r["passed"]:
            parts.append(
                f"{name}: expected an error of at most {text(r['max_abs_bound'])} (norm {text(r['relative_bound'])}), "
                f"got {text(r['max_abs'])} ({text(r['relative'])})"
            )
    return "; ".join(parts)


def tune_tables(results: dict[str, Any]) -> list[str]:
    sections = []
    for result in results["tune"]:
        timed = [c for c in result["candidates"] if "measured_seconds" in c]
        if not timed:
            reason = next((c["unavailable"] for c in result["candidates"] if "unavailable" in c), "no candidates")
            sections.append(f"tune {result['label']}: {reason}")
            continue
        best = min(c["measured_seconds"] for c in timed)
        rows = [
            [
                f"tune {result['label']}: rank correlation {result['rank_correlation']}",
                "predicted",
                "measured",
                "of best",
                "TFLOP/s",
            ]
        ]
        for c in sorted(timed, key=lambda c: c["measured_seconds"]):
            tflops = result["flops"] / c["measured_seconds"] / 1e12
            times = [f"{c[k] * 1e6:.1f} us" if c[k] else "-" for k in ("predicted_seconds", "measured_seconds")]
            rows.append(
                [f"{c['rank']}: {c['schedule']}", *times, f"{best / c['measured_seconds']:.3f}", f"{tflops:.1f}"]
            )
        sections.append(table(rows))
        sections += [
            f"  not timed: {c['schedule']}: {c['unavailable']}" for c in result["candidates"] if "unavailable" in c
        ]
    return sections


def silicon_tables(results: dict[str, Any]) -> list[str]:
    """The simulator beside the device: bits of every case, then what both count."""
    found = results.get("silicon", [])
    if not found:
        return []
    lines = [f"{r['status']}: {r['name']}: {silicon.describe(r)}" for r in found]
    sections = ["== the simulator's results beside the device's\n\n" + "\n".join(lines)]
    measured = [r for r in found if r.get("measured")]
    if measured:
        rows = [["counter", "simulator", "GPU", "GPU / simulator"]]
        for r in measured:
            rows += [[r["name"], "", "", ""], *silicon.counter_rows(r)]
        sections.append(table(rows))
    reasons = dict.fromkeys(r["not_measured"] for r in found if "not_measured" in r)
    return sections + [f"counters not measured: {reason}" for reason in reasons]


def clocks_text(results: dict[str, Any]) -> str:
    """The clocks while peers were timed, and what held them down."""
    clocks = [c for c in results.get("clocks", {}).values() if "clocks.sm" in c]
    if not clocks:
        return ""
    least, most = min(c["clocks.sm"][0] for c in clocks), max(c["clocks.sm"][2] for c in clocks)
    reasons = Counter(reason for c in clocks for reason in c.get("throttled", []))
    held = ", ".join(f"{reason} in {count} of {len(clocks)} problems" for reason, count in reasons.items())
    return f"SM clock while timing: {least:.0f} to {most:.0f} MHz; held down by: {held or 'nothing'}"


def report_text(results: dict[str, Any]) -> str:
    environment = "\n".join(f"{k}: {v}" for k, v in results["environment"].items())
    times = ", ".join(f"{ms:.0f} ms for {target}" for target, ms in results["bundle"].get("compile_ms", {}).items())
    compiler = f"from text to PTX, causal, head dim 128, where the bundle was made: {times}" if times else ""
    sections = [environment, numerics_text(results), compiler, clocks_text(results)]
    for part in (*TIMED_PARTS, "slow"):
        sections += part_sections(results, part) if results.get(part) else []
    sections += tune_tables(results) + silicon_tables(results)
    for part, count in results.get("not_run", {}).items():
        sections.append(f"{part}: {count} problems not run, out of time")
    return "\n\n".join(section for section in sections if section)
