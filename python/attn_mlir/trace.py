# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A picture of a simulated timeline.

    attn-sim k.ptx --input q.npy ... --trace t.json
    python -m attn_mlir.trace t.json -o t.svg [--cta 0] [--begin CYCLE] [--end CYCLE] [--title TEXT]

Draws the tracks of one CTA (docs/Simulator.md, "Trace") as SVG: what each warp executes and waits for, the copies in
flight and the tensor cores, over the cycles of the simulator's model. Each pixel shows what took most of its time.
Standard library only.
"""

import argparse
import json
import sys
from xml.sax.saxutils import escape

WIDTH, LEFT, ROW, GAP = 960, 150, 22, 6
COLOURS = {
    "mma": "#2f6fb5",
    "wgmma": "#1f4e85",
    "issue wgmma": "#6fa8dc",
    "softmax and arithmetic": "#e69138",
    "load/store": "#8fb573",
    "issue copy": "#c3a5d3",
    "copy": "#8e63ab",
    "wait: copy": "#d96c6c",
    "wait: barrier": "#e8b4b4",
    "wait: mbarrier": "#b03a3a",
    "wait: mbarrier of copies": "#8c2d2d",
    "wait: wgmma": "#f0d0c0",
    "other": "#b7b7b7",
}


class TraceError(Exception):
    """A message for the user."""


def read_events(path, cta):
    """(names of the tracks, spans) of one CTA: track -> [(begin, end, name)]."""
    try:
        with open(path) as file:
            events = json.load(file)["traceEvents"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TraceError(f"{path}: expected a trace of attn-sim: {error}") from None
    names: dict[int, str] = {}
    spans: dict[int, list[tuple[float, float, str]]] = {}
    for event in events:
        if event.get("pid") != cta:
            continue
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        elif event["ph"] == "X":
            spans.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"], event["name"]))
    if not spans:
        raise TraceError(f"{path}: no events of CTA {cta}")
    return names, spans


def pixels(spans, begin, end):
    """What takes most of each pixel's time: runs (first pixel, last pixel + 1, name)."""
    scale = WIDTH / (end - begin)
    shares: list[dict[str, float]] = [{} for _ in range(WIDTH)]
    for start, stop, name in spans:
        left, right = (max(start, begin) - begin) * scale, (min(stop, end) - begin) * scale
        for pixel in range(int(left), min(int(right) + 1, WIDTH)):
            share = min(right, pixel + 1) - max(left, pixel)
            if share > 0:
                shares[pixel][name] = shares[pixel].get(name, 0) + share
    runs: list[tuple[int, int, str]] = []
    for pixel, share in enumerate(shares):
        share["-"] = 1 - sum(share.values())
        name = max(share, key=lambda key: (share[key], key))
        if runs and runs[-1][2] == name:
            runs[-1] = (runs[-1][0], pixel + 1, name)
        else:
            runs.append((pixel, pixel + 1, name))
    return [run for run in runs if run[2] != "-"]


def rectangle(x, y, width, height, colour):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>'


def text(x, y, content, anchor="start", colour="#333"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{escape(content)}</text>'


def axis(begin, end, top, bottom):
    """Vertical lines at round cycles, about eight of them."""
    step = 1
    while (end - begin) / step > 10:
        step *= 5 if str(step)[0] == "1" else 2
    lines = []
    for cycle in range(-(-begin // step) * step, end + 1, step):
        x = round(LEFT + (cycle - begin) * WIDTH / (end - begin), 1)
        lines.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="#ddd"/>')
        lines.append(text(x, bottom + 14, str(cycle), "middle"))
    return lines


def legend(names, y):
    """The colours of `names` in lines as wide as the picture, and where the last line is."""
    out, x = [], LEFT
    for name in COLOURS:
        width = 34 + 7 * len(name)
        if name not in names:
            continue
        if x + width > LEFT + WIDTH:
            x, y = LEFT, y + 18
        out += [rectangle(x, y - 9, 10, 10, COLOURS[name]), text(x + 14, y, name)]
        x += width
    return out, y


def draw(names, spans, begin, end, title):
    """The SVG file's text."""
    top = 34
    bottom = top + len(spans) * (ROW + GAP)
    used = {name for track in spans.values() for _, _, name in track}
    body = [text(LEFT, 20, title)] + axis(begin, end, top, bottom)
    for index, track in enumerate(sorted(spans)):
        y = top + index * (ROW + GAP)
        body.append(text(LEFT - 8, y + 15, names.get(track, str(track)), "end"))
        for left, right, name in pixels(spans[track], begin, end):
            body.append(rectangle(LEFT + left, y, right - left, ROW, COLOURS.get(name, "#b7b7b7")))
    body.append(text(LEFT + WIDTH, bottom + 30, "cycles of the simulator's model", "end"))
    keys, last = legend(used, bottom + 48)
    body += keys
    size = f'width="{LEFT + WIDTH + 20}" height="{last + 12}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return "\n".join([head, rectangle(0, 0, "100%", "100%", "white"), *body, "</svg>"]) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--cta", type=int, default=0)
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--end", type=int)
    parser.add_argument("--title", default="")
    a = parser.parse_args(arguments)
    try:
        if not a.output.endswith(".svg"):
            raise TraceError(f"expected --output to end in .svg, got {a.output}")
        names, spans = read_events(a.trace, a.cta)
        end = a.end if a.end is not None else max(stop for track in spans.values() for _, stop, _ in track)
        if not a.begin < end:
            raise TraceError(f"expected --begin to be below {end}, got {a.begin}")
        picture = draw(names, spans, a.begin, end, a.title)
        with open(a.output, "w") as file:
            file.write(picture)
    except (TraceError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
