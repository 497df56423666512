// Gradients in 8 bits, times a scale, beside their largest magnitudes before it, against float64: of products of 8 bits and of 16, of each family of tensor
// cores; what reads tensors at the place of an element, of padded and sliced columns.

// RUN: attn-run %s --function scaled --device=sim:sm_89 --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function scaled --device=sim:sm_120 --shape B=1,Hq=2,Hkv=2,M=64,N=33 --random 2 --verify | FileCheck %s %}
// RUN: attn-run %s --function scaled --device=sim:sm_90a --shape B=1,Hq=2,Hkv=1,M=70,N=90 --random 3 --verify | FileCheck %s
// RUN: attn-run %s --function scaled --device=sim:sm_100a --shape B=1,Hq=2,Hkv=1,M=130,N=129 --random 24 --verify | FileCheck %s
// RUN: attn-run %s --function scaled --device=cpu --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 5 --verify | FileCheck %s
// RUN: attn-run %s --function gated --device=sim:sm_80 --shape M=40,N=70 --random 6 --verify | FileCheck %s
// RUN: attn-run %s --function gated --device=sim:sm_90a --shape M=40,N=70 --random 7 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function gated --device=sim:sm_100a --shape M=40,N=70 --random 8 --verify | FileCheck %s %}
// RUN: attn-run %s --function gated --device=cpu --shape M=40,N=70 --random 9 --verify | FileCheck %s
// RUN: attn-run %s --function sliced --device=sim:sm_80 --random 10 --verify | FileCheck %s
// RUN: sed 's/promote = false/promote = true/' %s > %t.mlir
// RUN: attn-run %t.mlir --function scaled --device=sim:sm_90a --shape B=1,Hq=2,Hkv=1,M=70,N=90 --random 13 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function scaled --device=sim:sm_100a --shape B=1,Hq=2,Hkv=1,M=130,N=129 --random 24 --verify | FileCheck %s %}
// CHECK: verify: PASS
// CHECK-NOT: FAIL

!q = tensor<?x?x?x64xf8E4M3FN>
!d = tensor<?x?x?x64xf8E5M2>
!o = tensor<?x?x?x64xbf16>
!g = tensor<?x?x?x64xf32>
!l = tensor<?x?x?xf32>
!one = tensor<1xf32>

// The contract of cuDNN: dQ, dK and dV of 8 bits with a scale and an amax each, that of dS beside them.
func.func @scaled(%q: !q, %k: !q, %v: !q, %do: !d, %ddo: !one, %sq: !one, %sk: !one, %sv: !one) -> (!d, !d, !q, !l, !l, !l, !l) {
  %s = arith.constant dense<32.0> : !one
  %one = arith.constant dense<1.0> : !one
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right) : !q, !q, !q -> !o, !l
  %g:4 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !l) d_output(%do : !d)
      descale(%one, %one, %one, %ddo : !one, !one, !one, !one) scale_ds(%s : !one) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<promote = false>} : !q, !q, !q -> !g, !g, !g amax_ds(!l)
  %dq, %aq = attn.output_mod %g#0 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !g -> !g, !l
  %dq8 = attn.output_mod %dq (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %c0 = arith.constant 0 : index
    %f = tensor.extract %sq[%c0] : !one
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : !g -> !d
  %dk, %ak = attn.output_mod %g#1 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !g -> !g, !l
  %dk8 = attn.output_mod %dk (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %c0 = arith.constant 0 : index
    %f = tensor.extract %sk[%c0] : !one
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : !g -> !d
  %dv, %av = attn.output_mod %g#2 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !g -> !g, !l
  %dv8 = attn.output_mod %dv (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %c0 = arith.constant 0 : index
    %f = tensor.extract %sv[%c0] : !one
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : !g -> !q
  return %dq8, %dk8, %dv8, %aq, %ak, %av, %g#3 : !d, !d, !q, !l, !l, !l, !l
}

// Inputs of 16 bits: dQ of 16 with an amax, dK as it is, dV times a gate of each element; columns past the end would be of no zeros.
!q2 = tensor<2x4x?x64xbf16>
!k2 = tensor<2x2x?x64xbf16>
!v2 = tensor<2x2x?x56xbf16>
!o2 = tensor<2x4x?x56xbf16>
!g2 = tensor<2x2x?x56xf32>
!l2 = tensor<2x4x?xf32>
func.func @gated(%q: !q2, %k: !k2, %v: !v2, %do: !o2, %gate: !v2, %heads: tensor<2xf32>) -> (!q2, !k2, !v2, !l2, tensor<2x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right) : !q2, !k2, !v2 -> !o2, !l2
  %g:3 = attn.attention_backward %q, %k, %v output(%o : !o2) lse(%lse : !l2) d_output(%do : !o2) mask_mod causal(bottom_right)
      : !q2, !k2, !v2 -> !q2, !k2, !g2
  %dq, %aq = attn.output_mod %g#0 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !q2 -> !q2, !l2
  %dv, %av = attn.output_mod %g#2 (%x: f32, %b: index, %h: index, %j: index, %c: index) {
    %w = tensor.extract %gate[%b, %h, %j, %c] : !v2
    %wide = arith.extf %w : bf16 to f32
    %f = tensor.extract %heads[%h] : tensor<2xf32>
    %t = arith.mulf %wide, %f : f32
    %more = arith.constant 3.0 : f32
    %p = arith.addf %t, %more : f32
    %r = arith.addf %x, %p : f32
    attn.yield %r : f32
  } : !g2 -> !v2, tensor<2x2x?xf32>
  return %dq, %g#1, %dv, %aq, %av : !q2, !k2, !v2, !l2, tensor<2x2x?xf32>
}

// CTAs that share a tile's rows have its columns from their own first one on.
!q3 = tensor<1x1x40x320xf16>
!o3 = tensor<1x1x40x64xf16>
!v3 = tensor<1x1x40x64xf16>
func.func @sliced(%q: !q3, %k: !q3, %v: !v3, %do: !o3, %gate: !q3) -> (!q3, !q3, !v3) {
  %o, %lse = attn.attention %q, %k, %v : !q3, !q3, !v3 -> !o3, tensor<1x1x40xf32>
  %g:3 = attn.attention_backward %q, %k, %v output(%o : !o3) lse(%lse : tensor<1x1x40xf32>) d_output(%do : !o3)
      {schedule = #attn.schedule<kind = "large_cache">} : !q3, !q3, !v3 -> !q3, !q3, !v3
  %dk = attn.output_mod %g#1 (%x: f32, %b: index, %h: index, %j: index, %c: index) {
    %w = tensor.extract %gate[%b, %h, %j, %c] : !q3
    %wide = arith.extf %w : f16 to f32
    %r = arith.mulf %x, %wide : f32
    attn.yield %r : f32
  } : !q3 -> !q3
  return %g#0, %dk, %g#2 : !q3, !q3, !v3
}
