# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speeds as a plot: bars of TFLOP/s over the exact visible area, or of TB/s, from medians."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from .peers import PEER_DESCRIPTIONS

COLOURS = {
    "attn-mlir": "#c0392b",
    "attn-mlir-deterministic": "#d9796d",
    "attn-mlir-sm80": "#e59a8f",
    "cudnn": "#4a8f3c",
    "cudnn-deterministic": "#a3cf98",
    "flash2": "#2f6fb5",
    "flash2-deterministic": "#97bde3",
    "flex": "#8e63ab",
    "triton": "#e69138",
    "jax-mosaic": "#4bb3b0",
    "gemm": "#b7b7b7",
    "copy": "#b7b7b7",
}


BAR, GAP, CHART_HEIGHT, LEFT, TOP = 9, 16, 300, 60, 60


def write_plot(results: dict[str, Any], part: str, path: Path) -> bool:
    """Bars, a group for each problem of a part; False where nothing was timed."""
    is_traffic = part == "serving"
    unit = "TB/s" if is_traffic else "TFLOP/s"
    speed = lambda r, p: r["bytes"] / p["seconds"]["median"] / 1e12 if is_traffic else p["tflops"]  # noqa: E731
    groups = [(r["label"], {n: speed(r, p) for n, p in r["peers"].items() if "tflops" in p}) for r in results[part]]
    groups = [(label, bars) for label, bars in groups if bars]
    if groups:
        path.write_text(plot_svg(groups, results["environment"], unit))
    return bool(groups)


def plot_svg(groups: list[tuple[str, dict[str, float]]], environment: dict[str, Any], unit: str = "TFLOP/s") -> str:
    top = max(max(bars.values()) for _, bars in groups) * 1.05
    peers = [name for name in PEER_DESCRIPTIONS if any(name in bars for _, bars in groups)]
    step = BAR * len(peers) + GAP
    width, height = LEFT + step * len(groups) + 20, TOP + CHART_HEIGHT + 190
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">'
    ]
    parts.append('<rect width="100%" height="100%" fill="white"/>')
    title = f"Attention, {unit}; {environment.get('gpu', environment.get('device_name', 'cpu'))}"
    parts.append(f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>')
    for k, name in enumerate(peers):
        left = LEFT + 150 * k
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
