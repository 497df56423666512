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

// CHECK-LABEL: @amax
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel", "parallel"{{.*}} outs(%{{.*}} : tensor<2x4x?x64xf16>)
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x4x?xf32>)
// CHECK: %[[ROWS:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0 : {{.*}}) outs(%[[ZERO]] : tensor<2x4x?xf32>)
// CHECK: %[[M:.*]] = math.absf
// CHECK: arith.maximumf %{{.*}}, %[[M]] : f32
// CHECK: return %{{.*}}, %[[ROWS]]
func.func @amax(%o: tensor<2x4x?x64xf32>) -> (tensor<2x4x?x64xf16>, tensor<2x4x?xf32>) {
  %y, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.negf %x : f32
    attn.yield %r : f32
  } : tensor<2x4x?x64xf32> -> tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
  return %y, %amax : tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
}
