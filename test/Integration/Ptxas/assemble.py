"""Assembles the kernels of one head dimension with ptxas for every target that runs them.

usage: assemble.py PTXAS D DV SPILLS: f16 and bf16, full and causal, for sm_80, and the last of them for all others, in a long
run; few of them for sm_80 and one other otherwise. Fails where ptxas does, and where a kernel spills more than SPILLS bytes. Prints the registers of each.
"""

import itertools
import re
import subprocess
import sys
import tempfile

from sweep import LONG, few

TARGETS = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_120"]
MODULE = """func.func @attention(%q: {q}, %k: {q}, %v: {v}) -> ({v}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v {mask} : {q}, {q}, {v} -> {v}, tensor<?x?x?xf32>
  return %o, %lse : {v}, tensor<?x?x?xf32>
}}
"""


def assemble(ptxas, ptx, target, folder):
    """Most registers of a kernel and spilled bytes of all (stores and loads) that ptxas reports."""
    result = subprocess.run([ptxas, "-v", f"-arch={target}", ptx, "-o", f"{folder}/k.cubin"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"ptxas -arch={target} failed: {result.stdout}{result.stderr}")
    report = result.stdout + result.stderr
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", report)
    registers = re.findall(r"Used (\d+) registers", report)
    return max(int(r) for r in registers), sum(int(stores) + int(loads) for stores, loads in spills)


def main():
    ptxas, d, dv, allowed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        cases = few(itertools.product(["f16", "bf16"], ["", "mask_mod causal(bottom_right)"]))
        targets = TARGETS if LONG else ["sm_80", "sm_90" if int(d) % 128 else "sm_120"]
        for dtype, mask in cases if LONG or int(d) <= 128 else cases[-1:]:
            q, v = f"tensor<?x?x?x{d}x{dtype}>", f"tensor<?x?x?x{dv}x{dtype}>"
            with open(f"{folder}/k.mlir", "w") as f:
                f.write(MODULE.format(q=q, v=v, mask=mask))
            subprocess.run(["attn-opt", f"{folder}/k.mlir", "--target=sm_80", "--emit=ptx", "-o", f"{folder}/k"], check=True)
            is_last = dtype == "bf16" and mask
            for target in targets if is_last else targets[:1]:
                registers, spills = assemble(ptxas, f"{folder}/k.ptx", target, folder)
                print(f"{target} {dtype} ({d}, {dv}) {mask or 'full'}: {registers} registers, {spills} bytes spilled")
                if spills > allowed:
                    sys.exit(f"expected at most {allowed} bytes spilled, got {spills}")
    print("PASS")


if __name__ == "__main__":
    main()
