"""What ptxas makes of the sm_100a kernels: no spills but a few bytes of a window of the forward, and of sums of 256 columns, which are more than
there are registers when they are read in the end, and of 8-bit weights multiplied by 2^-7.

usage: blackwell.py PTXAS

Shapes and masks with what is chosen, and of the forward with what may be given.
"""

import re
import subprocess
import sys
import tempfile

MODULE = """func.func @attention(%q: {q}, %k: {q}, %v: {v}) -> ({o}, tensor<4x16x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v {mask} {{schedule = #attn.schedule<{schedule}>}} : {q}, {q}, {v} -> {o}, tensor<4x16x?xf32>
  return %o, %lse : {o}, tensor<4x16x?xf32>
}}
"""
BACKWARD = """func.func @backward(%q: {q}, %k: {q}, %v: {v}, %o: {v}, %lse: tensor<4x16x?xf32>, %do: {v}) -> ({q}, {q}, {v}) {{
  %d:3 = attn.attention_backward %q, %k, %v output(%o : {v}) lse(%lse : tensor<4x16x?xf32>) d_output(%do : {v}) {mask}
      : {q}, {q}, {v} -> {q}, {q}, {v}
  return %d#0, %d#1, %d#2 : {q}, {q}, {v}
}}
"""
MASKS = {"full": "", "causal": "mask_mod causal(bottom_right)", "window": "mask_mod sliding_window(1024, 0)"}
SCHEDULES = ['mma = "tcgen05"', 'mma = "tcgen05", tile_m = 256, warps = 8, tile_n = 64']
# Types, and bytes that ptxas 13.0 stores at most behind the loops of 256 columns, and elsewhere.
TYPES = {"bf16": 96, "f8E4M3FN": 292}
SPILLS = {"full": 0, "causal": 0, "window": 20}


def expect(condition, message):
    if not condition:
        sys.exit(message)


def check(ptxas, folder, name, text, limit):
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(text)
    command = ["attn-opt", f"{folder}/k.mlir", "--target=sm_100a", "--strict", "--emit=ptx", "-o", f"{folder}/k"]
    subprocess.run(command, check=True)
    ptx = open(f"{folder}/k.ptx").read()
    kind = "f8f6f4" if "f8E" in text else "f16"
    products, elections = ptx.count(f"tcgen05.mma.cta_group::1.kind::{kind} "), ptx.count("tcgen05.commit.")
    expect(products and elections, f"{name}: expected products in tensor memory")
    result = subprocess.run(
        [ptxas, "-v", "-arch=sm_100a", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"], capture_output=True, text=True
    )
    report = result.stdout + result.stderr
    expect(result.returncode == 0, f"{name}: ptxas failed: {report}")
    spills = max(int(n) for n in re.findall(r"(\d+) bytes spill stores", report))
    expect(spills <= limit, f"{name}: expected at most {limit} bytes of spills, got {spills}")
    print(f"{name}: {products} products in {elections} places, {spills} bytes of spills")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for d, dv in [(64, 64), (96, 96), (128, 128), (192, 128), (256, 256)]:
            for label, mask in MASKS.items():
                for schedule in SCHEDULES[: 1 if d > 128 else None]:
                    for dtype in TYPES:
                        q, v, o = (f"tensor<4x16x?x{n}x{t}>" for n, t in ((d, dtype), (dv, dtype), (dv, "bf16")))
                        text = MODULE.format(q=q, v=v, o=o, mask=mask, schedule=schedule)
                        limit = TYPES[dtype] if dv == 256 else SPILLS[label]
                        check(sys.argv[1], folder, f"{dtype} ({d}, {dv}) {label} <{schedule}>", text, limit)
        for d, dv in [(64, 64), (96, 96), (128, 128), (192, 128), (256, 256)]:
            for label, mask in MASKS.items():
                q, v = (f"tensor<4x16x?x{n}xbf16>" for n in (d, dv))
                check(sys.argv[1], folder, f"({d}, {dv}) {label} backward", BACKWARD.format(q=q, v=v, mask=mask), 4 * (d == 256))
    print("PASS")


if __name__ == "__main__":
    main()
