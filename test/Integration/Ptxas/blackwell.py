"""What ptxas makes of the sm_100a kernels: no spills, but four bytes of a causal forward of 256 columns of 8 bits.

usage: blackwell.py PTXAS

Shapes and masks with what is chosen, and of the forward with what may be given.
"""

import itertools
import re
import subprocess
import sys
import tempfile

from sweep import LONG, few

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
PAGED = """func.func @paged(%q: {q}, %kp: {k}, %vp: {k}, %t: tensor<?x?xi32>, %n: tensor<?xi32>) -> {q} {{
  %k = attn.paged %kp[%t] : {k}[tensor<?x?xi32>] -> {keys}
  %v = attn.paged %vp[%t] : {k}[tensor<?x?xi32>] -> {keys}
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) {mask} : {q}, {keys}, {keys} -> {q}
  return %o : {q}
}}
"""
GATED = """func.func @gated(%q: {q}, %k: {q}, %v: {q}, %gate: {q}) -> {q} {{
  %o = attn.attention %q, %k, %v {mask} : {q}, {q}, {q} -> {o}
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {{
    %read = tensor.extract %gate[%b, %h, %i, %c] : {q}
    %g = arith.extf %read : bf16 to f32
    %r = arith.mulf %x, %g : f32
    attn.yield %r : f32
  }} : {o} -> {q}
  return %y : {q}
}}
"""
SCALED = """func.func @scaled(%q: {q}, %k: {q}, %v: {q}, %scale: tensor<1xf32>) -> ({q}, tensor<4x16x?xf32>) {{
  %o = attn.attention %q, %k, %v {mask} : {q}, {q}, {q} -> {o}
  %same, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {{
    attn.yield %x : f32
  }} : {o} -> {o}, tensor<4x16x?xf32>
  %y = attn.output_mod %same (%x: f32, %b: index, %h: index, %i: index, %c: index) {{
    %c0 = arith.constant 0 : index
    %s = tensor.extract %scale[%c0] : tensor<1xf32>
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  }} : {o} -> {q}
  return %y, %amax : {q}, tensor<4x16x?xf32>
}}
"""
HEAD_DIMS = [(64, 64), (96, 96), (128, 128), (192, 128), (256, 256)] if LONG else [(64, 64), (192, 128), (256, 256)]
MASKS = {"full": "", "causal": "mask_mod causal(bottom_right)", "window": "mask_mod sliding_window(1024, 0)"}
SCHEDULES = ['mma = "tcgen05"', 'mma = "tcgen05", tile_m = 256, warps = 8, tile_n = 64', 'mma = "tcgen05", correction_warps = 4']
TYPES = ("bf16", "f8E4M3FN")


def expect(condition, message):
    if not condition:
        sys.exit(message)


def check(ptxas, folder, name, text, limit, target="sm_100a"):
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(text)
    command = ["attn-opt", f"{folder}/k.mlir", f"--target={target}", "--strict", "--emit=ptx", "-o", f"{folder}/k"]
    subprocess.run(command, check=True)
    ptx = open(f"{folder}/k.ptx").read()
    kind = "f16" if "attn.paged" in text or "f8E" not in text else "f8f6f4"
    products, elections = ptx.count(f"kind::{kind} "), ptx.count("tcgen05.commit.")
    expect(products and elections, f"{name}: expected products in tensor memory")
    result = subprocess.run(
        [ptxas, "-v", f"-arch={target}", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"], capture_output=True, text=True
    )
    report = result.stdout + result.stderr
    expect(result.returncode == 0, f"{name}: ptxas failed: {report}")
    spills = max(int(n) for n in re.findall(r"(\d+) bytes spill stores", report))
    expect(spills <= limit, f"{name}: expected at most {limit} bytes of spills, got {spills}")
    print(f"{name}: {products} products in {elections} places, {spills} bytes of spills")


def main():
    with tempfile.TemporaryDirectory() as folder:
        cases = itertools.product(HEAD_DIMS, MASKS, SCHEDULES, TYPES)
        for (d, dv), label, schedule, dtype in few(case for case in cases if case[0][0] <= 128 or case[2] == SCHEDULES[0]):
            q, v, o = (f"tensor<4x16x?x{n}x{t}>" for n, t in ((d, dtype), (dv, dtype), (dv, "bf16")))
            text = MODULE.format(q=q, v=v, o=o, mask=MASKS[label], schedule=schedule)
            limit = 4 * (d == 256 and dtype == "f8E4M3FN" and label == "causal")
            check(sys.argv[1], folder, f"{dtype} ({d}, {dv}) {label} <{schedule}>", text, limit)
        # Under the mask that needs the most registers.
        mask = MASKS["window"]
        kinds = ("gated", "scaled, with amax", *(f"{cache} in pages" for cache in TYPES))
        for d, kind in few(itertools.product((128, 224, 256), kinds)):
            q, q8, o = (f"tensor<4x16x?x{d}x{t}>" for t in ("bf16", "f8E4M3FN", "f32"))
            k, keys = (f"tensor<{sizes}x{d}x{kind.split()[0]}>" for sizes in ("?x4x64", "4x4x?"))
            text = {"gated": GATED.format(q=q, o=o, mask=mask), "scaled, with amax": SCALED.format(q=q8, o=o, mask=mask)}
            check(sys.argv[1], folder, f"{d} {kind}", text.get(kind) or PAGED.format(q=q, k=k, keys=keys, mask=mask), 0)
        for (d, dv), label in few(itertools.product(HEAD_DIMS, MASKS)):
            q, v = (f"tensor<4x16x?x{n}xbf16>" for n in (d, dv))
            text = BACKWARD.format(q=q, v=v, mask=MASKS[label])
            check(sys.argv[1], folder, f"({d}, {dv}) {label} backward", text, 0)
        # Rows enough, whose number is known: dK and dV by pairs of CTAs.
        q = "tensor<4x16x4096x128xbf16>"
        text = BACKWARD.format(q=q, v=q, mask="").replace("16x?x", "16x4096x")
        check(sys.argv[1], folder, "backward in pairs", text, 0)
        expect("mma.cta_group::2" in open(f"{folder}/k.ptx").read(), "expected products of pairs")
        # B300 has the same instructions, and another choice of exponentials.
        for dtype in TYPES:
            q, o = (f"tensor<4x16x?x128x{t}>" for t in (dtype, "bf16"))
            text = MODULE.format(q=q, v=q, o=o, mask=MASKS["causal"], schedule=SCHEDULES[0])
            check(sys.argv[1], folder, f"{dtype} causal on sm_103a", text, 0, "sm_103a")
        text = BACKWARD.format(q=o, v=o, mask=MASKS["causal"])
        check(sys.argv[1], folder, "causal backward on sm_103a", text, 0, "sm_103a")
    print("PASS")


if __name__ == "__main__":
    main()
