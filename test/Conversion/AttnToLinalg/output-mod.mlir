// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// CHECK-LABEL: @gate
// CHECK: %[[INIT:.*]] = tensor.empty(%{{.*}}) : tensor<2x4x?x64xbf16>
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<2x4x?x64xf32>) outs(%[[INIT]] : tensor<2x4x?x64xbf16>)
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: bf16):
// CHECK: %[[G:.*]] = tensor.extract %arg1
// CHECK: %[[R:.*]] = arith.mulf %[[X]], %[[G]] : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[R]] : f32 to bf16
// CHECK: linalg.yield %[[ROUNDED]]
func.func @gate(%o: tensor<2x4x?x64xf32>, %g: tensor<2x4x?x64xf32>) -> tensor<2x4x?x64xbf16> {
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %e = tensor.extract %g[%b, %h, %i, %c] : tensor<2x4x?x64xf32>
    %r = arith.mulf %x, %e : f32
    attn.yield %r : f32
  } : tensor<2x4x?x64xf32> -> tensor<2x4x?x64xbf16>
  return %y : tensor<2x4x?x64xbf16>
}
