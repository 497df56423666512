# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results as text tables and as a plot. Speeds are TFLOP/s over the exact visible area, from medians."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Sequence
from xml.sax.saxutils import escape

from ..errors import AttnError
from .peers import PEER_DESCRIPTIONS

COLOURS = {
    "attn-mlir": "#c0392b",
    "attn-mlir-sm80": "#e59a8f",
    "cudnn": "#4a8f3c",
    "flash2": "#2f6fb5",
    "flex": "#8e63ab",
    "triton": "#e69138",
    "jax-mosaic": "#4bb3b0",
    "gemm": "#b7b7b7",
}


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


def speed_tables(results: dict[str, Any]) -> list[str]:
    timed = [r for r in results["speed"] if any("tflops" in p for p in r["peers"].values())]
    if not timed:
        return ["speed: nothing timed"]
    peers = [name for name in PEER_DESCRIPTIONS if any("tflops" in r["peers"].get(name, {}) for r in timed)]
    rows, ratios = [["TFLOP/s", *peers]], [["attn-mlir as a multiple of", *(p for p in peers if p != "attn-mlir")]]
    for result in timed:
        cells = [result["peers"].get(name, {}) for name in peers]
        rows.append(
            [result["label"]] + [f"{c['tflops']:.1f} ±{spread(c['seconds'])}" if "tflops" in c else "-" for c in cells]
        )
        mine = result["peers"].get("attn-mlir", {}).get("tflops")
        if mine:
            others = [c for name, c in zip(peers, cells) if name != "attn-mlir"]
            ratios.append([result["label"]] + [f"{mine / c['tflops']:.3f}" if "tflops" in c else "-" for c in others])
    sections = [table(rows)]
    if len(ratios) > 1 and len(ratios[0]) > 1:
        sections.append(table(ratios))
    return sections


def missing_text(results: dict[str, Any]) -> str:
    """Each reason why a peer was not timed, once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for result in results["speed"]:
        for name, peer in result["peers"].items():
            if "unavailable" in peer:
                reasons.setdefault((name, peer["unavailable"]), []).append(result["label"])
    lines = []
    for (name, reason), labels in reasons.items():
        where = f"all {len(labels)}" if len(labels) == len(results["speed"]) else f"{len(labels)}, first {labels[0]}"
        lines.append(f"{name} not available: {reason} ({where})")
    peers = [(name, p) for r in results["speed"] for name, p in r["peers"].items() if "tflops" in p]
    unproven = Counter(name for name, p in peers if p.get("numerics") == "not run")
    lines += [f"{name}: {count} timed, with no numerics in this run" for name, count in unproven.items()]
    return "\n".join(lines)


def compile_text(results: dict[str, Any]) -> str:
    """What it takes from text to a kernel: ours when the bundle was made, the peers' first calls here."""
    times = ", ".join(f"{ms:.0f} ms for {target}" for target, ms in results["bundle"].get("compile_ms", {}).items())
    lines = [f"from text to PTX, causal, head dim 128, where the bundle was made: {times}"] if times else []
    for name in ("triton", "flex", "jax-mosaic"):
        seconds = [
            r["peers"][name]["prepare_seconds"]
            for r in results["speed"]
            if "prepare_seconds" in r["peers"].get(name, {})
        ]
        if seconds:
            lines.append(f"first call of {name}, compilation included: {min(seconds):.2f} to {max(seconds):.2f} s")
    return "\n".join(lines)


def numerics_text(results: dict[str, Any]) -> str:
    entries = results["numerics"]
    counts = Counter(entry["status"] for entry in entries)
    lines = [f"numerics: {', '.join(f'{n} {status}' for status, n in sorted(counts.items())) or 'not run'}"]
    lines += [
        f"  {e['status']}: {e['name']}: {e.get('reason') or describe_failure(e)}"
        for e in entries
        if e["status"] != "passed"
    ]
    return "\n".join(lines)


def describe_failure(entry: dict[str, Any]) -> str:
    parts = []
    for name, r in entry["results"].items():
        if not r["passed"]:
            parts.append(
                f"{name}: expected an error of at most {r['max_abs_bound']:.3g} (norm {r['relative_bound']:.3g}), "
                f"got {r['max_abs']:.3g} ({r['relative']:.3g})"
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
            times = [f"{c[k] * 1e6:.1f} us" for k in ("predicted_seconds", "measured_seconds")]
            rows.append(
                [f"{c['rank']}: {c['schedule']}", *times, f"{best / c['measured_seconds']:.3f}", f"{tflops:.1f}"]
            )
        sections.append(table(rows))
        sections += [
            f"  not timed: {c['schedule']}: {c['unavailable']}" for c in result["candidates"] if "unavailable" in c
        ]
    return sections


def report_text(results: dict[str, Any]) -> str:
    environment = "\n".join(f"{k}: {v}" for k, v in results["environment"].items())
    sections = [environment, numerics_text(results)]
    if results["speed"]:
        sections += speed_tables(results) + [missing_text(results), compile_text(results)]
    sections += tune_tables(results)
    for part, count in results.get("not_run", {}).items():
        sections.append(f"{part}: {count} problems not run, out of time")
    return "\n\n".join(section for section in sections if section)


# ---- plot

BAR, GAP, CHART_HEIGHT, LEFT, TOP = 9, 16, 300, 60, 60


def write_plot(results: dict[str, Any], path: Path):
    """Bars of TFLOP/s, a group for each problem; nothing where nothing was timed."""
    groups = [(r["label"], {n: p["tflops"] for n, p in r["peers"].items() if "tflops" in p}) for r in results["speed"]]
    groups = [(label, bars) for label, bars in groups if bars]
    if groups:
        path.write_text(plot_svg(groups, results["environment"]))


def plot_svg(groups: list[tuple[str, dict[str, float]]], environment: dict[str, Any]) -> str:
    top = max(max(bars.values()) for _, bars in groups) * 1.05
    peers = [name for name in PEER_DESCRIPTIONS if any(name in bars for _, bars in groups)]
    step = BAR * len(peers) + GAP
    width, height = LEFT + step * len(groups) + 20, TOP + CHART_HEIGHT + 190
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">'
    ]
    parts.append('<rect width="100%" height="100%" fill="white"/>')
    title = f"Attention forward, TFLOP/s; {environment.get('gpu', environment.get('device_name', 'cpu'))}"
    parts.append(f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>')
    for k, name in enumerate(peers):
        left = LEFT + 110 * k
        parts.append(
            f'<rect x="{left}" y="30" width="10" height="10" fill="{COLOURS[name]}"/><text x="{left + 14}" y="39">{name}</text>'
        )
    for k in range(6):
        line, value = TOP + CHART_HEIGHT * (1 - k / 5), top * k / 5
        parts.append(f'<line x1="{LEFT}" x2="{width - 10}" y1="{line:.1f}" y2="{line:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{line + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    for g, (label, bars) in enumerate(groups):
        x = LEFT + GAP / 2 + g * step
        for k, name in enumerate(peers):
            h = CHART_HEIGHT * bars.get(name, 0) / top
            parts.append(
                f'<rect x="{x + k * BAR:.1f}" y="{TOP + CHART_HEIGHT - h:.1f}" width="{BAR - 1}" height="{h:.1f}" '
                f'fill="{COLOURS[name]}"><title>{escape(label)}, {name}: {bars.get(name, 0):.4g}</title></rect>'
            )
        cx, cy = x + BAR * len(peers) / 2, TOP + CHART_HEIGHT + 10
        parts.append(f'<text x="{cx:.1f}" y="{cy}" transform="rotate(60 {cx:.1f} {cy})">{escape(label)}</text>')
    return "\n".join([*parts, "</svg>", ""])
