"""Rows of a bf16 query from 2^-120 to 2^120, beside a cache of 8 bits, in kernels that multiply f16.

usage: check_narrow_query.py
A score_mod takes each row's magnitude out of its scores again, once as a factor of the row, and once as something that the score is part of: an error
of the power of two by which a row is narrowed, or of a row's small elements, is one of the output.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sweep import few

HEADS, ROWS, DIM = 4, 40, 64
FACTORS = {
    "of a row": "    %r = arith.mulf %s, %f : f32\n",
    "in a sum": "    %c = arith.constant 0.25 : f32\n    %m = arith.mulf %s, %f : f32\n    %r = arith.addf %m, %c : f32\n",
    "none": None,
}
#: The target, the cache, the keys, how scores get the factor, and what the schedule says.
CASES = [
    (target, cache, keys, factor, schedule)
    for target in ("sm_90a", "sm_80", "sm_120")
    for cache in ("f8E4M3FN", "f8E5M2", "i8")
    for factor in FACTORS
    for keys, schedule in ((70, ""), (100, "query_in_registers = false"), (33, 'query_in_registers = true, kind = "split_kv", splits = 2'))
]


def module(cache, keys, factor, schedule):
    q, k = f"tensor<1x{HEADS}x{ROWS}x{DIM}xbf16>", f"tensor<1x2x{keys}x{DIM}x{cache}>"
    change = "" if FACTORS[factor] is None else f"""score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {{
    %f = tensor.extract %factors[%i] : tensor<{ROWS}xf32>
{FACTORS[factor]}    attn.yield %r : f32
  }} """
    parts = 'mma = "mma_sync"' + (f", {schedule}" if schedule else "")
    return f"""func.func @f(%q: {q}, %k: {k}, %v: {k}, %d: tensor<1xf32>, %factors: tensor<{ROWS}xf32>) -> {q} {{
  %o = attn.attention %q, %k, %v descale(%d, %d : tensor<1xf32>, tensor<1xf32>) {change}{{schedule = #attn.schedule<{parts}>}} : {q}, {k}, {k} -> {q}
  return %o : {q}
}}
"""


def check(target, cache, keys, factor, schedule, seed):
    rng = np.random.default_rng(seed)
    # Small, for the magnitudes of a row without a factor are those of its scores.
    exponents = rng.integers(-120, 106, ROWS) if FACTORS[factor] else rng.integers(-120, 4, ROWS)
    query = rng.normal(size=(1, HEADS, ROWS, DIM)) * np.exp2(exponents)[:, None]
    # Elements far below the largest of their row, and rows of zeros.
    query *= np.exp2(-rng.integers(0, 30, query.shape) * (rng.random(query.shape) < 0.3))
    query[:, 1, 5] = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "f.mlir").write_text(module(cache, keys, factor, schedule))
        np.save(folder / "q.npy", (query.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
        np.save(folder / "factors.npy", np.exp2(-exponents).astype(np.float32))
        command = ["attn-run", folder / "f.mlir", f"--device=sim:{target}", f"--random={seed}", "--verify", f"--input=arg0={folder}/q.npy", f"--input=arg4={folder}/factors.npy"]
        run = subprocess.run(command, capture_output=True, text=True)
    if "verify: PASS" not in run.stdout:
        sys.exit(f"FAIL: {target} {cache} {keys} {factor} {schedule}: {run.stdout}{run.stderr}")


if __name__ == "__main__":
    for seed, case in enumerate(few(CASES)):
        check(*case, seed)
    print("PASS")
