"""Finite masks of padded prompts: what is computed, and how much of it.

    check_finite_mask_skips.py --targets sm_80,sm_90a

Each target compiles a causal mask with padding from data, as models add it, once. `attn-run` verifies it against float64 for
prompts padded left, right, wholly, and not at all; the simulator counts products: hidden tiles are skipped, and only tiles
with a row that sees no key are computed a second time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

BATCHES, HEADS, LENGTH, WIDTH = 2, 2, 320, 64

MODULE = """
!q = tensor<{b}x{h}x{n}x{d}xf16>
func.func @padded(%q: !q, %k: !q, %v: !q, %pad: tensor<{b}x{n}xi64>) -> {results} {{
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -3.40282347e+38 : f32
  %c0 = arith.constant 0 : i64
  %o{lse} = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {{
        %causal = arith.cmpi sle, %j, %i : index
        %p = tensor.extract %pad[%b, %j] : tensor<{b}x{n}xi64>
        %seen = arith.cmpi ne, %p, %c0 : i64
        %visible = arith.andi %causal, %seen : i1
        {mask}
        attn.yield %r : f32
      }} {{schedule = #attn.schedule<tile_m = 64, tile_n = 64>}} : !q, !q, !q -> {types}
  return {values} : {types}
}}
"""
ADDED = "%m = arith.select %visible, %zero, %lowest : f32\n        %r = arith.addf %s, %m : f32"
CHOSEN = "%r = arith.select %visible, %s, %lowest : f32"


def module(mask, with_lse):
    lse = f"tensor<{BATCHES}x{HEADS}x{LENGTH}xf32>"
    return MODULE.format(b=BATCHES, h=HEADS, n=LENGTH, d=WIDTH, mask=mask, lse=", %lse" if with_lse else "",
                         results=f"(!q, {lse})" if with_lse else "!q", types=f"!q, {lse}" if with_lse else "!q",
                         values="%o, %lse" if with_lse else "%o")


def paddings():
    """Name, tokens that are there, and tiles of 64 rows of the first sequence that have a row which sees none."""
    full = np.ones((BATCHES, LENGTH), np.int64)
    left, right, whole = full.copy(), full.copy(), full.copy()
    left[0, :200] = 0
    right[0, 200:] = 0
    whole[0] = 0
    return [("left", left, 4), ("right", right, 0), ("whole", whole, 5), ("none", full, 0)]


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def products(folder, pad):
    """The products of each kernel in tiles of 64 x 64 pairs, of which one head's causal mask has 15 of 25."""
    for name in ("q", "k"):
        np.save(folder / f"{name}.npy", np.ones((BATCHES, HEADS, LENGTH, WIDTH), np.float16))
    run("attn-sim", folder / "m.ptx", "--input", folder / "q.npy", "--input", folder / "k.npy", "--input", folder / "k.npy",
        "--input", pad, "--report", folder / "r.json", "--check")
    kernels = json.loads((folder / "r.json").read_text())["kernels"]
    flops_of_tile = 2 * 2 * 64 * 64 * WIDTH
    return {kernel["entry"]: kernel["counters"]["mma_flops"] / flops_of_tile for kernel in kernels}


def check(target, folder):
    pads = []
    for name, tokens, _ in paddings():
        pads.append(folder / f"{name}.npy")
        np.save(pads[-1], tokens)
    for mask, with_lse in ((ADDED, False), (ADDED, True), (CHOSEN, True)):
        (folder / "m.mlir").write_text(module(mask, with_lse))
        out = run("attn-run", folder / "m.mlir", f"--device=sim:{target}", "--random", 1, "--verify", "--input",
                  "; ".join(f"arg3={pad}" for pad in pads))
        if out.count("verify: PASS") != len(pads):
            sys.exit(f"{target}: expected {len(pads)} inputs verified, got\n{out}")
    run("attn-opt", folder / "m.mlir", f"--target={target}", "--emit=ptx,manifest", "-o", folder / "m")
    for (name, tokens, dead), pad in zip(paddings(), pads):
        tiles = products(folder, pad)
        visible = 0
        for b in range(BATCHES):
            for i in range(0, LENGTH, 64):
                for j in range(0, i + 1, 64):
                    rows, keys = np.arange(i, i + 64)[:, None], np.arange(j, j + 64)[None]
                    visible += bool(((keys <= rows) & (tokens[b, j:j + 64] != 0)).any())
        repaired = dead * (LENGTH // 64)  # a tile of rows takes all keys
        got = (tiles["padded"], tiles["padded_repair"])
        if got != (visible * HEADS, repaired * HEADS):
            sys.exit(f"{target}, padded {name}: expected {visible * HEADS} and {repaired * HEADS} tiles, got {got}")
        print(f"{target}, padded {name}: {got[0]:.0f} tiles, {got[1]:.0f} again")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="sm_80,sm_90a")
    for target in parser.parse_args().targets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            check(target, Path(folder))


main()
