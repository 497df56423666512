// Scores far below the cap, and few of them: LSE is as exact as tanh is of small arguments.
// RUN: attn-run %s --device=sim:sm_80 --shape B=2,M=1,N=16 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --device=sim:sm_90a --shape B=2,M=5,N=16 --random 42 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --device=sim:sm_90a --shape B=1,M=70,N=130 --random 2 --verify | FileCheck %s %}
// CHECK: verify: PASS
func.func @a(%q: tensor<?x2x?x40xf16>, %k: tensor<?x1x?x40xf16>, %v: tensor<?x1x?x64xf16>) -> (tensor<?x2x?x64xf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v score_mod soft_cap(20.0) mask_mod causal(top_left)
      : tensor<?x2x?x40xf16>, tensor<?x1x?x40xf16>, tensor<?x1x?x64xf16> -> tensor<?x2x?x64xf16>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x64xf16>, tensor<?x2x?xf32>
}
