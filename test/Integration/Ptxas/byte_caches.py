"""Assembles decode steps over caches of 8 bits, and over latent ones, beside queries of f16 and bf16; fails at a spill, and where a tile costs too much.

usage: byte_caches.py PTXAS
"""

import itertools
import subprocess
import sys
import tempfile

import cubin
from float8 import assemble_without_spills
from sweep import LONG

MODULE = """func.func @decode(%q: {q}, %kp: {p}, %vp: {p}, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %d: tensor<1xf32>) -> {q} {{
  %k = attn.paged %kp[%t] : {p}[tensor<?x?xi32>] -> {k}
  %v = attn.paged %vp[%t] : {p}[tensor<?x?xi32>] -> {k}
  %o = attn.attention %q, %k, %v descale(%d, %d : tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<?xi32>) : {q}, {k}, {k} -> {q}
  return %o : {q}
}}
"""
LATENT = """func.func @decode(%q: {q}, %c: {c}, %n: tensor<?xi32>) -> {o} {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %c, %c0 : {c}
  %rows = tensor.dim %c, %c2 : {c}
  %v = tensor.extract_slice %c[0, 0, 0, 0] [%b, 1, %rows, 512] [1, 1, 1, 1] : {c} to {v}
  %o = attn.attention %q, %c, %v lengths(key %n : tensor<?xi32>) {{schedule = #attn.schedule<kind = "split_kv", mma = "mma_sync", tile_dv = 512>}} : {q}, {c}, {v} -> {o}
  return %o : {o}
}}
"""
TARGETS = ("sm_80", "sm_89", "sm_90a", "sm_120")
CACHES = ("f8E4M3FN", "f8E5M2", "i8")
QUERIES = ("bf16", "f16")  # in turn, in a run that is not long
COPY = 0xFAE  # LDGSTS
#: Instructions of sm_90a for 64 keys and values at head dim 128, 256 conversions, 128 products and 32 copies among them: 0.0537 for each of 16 KB.
MOST = 880


def count_executed(loop):
    """How many instructions of a loop run where nothing is rescaled and there is a next tile to copy."""
    count, end = 0, 0
    for place, instruction in enumerate(loop):
        count += place >= end
        if instruction.name() == "BRA" and place < (target := instruction.branch_target(place)) < len(loop):
            if all(other.opcode != COPY for other in loop[place:target]):
                end = max(end, target)
    return count


def assemble(ptxas, target, name, text, folder, kernels=2):
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(text)
    subprocess.run(["attn-opt", f"{folder}/k.mlir", f"--target={target}", "--emit=ptx", "-o", f"{folder}/k"], check=True)
    assemble_without_spills(ptxas, target, folder, name, kernels)


def check_latent(ptxas, target, cache, query, folder):
    """Two warps of the same rows, with 256 columns each."""
    q, o = (f"tensor<?x16x1x{columns}x{query}>" for columns in (576, 512))
    c, v = (f"tensor<?x1x?x{columns}x{cache}>" for columns in (576, 512))
    assemble(ptxas, target, f"{target} latent {cache} beside {query}", LATENT.format(q=q, c=c, v=v, o=o), folder)


def check_prompt(ptxas, folder):
    """Two warpgroups of the same rows, without serialised wgmma."""
    q, o, c, v = (f"tensor<?x?x?x{columns}xbf16>" for columns in (576, 512, 576, 512))
    text = LATENT.format(q=q, c=c.replace("?x?", "?x1", 1), v=v.replace("?x?", "?x1", 1), o=o).replace('kind = "split_kv", mma = "mma_sync", tile_dv = 512', 'kind = "large_cache", mma = "wgmma"')
    assemble(ptxas, "sm_90a", "sm_90a latent prompt", text, folder, kernels=1)


def check(ptxas, target, cache, query, folder):
    name = f"{target} {cache} beside {query}"
    assemble(ptxas, target, name, MODULE.format(q=f"tensor<?x32x1x128x{query}>", p=f"tensor<?x8x64x128x{cache}>", k=f"tensor<?x8x?x128x{cache}>"), folder)
    if (target, cache) != ("sm_90a", "f8E4M3FN"):
        return
    loops = cubin.main_loops(cubin.read_kernel(f"{folder}/k.cubin", "decode"), 128, "HMMA")
    counts = [count_executed(loop) for loop in loops]
    print(f"{name}: {counts} instructions for a tile")
    if len(counts) != 2 or min(counts) > MOST:
        sys.exit(f"{name}: expected 2 loops, of whole and of ragged tiles, and at most {MOST} instructions for a whole one, got {counts}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for n, case in enumerate(itertools.product(TARGETS, CACHES)):
            for query in QUERIES if LONG else QUERIES[n % 2 :][:1]:
                check(sys.argv[1], *case, query, folder)
        for target, cache in itertools.product(("sm_80", "sm_90a"), ("bf16", "f8E4M3FN", "i8") if LONG else ("bf16", "f8E4M3FN")):
            check_latent(sys.argv[1], target, cache, "bf16", folder)
        check_prompt(sys.argv[1], folder)
    print("PASS")
