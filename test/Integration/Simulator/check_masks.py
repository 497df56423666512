"""Runs attention under the masks that people use and holds what was visited to brute force over all pairs.

usage: check_masks.py DEVICE [NAME...]: cpu, sim:sm_80 or sim:sm_90a; all masks (a quarter of them, others for each device, but in a long run), or these; full-tiles: that no mask is
computed in full tiles. The results are compared with
float64 (attn-run --verify). In the simulator, the bytes read of K and V and the products computed must be those of the
key tiles in which some pair is visible, and no others. Standard library only.
"""

import json
import os
import subprocess
import sys
import tempfile

from sweep import LONG

SCHEDULES = {
    "cpu": (64, 64, ""),
    "sim:sm_80": (32, 32, 'mma = "mma_sync", warps = 2, stages = 3'),
    "sim:sm_90a": (64, 64, 'mma = "wgmma", warps = 4, stages = 2'),
}
D = 32


class Traced:
    """A value of a mask_mod region: operators write arith ops."""

    def __init__(self, lines, name, is_bool=False):
        self.lines, self.name, self.is_bool = lines, name, is_bool

    def lift(self, x):
        if isinstance(x, Traced):
            return x
        return self.emit(f"arith.constant {x} : index")

    def emit(self, text, is_bool=False):
        name = f"%x{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return Traced(self.lines, name, is_bool)

    def binary(self, op, other, is_bool=False):
        other = self.lift(other)
        kind = "i1" if self.is_bool else "index"
        return self.emit(f"arith.{op} {self.name}, {other.name} : {kind}", is_bool or self.is_bool)

    def __add__(self, other): return self.binary("addi", other)
    def __sub__(self, other): return self.binary("subi", other)
    def __rsub__(self, other): return self.lift(other) - self
    def __mul__(self, other): return self.binary("muli", other)
    def __floordiv__(self, other): return self.binary("floordivsi", other)
    def __mod__(self, other): return self.binary("remsi", other)
    def __xor__(self, other): return self.binary("xori", other)
    def __and__(self, other): return self.binary("andi", other)
    def __or__(self, other): return self.binary("ori", other)
    def __le__(self, other): return self.binary("cmpi sle,", other, True)
    def __lt__(self, other): return self.binary("cmpi slt,", other, True)
    def __ge__(self, other): return self.binary("cmpi sge,", other, True)
    def __gt__(self, other): return self.binary("cmpi sgt,", other, True)
    def equals(self, other): return self.binary("cmpi eq,", other, True)


def equal(x, y):
    return x.equals(y) if isinstance(x, Traced) else x == y


def clamp(x, low, high):
    if isinstance(x, Traced):
        return x.binary("maxsi", low).binary("minsi", high)
    return min(max(x, low), high)


def near(x, y, reach):
    return (x - y <= reach) & (y - x <= reach)


def natten_1d(n, kernel):
    def mask(i, j):
        centre = clamp(i, kernel // 2, n - 1 - kernel // 2)
        return near(centre, j, kernel // 2)

    return mask


def natten_2d(height, width, reach):
    def mask(i, j):
        y, x = clamp(i // width, reach, height - 1 - reach), clamp(i % width, reach, width - 1 - reach)
        return near(y, j // width, reach) & near(x, j % width, reach)

    return mask


def natten_3d(height, width, reach):
    def mask(i, j):
        area = height * width
        return near(i // area, j // area, reach) & natten_2d(height, width, reach)(i % area, j % area)

    return mask


def video(height, width, lines):
    """A tile of 2 frames and a few lines sees those above and below it in its frames."""

    def mask(i, j):
        area, band = height * width, lines * width
        return equal(i // (2 * area), j // (2 * area)) & near(i % area // band, j % area // band, 1)

    return mask


def butterfly(block):
    def mask(i, j):
        bits = (i // block) ^ (j // block)
        return equal(bits & (bits - 1), 0)

    return mask


# name: (M, N, mask); the sizes are dynamic for the compiler.
MASKS = {
    "causal": (200, 200, lambda i, j: j <= i),
    "causal-bottom-right": (130, 300, lambda i, j: j <= i + 170),
    "window": (300, 300, lambda i, j: (i - j <= 40) & (j <= i)),
    "window-two-sided": (260, 300, lambda i, j: near(i, j, 33)),
    "not-a-window": (200, 260, lambda i, j: (i - j > 40) | (j > i + 70)),
    "prefix-lm": (300, 300, lambda i, j: (j <= i) | (j < 100)),
    "chunked": (300, 300, lambda i, j: equal(i // 70, j // 70)),
    "chunked-causal": (300, 300, lambda i, j: equal(i // 96, j // 96) & (j <= i)),
    "chunk-and-window": (300, 300, lambda i, j: (j >= i - i % 96) & (j <= i) & (i - j < 50)),
    "block-diagonal": (256, 256, lambda i, j: equal(i // 64, j // 32)),
    "block-causal": (300, 300, lambda i, j: j // 48 <= i // 48),
    "dilated": (300, 300, lambda i, j: near(i, j, 60) & equal((i - j) % 4, 0)),
    "sink-and-window": (400, 400, lambda i, j: (j <= i) & ((j < 10) | (i - j < 64))),
    "global-and-window": (400, 400, lambda i, j: near(i, j, 20) | (i < 16) | (j < 16)),
    "bigbird": (400, 400, lambda i, j: near(i // 32, j // 32, 1) | (i // 32 < 1) | (j // 32 < 1)),
    "longformer-dilated": (400, 400, lambda i, j: (near(i, j, 64) & equal((i - j) % 2, 0)) | (j < 8)),
    "shared-prefix": (300, 364, lambda i, j: (j < 64) | (equal((j - 64) // 80, i // 80) & (j - 64 <= i))),
    "three-bands": (400, 400, lambda i, j: near(i, j, 5) | near(i + 170, j, 5) | near(i, j + 170, 5)),
    "natten-1d": (300, 300, natten_1d(300, 33)),
    "natten-2d": (256, 256, natten_2d(16, 16, 2)),
    "contradiction": (100, 100, lambda i, j: (j > i + 3) & (j < i - 3)),
    "strided": (300, 300, lambda i, j: (j <= i) & ((i - j < 16) | equal((i - j) % 16, 0))),
    "fixed": (300, 300, lambda i, j: (j <= i) & (equal(i // 32, j // 32) | (j % 32 >= 28))),
}

# The same with static sizes: periods larger than a tile, for which the compiler makes tables.
STATIC = {
    "butterfly": (512, 512, butterfly(64)),
    "butterfly-causal": (400, 512, lambda i, j: butterfly(32)(i, j) & (j <= i)),
    "strided-wide": (400, 400, lambda i, j: (j <= i) & ((i - j < 16) | equal((i - j) % 128, 0))),
    "fixed-wide": (400, 400, lambda i, j: (j <= i) & (equal(i // 128, j // 128) | (j % 128 >= 120))),
    "dilated-wide": (500, 500, lambda i, j: near(i, j, 300) & equal((i - j) % 150, 0)),
    "natten-2d-wide": (512, 512, natten_2d(8, 64, 2)),
    "natten-3d": (512, 512, natten_3d(8, 16, 1)),
    "video": (512, 512, video(8, 32, 2)),
    "six-bands": (600, 600, lambda i, j: equal((i - j + 700) % 200 // 8, 2)),
}
MASKS.update(STATIC)


def module_text(sizes, mask, tile_m, tile_n, schedule):
    lines = []
    fields = f'kind = "large_cache", tile_m = {tile_m}, tile_n = {tile_n}, tile_d = {D}, tile_dv = {D}, {schedule}'
    clause = f"{{schedule = #attn.schedule<{fields}>}}" if schedule else ""
    i, j = Traced(lines, "%i"), Traced(lines, "%j")
    result = mask(i, j)
    body = "\n        ".join(lines)
    q, k = (f"tensor<1x1x{size}x{D}xf16>" for size in sizes)
    return f"""func.func @attention(%q: {q}, %k: {k}, %v: {k}) -> ({q}, tensor<1x1x{sizes[0]}xf32>) {{
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {{
        {body}
        attn.yield {result.name} : i1
      }} {clause} : {q}, {k}, {k} -> {q}, tensor<1x1x{sizes[0]}xf32>
  return %o, %lse : {q}, tensor<1x1x{sizes[0]}xf32>
}}
"""


def count_tiles(mask, rows, keys, tile_m, tile_n):
    """Key tiles with a visible pair, and the keys in them, over all row tiles."""
    tiles = keys_in_tiles = 0
    for m in range(0, rows, tile_m):
        for n in range(0, keys, tile_n):
            last_row, last_key = min(m + tile_m, rows), min(n + tile_n, keys)
            if any(mask(i, j) for i in range(m, last_row) for j in range(n, last_key)):
                tiles += 1
                keys_in_tiles += last_key - n
    return tiles, keys_in_tiles


def run(device, name, sizes, mask, folder, *options):
    """Runs a mask; what the simulator counted, or an error message."""
    tile_m, tile_n, schedule = SCHEDULES[device]
    path, report = os.path.join(folder, name + ".mlir"), os.path.join(folder, name + ".json")
    with open(path, "w") as f:
        f.write(module_text(sizes, mask, tile_m, tile_n, schedule))
    command = ["attn-run", path, f"--device={device}", "--random=3", *options]
    if schedule:
        command.append(f"--report={report}")
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return process.stdout + process.stderr
    if not schedule:
        return {}
    with open(report) as f:
        return json.load(f)


def check(device, name, folder):
    rows, keys, mask = MASKS[name]
    tile_m, tile_n, schedule = SCHEDULES[device]
    is_static = name in STATIC
    shape = [] if is_static else [f"--shape=M={rows},N={keys}"]
    counts = run(device, name, (rows, keys) if is_static else ("?", "?"), mask, folder, "--verify", *shape)
    if not isinstance(counts, dict):
        return counts
    if not counts:
        return ""
    tiles, keys_in_tiles = count_tiles(mask, rows, keys, tile_m, tile_n)
    read = {operand["name"]: operand["read"] for operand in counts["operands"]}
    flops = sum(kernel["counters"]["mma_flops"] for kernel in counts["kernels"])
    expected = {"key bytes": keys_in_tiles * D * 2, "value bytes": keys_in_tiles * D * 2, "flops": tiles * tile_m * tile_n * D * 4}
    actual = {"key bytes": read["key"], "value bytes": read["value"], "flops": flops}
    wrong = [f"{what}: expected {expected[what]}, got {actual[what]}" for what in expected if actual[what] != expected[what]]
    return "; ".join(wrong)


def integers_per_score(device, masks, folder):
    """Integer instructions for each score, from two masks of which one visits more tiles: what a CTA costs cancels out."""
    tile_m, tile_n, _ = SCHEDULES[device]
    points = []
    for mask in masks:
        counts = run(device, "mask", (512, 512), mask, folder)
        if not isinstance(counts, dict):
            sys.exit(counts)
        counters = counts["kernels"][0]["counters"]
        points.append((counters["lane_instructions"]["integer"], counters["mma_flops"] / (4 * D)))
    (fewer, fewer_scores), (more, more_scores) = points
    return (more - fewer) / (more_scores - fewer_scores)


def check_full_tiles(device, folder):
    """A score in a full tile costs what it does below a bound on the keys, but for the walk over tiles and the rows that are copied; in a partial tile it costs more."""
    plain = integers_per_score(device, [lambda i, j, n=n: j < n for n in (256, 384)], folder)
    chunks = integers_per_score(device, [lambda i, j, n=n: equal(i // n, j // n) for n in (128, 256)], folder)
    tables = integers_per_score(device, [lambda i, j, n=n: equal((i // 64 + j // 64) % n, 0) for n in (4, 2)], folder)
    partial = integers_per_score(device, [lambda i, j, n=n: (j < n) & equal((i - j) % 4, 0) for n in (256, 384)], folder)
    print(f"integer instructions for a score: {plain:.2f} plain, {chunks:.2f} chunks, {tables:.2f} tables, {partial:.2f} partial")
    if not (chunks < plain + 1.2 and tables < plain + 1.2 and partial > plain + 5):
        sys.exit("expected full tiles without a mask")
    print("full tiles have no mask")


def share(names, device, parts):
    """One of so many parts of the names, another one for each device; all of them in a long run."""
    return list(names) if LONG else list(names)[list(SCHEDULES).index(device) % parts :: parts]


def check_all(check, device, names):
    """Runs check(device, name, folder), which says what is wrong, for each name."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            failure = check(device, name, folder)
            failures += bool(failure)
            print(f"{'FAIL' if failure else 'PASS'} {name}", failure, flush=True)
    if failures:
        sys.exit(f"{failures} of {len(names)} masks are wrong")
    print(f"{len(names)} masks are exact")


def main():
    device, names = sys.argv[1], sys.argv[2:] or share(MASKS, sys.argv[1], 4)
    if names != ["full-tiles"]:
        return check_all(check, device, names)
    with tempfile.TemporaryDirectory() as folder:
        check_full_tiles(device, folder)


if __name__ == "__main__":
    main()
