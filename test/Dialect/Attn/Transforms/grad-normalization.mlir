// The backward of weights without softmax takes neither output nor LSE; that of a sum is not derived.
// RUN: split-file %s %t
// RUN: attn-opt %t/none.mlir --attn-grad | FileCheck %s
// RUN: attn-opt %t/none.mlir --attn-grad=recompute=true | FileCheck %s
// RUN: not attn-opt %t/none.mlir --attn-grad=lse-gradient=true 2>&1 | FileCheck %s --check-prefix=LSE
// RUN: not attn-opt %t/sum.mlir --attn-grad 2>&1 | FileCheck %s --check-prefix=SUM
// CHECK: func.func @f_grad(%[[Q:.*]]: tensor<1x2x4x8xf32>, %[[DO:.*]]: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
// CHECK-NOT: attn.attention %
// CHECK: attn.attention_backward %[[Q]], %[[Q]], %[[Q]] d_output(%[[DO]] : tensor<1x2x4x8xf32>) normalization(#attn.none)
// LSE: error: 'attn.attention' op expected an LSE, whose gradient the backward takes, got normalization #attn.none
// SUM: error: 'attn.attention' op expected normalization #attn.softmax or #attn.none, got #attn.sum

//--- none.mlir
!q = tensor<1x2x4x8xf32>
func.func @f(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q normalization(#attn.none) : !q, !q, !q -> !q
  return %o : !q
}

//--- sum.mlir
!q = tensor<1x2x4x8xf32>
func.func @f(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q normalization(#attn.sum<0.0>) : !q, !q, !q -> !q
  return %o : !q
}
