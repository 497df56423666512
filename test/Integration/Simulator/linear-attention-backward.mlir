// Gradients of linear attentions: kernels that walk both ways, and on the host around them what sums up groups of heads; outputs in f32.
// RUN: attn-opt %s --attn-grad -o %t.mlir
// RUN: attn-run %t.mlir --function=grouped_grad --shape M=100 --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function=grouped_grad --shape M=70 --device=sim:sm_90a --random=2 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function=full_grad --shape M=70,N=100 --device=sim:sm_80 --random=3 --verify | FileCheck %s
// CHECK: verify: PASS

!q = tensor<1x4x?x32xf16>
!k = tensor<1x2x?x32xf16>
!v = tensor<1x2x?x24xf16>
!o = tensor<1x4x?x24xf16>
!s = tensor<1x4x32x24xf32>

func.func @grouped(%q: !q, %k: !k, %v: !v, %s: !s) -> (!o, !s) {
  %a = arith.constant dense<[0.0, -0.004, -0.25, 0xFF800000]> : tensor<4xf32>
  %o, %e = attn.linear_attention %q, %k, %v slope(%a : tensor<4xf32>) state(%s : !s) : !q, !k, !v -> !o, !s
  return %o, %e : !o, !s
}

func.func @full(%q: !q, %k: !k, %v: !v, %s: !s) -> (!o, !s) {
  %o, %e = attn.linear_attention %q, %k, %v full state(%s : !s) : !q, !k, !v -> !o, !s
  return %o, %e : !o, !s
}
