// The backward of weights without softmax takes neither output nor LSE; that of a sum is one without normalization, of values and a column of ones.
// RUN: split-file %s %t
// RUN: attn-opt %t/none.mlir --attn-grad | FileCheck %s
// RUN: attn-opt %t/none.mlir --attn-grad=recompute=true | FileCheck %s
// RUN: not attn-opt %t/none.mlir --attn-grad=lse-gradient=true 2>&1 | FileCheck %s --check-prefix=LSE
// RUN: attn-opt %t/sum.mlir --attn-grad | FileCheck %s --check-prefix=SUM
// RUN: not attn-opt %t/dropout.mlir --attn-grad 2>&1 | FileCheck %s --check-prefix=DROPOUT
// CHECK: func.func @f_grad(%[[Q:.*]]: tensor<1x2x4x8xf32>, %[[DO:.*]]: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
// CHECK-NOT: attn.attention %
// CHECK: attn.attention_backward %[[Q]], %[[Q]], %[[Q]] d_output(%[[DO]] : tensor<1x2x4x8xf32>) normalization(#attn.none)
// LSE: error: 'attn.attention' op expected an LSE, whose gradient the backward takes, got normalization #attn.none
// SUM: func.func @f_grad(%[[Q:[^:]*]]: tensor<1x2x4x8xf16>, %[[DO:[^:]*]]: tensor<1x2x4x8xf16>)
// SUM: %[[ONE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x4x16xf16>)
// SUM: attn.attention %[[Q]], %[[Q]], %[[ONE]] normalization(#attn.none) {{.*}} -> tensor<1x2x4x16xf32>
// SUM: %[[DSUMS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x4x16xf16>)
// SUM: attn.attention_backward %[[Q]], %[[Q]], %[[ONE]] d_output(%[[DSUMS]] : tensor<1x2x4x16xf16>) normalization(#attn.none)
// DROPOUT: error: 'attn.attention' op expected no dropout with normalization #attn.sum<0.000000e+00 : f64>, whose gradients are not derived

//--- none.mlir
!q = tensor<1x2x4x8xf32>
func.func @f(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q normalization(#attn.none) : !q, !q, !q -> !q
  return %o : !q
}

//--- sum.mlir
!q = tensor<1x2x4x8xf16>
func.func @f(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q normalization(#attn.sum<0.0>) : !q, !q, !q -> !q
  return %o : !q
}

//--- dropout.mlir
!q = tensor<1x2x4x8xf32>
func.func @f(%q: !q, %s: i64) -> !q {
  %o = attn.attention %q, %q, %q dropout(%s, %s) rate(0.5) normalization(#attn.sum<0.0>) : !q, !q, !q -> !q
  return %o : !q
}
