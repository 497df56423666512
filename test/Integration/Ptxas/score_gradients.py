"""Assembles the kernels of gradients of scores; fails at a spill in one of them.

usage: score_gradients.py PTXAS. Prints the kernels of each.
"""

import itertools
import re
import subprocess
import sys
import tempfile

from sweep import LONG

CASES = [("sm_80", 64), ("sm_80", 128), ("sm_80", 256), ("sm_90a", 128)]

MODULE = """
!q = tensor<?x?x?x{D}xbf16>
!s = tensor<?x?x?xf32>
!b = tensor<1x?x1x?xbf16>
func.func @grad(%q: !q, %k: !q, %v: !q, %bias: !b, %table: !s, %slopes: tensor<?xf32>, %sink: tensor<?xf32>, %o: !q,
                %lse: !s, %do: !q) -> (!q, !q, !q, !b, !s, tensor<?xf32>, tensor<?xf32>) {{
  %d:7 = attn.attention_backward %q, %k, %v bias(%bias : !b) output(%o : !q) lse(%lse : !s) d_output(%do : !q)
      sink(%sink : tensor<?xf32>) captures(%table, %slopes : !s, tensor<?xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {{
        %x = tensor.extract %table[%h, %i, %j] : !s
        %y = tensor.extract %slopes[%h] : tensor<?xf32>
        %t = math.tanh %s : f32
        %u = arith.mulf %y, %t : f32
        %r = arith.addf %u, %x : f32
        attn.yield %r : f32
      }}
      mask_mod causal(bottom_right)
      : !q, !q, !q -> !q, !q, !q d_bias(!b) d_captures(!s, tensor<?xf32>) d_sink(tensor<?xf32>)
  return %d#0, %d#1, %d#2, %d#3, %d#4, %d#5, %d#6 : !q, !q, !q, !b, !s, tensor<?xf32>, tensor<?xf32>
}}
"""

# A table of relative positions, and a rank of each token.
SCATTERED = """
!q = tensor<?x?x?x{D}xbf16>
!s = tensor<?x?x?xf32>
!t = tensor<?x?xf16>
!r = tensor<?xf32>
func.func @grad(%q: !q, %k: !q, %v: !q, %relative: !t, %tokens: tensor<?xi32>, %ranks: !r, %o: !q, %lse: !s, %do: !q)
    -> (!q, !q, !q, !t, !r) {{
  %c511 = arith.constant 511 : index
  %d:5 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !s) d_output(%do : !q)
      captures(%relative, %ranks : !t, !r)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {{
        %d = arith.subi %i, %j : index
        %distance = arith.addi %d, %c511 : index
        %x = tensor.extract %relative[%h, %distance] : !t
        %wide = arith.extf %x : f16 to f32
        %token = tensor.extract %tokens[%j] : tensor<?xi32>
        %number = arith.index_cast %token : i32 to index
        %rank = tensor.extract %ranks[%number] : !r
        %y = arith.mulf %s, %rank : f32
        %r = arith.addf %y, %wide : f32
        attn.yield %r : f32
      }}
      mask_mod causal(bottom_right)
      : !q, !q, !q -> !q, !q, !q d_captures(!t, !r)
  return %d#0, %d#1, %d#2, %d#3, %d#4 : !q, !q, !q, !t, !r
}}
"""

#: Without ATTN_TEST_LONG; with it all of CASES with both modules.
SHORT = [(CASES[0], MODULE), (CASES[3], SCATTERED)]


def main():
    ptxas = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for (target, d), module in itertools.product(CASES, (MODULE, SCATTERED)) if LONG else SHORT:
            subprocess.run(
                ["attn-opt", "-", f"--target={target}", "--emit=ptx,manifest", "-o", f"{folder}/k"],
                input=module.format(D=d), text=True, check=True,
            )  # fmt: skip
            command = [ptxas, f"-arch={target}", "-v", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"]
            log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
            with open(f"{folder}/k.ptx") as f:
                kernels = re.findall(r"\.entry grad_(\w+)\(", f.read())
            spills = dict(re.findall(r"properties for grad_(\w+)\n.*?(\d+) bytes spill stores", log))
            assert all(spills[kernel] == "0" for kernel in kernels if not kernel.startswith(("dq", "dk", "dv"))), log
            print(f"{target} {d}:", *kernels)
    print("PASS")


if __name__ == "__main__":
    main()
