"""What ptxas makes of the schedules that the cost model chooses for sm_90a: no spills, no serialised wgmma.

usage: hopper_default.py PTXAS
"""

import itertools
import sys
import tempfile

import hopper
from sweep import few

MODULE = """func.func @attention(%q: {q}, %k: {k}, %v: {v}, %n: tensor<?xi32>) -> ({o}, {lse}) {{
  %o, %lse = attn.attention %q, %k, %v {mask} : {q}, {k}, {v} -> {o}, {lse}
  return %o, %lse : {o}, {lse}
}}
"""
HEAD_DIMS = [(64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256)]
MASKS = {"full": "", "causal": "mask_mod causal(bottom_right)", "window": "mask_mod sliding_window(1024, 0)",
         "lengths": "lengths(key %n : tensor<?xi32>)",
         "causal lengths": "lengths(key %n : tensor<?xi32>) mask_mod causal(bottom_right)"}


def main():
    with tempfile.TemporaryDirectory() as folder:
        for (d, dv), label in few(itertools.product(HEAD_DIMS, MASKS)):
            q, k, v, o = (f"tensor<?x{h}x?x{n}xbf16>" for h, n in [(8, d), (2, d), (2, dv), (8, dv)])
            text = MODULE.format(q=q, k=k, v=v, o=o, lse="tensor<?x8x?xf32>", mask=MASKS[label])
            hopper.assemble(sys.argv[1], folder, f"({d}, {dv}) {label}", text)
            print(f"({d}, {dv}) {label}: no spills")
    print("PASS")


if __name__ == "__main__":
    main()
