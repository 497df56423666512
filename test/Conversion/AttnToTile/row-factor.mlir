// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --canonicalize | FileCheck %s

// What a score_mod multiplies by is read before the loop, for each row, and looked at: where it is no positive number scores are multiplied, in a branch.
// Otherwise their maximum is, and the factor of the exponent.
// CHECK-LABEL: attn_tile.kernel @factor
// CHECK: %[[SCALED:.*]] = attn_tile.map {{.*}}row
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: %[[OTHER:.*]] = attn_tile.any
// CHECK: scf.for
// CHECK: %[[S:.*]] = attn_tile.mma {{.*}} transpose_b
// CHECK: %[[CHOSEN:.*]]:2 = scf.if %[[OTHER]]
// CHECK: scf.yield %[[S]], %[[FACTOR:.*]] : {{.*}}accumulator>, {{.*}}row>
// CHECK: %[[NONE:.*]] = attn_tile.fill 0xFF800000
// CHECK: %[[MAX:.*]] = attn_tile.row_reduce max %[[CHOSEN]]#0, %[[NONE]]
// CHECK: attn_tile.map %{{.*}}, %[[MAX]], %[[CHOSEN]]#1
// CHECK: arith.mulf
// CHECK: arith.maxnumf
// CHECK: %[[UNIT:.*]] = attn_tile.map %[[CHOSEN]]#1
// CHECK: scf.yield %[[CHOSEN]]#0, %{{.*}}, %[[UNIT]]
// CHECK: math.fma
// CHECK: math.exp2
func.func @factor(%q: tensor<1x4x64x64xf16>, %k: tensor<1x2x96x64xf16>, %v: tensor<1x2x96x64xf16>, %f: tensor<4xf32>) -> tensor<1x4x64x64xf16> {
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %f[%h] : tensor<4xf32>
        %r = arith.mulf %s, %x : f32
        attn.yield %r : f32
      } {scale = 0.25 : f64, schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2>}
      : tensor<1x4x64x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x4x64x64xf16>
  return %o : tensor<1x4x64x64xf16>
}

// A factor of keys is one of scores.
// CHECK-LABEL: attn_tile.kernel @of_keys
// CHECK: scf.for
// CHECK: %[[S:.*]] = attn_tile.mma {{.*}} transpose_b
// CHECK-NOT: scf.if
// CHECK: attn_tile.map %[[S]]
// CHECK: %[[READ:.*]] = attn_tile.extract
// CHECK: arith.mulf
func.func @of_keys(%q: tensor<1x4x64x64xf16>, %k: tensor<1x2x96x64xf16>, %v: tensor<1x2x96x64xf16>, %f: tensor<96xf32>) -> tensor<1x4x64x64xf16> {
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %f[%j] : tensor<96xf32>
        %r = arith.mulf %s, %x : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2>}
      : tensor<1x4x64x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x4x64x64xf16>
  return %o : tensor<1x4x64x64xf16>
}
