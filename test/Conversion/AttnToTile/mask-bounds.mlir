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

// -----

// Each step of a hash of the row uses the one before twice: 2^40 ways lead to its begin.
// CHECK-LABEL: attn_tile.kernel @hashed
// CHECK: scf.for
// CHECK: arith.select %{{.*}}, %{{.*}}, %c-2147483648{{.*}} : i32
func.func @hashed(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %c1 = arith.constant 1 : index
      %s0 = arith.shrui %i, %c1 : index
      %h0 = arith.xori %i, %s0 : index
      %s1 = arith.shrui %h0, %c1 : index
      %h1 = arith.xori %h0, %s1 : index
      %s2 = arith.shrui %h1, %c1 : index
      %h2 = arith.xori %h1, %s2 : index
      %s3 = arith.shrui %h2, %c1 : index
      %h3 = arith.xori %h2, %s3 : index
      %s4 = arith.shrui %h3, %c1 : index
      %h4 = arith.xori %h3, %s4 : index
      %s5 = arith.shrui %h4, %c1 : index
      %h5 = arith.xori %h4, %s5 : index
      %s6 = arith.shrui %h5, %c1 : index
      %h6 = arith.xori %h5, %s6 : index
      %s7 = arith.shrui %h6, %c1 : index
      %h7 = arith.xori %h6, %s7 : index
      %s8 = arith.shrui %h7, %c1 : index
      %h8 = arith.xori %h7, %s8 : index
      %s9 = arith.shrui %h8, %c1 : index
      %h9 = arith.xori %h8, %s9 : index
      %s10 = arith.shrui %h9, %c1 : index
      %h10 = arith.xori %h9, %s10 : index
      %s11 = arith.shrui %h10, %c1 : index
      %h11 = arith.xori %h10, %s11 : index
      %s12 = arith.shrui %h11, %c1 : index
      %h12 = arith.xori %h11, %s12 : index
      %s13 = arith.shrui %h12, %c1 : index
      %h13 = arith.xori %h12, %s13 : index
      %s14 = arith.shrui %h13, %c1 : index
      %h14 = arith.xori %h13, %s14 : index
      %s15 = arith.shrui %h14, %c1 : index
      %h15 = arith.xori %h14, %s15 : index
      %s16 = arith.shrui %h15, %c1 : index
      %h16 = arith.xori %h15, %s16 : index
      %s17 = arith.shrui %h16, %c1 : index
      %h17 = arith.xori %h16, %s17 : index
      %s18 = arith.shrui %h17, %c1 : index
      %h18 = arith.xori %h17, %s18 : index
      %s19 = arith.shrui %h18, %c1 : index
      %h19 = arith.xori %h18, %s19 : index
      %s20 = arith.shrui %h19, %c1 : index
      %h20 = arith.xori %h19, %s20 : index
      %s21 = arith.shrui %h20, %c1 : index
      %h21 = arith.xori %h20, %s21 : index
      %s22 = arith.shrui %h21, %c1 : index
      %h22 = arith.xori %h21, %s22 : index
      %s23 = arith.shrui %h22, %c1 : index
      %h23 = arith.xori %h22, %s23 : index
      %s24 = arith.shrui %h23, %c1 : index
      %h24 = arith.xori %h23, %s24 : index
      %s25 = arith.shrui %h24, %c1 : index
      %h25 = arith.xori %h24, %s25 : index
      %s26 = arith.shrui %h25, %c1 : index
      %h26 = arith.xori %h25, %s26 : index
      %s27 = arith.shrui %h26, %c1 : index
      %h27 = arith.xori %h26, %s27 : index
      %s28 = arith.shrui %h27, %c1 : index
      %h28 = arith.xori %h27, %s28 : index
      %s29 = arith.shrui %h28, %c1 : index
      %h29 = arith.xori %h28, %s29 : index
      %s30 = arith.shrui %h29, %c1 : index
      %h30 = arith.xori %h29, %s30 : index
      %s31 = arith.shrui %h30, %c1 : index
      %h31 = arith.xori %h30, %s31 : index
      %s32 = arith.shrui %h31, %c1 : index
      %h32 = arith.xori %h31, %s32 : index
      %s33 = arith.shrui %h32, %c1 : index
      %h33 = arith.xori %h32, %s33 : index
      %s34 = arith.shrui %h33, %c1 : index
      %h34 = arith.xori %h33, %s34 : index
      %s35 = arith.shrui %h34, %c1 : index
      %h35 = arith.xori %h34, %s35 : index
      %s36 = arith.shrui %h35, %c1 : index
      %h36 = arith.xori %h35, %s36 : index
      %s37 = arith.shrui %h36, %c1 : index
      %h37 = arith.xori %h36, %s37 : index
      %s38 = arith.shrui %h37, %c1 : index
      %h38 = arith.xori %h37, %s38 : index
      %s39 = arith.shrui %h38, %c1 : index
      %h39 = arith.xori %h38, %s39 : index
      %bit = arith.andi %h39, %c1 : index
      %odd = arith.cmpi eq, %bit, %c1 : index
      %causal = arith.cmpi sle, %j, %i : index
      %r = arith.andi %odd, %causal : i1
      attn.yield %r : i1
    } {schedule = #attn.schedule<mma = "mma_sync", tile_m = 64, tile_n = 32, warps = 4, stages = 2>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
