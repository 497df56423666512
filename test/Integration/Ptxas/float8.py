"""Assembles 8-bit kernels: no spills, no serialised wgmma (C75xx), and the matrix instructions that they are to have.

usage: float8.py PTXAS
"""

import itertools
import re
import subprocess
import sys
import tempfile

import cubin
from sweep import few

MODULE = """func.func @attention(%q: {q}, %k: {k}, %v: {v}, %x: tensor<1xf32>, %y: tensor<?x?xf32>) -> {o} {{
  %o = attn.attention %q, %k, %v {clause} : {q}, {k}, {v} -> {o}
  return %o : {o}
}}
"""
PAGED = """func.func @paged(%q: {q}, %kp: {k}, %vp: {v}, %t: tensor<?x?xi32>, %n: tensor<?xi32>) -> {o} {{
  %k = attn.paged %kp[%t] : {k}[tensor<?x?xi32>] -> {q}
  %v = attn.paged %vp[%t] : {v}[tensor<?x?xi32>] -> {q}
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) {clause} : {q}, {q}, {q} -> {o}
  return %o : {o}
}}
"""
DESCALE = "descale(%x, %x, %y : tensor<1xf32>, tensor<1xf32>, tensor<?x?xf32>)"
CLAUSES = ("", "mask_mod causal(bottom_right)", f"{DESCALE} mask_mod causal(bottom_right)")


def assemble_without_spills(ptxas, target, folder, name, kernels=1):
    """k.ptx of the folder to k.cubin. Fails if ptxas spills, serialises wgmma, or finds fewer kernels."""
    command = [ptxas, "-v", f"-arch={target}", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"]
    result = subprocess.run(command, capture_output=True, text=True)
    report = result.stdout + result.stderr
    if result.returncode or "C75" in report:
        sys.exit(f"{name}: {report}")
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", report)
    if len(spills) < kernels or any(pair != ("0", "0") for pair in spills):
        sys.exit(f"{name}: expected {kernels} kernels or more without spills, got {spills}")


def assemble(ptxas, target, dtype, dims, clause, folder, page=None):
    """`page`: of a cache in pages of so many keys."""
    d, dv = dims
    text = (PAGED if page else MODULE).format(
        q=f"tensor<?x?x?x{d}x{dtype}>", k=f"tensor<?x?x{page or '?'}x{d}x{dtype}>", v=f"tensor<?x?x{page or '?'}x{dv}x{dtype}>", o=f"tensor<?x?x?x{dv}xbf16>", clause=clause
    )
    name = f"{target} {dtype} {dims} {clause} {page or ''}"
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(text)
    subprocess.run(["attn-opt", f"{folder}/k.mlir", f"--target={target}", "--emit=ptx", "-o", f"{folder}/k"], check=True)
    assemble_without_spills(ptxas, target, folder, name)
    return name, f"{folder}/k.cubin"


def check_step(ptxas, promotes, descales, folder):
    """What a thread does for 16 rows and 128 keys of its warp, at head dim 128: as much as for 16 bits but for half of the products, and no
    permutation of P. 64 additions are for large scores alone; without them it is within 5% of the 420 instructions of a kernel by hand, or a little
    more where a tile's sums are promoted: multiplications by the decay become multiplications and additions. Descales are multiplied into the maximum
    and the exponent of a row, and into scores in two branches: of descales that are no positive numbers, and of large scores."""
    schedule = DESCALE * descales + f" {{schedule = #attn.schedule<tile_m = 128, tile_n = 128, stages = 2, exp2_on_fma = 0, promote = {str(promotes).lower()}>}}"
    name, path = assemble(ptxas, "sm_90a", "f8E4M3FN", (128, 128), schedule, folder)
    loops = cubin.main_loops(cubin.read_kernel(path), 8, "QGMMA")
    if len(loops) != 2:
        sys.exit(f"{name}: expected 2 loops, of whole and of ragged tiles, got {len(loops)}")
    step = min(loops, key=len)
    counts = cubin.counts(step)
    limits = {"MUFU": 66, "FMNMX": 70 + 2 * descales, "FFMA": 66 + 64 * promotes, "FMUL": 68 - 64 * promotes + (128 + 4) * descales, "FADD": 64 + 69, "F2FP": 32, "PRMT": 2, "SHFL": 4, "LDL": 0, "STL": 0}
    for opcode, limit in limits.items():
        if counts[opcode] > limit:
            sys.exit(f"{name}: expected at most {limit} {opcode}, got {counts[opcode]}")
    usual = len(step) - 64 - 128 * descales
    most = 441 + 6 * promotes + 14 * descales
    if usual > most:
        sys.exit(f"{name}: expected at most {most} instructions for a tile, got {usual}")
    print(f"{usual} instructions for a tile")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for promotes, descales in few(itertools.product((False, True), (False, True))):
            check_step(sys.argv[1], promotes, descales, folder)
        for page, clause in few(((16, CLAUSES[1]), (64, CLAUSES[1]), (64, "mask_mod sliding_window(1024, 0)"))):
            assemble(sys.argv[1], "sm_90a", "f8E4M3FN", (128, 128), clause, folder, page)
        opcodes = (("sm_89", "QMMA", "HMMA"), ("sm_90a", "QGMMA", "HGMMA"))
        dims = ((64, 64), (128, 128), (192, 128), (256, 256))
        for dtype, dims, clause, (target, opcode, others) in few(
            (dtype, d, clause, target)
            for dtype, d, clause, target in itertools.product(("f8E4M3FN", "f8E5M2"), dims, CLAUSES, opcodes)
            if (dtype == "f8E4M3FN" or d == (128, 128)) and (target[0] != "sm_89" or clause == CLAUSES[1])
        ):
            name, path = assemble(sys.argv[1], target, dtype, dims, clause, folder)
            counts = cubin.counts(cubin.read_kernel(path))
            if not counts[opcode] or counts[others]:
                sys.exit(f"{name}: expected {opcode} and no {others}, got {counts}")
    print("PASS")


if __name__ == "__main__":
    main()
