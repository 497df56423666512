// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: @gate
// CHECK: attn.output_mod %{{.*}} (%[[X:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[C:.*]]: index) {
// CHECK: tensor.extract %arg1[%[[B]], %[[H]], %[[I]], %[[C]]]
// CHECK: attn.yield
// CHECK: } : tensor<?x4x?x64xf32> -> tensor<?x4x?x64xbf16>
func.func @gate(%o: tensor<?x4x?x64xf32>, %g: tensor<?x4x?x64xf32>) -> tensor<?x4x?x64xbf16> {
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %e = tensor.extract %g[%b, %h, %i, %c] : tensor<?x4x?x64xf32>
    %r = arith.mulf %x, %e : f32
    attn.yield %r : f32
  } : tensor<?x4x?x64xf32> -> tensor<?x4x?x64xbf16>
  return %y : tensor<?x4x?x64xbf16>
}

// CHECK-LABEL: @of_a_tile
// CHECK: attn.output_mod %arg0 offsets(%arg1, %arg1, %arg1, %arg1) (%{{.*}}: f64,
func.func @of_a_tile(%o: tensor<1x1x16x64xf64>, %at: index) -> tensor<1x1x16x64xf64> {
  %y = attn.output_mod %o offsets(%at, %at, %at, %at) (%x: f64, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.negf %x : f64
    attn.yield %r : f64
  } : tensor<1x1x16x64xf64> -> tensor<1x1x16x64xf64>
  return %y : tensor<1x1x16x64xf64>
}

// CHECK-LABEL: @with_amax
// CHECK: %{{.*}}, %[[AMAX:.*]] = attn.output_mod %arg0 (
// CHECK: } : tensor<?x4x?x64xf32> -> tensor<?x4x?x64xf8E4M3FN>, tensor<?x4x?xf32>
// CHECK: return %[[AMAX]]
func.func @with_amax(%o: tensor<?x4x?x64xf32>) -> tensor<?x4x?xf32> {
  %y, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : tensor<?x4x?x64xf32> -> tensor<?x4x?x64xf8E4M3FN>, tensor<?x4x?xf32>
  return %amax : tensor<?x4x?xf32>
}
