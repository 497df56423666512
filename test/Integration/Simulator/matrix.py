"""Runs attention of one head dimension in the simulator through attn-run, over types, masks, heads and sizes.

    matrix.py --D 64 [--Dv 64] [--target sm_80] [--schedules 10]

Every configuration is executed under several schedules with all checks, its results must be the same under each, and
their error at most twice that of an unfused computation in the same precision (attn-run --verify).
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile

from sweep import few

MASKS = ["", "mask_mod causal(top_left)", "mask_mod causal(bottom_right)", "mask_mod sliding_window(30, 2)"]
# B, Hq, Hkv, M, N: groups of heads, ragged ends, rows without keys where M > N.
SIZES = ["B=1,Hq=2,Hkv=1,M=67,N=90", "B=2,Hq=2,Hkv=2,M=40,N=16"]


def module_text(a, dtype, mask):
    q, v = f"tensor<?x?x?x{a.D}x{dtype}>", f"tensor<?x?x?x{a.Dv}x{dtype}>"
    return f"""func.func @attention(%q: {q}, %k: {q}, %v: {v}) -> ({v}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v {mask} : {q}, {q}, {v} -> {v}, tensor<?x?x?xf32>
  return %o, %lse : {v}, tensor<?x?x?xf32>
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--D", type=int, required=True)
    parser.add_argument("--Dv", type=int)
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--schedules", type=int, default=10)
    a = parser.parse_args()
    a.Dv = a.Dv or a.D
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "attention.mlir")
        for dtype, mask in few(itertools.product(["f16", "bf16"], MASKS)):
            with open(path, "w") as file:
                file.write(module_text(a, dtype, mask))
            command = ["attn-run", path, f"--device=sim:{a.target}", "--shape", ";".join(SIZES), "--verify"]
            command += ["--schedules", str(a.schedules)]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode:
                sys.exit(f"FAIL {dtype} {mask}\n{result.stdout}{result.stderr}")
            passed += len(SIZES)
    print(f"{passed} configurations, {a.schedules} schedules of each: all within their bounds")


if __name__ == "__main__":
    main()
