"""Assembles the small-cache backward of several head dimensions, masks and score changes; fails at a spill.

usage: backward_small_cache.py PTXAS
"""

import itertools
import re
import sys
import tempfile

import hopper_backward
from sweep import LONG, few

SCHEDULE = '{schedule = #attn.schedule<kind = "small_cache">}'
CAUSAL = "mask_mod causal(bottom_right)"
CASES = [
    (64, 64, CAUSAL),
    (192, 128, ""),
    (256, 256, CAUSAL),
    (512, 512, f"score_mod soft_cap(30.0) {CAUSAL}"),
    (1024, 1024, ""),
]
KERNELS = {"delta", "scores", "dq", "dk", "dv"}


def main():
    ptxas = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for target, (d, dv, mods) in few(itertools.product(("sm_80", "sm_90a"), CASES if LONG else CASES[::3])):
            q, v, lse = f"tensor<?x?x?x{d}xbf16>", f"tensor<?x?x?x{dv}xbf16>", "tensor<?x?x?xf32>"
            name = f"{target} ({d}, {dv}) {mods}"
            text = hopper_backward.MODULE.format(q=q, v=v, lse=lse, mask=f"{mods} {SCHEDULE}")
            hopper_backward.assemble(ptxas, folder, name, text, target)
            with open(f"{folder}/k.ptx") as f:
                kernels = set(re.findall(r"\.entry grad_(\w+)\(", f.read()))
            hopper_backward.expect(kernels == KERNELS, f"{name}: expected {KERNELS}, got {kernels}")
    print("PASS")


if __name__ == "__main__":
    main()
