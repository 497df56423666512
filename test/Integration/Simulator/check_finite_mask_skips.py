"""Finite masks of padded prompts: what is computed, and how much of it.

    check_finite_mask_skips.py --targets sm_80,sm_90a

Each target compiles a causal mask with padding from data, as models add it, once. `attn-run` verifies it against float64 for
prompts padded left, right, wholly, and not at all, and so the gradients; the simulator counts products: hidden tiles are skipped,
and only tiles with a row that sees no key are computed a second time, in the backward once.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sweep import LONG

SCHEDULE = "{schedule = #attn.schedule<tile_m = 64, tile_n = 64>}"
BATCHES, HEADS, LENGTH, WIDTH = 2, 2, 192, 64 if LONG else 32

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
      }} {beside} {schedule} : !q, !q, !q -> {types}
  return {values} : {types}
}}
"""
ADDED = "%m = arith.select %visible, %zero, %lowest : f32\n        %r = arith.addf %s, %m : f32"
CHOSEN = "%r = arith.select %visible, %s, %lowest : f32"


def module(mask, with_lse, beside=""):
    lse = f"tensor<{BATCHES}x{HEADS}x{LENGTH}xf32>"
    return MODULE.format(schedule=SCHEDULE, beside=beside, b=BATCHES, h=HEADS, n=LENGTH, d=WIDTH, mask=mask, lse=", %lse" if with_lse else "",
                         results=f"(!q, {lse})" if with_lse else "!q", types=f"!q, {lse}" if with_lse else "!q",
                         values="%o, %lse" if with_lse else "%o")


def paddings():
    """Name, and tokens that are there."""
    full = np.ones((BATCHES, LENGTH), np.int64)
    left, right, whole = full.copy(), full.copy(), full.copy()
    left[0, :120] = 0
    right[0, 120:] = 0
    whole[0] = 0
    return [("left", left), ("right", right), ("whole", whole), ("none", full)]


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def products(folder, program, inputs, at_once):
    """The products of each kernel in tiles of 64 x 64 pairs, of which one head's causal mask has 6 of 9. `at_once`: for each
    pair of tiles, by the end of the kernel's name."""
    operands = [part for operand in inputs for part in ("--input", operand)]
    run("attn-sim", folder / "m.ptx", "--program", program, *operands, "--report", folder / "r.json", "--check")
    kernels = json.loads((folder / "r.json").read_text())["kernels"]
    flops = 2 * 64 * 64 * WIDTH
    return [kernel["counters"]["mma_flops"] / (flops * count) for end, count in at_once.items()
            for kernel in kernels if kernel["entry"].endswith(end)]


def tile_counts(tokens):
    """Of all heads: pairs of tiles with a visible pair, and all pairs of tiles of rows of which one sees no key."""
    at = np.arange(LENGTH)
    visible = (at[None] <= at[:, None]) & (tokens[:, None] != 0)
    tiles = LENGTH // 64
    seen = visible.reshape(BATCHES, tiles, 64, tiles, 64).any(axis=(2, 4))
    repaired = (~visible.any(axis=2)).reshape(BATCHES, tiles, 64).any(axis=2)
    return HEADS * seen.sum(), HEADS * tiles * repaired.sum(), HEADS * (seen | repaired[:, :, None]).sum()


def save_operands(folder, tokens, pad):
    """Ones, and an LSE by which rows see a key or do not; returns the inputs of the forward and of the backward, whose mask reads
    the LSE too."""
    ones = folder / "ones.npy"
    np.save(ones, np.ones((BATCHES, HEADS, LENGTH, WIDTH), np.float16))
    sees = np.cumsum(tokens, axis=1) > 0
    lse = np.where(sees, np.float32(0), np.finfo(np.float32).min)[:, None].repeat(HEADS, axis=1)
    np.save(folder / "lse.npy", np.ascontiguousarray(lse))
    return [ones] * 3 + [pad], [ones] * 5 + [folder / "lse.npy", pad, folder / "lse.npy"]


def build_gradient(folder, recompute):
    """g.mlir of m.mlir, with its tiles."""
    text = run("attn-opt", folder / "m.mlir", f"--attn-grad=recompute={str(recompute).lower()}")
    begin = text.index("attn.attention_backward")
    end = text.index(" : tensor", text.index("attn.yield", begin))
    (folder / "g.mlir").write_text(f"{text[:end]} {SCHEDULE}{text[end:]}")


def verify(target, path, pads, *more):
    out = run("attn-run", path, f"--device=sim:{target}", "--random", 1, "--verify", "--input",
              "; ".join(f"arg3={pad}" for pad in pads), *more)
    if out.count("verify: PASS") != len(pads):
        sys.exit(f"{target}: expected {len(pads)} inputs verified, got\n{out}")


def check(target, folder):
    pads = []
    for name, tokens in paddings():
        pads.append(folder / f"{name}.npy")
        np.save(pads[-1], tokens)
    for number, (mask, with_lse, beside) in enumerate(((ADDED, False, ""), (ADDED, True, "mask_mod causal(top_left)"), (CHOSEN, True, ""))):
        (folder / "m.mlir").write_text(module(mask, with_lse, beside))
        if not LONG and number % 2 != (target == "sm_80"):
            continue  # another target verifies it
        verify(target, folder / "m.mlir", pads)
        if with_lse:
            build_gradient(folder, recompute=True)
            verify(target, folder / "g.mlir", pads, "--function", "padded_grad")
    build_gradient(folder, recompute=False)
    run("attn-opt", folder / "g.mlir", f"--target={target}", "--deterministic", "--emit=ptx,manifest", "-o", folder / "m")
    programs = [program["name"] for program in json.loads((folder / "m.json").read_text())["programs"]]
    for (name, tokens), pad in zip(paddings(), pads):
        forward, backward = save_operands(folder, tokens, pad)
        got = products(folder, programs[0], forward, {"_attention": 2, "_repair": 2})
        got += products(folder, programs[1], backward, {"_dq": 3, "_dkv": 4})
        visible, repaired, either = tile_counts(tokens)
        if got != [visible, repaired, either, either]:
            sys.exit(f"{target}, padded {name}: expected {visible}, {repaired} and twice {either} tiles, got {got}")
        print(f"{target}, padded {name}: {got[0]:.0f} tiles, {got[1]:.0f} again, {got[2]:.0f} for each gradient")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="sm_80,sm_90a")
    for target in parser.parse_args().targets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            check(target, Path(folder))


main()
