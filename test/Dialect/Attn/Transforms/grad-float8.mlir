// Inputs of 8 bits are made wider, and gradients are those of what the numbers
// stand for; an output of 8 bits has a gradient of more.

// RUN: attn-opt %s --split-input-file --attn-grad --verify-diagnostics | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-grad=recompute=true --verify-diagnostics | FileCheck %s --check-prefix=AGAIN

!q = tensor<?x4x?x64xf8E4M3FN>
!k = tensor<?x2x?x64xf8E4M3FN>
!o = tensor<?x4x?x64xf16>
!l = tensor<?x4x?xf32>

// CHECK-LABEL: func.func @all_grad
// CHECK-SAME: ([[Q:%.+]]: tensor<?x4x?x64xf8E4M3FN>, [[K:%.+]]: tensor<?x2x?x64xf8E4M3FN>, [[V:%.+]]: tensor<?x2x?x64xf8E4M3FN>, [[DQ:%.+]]: tensor<1xf32>, [[DK:%.+]]: tensor<?x2xf32>, [[DV:%.+]]: tensor<?x2xf32>, [[O:%.+]]: tensor<?x4x?x64xf16>, [[L:%.+]]: tensor<?x4x?xf32>, [[DO:%.+]]: tensor<?x4x?x64xf16>)
// CHECK-SAME: -> (tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<1xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
// CHECK: [[WQ:%.+]] = attn.dequantize [[Q]] descale([[DQ]] : tensor<1xf32>) : tensor<?x4x?x64xf8E4M3FN> -> tensor<?x4x?x64xf16>
// CHECK: [[WK:%.+]] = attn.dequantize [[K]] descale([[DK]] : tensor<?x2xf32>)
// CHECK: [[WV:%.+]] = attn.dequantize [[V]] descale([[DV]] : tensor<?x2xf32>)
// CHECK: [[GQ:%.+]], [[GK:%.+]], [[GV:%.+]] = attn.attention_backward [[WQ]], [[WK]], [[WV]] output([[O]] : tensor<?x4x?x64xf16>) lse([[L]] : tensor<?x4x?xf32>) d_output([[DO]]
// CHECK-NOT: descale
// CHECK: return [[GQ]], [[GK]], [[GV]],

// A forward that is computed again is that of what the backward multiplies.
// AGAIN-LABEL: func.func @all_grad
// AGAIN: [[Q:%.+]] = attn.dequantize
// AGAIN: [[K:%.+]] = attn.dequantize
// AGAIN: [[V:%.+]] = attn.dequantize
// AGAIN: [[O:%.+]], [[L:%.+]] = attn.attention [[Q]], [[K]], [[V]] : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
// AGAIN: attn.attention_backward [[Q]], [[K]], [[V]] output([[O]] : {{.*}}) lse([[L]]
func.func @all(%q: !q, %k: !k, %v: !k, %dq: tensor<1xf32>, %dk: tensor<?x2xf32>, %dv: tensor<?x2xf32>) -> (!o, !l) {
  // expected-remark @+1 {{takes its descales for constants, whose gradient is 0}}
  %o, %lse = attn.attention %q, %k, %v descale(%dq, %dk, %dv : tensor<1xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
      {schedule = #attn.schedule<promote = true>} : !q, !k, !k -> !o, !l
  return %o, %lse : !o, !l
}

// -----

// Beside a query of more bits they have its type; an output of f32 leaves bf16.
// CHECK-LABEL: func.func @cache_grad
// CHECK: attn.dequantize %arg1 : tensor<1x2x24x64xf8E5M2> -> tensor<1x2x24x64xf16>
// CHECK: attn.attention_backward %arg0,
func.func @cache(%q: tensor<1x4x16x64xf16>, %k: tensor<1x2x24x64xf8E5M2>) -> (tensor<1x4x16x64xf16>, tensor<1x4x16xf32>) {
  %o, %lse = attn.attention %q, %k, %k : tensor<1x4x16x64xf16>, tensor<1x2x24x64xf8E5M2>, tensor<1x2x24x64xf8E5M2> -> tensor<1x4x16x64xf16>, tensor<1x4x16xf32>
  return %o, %lse : tensor<1x4x16x64xf16>, tensor<1x4x16xf32>
}

// -----

// What rounds the output is passed by; its scale is not.
// CHECK-LABEL: func.func @output_grad
// CHECK-SAME: [[DO:%[a-z0-9]+]]: tensor<1x4x16x64xf32>) -> (tensor<1x4x16x64xbf16>, tensor<1x4x16x64xbf16>, tensor<1x4x16x64xbf16>, tensor<1xf32>)
// CHECK: attn.output_mod
// CHECK: arith.mulf
// CHECK: -> tensor<1x4x16x64xbf16>
// CHECK: attn.attention_backward
// CHECK-SAME: -> tensor<1x4x16x64xbf16>
func.func @output(%q: tensor<1x4x16x64xf8E4M3FN>, %k: tensor<1x4x16x64xf8E4M3FN>, %v: tensor<1x4x16x64xf8E4M3FN>, %s: tensor<1xf32>)
    -> (tensor<1x4x16x64xf8E4M3FN>, tensor<1x4x16x64xf32>, tensor<1x4x16xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      : tensor<1x4x16x64xf8E4M3FN>, tensor<1x4x16x64xf8E4M3FN>, tensor<1x4x16x64xf8E4M3FN> -> tensor<1x4x16x64xf32>, tensor<1x4x16xf32>
  %r = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %c0 = arith.constant 0 : index
    %f = tensor.extract %s[%c0] : tensor<1xf32>
    %y = arith.mulf %x, %f : f32
    attn.yield %y : f32
  } : tensor<1x4x16x64xf32> -> tensor<1x4x16x64xf8E4M3FN>
  return %r, %o, %lse : tensor<1x4x16x64xf8E4M3FN>, tensor<1x4x16x64xf32>, tensor<1x4x16xf32>
}
