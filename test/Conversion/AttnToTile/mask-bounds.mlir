// What a mask says of the row alone goes into its bound of the columns, and past the end of the keys the bound is lower: one comparison for
// each score. A mask without such a bound keeps its conditions.
// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_80 --attn-to-tiled --cse --convert-attn-to-tile --cse | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @rows
// CHECK: %[[TERM:.*]] = attn_tile.map : () -> !attn_tile.fragment<64xi32, row>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: attn_tile.map %{{.*}}, %[[TERM]] :
// CHECK-NEXT: ^bb0(%[[SCORE:.*]]: f32, %[[EXISTS:.*]]: i32, %[[R:.*]]: i32, %[[C:.*]]: i32):
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[R]] : i32
// CHECK: %[[COL:.*]] = arith.addi %{{.*}}, %[[C]] : i32
// CHECK: %[[HOLDS:.*]] = arith.cmpi ne, %[[EXISTS]], %{{.*}} : i32
// CHECK: %[[NONE:.*]] = arith.constant -2147483648 : i32
// CHECK: %[[BOUND:.*]] = arith.select %[[HOLDS]], %[[ROW]], %[[NONE]] : i32
// CHECK: %[[VISIBLE:.*]] = arith.cmpi sle, %[[COL]], %[[BOUND]] : i32
// CHECK-NOT: arith.andi
// CHECK: arith.select %[[VISIBLE]], %[[SCORE]], %{{.*}} : f32
func.func @rows(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %ends: tensor<?xi32>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %0 = tensor.extract %ends[%h] : tensor<?xi32>
      %n = arith.index_cast %0 : i32 to index
      %exists = arith.cmpi slt, %i, %n : index
      %causal = arith.cmpi sle, %j, %i : index
      %r = arith.andi %exists, %causal : i1
      attn.yield %r : i1
    } {schedule = #attn.schedule<mma = "mma_sync", tile_m = 64, tile_n = 32, warps = 4, stages = 2>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// CHECK-LABEL: attn_tile.kernel @parity
// CHECK: scf.for
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: arith.select %[[BOTH]], %{{.*}}, %{{.*}} : f32
func.func @parity(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %ends: tensor<?xi32>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %0 = tensor.extract %ends[%h] : tensor<?xi32>
      %n = arith.index_cast %0 : i32 to index
      %exists = arith.cmpi slt, %i, %n : index
      %causal = arith.cmpi ne, %j, %i : index
      %r = arith.andi %exists, %causal : i1
      attn.yield %r : i1
    } {schedule = #attn.schedule<mma = "mma_sync", tile_m = 64, tile_n = 32, warps = 4, stages = 2>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
