"""Assembles the kernels of linear attention with ptxas: as the model chooses them no kernel spills.

usage: linear_attention.py PTXAS
"""

import itertools
import re
import subprocess
import sys
import tempfile

from sweep import LONG, few

MODULE = """func.func @linear(%q: {q}, %k: {q}, %v: {v}, %g: tensor<?x?x?xf32>, %s: {s}) -> ({v}, {s}) {{
  %o, %e = attn.linear_attention %q, %k, %v {decay} state(%s : {s}) : {q}, {q}, {v} -> {v}, {s}
  return %o, %e : {v}, {s}
}}
"""


def main():
    ptxas = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        dims = [(32, 32), (64, 64), (128, 128), (128, 256), (256, 256), (192, 128), (40, 24)]
        dims = dims if LONG else dims[::3]
        types = [("f16", "decay(%g : tensor<?x?x?xf32>)"), ("bf16", "")]
        for (d, dv), target, (dtype, decay) in few(itertools.product(dims, ["sm_80", "sm_90a"], types)):
            q, v, s = f"tensor<?x?x?x{d}x{dtype}>", f"tensor<?x?x?x{dv}x{dtype}>", f"tensor<?x?x{d}x{dv}xf32>"
            with open(f"{folder}/k.mlir", "w") as f:
                f.write(MODULE.format(q=q, v=v, s=s, decay=decay))
            subprocess.run(["attn-opt", f"{folder}/k.mlir", f"--target={target}", "--emit=ptx", "-o", f"{folder}/k"], check=True)
            result = subprocess.run(
                [ptxas, "-v", f"-arch={target}", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"], capture_output=True, text=True
            )
            report = result.stdout + result.stderr
            if result.returncode:
                sys.exit(f"ptxas -arch={target} failed: {report}")
            spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", report))
            registers = max(int(n) for n in re.findall(r"Used (\d+) registers", report))
            print(f"{target} {dtype} ({d}, {dv}): {registers} registers, {spills} bytes spilled")
            if spills:
                sys.exit("expected no spills")
    print("PASS")


if __name__ == "__main__":
    main()
