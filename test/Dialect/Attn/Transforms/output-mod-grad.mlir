// Gradients through what follows an attention: elementwise functions of the output before it, which read the gradient of the result.
// RUN: attn-opt %s --attn-grad=recompute | FileCheck %s --check-prefixes=CHECK,RECOMPUTE
// RUN: attn-opt %s --attn-grad | FileCheck %s --check-prefixes=CHECK,SAVED

!q = tensor<2x4x20x32xf16>
!k = tensor<2x2x20x32xf16>
!o = tensor<2x4x20x32xf32>
!l = tensor<2x4x20xf32>

// CHECK-LABEL: @gate_grad(
// SAVED-SAME: %{{.*}}: tensor<2x4x20x32xf16>, %[[O:[a-z0-9]*]]: tensor<2x4x20x32xf32>, %{{.*}}: tensor<2x4x20xf32>, %[[DY:[a-z0-9]*]]: tensor<2x4x20x32xf16>)
// RECOMPUTE-SAME: %[[DY:[a-z0-9]*]]: tensor<2x4x20x32xf16>)
// CHECK-SAME: -> (tensor<2x4x20x32xf16>, tensor<2x2x20x32xf16>, tensor<2x2x20x32xf16>, tensor<2x4x20x32xf16>, tensor<4xf32>)
// RECOMPUTE: %[[O:.*]], %{{.*}} = attn.attention
// The gate's gradient is dense, that of a head's factor a sum.
// CHECK: %[[DG:.*]] = attn.output_mod %[[O]] {{.*}} {
// CHECK: tensor.extract %[[DY]]
// CHECK: } : tensor<2x4x20x32xf32> -> tensor<2x4x20x32xf16>
// CHECK: %[[PARTS:.*]] = attn.output_mod %[[O]]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%[[PARTS]] : tensor<2x4x20x32xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: %[[DO:.*]] = attn.output_mod %[[O]]
// CHECK: } : tensor<2x4x20x32xf32> -> tensor<2x4x20x32xf16>
// CHECK-NOT: attn.output_mod
// CHECK: attn.attention_backward %{{.*}} output(%[[O]]
// CHECK-SAME: %[[DO]]
func.func @gate(%q: !q, %k: !k, %v: !k, %g: !q, %f: tensor<4xf32>) -> (!q, !o, !l) {
  %o, %l = attn.attention %q, %k, %v : !q, !k, !k -> !o, !l
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %raw = tensor.extract %g[%b, %h, %i, %c] : !q
    %w = arith.extf %raw : f16 to f32
    %s = tensor.extract %f[%h] : tensor<4xf32>
    %t = arith.mulf %x, %w : f32
    %r = arith.mulf %t, %s : f32
    attn.yield %r : f32
  } : !o -> !q
  return %y, %o, %l : !q, !o, !l
}
