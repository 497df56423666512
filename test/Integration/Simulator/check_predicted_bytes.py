"""Holds predicted_bytes against the counters of the simulator."""

import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from sweep import LONG, few

SIZES = ((1, 4, 2, 300, 500, 64), (2, 2, 2, 129, 129, 128), (1, 8, 1, 17, 333, 64), (1, 1, 1, 200, 64, 32))
MASKS = ("", "mask_mod causal(top_left)", "mask_mod causal(bottom_right)", "mask_mod sliding_window(40, 0)", "mask_mod sliding_window(5, 70)")
SPLIT = '{schedule = #attn.schedule<kind = "split_kv", splits = 3, tile_n = 32>}'
STRIPE = """mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c2 = arith.constant 2 : index
        %r = arith.remui %j, %c2 : index
        %s = arith.cmpi eq, %r, %b : index
        attn.yield %s : i1
      }"""
DOCUMENTS = """mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %n = tensor.extract %lengths[%b] : tensor<1xi64>
        %to = arith.index_cast %n : i64 to index
        %s = arith.cmpi slt, %j, %to : index
        attn.yield %s : i1
      }"""


def module(sizes, mask, rows="", operand="", stored="f16"):
    B, Hq, Hkv, M, N, D = sizes
    q, k = f"tensor<{B}x{Hq}x{rows or M}x{D}xf16>", f"tensor<{B}x{Hkv}x{N}x{D}x{stored}>"
    return f"""func.func @f(%q: {q}, %k: {k}, %v: {k}{operand}) -> ({q}, tensor<{B}x{Hq}x{rows or M}xf32>) {{
  %o, %l = attn.attention %q, %k, %v {mask} : {q}, {k}, {k} -> {q}, tensor<{B}x{Hq}x{rows or M}xf32>
  return %o, %l : {q}, tensor<{B}x{Hq}x{rows or M}xf32>
}}
"""


SELF = """func.func @f(%x: tensor<1x2x200x64xf16>) -> tensor<1x2x200x64xf16> {
  %o = attn.attention %x, %x, %x mask_mod causal(top_left) : tensor<1x2x200x64xf16>, tensor<1x2x200x64xf16>, tensor<1x2x200x64xf16> -> tensor<1x2x200x64xf16>
  return %o : tensor<1x2x200x64xf16>
}
"""
PACKED = """func.func @f(%x: tensor<1x6x200x64xf16>) -> tensor<1x2x200x64xf16> {
  %q = tensor.extract_slice %x[0, 0, 0, 0] [1, 2, 200, 64] [1, 1, 1, 1] : tensor<1x6x200x64xf16> to tensor<1x2x200x64xf16>
  %k = tensor.extract_slice %x[0, 2, 0, 0] [1, 2, 200, 64] [1, 1, 1, 1] : tensor<1x6x200x64xf16> to tensor<1x2x200x64xf16>
  %v = tensor.extract_slice %x[0, 4, 0, 0] [1, 2, 200, 64] [1, 1, 1, 1] : tensor<1x6x200x64xf16> to tensor<1x2x200x64xf16>
  %o = attn.attention %q, %k, %v : tensor<1x2x200x64xf16>, tensor<1x2x200x64xf16>, tensor<1x2x200x64xf16> -> tensor<1x2x200x64xf16>
  return %o : tensor<1x2x200x64xf16>
}
"""


ROWS = """func.func @f(%q: tensor<2x4x70x48xf16>, %k: tensor<2x2x130x48xf16>, %v: tensor<2x2x130x32xf16>, %t: tensor<130x8xf32>) -> tensor<2x4x70x32xf16> {{
  %n = attn.qk_norm %q epsilon(1.0e-6) : tensor<2x4x70x48xf16>
  %qr = attn.rotary %n, %t, %t interleaved columns [8, 24] : tensor<2x4x70x48xf16>, tensor<130x8xf32>
  %kr = attn.rotary %k, %t, %t interleaved columns [8, 24] : tensor<2x2x130x48xf16>, tensor<130x8xf32>
  %o = attn.attention %qr, %kr, %v mask_mod causal(bottom_right) {{schedule = #attn.schedule<query_prologue = "{}">}} : tensor<2x4x70x48xf16>, tensor<2x2x130x48xf16>, tensor<2x2x130x32xf16> -> tensor<2x4x70x32xf16>
  return %o : tensor<2x4x70x32xf16>
}}
"""


def run(folder, text, target, *options):
    path, report = folder / "f.mlir", folder / "f.json"
    path.write_text(text)
    command = ["attn-run", path, f"--device=sim:{target}", "--random=1", f"--report={report}", *options]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit(process.stderr)
    counted = json.loads(report.read_text())
    return counted["operands"] + counted["workspaces"]


def main():
    predicted = wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problems = [(module(sizes, mask), (sizes, mask)) for sizes, mask in few(itertools.product(SIZES, MASKS))]
        problems += [(module(sizes, f"{mask} {SPLIT}"), (sizes, mask, "split")) for sizes, mask in few(itertools.product(SIZES[:2], MASKS))]
        problems += [(module(SIZES[0], mask, stored="f8E4M3FN"), "bytes") for mask in (MASKS[2], SPLIT)]
        problems.append((PACKED, "packed"))
        problems += [(ROWS.format(place), f"turned: {place}") for place in ("kernel", "fused")]
        pairs = list(itertools.product(problems, ("sm_80", "sm_90a")))
        # Otherwise one of the targets for each problem, in turns.
        for (text, what), target in pairs if LONG else pairs[::4] + pairs[3::4]:
            for operand in run(folder, text, target):
                if "predicted" not in operand:
                    continue
                predicted += 1
                counted = {k: operand[k] for k in ("read", "write")}
                if operand["predicted"] != counted:
                    wrong += 1
                    print(what, target, operand["name"], operand["predicted"], counted)
        print(f"{predicted} predictions, {wrong} wrong")
        others = {
            "a size that is not known": (module(SIZES[0], "", rows="?"), "--shape=M=300"),
            "a list of documents": (module(SIZES[0], DOCUMENTS, operand=", %lengths: tensor<1xi64>"),),
            "the rows of a stripe": (module(SIZES[0], STRIPE),),
            "one tensor as three operands": (SELF,),
        }
        none = [what for what, given in others.items() if not any("predicted" in o for o in run(folder, given[0], "sm_80", *given[1:]))]
        print("not predicted:", ", ".join(none))


main()
