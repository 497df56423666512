"""Assembles the backward of several head dimensions; fails at a spill or at serialised wgmma.

usage: backward_wide.py PTXAS. Prints the kernels of each.
"""

import re
import subprocess
import sys
import tempfile

import hopper_backward
from sweep import LONG

CASES = [("sm_80", 96, 96), ("sm_80", 192, 128), ("sm_80", 256, 256), ("sm_80", 512, 512)] + [
    ("sm_90a", d, dv) for d, dv in [(96, 96), (192, 128), (192, 192), (256, 256)]
]

SHORT = [("sm_80", 96, 96), ("sm_90a", 192, 128), ("sm_90a", 256, 256)]

# The small cache has a test of its own.
MODS = 'mask_mod causal(bottom_right) {schedule = #attn.schedule<kind = "large_cache">}'


def main():
    ptxas = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for target, d, dv in CASES if LONG else SHORT:
            q, v, lse = f"tensor<?x?x?x{d}xbf16>", f"tensor<?x?x?x{dv}xbf16>", "tensor<?x?x?xf32>"
            text = hopper_backward.MODULE.format(q=q, v=v, lse=lse, mask=MODS)
            hopper_backward.assemble(ptxas, folder, f"{target} ({d}, {dv})", text, target)
            with open(f"{folder}/k.ptx") as f:
                kernels = re.findall(r"\.entry grad_(\w+)\(", f.read())
            print(f"{target} ({d}, {dv}):", *kernels)
    print("PASS")


if __name__ == "__main__":
    main()
