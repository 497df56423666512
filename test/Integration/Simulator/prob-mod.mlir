// Maps of probabilities on the GPU: an attention for LSEs and one of weights, compared with float64 of the attention that they are; large and small
// cache, grouped heads, masks that skip tiles, a bias, a sink, dropout, rows without keys, and the gradients.
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad=recompute=true -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt --attn-grad=recompute=true -o %t.bf16.mlir
// RUN: attn-run %t.f16.mlir --function head_scale --device=sim:sm_80 --shape B=1,M=70,N=50 --random 1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.bf16.mlir --function head_scale --device=sim:sm_90a --shape B=1,M=100,N=130 --random 2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %t.f16.mlir --function mix --device=sim:sm_90a --shape B=1,M=130,N=130 --random 3 --verify | FileCheck %s %}
// RUN: attn-run %t.bf16.mlir --function mix --device=sim:sm_80 --shape B=1,M=70,N=70 --random 4 --verify | FileCheck %s
// RUN: attn-run %t.f16.mlir --function square --device=sim:sm_80 --shape B=2,M=5,N=100 --random 5 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.f16.mlir --function square --device=sim:sm_90a --shape B=1,M=70,N=90 --random 6 --verify | FileCheck %s %}
// RUN: attn-run %t.f16.mlir --function mix_grad --device=sim:sm_80 --shape B=1,M=40,N=40 --random 7 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.bf16.mlir --function mix_grad --device=sim:sm_90a --shape B=1,M=40,N=40 --random 8 --verify | FileCheck %s %}
// RUN: attn-run %t.f16.mlir --function square_grad --device=sim:sm_90a --shape B=1,M=33,N=40 --random 9 --verify | FileCheck %s
// RUN: sed 's/ : !q, !k, !v -> !o/ {schedule = #attn.schedule<mma = "wgmma">}&/' %s > %t.wgmma.mlir
// RUN: sed s/TYPE/f16/g %t.wgmma.mlir > %t.wgmma.f16.mlir
// RUN: attn-run %t.wgmma.f16.mlir --function mix --device=sim:sm_90a --shape B=1,M=130,N=130 --random 10 --verify | FileCheck %s
// RUN: sed 's/ : !q, !k, !v -> !o/ {schedule = #attn.schedule<kind = "small_cache">}&/' %s > %t.small.mlir
// RUN: sed s/TYPE/f16/g %t.small.mlir > %t.small.f16.mlir
// RUN: attn-run %t.small.f16.mlir --function mix --device=sim:sm_80 --shape B=1,M=70,N=70 --random 11 --verify | FileCheck %s
// RUN: attn-opt %t.f16.mlir --target=sm_80 --emit=manifest -o %t.manifest
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file %t.manifest.json
// CHECK: verify: PASS

// The LSE of one program goes to the other.
// MANIFEST: "calls"

!q = tensor<?x4x?x32xTYPE>
!k = tensor<?x2x?x32xTYPE>
!v = tensor<?x2x?x24xTYPE>
!o = tensor<?x4x?x24xTYPE>

// Rows with more queries than keys see none.
func.func @head_scale(%q: !q, %k: !k, %v: !v, %factors: tensor<4xf32>) -> !o {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %f = tensor.extract %factors[%h] : tensor<4xf32>
        %r = arith.mulf %f, %p : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

// (1 - s) P + s I, with s of each head.
func.func @mix(%q: !q, %k: !k, %v: !v, %shares: tensor<4xf32>) -> !o {
  %o = attn.attention %q, %k, %v mask_mod causal(top_left)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %one = arith.constant 1.0 : f32
        %zero = arith.constant 0.0 : f32
        %s = tensor.extract %shares[%h] : tensor<4xf32>
        %t = arith.subf %one, %s : f32
        %c = arith.cmpi eq, %i, %j : index
        %d = arith.select %c, %s, %zero : f32
        %tp = arith.mulf %t, %p : f32
        %r = arith.addf %tp, %d : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}

// A floor, below which there is no weight, of squares.
func.func @square(%q: !q, %k: !k, %v: !v, %bias: tensor<1x4x1x?xTYPE>, %sink: tensor<4xf32>, %slopes: tensor<4xf32>) -> !o {
  %seed = arith.constant 11 : i64
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x4x1x?xTYPE>)
      sink(%sink : tensor<4xf32>) dropout(%seed, %seed) rate(0.25)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %r = arith.mulf %s, %slope : f32
        attn.yield %r : f32
      }
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %least = arith.constant 1.0e-3 : f32
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %x = arith.maximumf %p, %least : f32
        %y = arith.mulf %x, %x : f32
        %r = arith.addf %y, %slope : f32
        attn.yield %r : f32
      } : !q, !k, !v -> !o
  return %o : !o
}
