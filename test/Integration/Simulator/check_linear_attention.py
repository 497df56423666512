"""Kernels of linear attention in the simulator against the recurrence in float64.

usage: check_linear_attention.py TARGET: decays of positions, of heads or none, states in and out, grouped heads, lengths that are no multiple of a
chunk, several types, head dimensions and schedules; in a run that is not long half of these for each target, of one length.
"""

import json
import math
import random
import struct
import subprocess
import sys
import tempfile

from sweep import LONG

SLOPES = "dense<[0.0, -0.004, -0.25, 0xFF800000]> : tensor<4xf32>"
# name, type, D, Dv, decay, state in and out, lengths (of full: of rows; there are 70 keys), schedule
CASES = [
    ("plain", "f16", 64, 64, "", False, [1, 64, 130], ""),
    ("plain bf16", "bf16", 64, 64, "", True, [100], ""),
    ("head", "f16", 64, 64, "slope", True, [1, 63, 200], ""),
    ("head bf16", "bf16", 128, 128, "slope", True, [150], ""),
    ("position", "f16", 64, 64, "decay", True, [1, 65, 200], ""),
    ("position bf16", "bf16", 128, 64, "decay", True, [200], ""),
    ("uneven", "f16", 40, 24, "decay", True, [70], ""),
    ("small", "bf16", 8, 8, "slope", True, [70], ""),
    ("wide", "f16", 96, 192, "decay", True, [70], ""),
    ("slices", "f16", 64, 96, "decay", True, [100], "tile_dv = 32"),
    ("long chunks", "f16", 64, 64, "decay", True, [200], "tile_m = 128, warps = 8"),
    ("short chunks", "bf16", 32, 32, "decay", True, [100], "tile_m = 32, warps = 2, stages = 3"),
    ("reverse", "f16", 64, 64, "reverse", False, [1, 63, 130], ""),
    ("reverse head", "bf16", 64, 32, "reverse slope", True, [100], ""),
    ("reverse position", "f16", 40, 64, "reverse decay", True, [65, 200], "tile_m = 64"),
    ("full", "f16", 64, 64, "full", True, [1, 100], ""),
    ("full bf16", "bf16", 40, 96, "full", False, [64], "tile_dv = 32"),
    ("full one stage", "f16", 96, 24, "full", True, [70], "tile_m = 32, warps = 2, stages = 1"),
    ("one stage", "f16", 32, 32, "slope", False, [100], "stages = 1"),
]


def write_module(path, dtype, d, dv, decay, has_state, schedule):
    q, k, v, o = f"tensor<?x4x?x{d}x{dtype}>", f"tensor<?x2x?x{d}x{dtype}>", f"tensor<?x2x?x{dv}x{dtype}>", f"tensor<?x4x?x{dv}x{dtype}>"
    s, g = f"tensor<?x4x{d}x{dv}xf32>", "tensor<?x4x?xf32>"
    walk, _, decay = decay.rpartition(" ") if " " in decay or decay in ("decay", "slope") else (decay, "", "")
    arguments = f"%q: {q}, %k: {k}, %v: {v}" + (f", %g: {g}" if decay == "decay" else "") + (f", %s: {s}" if has_state else "")
    text = f"func.func @linear({arguments}) -> ({o}, {s}) {{\n"
    if decay == "slope":
        text += f"  %a = arith.constant {SLOPES}\n"
    given = {"slope": " slope(%a : tensor<4xf32>)", "decay": f" decay(%g : {g})", "": ""}[decay]
    given = f" {walk}{given}"
    given += f" state(%s : {s})" if has_state else ""
    given += f" {{schedule = #attn.schedule<{schedule}>}}" if schedule else ""
    text += f"  %o, %e = attn.linear_attention %q, %k, %v{given} : {q}, {k}, {v} -> {o}, {s}\n  return %o, %e : {o}, {s}\n}}\n"
    with open(path, "w") as f:
        f.write(text)


def write_decays(path, batch, length):
    """From hardly any to strong ones, and some that forget all."""
    values = []
    for _ in range(batch):
        for strength in [0.01, 0.3, 2, 20]:
            values += [-math.inf if random.random() < 0.02 else -strength * random.random() for _ in range(length)]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({batch}, 4, {length}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))


def check_bytes(folder, target):
    """What the manifest predicts and the simulator counts of a problem of known sizes."""
    q, k, v, s = "tensor<2x4x130x64xf16>", "tensor<2x2x130x64xf16>", "tensor<2x2x130x96xf16>", "tensor<2x4x64x96xf32>"
    o = "tensor<2x4x130x96xf16>"
    cases = (
        ("slope(%a : tensor<4xf32>)", "tile_m = 64, tile_dv = 32"),
        ("slope(%a : tensor<4xf32>)", "tile_m = 128, tile_dv = 64, warps = 8"),
        ("full", "tile_m = 64, tile_dv = 64"),
    )
    for walk, schedule in cases if LONG else cases[target == "sm_90a" :: 2]:
        with open(f"{folder}/b.mlir", "w") as f:
            f.write(f"func.func @linear(%q: {q}, %k: {k}, %v: {v}, %s: {s}) -> ({o}, {s}) {{\n")
            f.write(f"  %a = arith.constant {SLOPES}\n  %o, %e = attn.linear_attention %q, %k, %v {walk} state(%s : {s})")
            f.write(f" {{schedule = #attn.schedule<{schedule}>}} : {q}, {k}, {v} -> {o}, {s}\n  return %o, %e : {o}, {s}\n}}\n")
        subprocess.run(["attn-run", f"{folder}/b.mlir", f"--device=sim:{target}", f"--report={folder}/b.json"], check=True, capture_output=True)
        with open(f"{folder}/b.json") as f:
            operands = json.load(f)["operands"]
        predicted = {o["name"]: (o["predicted"]["read"], o["predicted"]["write"]) for o in operands if "predicted" in o}
        counted = {o["name"]: (o["read"], o["write"]) for o in operands if o["name"] in predicted}
        if len(predicted) != 6 or predicted != counted:
            sys.exit(f"{schedule}: expected {predicted}, got {counted}")


def check_gradients(folder, target):
    """What --attn-grad makes: kernels that walk both ways, whose outputs are f32 where they are summed up, and on the host what adds up groups
    of heads and decays."""
    cases = (("decay", 70), ("reverse decay", 100))
    for decay, length in cases if LONG else cases[target == "sm_90a" :: 2]:
        write_module(f"{folder}/f.mlir", "f16", 32, 24, decay, True, "")
        write_decays(f"{folder}/g.npy", 1, length)
        subprocess.run(["attn-opt", f"{folder}/f.mlir", "--attn-grad", "-o", f"{folder}/grad.mlir"], check=True)
        command = ["attn-run", f"{folder}/grad.mlir", "--function=linear_grad", f"--device=sim:{target}", f"--input=arg3={folder}/g.npy"]
        command += [f"--shape=B=1,M={length},arg4=1x4x32x24,arg6=1x4x32x24", "--random=2", "--verify"]
        result = subprocess.run(command, capture_output=True, text=True)
        if "verify: PASS" not in result.stdout:
            sys.exit(f"gradients, {decay}: {result.stdout}{result.stderr}")


def main():
    target = sys.argv[1]
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype, d, dv, decay, has_state, lengths, schedule in CASES if LONG else CASES[target == "sm_90a" :: 2]:
            write_module(f"{folder}/m.mlir", dtype, d, dv, decay, has_state, schedule)
            for length in lengths if LONG else lengths[-1:]:
                batch = 2 if length < 100 else 1
                command = ["attn-run", f"{folder}/m.mlir", f"--device=sim:{target}", f"--shape=B={batch},M={length}" + (",N=70" if decay == "full" else "")]
                command += ["--random=1", "--verify"]
                if decay.endswith("decay"):
                    write_decays(f"{folder}/g.npy", batch, length)
                    command.append(f"--input=arg3={folder}/g.npy")
                result = subprocess.run(command, capture_output=True, text=True)
                if "verify: PASS" not in result.stdout:
                    sys.exit(f"{name}, M = {length}: {result.stdout}{result.stderr}")
            print(f"{name}: PASS")
        check_bytes(folder, target)
        print("bytes: PASS")
        check_gradients(folder, target)
        print("gradients: PASS")


if __name__ == "__main__":
    main()
