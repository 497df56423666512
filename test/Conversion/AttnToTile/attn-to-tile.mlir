// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --split-input-file | FileCheck %s

// A mask alone leaves the scores unscaled: the scale is in the exponent.
// 0.125 * log2(e) = 0.180336877.
// CHECK-LABEL: attn_launch.program "causal" attributes {deterministic, scale = 1.250000e-01 : f64,
// CHECK: %[[QUERY:.*]] = attn_launch.operand input "query" vector(8) argument(0) dims ["B", "Hq", "M", "D"] : <?x8x256x64xf16>
// CHECK: %[[KEY:.*]] = attn_launch.operand input "key" vector(8) argument(1) dims ["B", "Hkv", "N", "D"] : <?x4x256x64xf16>
// CHECK: %[[VALUE:.*]] = attn_launch.operand input "value" vector(8) argument(2) dims ["B", "Hkv", "N", "Dv"] : <?x4x256x64xf16>
// CHECK: %[[OUTPUT:.*]] = attn_launch.operand output "output" vector(2) result(0) dims ["B", "Hq", "M", "Dv"] : <?x8x256x64xf16>
// CHECK: %[[LSE:.*]] = attn_launch.operand output "lse" result(1) dims ["B", "Hq", "M"] : <?x8x256xf32>
// CHECK: %[[BATCHES:.*]] = attn_tile.dim %[[QUERY]], 0
// CHECK: attn_launch.launch @causal grid(%c4{{[_0-9]*}}, %c8{{[_0-9]*}}, %[[BATCHES]]) args(%[[QUERY]], %[[KEY]], %[[VALUE]], %[[OUTPUT]], %[[LSE]] :

// CHECK-LABEL: attn_tile.kernel @causal
// CHECK-SAME: warps(4)


// CHECK: attn_tile.load %arg0
// Full blocks: no mask, no map between product and maximum.
// CHECK: scf.for
// CHECK: %[[S:.*]] = attn_tile.mma {{.*}} transpose_b
// CHECK-NEXT: attn_tile.row_reduce max %[[S]]
// CHECK: arith.constant 0.180336878 : f32
// CHECK: math.exp2
// CHECK: attn_tile.to_operand
// CHECK: attn_tile.mma
// Partial blocks.
// CHECK: scf.for
// CHECK: attn_tile.mma {{.*}} transpose_b
// CHECK: attn_tile.map
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: attn_tile.store {{.*}} %arg3
// CHECK: attn_tile.store {{.*}} %arg4
func.func @causal(%q: tensor<?x8x256x64xf16>, %k: tensor<?x4x256x64xf16>,
                  %v: tensor<?x4x256x64xf16>)
    -> (tensor<?x8x256x64xf16>, tensor<?x8x256xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(0.125) mask_mod causal(top_left)
      {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<?x8x256x64xf16>, tensor<?x4x256x64xf16>, tensor<?x4x256x64xf16>
      -> tensor<?x8x256x64xf16>, tensor<?x8x256xf32>
  return %o, %lse : tensor<?x8x256x64xf16>, tensor<?x8x256xf32>
}

// -----

// Partial tiles and the ragged one in one loop: the end of the keys is part of
// the bound of a row, and costs no comparison of its own.
// CHECK-LABEL: attn_tile.kernel @ragged
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[END:.*]] = arith.addi
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c1_i32
// CHECK: attn_tile.map
// CHECK: ^bb0(%[[SCORE:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: %[[COL:.*]] = arith.addi
// CHECK: %[[BOUND:.*]] = arith.minsi %[[ROW]], %[[LAST]]
// CHECK: %[[VISIBLE:.*]] = arith.cmpi sle, %[[COL]], %[[BOUND]]
// CHECK-NOT: arith.cmpi
// CHECK: arith.select %[[VISIBLE]], %[[SCORE]]
// CHECK-NOT: scf.for
// CHECK: attn_tile.store
func.func @ragged(%q: tensor<1x8x?x64xf16>, %k: tensor<1x8x?x64xf16>)
    -> tensor<1x8x?x64xf16> {
  %o = attn.attention %q, %k, %k mask_mod causal(top_left)
      {schedule = #attn.schedule<mma = "mma_sync", tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>
      -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

// Bias and score_mod: scaled first, then in base e units; reads are clamped to
// rows that exist, since M is dynamic. What depends on rows only is read before
// the loop.
// CHECK-LABEL: attn_launch.program "mods"
// CHECK: attn_launch.operand input "bias" argument(3)
// CHECK: attn_launch.operand input "capture0" argument(4) dims ["capture0_dim0"] : <8xf32>
// CHECK-LABEL: attn_tile.kernel @mods
// CHECK: %[[SLOPES:.*]] = attn_tile.map : () -> !attn_tile.fragment<64xf32, row>
// CHECK: attn_tile.extract %arg4
// CHECK: scf.for
// CHECK: attn_tile.map %{{.*}}, %[[SLOPES]] :
// CHECK: arith.minsi
// CHECK: arith.mulf
// CHECK: attn_tile.extract %arg3
// CHECK: arith.addf
// CHECK-NOT: attn_tile.extract %arg4
func.func @mods(%q: tensor<1x8x?x64xbf16>, %k: tensor<1x8x128x64xbf16>,
                %v: tensor<1x8x128x64xbf16>, %bias: tensor<1x1x?x128xf32>,
                %slopes: tensor<8xf32>) -> tensor<1x8x?x64xbf16> {
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x1x?x128xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<8xf32>
        %r = arith.addf %s, %slope : f32
        attn.yield %r : f32
      }
      {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x8x?x64xbf16>, tensor<1x8x128x64xbf16>, tensor<1x8x128x64xbf16>
      -> tensor<1x8x?x64xbf16>
  return %o : tensor<1x8x?x64xbf16>
}
