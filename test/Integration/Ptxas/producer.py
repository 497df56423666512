"""Static budgets of the sm_120 kernels: what is chosen loads by TMA and does not spill, and its key loop is shorter than that of warps that load.

usage: producer.py PTXAS
"""

import json
import re
import subprocess
import sys
import tempfile

import cubin
from sweep import LONG

MODULE = """func.func @attention(%q: {q}, %k: {q}, %v: {v}) -> ({v}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v {mask} {{schedule = #attn.schedule<{schedule}>}} : {q}, {q}, {v} -> {v}, tensor<?x?x?xf32>
  return %o, %lse : {v}, tensor<?x?x?xf32>
}}
"""
MASKS = {"full": "", "causal": "mask_mod causal(bottom_right)", "window": "mask_mod sliding_window(1024, 0)"}
HEAD_DIMS = [(64, 64), (96, 96), (128, 128), (192, 128), (256, 256)] if LONG else [(64, 64), (128, 128), (256, 256)]
# Whose registers leave no room for one more warp.
WIDE = (256, 256)
# The shared memory of one CTA of two on an SM, and of one alone.
TILES = {64: "tile_m = 64, tile_n = 64", 128: "tile_m = 64, tile_n = 32"}


def build(ptxas, folder, d, dv, mask, schedule, dtype="bf16"):
    """The PTX, what ptxas says, and the schedule."""
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(MODULE.format(q=f"tensor<?x?x?x{d}x{dtype}>", v=f"tensor<?x?x?x{dv}x{dtype}>", mask=mask, schedule=schedule))
    subprocess.run(["attn-opt", f"{folder}/k.mlir", "--target=sm_120", "--emit=ptx,manifest", "-o", f"{folder}/k"], check=True)
    result = subprocess.run([ptxas, "-v", "-arch=sm_120", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"], capture_output=True, text=True)
    report = result.stdout + result.stderr
    if result.returncode:
        sys.exit(f"ptxas failed: {report}")
    with open(f"{folder}/k.ptx") as ptx, open(f"{folder}/k.json") as manifest:
        return ptx.read(), report, json.load(manifest)["schedule"]


def count_loop(folder, d, dv, rows, keys):
    """Instructions of the shortest loop over a tile of a warp's rows, that of whole tiles, with what only large scores need."""
    products = rows // 16 * (keys // 8 * d // 16 + dv // 8 * keys // 16)
    loops = cubin.main_loops(cubin.read_kernel(f"{folder}/k.cubin"), products, "HMMA")
    if not loops:
        sys.exit(f"expected a loop of {products} products")
    return min(map(len, loops))


def check_chosen(ptxas, folder):
    for d, dv in HEAD_DIMS:
        for name, mask in MASKS.items():
            ptx, report, schedule = build(ptxas, folder, d, dv, mask, "")
            spills = sum(map(int, re.findall(r"(\d+) bytes spill", report)))
            registers = max(map(int, re.findall(r"Used (\d+) registers", report)))
            print(f"({d}, {dv}) {name}: {registers} registers, {spills} bytes spilled: {schedule}")
            if spills:
                sys.exit("expected no spills")
            expected, other = ("cp.async.bulk.tensor", "cp.async.c") if (d, dv) != WIDE else ("cp.async.c", "cp.async.bulk.tensor")
            if expected not in ptx or other in ptx or "setmaxnreg" in ptx:
                sys.exit(f"expected {expected}, no {other} and no setmaxnreg")


def check_loops(ptxas, folder):
    for d, tiles in TILES.items():
        counts = []
        for producers in (0, 1):
            build(ptxas, folder, d, d, "", f"{tiles}, stages = 2, warps = 4, query_in_registers = true, producer_warps = {producers}")
            keys = int(tiles.rsplit(" ", 1)[1])
            counts.append(count_loop(folder, d, d, 16, keys))
        print(f"({d}, {d}) {tiles}: {counts[0]} instructions of a key tile by cp.async, {counts[1]} by TMA")
        if counts[1] >= counts[0]:
            sys.exit("expected fewer with a producer")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_chosen(sys.argv[1], folder)
        check_loops(sys.argv[1], folder)
    print("PASS")


if __name__ == "__main__":
    main()
