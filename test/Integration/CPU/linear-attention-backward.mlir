// Gradients of linear attentions, which --attn-grad writes as linear attentions, compiled for the CPU: each against float64. Both directions and
// all keys for all rows; states in and out; grouped heads; ragged, short and empty sequences. test/Python has the decays' gradients.

// RUN: sed s/TYPE/f32/g %s | attn-opt --attn-grad -o %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s | attn-opt --attn-grad -o %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s | attn-opt --attn-grad -o %t.bf16.mlir

// RUN: attn-run %t.f32.mlir --function plain_grad --shape M=130 --random 1 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function plain_grad --shape M=64 --random 2 --verify %}
// RUN: attn-run %t.f32.mlir --function slope_grad --shape "M=150; M=1; M=0" --random 3 --verify
// RUN: %if long %{ attn-run %t.f16.mlir --function slope_grad --shape M=100 --random 6 --verify %}
// RUN: attn-run %t.f32.mlir --function reverse_grad --shape M=70 --random 7 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function reverse_grad --shape M=70 --random 8 --verify %}
// RUN: attn-run %t.f32.mlir --function full_grad --shape "M=70,N=130; M=3,N=0" --random 9 --verify
// RUN: attn-run %t.f16.mlir --function full_grad --shape M=65,N=63 --random 10 --verify

!q = tensor<2x4x?x32xTYPE>
!k = tensor<2x2x?x32xTYPE>
!v = tensor<2x2x?x24xTYPE>
!o = tensor<2x4x?x24xTYPE>
!s = tensor<2x4x32x24xf32>
!p = tensor<2x2x?x32xTYPE>

func.func @plain(%q: !p, %k: !p, %v: !p) -> !p {
  %o = attn.linear_attention %q, %k, %v : !p, !p, !p -> !p
  return %o : !p
}

func.func @slope(%q: !q, %k: !k, %v: !v) -> (!o, !s) {
  // The last head forgets at each position.
  %a = arith.constant dense<[0.0, -0.004, -0.25, 0xFF800000]> : tensor<4xf32>
  %o, %s = attn.linear_attention %q, %k, %v slope(%a : tensor<4xf32>) scale(0.5) : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}

func.func @reverse(%q: !q, %k: !k, %v: !v, %s0: !s) -> (!o, !s) {
  %a = arith.constant dense<[0.0, -0.004, -0.25, 0xFF800000]> : tensor<4xf32>
  %o, %s = attn.linear_attention %q, %k, %v reverse slope(%a : tensor<4xf32>) state(%s0 : !s) : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}

func.func @full(%q: !q, %k: !k, %v: !v, %s0: !s) -> (!o, !s) {
  %o, %s = attn.linear_attention %q, %k, %v full state(%s0 : !s) : !q, !k, !v -> !o, !s
  return %o, %s : !o, !s
}
