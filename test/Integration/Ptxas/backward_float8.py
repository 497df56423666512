"""Assembles the kernels of gradients by products of 8 bits: no spills, no serialised wgmma (C75xx), and the matrix instructions that
they are to have.

usage: backward_float8.py PTXAS; few cases by default.
"""

import itertools
import re
import subprocess
import sys
import tempfile

import cubin
from float8 import assemble_without_spills
from sweep import few

MODULE = """func.func @grad(%q: {q}, %k: {q}, %v: {v}, %o: {o}, %lse: tensor<?x?x?xf32>, %do: {do}, %x: tensor<1xf32>, %y: tensor<?x?xf32>)
    -> ({dq}, {dq}, {o}, tensor<?x?x?xf32>) {{
  %g:4 = attn.attention_backward %q, %k, %v output(%o : {o}) lse(%lse : tensor<?x?x?xf32>) d_output(%do : {do})
      descale(%x, %y, %y, %x : tensor<1xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<1xf32>) scale_ds(%x : tensor<1xf32>)
      {clause} : {q}, {q}, {v} -> {dq}, {dq}, {o} amax_ds(tensor<?x?x?xf32>)
  return %g#0, %g#1, %g#2, %g#3 : {dq}, {dq}, {o}, tensor<?x?x?xf32>
}}
"""
# Whether the sums of a tile are promoted, where tensor cores keep few bits of a sum.
PROMOTES = {"sm_89": (0, 1), "sm_90a": (0, 1), "sm_100a": (0,), "sm_120": (0,)}
BYTES, WIDER = r"mma\S*(\.e4m3\.|\.e5m2\.|kind::f8f6f4)", r"mma\S*(\.bf16\.|\.f16\.|kind::f16)"
CLAUSES = ("", "mask_mod causal(bottom_right)", "mask_mod sliding_window(256, 0)", "score_mod soft_cap(30.0) mask_mod causal(bottom_right)")
DIMS = ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256))


def assemble(ptxas, folder, target, dims, clause, gradient, promote):
    d, dv = dims
    shape = "?x?x?x"
    text = MODULE.format(
        q=f"tensor<{shape}{d}xf8E4M3FN>", v=f"tensor<{shape}{dv}xf8E4M3FN>", do=f"tensor<{shape}{dv}x{gradient}>",
        dq=f"tensor<{shape}{d}xbf16>", o=f"tensor<{shape}{dv}xbf16>", clause=clause,
    )  # fmt: skip
    name = f"{target} {dims} {clause} {gradient} promote={promote}"
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(text)
    options = [f"--target={target}", f"--schedule=promote={promote}", "--strict", "--emit=ptx", "-o", f"{folder}/k"]
    subprocess.run(["attn-opt", f"{folder}/k.mlir", *options], check=True)
    with open(f"{folder}/k.ptx") as f:
        ptx = f.read()
    if not re.search(BYTES, ptx) or re.search(WIDER, ptx):
        sys.exit(f"{name}: expected products of 8 bits alone")
    assemble_without_spills(ptxas, target, folder, name, kernels=2)


def check_steps(ptxas, folder):
    """What a thread does for a tile at head dim 64: no more than with 16 bits, 441 for dQ and 277 for dK and dV with the maxima of dS, and an
    addition for each sum of a tile that is promoted."""
    for promote, most in ((0, {"dq": 430, "dkv": 272}), (1, {"dq": 462, "dkv": 336})):
        assemble(ptxas, folder, "sm_90a", (64, 64), "", "f8E4M3FN", promote)
        for kernel, limit in most.items():
            code = cubin.read_kernel(f"{folder}/k.cubin", f"grad_{kernel}")
            step = min(map(len, cubin.main_loops(code, 8, "QGMMA")))
            print(f"{kernel} promote={promote}: {step} instructions for a tile")
            if step > limit:
                sys.exit(f"{kernel} promote={promote}: expected at most {limit} instructions for a tile, got {step}")


def main():
    cases = [
        (target, dims, clause, gradient, promote)
        for target, dims, clause, gradient, promote in itertools.product(PROMOTES, DIMS, CLAUSES, ("f8E4M3FN", "f8E5M2"), (0, 1))
        if promote in PROMOTES[target]
        and (gradient == "f8E4M3FN" or clause == CLAUSES[1])
        and (dims == (128, 128) or clause in CLAUSES[:2])
        # Registers do not hold 256 columns of a tile's sums with wgmma.
        and (target, dims, promote) != ("sm_90a", (256, 256), 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        check_steps(sys.argv[1], folder)
        for case in few(cases):
            assemble(sys.argv[1], folder, *case)
    print("PASS")


if __name__ == "__main__":
    main()
