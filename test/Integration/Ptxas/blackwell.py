"""What ptxas makes of the sm_100a kernels: no spills but a few bytes of a window.

usage: blackwell.py PTXAS

Shapes and masks with what is chosen, and with what may be given.
"""

import re
import subprocess
import sys
import tempfile

MODULE = """func.func @attention(%q: {q}, %k: {q}, %v: {v}) -> ({v}, tensor<4x16x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v {mask} {{schedule = #attn.schedule<{schedule}>}} : {q}, {q}, {v} -> {v}, tensor<4x16x?xf32>
  return %o, %lse : {v}, tensor<4x16x?xf32>
}}
"""
MASKS = {"full": "", "causal": "mask_mod causal(bottom_right)", "window": "mask_mod sliding_window(1024, 0)"}
SCHEDULES = ['mma = "tcgen05"', 'mma = "tcgen05", tile_m = 256, warps = 8, tile_n = 64']
# Bytes that ptxas 13.0 stores at most.
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
    products, elections = ptx.count("tcgen05.mma."), ptx.count("tcgen05.commit.")
    expect(products and elections, f"{name}: expected products in tensor memory")
    result = subprocess.run(
        [ptxas, "-v", "-arch=sm_100a", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"], capture_output=True, text=True
    )
    report = result.stdout + result.stderr
    expect(result.returncode == 0, f"{name}: ptxas failed: {report}")
    spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", report)
    expect(int(spills[1]) <= limit, f"{name}: expected at most {limit} bytes of spills, got {spills[0]}")
    print(f"{name}: {products} products in {elections} places, {spills[0]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for d, dv in [(64, 64), (96, 96), (128, 128)]:
            for label, mask in MASKS.items():
                for schedule in SCHEDULES:
                    q, v = (f"tensor<4x16x?x{n}xbf16>" for n in (d, dv))
                    text = MODULE.format(q=q, v=v, mask=mask, schedule=schedule)
                    check(sys.argv[1], folder, f"({d}, {dv}) {label} <{schedule}>", text, SPILLS[label])
    print("PASS")


if __name__ == "__main__":
    main()
