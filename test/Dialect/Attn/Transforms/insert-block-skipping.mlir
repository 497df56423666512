// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-insert-block-skipping \
// RUN:   --attn-verify-normal-form --cse | FileCheck %s

// The bounds themselves are held against brute force in test/Unit/Analysis.

// CHECK-DAG: #[[$FULL:.*]] = affine_map<()[s0, s1] -> (((s0 + 1) floordiv 16) * 16, s1)>
// CHECK-DAG: #[[$UPPER:.*]] = affine_map<()[s0] -> (s0 + 32, 256)>

// No lower bound: no loop over partial tiles before the full ones.
// CHECK-LABEL: @causal
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[M:[a-z0-9]+]]) =
// CHECK: %[[UPPER:.*]] = affine.min #[[$UPPER]]()[%[[M]]]
// CHECK: scf.for %{{.*}} = %c0{{[_0-9]*}} to %[[FULL:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK-NOT: mask_mod
// CHECK: scf.for %{{.*}} = %[[FULL]] to %{{.*}} step %c16{{[_0-9]*}}
// CHECK: attn.online_attention {{.*}} mask_mod causal(top_left)
// CHECK-NOT: scf.for %
func.func @causal(%q: tensor<1x2x256x8xf32>, %k: tensor<1x2x256x8xf32>)
    -> tensor<1x2x256x8xf32> {
  %o = attn.attention %q, %k, %k mask_mod causal(top_left)
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>
      -> tensor<1x2x256x8xf32>
  return %o : tensor<1x2x256x8xf32>
}

// Both bounds and a ragged end: full, partial on both sides, ragged. The partial
// tiles after the full ones come first, then those before them.
// CHECK-LABEL: @window
// CHECK: scf.for %{{.*}} = %[[FULL:[0-9]+]] to %[[FULLEND:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK-NOT: mask_mod
// CHECK: scf.for %[[COUNT:[a-z0-9]+]] = %[[FULLEND]] to %[[END:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK: %[[BEFORE:.*]] = affine.apply {{.*}}[%[[COUNT]],
// CHECK: %[[KEY:.*]] = arith.select %{{.*}}, %[[COUNT]], %[[BEFORE]]
// CHECK: attn.online_attention {{.*}} offsets(%{{.*}}, %{{.*}}, %{{.*}}, %[[KEY]]) mask_mod sliding_window(40, 8)
// CHECK: scf.for %[[COUNT:[a-z0-9]+]] = %[[END]] to %{{.*}} step %c16{{[_0-9]*}}
// CHECK: %[[KEY:.*]] = affine.apply {{.*}}[%[[COUNT]],
// CHECK: attn.online_attention {{.*}} offsets(%{{.*}}, %{{.*}}, %{{.*}}, %[[KEY]]) mask_mod sliding_window(40, 8)
// CHECK-NOT: scf.for %
// CHECK: attn.normalize
func.func @window(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %o = attn.attention %q, %k, %k mask_mod sliding_window(40, 8)
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
      -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// On a GPU the loop over the ragged end has the partial tiles, too.
// CHECK-LABEL: @window_on_gpu
// CHECK: scf.for %{{.*}} = %[[FULL:[0-9]+]] to %[[FULLEND:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK-NOT: mask_mod
// CHECK: scf.for %[[COUNT:[a-z0-9]+]] = %[[FULLEND]] to %{{.*}} step %c16{{[_0-9]*}}
// CHECK: %[[KEY:.*]] = arith.select %{{.*}}, %[[COUNT]], %
// CHECK: affine.min {{.*}}(%[[KEY]])
// CHECK: attn.online_attention {{.*}} mask_mod sliding_window(40, 8)
// CHECK-NOT: scf.for %
// CHECK: attn.normalize
func.func @window_on_gpu(%q: tensor<1x2x?x16xf16>, %k: tensor<1x2x?x16xf16>)
    -> tensor<1x2x?x16xf16> {
  %o = attn.attention %q, %k, %k mask_mod sliding_window(40, 8)
      {schedule = #attn.schedule<mma = "mma_sync",
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>
      -> tensor<1x2x?x16xf16>
  return %o : tensor<1x2x?x16xf16>
}

// Not where a tensor is read for each score: behind the end of the keys it has
// no elements.
// CHECK-LABEL: @bias_on_gpu
// CHECK-COUNT-3: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.normalize
func.func @bias_on_gpu(%q: tensor<1x2x?x16xf16>, %k: tensor<1x2x?x16xf16>,
                       %bias: tensor<1x2x?x?xf32>) -> tensor<1x2x?x16xf16> {
  %o = attn.attention %q, %k, %k bias(%bias : tensor<1x2x?x?xf32>)
      mask_mod causal(top_left)
      {schedule = #attn.schedule<mma = "mma_sync",
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>
      -> tensor<1x2x?x16xf16>
  return %o : tensor<1x2x?x16xf16>
}

// A bound that is read per batch moves before the loops.
// CHECK-LABEL: @padding
// CHECK-SAME: %[[LENS:[a-z0-9]+]]: tensor<3xi32>
// CHECK: scf.forall (%[[B:[a-z0-9]+]], %{{.*}}, %{{.*}}) =
// CHECK: %[[LEN:.*]] = tensor.extract %[[LENS]][%[[B]]]
// CHECK: arith.index_cast %[[LEN]] : i32 to index
// CHECK: scf.for %{{.*}} = %c0{{[_0-9]*}} to %[[FULL:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK-NOT: mask_mod
// CHECK: scf.for %{{.*}} = %[[FULL]] to %{{.*}} step %c16{{[_0-9]*}}
// CHECK: mask_mod (
func.func @padding(%q: tensor<3x2x64x8xf32>, %k: tensor<3x2x64x8xf32>,
                   %lens: tensor<3xi32>) -> tensor<3x2x64x8xf32> {
  %o = attn.attention %q, %k, %k
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %len = tensor.extract %lens[%b] : tensor<3xi32>
        %len_index = arith.index_cast %len : i32 to index
        %visible = arith.cmpi slt, %j, %len_index : index
        attn.yield %visible : i1
      }
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<3x2x64x8xf32>, tensor<3x2x64x8xf32>, tensor<3x2x64x8xf32>
      -> tensor<3x2x64x8xf32>
  return %o : tensor<3x2x64x8xf32>
}

// Data that depends on the key: lists of tiles, full ones without the mask.
// CHECK-LABEL: @documents
// CHECK: %[[N:.*]], %[[L:.*]], %[[FULL_N:.*]], %[[FULL_L:.*]] = attn.create_block_mask
// CHECK-SAME: block [32, 16] mask_mod
// CHECK: } : tensor<1x1x2xi32>, tensor<1x1x2x4xi32>
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: tensor.extract %[[FULL_L]][
// CHECK: attn.online_attention
// CHECK-NOT: mask_mod
// CHECK: scf.for
// CHECK: tensor.extract %[[L]][
// CHECK: mask_mod (
// CHECK-NOT: scf.for %
func.func @documents(%q: tensor<1x2x64x8xf32>, %ids: tensor<64xi32>)
    -> tensor<1x2x64x8xf32> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %di = tensor.extract %ids[%i] : tensor<64xi32>
        %dj = tensor.extract %ids[%j] : tensor<64xi32>
        %visible = arith.cmpi eq, %di, %dj : i32
        attn.yield %visible : i1
      }
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>
      -> tensor<1x2x64x8xf32>
  return %o : tensor<1x2x64x8xf32>
}

// A mask that is always true goes away, at the ragged end too.
// CHECK-LABEL: @always
// CHECK-NOT: mask_mod
// CHECK: return
func.func @always(%q: tensor<1x2x32x8xf32>, %k: tensor<1x2x40x8xf32>)
    -> tensor<1x2x32x8xf32> {
  %o = attn.attention %q, %k, %k mask_mod sliding_window(-1, -1)
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x32x8xf32>, tensor<1x2x40x8xf32>, tensor<1x2x40x8xf32>
      -> tensor<1x2x32x8xf32>
  return %o : tensor<1x2x32x8xf32>
}

// Two ranges: one loop over all full tiles, one over all partial ones, the
// ragged end. The body finds the tile.
// CHECK-LABEL: @sink_and_window
// CHECK: scf.for %[[COUNT:[a-z0-9]+]] = %c0{{[_0-9]*}} to %[[FULL:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK: %[[KEY:.*]] = arith.select
// CHECK: offsets(%{{.*}}, %{{.*}}, %{{.*}}, %[[KEY]])
// CHECK-NOT: mask_mod
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[END:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK: mask_mod (
// CHECK: scf.for %{{.*}} = %[[END]] to %{{[0-9]+}} step %c16{{[_0-9]*}}
// CHECK: mask_mod (
// CHECK-NOT: scf.for
// CHECK: attn.normalize
func.func @sink_and_window(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %o = attn.attention %q, %k, %k
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c20 = arith.constant 20 : index
        %c60 = arith.constant 60 : index
        %first = arith.subi %i, %c60 : index
        %sink = arith.cmpi slt, %j, %c20 : index
        %near = arith.cmpi sge, %j, %first : index
        %either = arith.ori %sink, %near : i1
        %past = arith.cmpi sle, %j, %i : index
        %visible = arith.andi %either, %past : i1
        attn.yield %visible : i1
      }
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
      -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}
