// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

!q = tensor<1x2x4x8xf32>

// CHECK-LABEL: @head_scale
// CHECK: attn.attention %{{.*}} mask_mod causal(top_left) prob_mod (%[[P:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index) {
// CHECK: %[[F:.*]] = tensor.extract %{{.*}}[%[[H]]]
// CHECK: %[[R:.*]] = arith.mulf %[[F]], %[[P]]
// CHECK: attn.yield %[[R]]
func.func @head_scale(%q: !q, %factors: tensor<2xf32>) -> !q {
  %o = attn.attention %q, %q, %q mask_mod causal(top_left)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %f = tensor.extract %factors[%h] : tensor<2xf32>
        %r = arith.mulf %f, %p : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o : !q
}

// FOLDED-LABEL: @identity
// FOLDED-NOT: prob_mod
// FOLDED: return
func.func @identity(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        attn.yield %p : f32
      } : !q, !q, !q -> !q
  return %o : !q
}
