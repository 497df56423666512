# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of the cost model, of masks and of plans for several GPUs.

    python -m attn_mlir.plot io --problem 'M=4096 N=4096 D=128' -o io.svg
    python -m attn_mlir.plot mask attention.report.json -o mask.svg
    python -m attn_mlir.plot ranks --problem 'M=4096 N=4096 D=128 mask=causal' --ranks 4 -o ranks.svg
    python -m attn_mlir.plot rank-curves --ranks 64 --tokens 65536:4194304 -o curves.svg

`io` draws, against the size of the fast memory, what the idealised large-cache
and small-cache algorithms move, the lower bound, and the schedule that the
compiler chooses for a target with that much shared memory. The numbers come from
`attn-schedule --sweep ... --json`; matplotlib only draws them.

`mask` draws which tiles of the scores are empty, partial and full, as a report
of `attn-opt --emit=report` has them.

`ranks` draws which rank computes which rows and keys in the first plan of `attn-schedule --ranks`, with `--stages` when each rank
computes, waits and is idle. `rank-curves` draws predicted time, bytes and balance of plans for masks of long-context training,
against tokens or ranks, beside those of the ring and of the exchange of heads (Ulysses).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

from . import rank_curves, tools
from .errors import AttnError
from .rank_figures import draw_ranks, draw_stages

SUFFIXES = (".png", ".svg", ".pdf")

# Colour and marker of the chosen schedule by kind.
KIND_STYLES = {
    "large_cache": ("tab:blue", "o"),
    "split_kv": ("tab:cyan", "^"),
    "small_cache": ("tab:orange", "s"),
}



class PlotError(Exception):
    """A message for the user."""


def import_pyplot():
    """matplotlib.pyplot without a display, or a PlotError that says how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise PlotError(
            "drawing needs matplotlib, which is not installed (pip install matplotlib)"
        ) from None
    matplotlib.use("Agg")
    # Text stays text, and the file is the same in every run.
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "attn-mlir"
    from matplotlib import pyplot

    return pyplot


def find_tool(path):
    """The attn-schedule to run: `path`, or the one that the package finds."""
    if not path:
        return tools.find_tool("attn-schedule")
    tool = shutil.which(path)
    if not tool:
        raise PlotError(f"cannot find '{path}'; expected --tool to be attn-schedule")
    return tool


def run_schedule(tool, problem, target, *options):
    """What attn-schedule says of a problem, as a dict."""
    command = [tool, "--json", f"--problem={problem}", f"--target={target}"]
    result = subprocess.run([*command, *options], capture_output=True, text=True)
    if result.returncode:
        raise PlotError(result.stderr.strip())
    return json.loads(result.stdout)


def get_element_bytes(problem):
    """Bytes of an element of the problem's Q, K and V."""
    fields = dict(field.split("=", 1) for field in problem.split())
    name = fields.get("dtype", "bf16").lower()
    if name in ("f32", "fp32", "float"):
        return 4
    return 1 if name.startswith(("f8", "fp8", "e4", "e5")) else 2


def get_curve(points, scale, key):
    """(x, y) of one of the idealised counts, where it exists."""
    known = [p for p in points if p["ideal"][key]]
    return [p["value"] / 1024 for p in known], [p["ideal"][key] * scale for p in known]


def get_chosen(points):
    """(x, bytes) of the chosen schedules by kind."""
    chosen: dict[str, tuple[list[float], list[float]]] = {}
    for point in points:
        if "report" not in point:
            continue
        best = point["report"]["ranked"][0]
        cost = best["cost"]
        moved = cost["l2_read_bytes"] + cost["l2_written_bytes"]
        xs, ys = chosen.setdefault(best["schedule"]["kind"], ([], []))
        xs.append(point["value"] / 1024)
        ys.append(moved)
    return chosen


def draw_io(pyplot, points, problem, target, shared_memory, output):
    scale = get_element_bytes(problem)
    figure, axes = pyplot.subplots(figsize=(7, 4.8))
    curves = [
        ("large_elements", "large cache, ideal tiles", "tab:blue", "-"),
        ("small_elements", "small cache, ideal tiles", "tab:orange", "-"),
        ("bound_elements", "lower bound", "black", ":"),
    ]
    for key, label, color, line in curves:
        axes.plot(*get_curve(points, scale, key), line, color=color, label=label)
    for kind, (xs, ys) in sorted(get_chosen(points).items()):
        color, marker = KIND_STYLES[kind]
        axes.plot(xs, ys, marker, color=color, label=f"chosen: {kind}", markersize=5)
    axes.axvline(
        shared_memory / 1024,
        color="gray",
        linewidth=1,
        label=f"a CTA of {target} has {shared_memory / 1024:.0f} KiB",
    )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="shared memory of a CTA (KiB)\n"
        "Chosen schedules keep sums in registers and share tiles in clusters,\n"
        "which is not counted here, and may lie below the ideal lines;\n"
        "whole instructions and stages lift them above.",
        ylabel="bytes moved",
        title=f"{problem} on {target}",
    )
    axes.set_xscale("log", base=2)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    metadata = {"Date": None} if output.endswith(".svg") else None
    figure.savefig(output, metadata=metadata)
    pyplot.close(figure)


def check_output(output):
    """A PlotError unless a figure can be written there."""
    if not output.endswith(SUFFIXES):
        raise PlotError(
            f"expected an output that ends in {', '.join(SUFFIXES)}, got '{output}'"
        )
    directory = os.path.dirname(output) or "."
    if not os.path.isdir(directory):
        raise PlotError(f"no such directory '{directory}'")


def read_mask(path):
    """The first mask of a report, as attn-opt writes it."""
    try:
        with open(path) as file:
            masks = json.load(file)["masks"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PlotError(f"cannot read the masks of report '{path}': {error}") from None
    known = [mask for mask in masks if mask]
    if not known:
        raise PlotError(f"the report '{path}' has no attention with a mask")
    return known[0]


def draw_mask(pyplot, mask, output):
    figure, axes = pyplot.subplots(figsize=(5.4, 6))
    states = [[".+#".index(tile) for tile in line] for line in mask["picture"]]
    side = mask["picture_tiles"]  # tiles of a cell; those at the ends may be cut off
    extent = (0, len(states[0]) * side * mask["tile_n"], len(states) * side * mask["tile_m"], 0)
    axes.imshow(states, cmap="Blues", vmin=0, vmax=2, extent=extent, aspect="auto")
    shades = pyplot.get_cmap("Blues")
    kinds = [
        pyplot.Rectangle(
            (0, 0), 1, 1, facecolor=shades(k / 2), edgecolor="gray", label=f"{mask[kind]} {kind}"
        )
        for k, kind in enumerate(("empty", "partial", "full"))
    ]
    figure.legend(handles=kinds, loc="lower center", ncols=3, frameon=False)
    axes.set(
        xlabel="key",
        ylabel="query",
        xlim=(0, mask["keys"]),
        ylim=(mask["rows"], 0),
        title=f"{mask['visited']} tiles of {mask['tile_m']} x {mask['tile_n']} visited ({mask['density']:.1%}),\n"
        f"{mask['predicted_saving']:.0%} of the time saved (predicted)",
    )
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    metadata = {"Date": None} if output.endswith(".svg") else None
    figure.savefig(output, metadata=metadata)
    pyplot.close(figure)


def run_ranks(arguments):
    check_output(arguments.output)
    pyplot = import_pyplot()
    options = [f"--ranks={arguments.ranks}", "--top=1"]
    options += [f"--link={arguments.link}"] if arguments.link else []
    options += [f"--documents={arguments.documents}"] if arguments.documents else []
    tool = find_tool(arguments.tool)
    draw = draw_stages if arguments.stages else draw_ranks
    draw(pyplot, run_schedule(tool, arguments.problem, arguments.target, *options), arguments.output)


def run_rank_curves(arguments):
    check_output(arguments.output)
    pyplot, tool = import_pyplot(), find_tool(arguments.tool)

    def plan(problem, *options):
        return run_schedule(tool, problem, arguments.target, *options)

    try:
        curves = rank_curves.make_curves(plan, arguments)
    except ValueError as error:
        raise PlotError(str(error)) from None
    axis = "tokens" if ":" in arguments.tokens else "ranks"
    rank_curves.draw_curves(pyplot, curves, axis, arguments.output)


def run_mask(arguments):
    check_output(arguments.output)
    mask = read_mask(arguments.report)
    draw_mask(import_pyplot(), mask, arguments.output)


def run_io(arguments):
    check_output(arguments.output)
    pyplot = import_pyplot()
    question = find_tool(arguments.tool), arguments.problem, arguments.target
    shared_memory = run_schedule(*question)["target"]["shared_memory_bytes"]
    sweep = f"--sweep=smem-bytes={arguments.smem_bytes}"
    points = run_schedule(*question, sweep)["points"]
    draw_io(pyplot, points, *question[1:], shared_memory, arguments.output)


def make_parser():
    parser = argparse.ArgumentParser(
        prog="attn_mlir.plot", description="Draw what the compiler predicts."
    )
    commands = parser.add_subparsers(required=True, metavar="FIGURE")
    io = commands.add_parser("io", help="bytes moved against the fast memory's size")
    io.add_argument("--problem", required=True, help="as attn-schedule takes it")
    io.add_argument("--target", default="sm_90a", help="default sm_90a")
    io.add_argument(
        "--smem-bytes",
        default="8192:524288:1.19",
        metavar="FIRST:LAST:FACTOR",
        help="range of the fast memory; default %(default)s",
    )
    io.add_argument("-o", "--output", required=True, help="a .png, .svg or .pdf file")
    io.add_argument("--tool", help="attn-schedule; default: the package's own, or the one on PATH")
    io.set_defaults(run=run_io)
    mask = commands.add_parser("mask", help="empty, partial and full tiles of a mask")
    mask.add_argument("report", help="NAME.report.json of attn-opt --emit=report")
    mask.add_argument("-o", "--output", required=True, help="a .png, .svg or .pdf file")
    mask.set_defaults(run=run_mask)
    ranks = commands.add_parser("ranks", help="who computes which rows and keys, of several GPUs")
    ranks.add_argument("--problem", required=True, help="as attn-schedule takes it, with M = N")
    ranks.add_argument("--ranks", required=True, help="how many GPUs")
    ranks.add_argument("--link", help="how they reach each other, as attn-schedule takes it")
    ranks.add_argument("--documents", help="lengths of packed sequences, with commas")
    ranks.add_argument("--stages", action="store_true", help="draw ranks against time: work, waiting and bytes by stage")
    ranks.add_argument("--target", default="sm_90a", help="default sm_90a")
    ranks.add_argument("-o", "--output", required=True, help="a .png, .svg or .pdf file")
    ranks.add_argument("--tool", help="attn-schedule; default: the package's own, or the one on PATH")
    ranks.set_defaults(run=run_ranks)
    curves = commands.add_parser("rank-curves", help="time, bytes and balance of plans against tokens or ranks")
    curves.add_argument("--problem", default="Hq=64 Hkv=8 D=128", help="without M, N and mask; default %(default)s")
    curves.add_argument("--ranks", default="64", help="a number, or FIRST:LAST in powers of two; default %(default)s")
    curves.add_argument("--tokens", default="65536:4194304", help="as --ranks; one of the two is a range; default %(default)s")
    curves.add_argument("--masks", default=",".join(rank_curves.MASKS), help="some of %(default)s")
    curves.add_argument("--link", help="how ranks reach each other, as attn-schedule takes it")
    curves.add_argument("--target", default="sm_90a", help="default sm_90a")
    curves.add_argument("-o", "--output", required=True, help="a .png, .svg or .pdf file")
    curves.add_argument("--tool", help="attn-schedule; default: the package's own, or the one on PATH")
    curves.set_defaults(run=run_rank_curves)
    return parser


def main():
    arguments = make_parser().parse_args()
    try:
        arguments.run(arguments)
    except (PlotError, AttnError) as error:
        print(f"attn_mlir.plot: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
