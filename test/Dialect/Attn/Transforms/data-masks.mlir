// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-insert-block-skipping \
// RUN:   --attn-verify-normal-form --cse | FileCheck %s

// Packed sequences: the tile's range of keys from its rows' sequences; full tiles first, then the
// partial ones on both sides of them, then the ragged end.
// CHECK-LABEL: @packed
// CHECK: %[[BOUNDS:.*]] = attn.key_bounds batches(%{{.*}}) heads(%{{.*}}) rows(%{{.*}}) tile 32 {
// CHECK: attn.segment
// CHECK: } : tensor<1x1x?x4xi32>
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[M:.*]]) =
// CHECK: %[[ROW:.*]] = affine.apply #{{.*}}()[%[[M]]]
// CHECK: tensor.extract %[[BOUNDS]][%c0{{.*}}, %c0{{.*}}, %[[ROW]], %c0{{.*}}]
// CHECK: tensor.extract %[[BOUNDS]][%c0{{.*}}, %c0{{.*}}, %[[ROW]], %c1{{.*}}]
// CHECK: tensor.extract %[[BOUNDS]][%c0{{.*}}, %c0{{.*}}, %[[ROW]], %c2{{.*}}]
// CHECK: tensor.extract %[[BOUNDS]][%c0{{.*}}, %c0{{.*}}, %[[ROW]], %c3{{.*}}]
// CHECK: scf.for
// CHECK-NOT: mask_mod (
// CHECK: scf.for
// CHECK: arith.select
// CHECK: mask_mod (
// CHECK: scf.for
// CHECK: mask_mod (
func.func @packed(%q: tensor<1x2x?x8xf32>, %cu: tensor<?xi32>) -> tensor<1x2x?x8xf32> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %s = attn.segment %cu at %i : tensor<?xi32>
        %x = tensor.extract %cu[%s] : tensor<?xi32>
        %start = arith.index_cast %x : i32 to index
        %past = arith.cmpi sle, %j, %i : index
        %in = arith.cmpi sge, %j, %start : index
        %visible = arith.andi %past, %in : i1
        attn.yield %visible : i1
      }
      {schedule = #attn.schedule<tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// Listed blocks of two tiles each: full ones without a mask, partial ones with what is left of it.
// CHECK-LABEL: @listed
// CHECK-SAME: %[[N:[a-z0-9]*]]: tensor<1x1x2xi32>, %[[L:[a-z0-9]*]]: tensor<1x1x2x2xi32>, %[[FULL_N:[a-z0-9]*]]: tensor<1x1x2xi32>, %[[FULL_L:[a-z0-9]*]]: tensor<1x1x2x2xi32>
// CHECK-NOT: attn.create_block_mask
// CHECK: scf.forall
// CHECK: tensor.extract %[[FULL_N]]
// CHECK: tensor.extract %[[N]]
// CHECK: scf.for
// CHECK: tensor.extract %[[FULL_L]]
// CHECK: arith.remui
// CHECK: attn.online_attention
// CHECK-NOT: mask_mod
// CHECK: scf.for
// CHECK: tensor.extract %[[L]]
// CHECK: attn.online_attention {{.*}} mask_mod causal(top_left)
// CHECK-NOT: attn.block_listed
func.func @listed(%q: tensor<1x2x64x8xf32>, %n: tensor<1x1x2xi32>, %l: tensor<1x1x2x2xi32>, %fn: tensor<1x1x2xi32>,
                  %fl: tensor<1x1x2x2xi32>) -> tensor<1x2x64x8xf32> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %full = attn.block_listed %fn, %fl at(%b, %h, %i, %j) block [32, 32] : tensor<1x1x2xi32>, tensor<1x1x2x2xi32>
        %partial = attn.block_listed %n, %l at(%b, %h, %i, %j) block [32, 32] : tensor<1x1x2xi32>, tensor<1x1x2x2xi32>
        %past = arith.cmpi sle, %j, %i : index
        %some = arith.andi %partial, %past : i1
        %visible = arith.ori %full, %some : i1
        attn.yield %visible : i1
      }
      {schedule = #attn.schedule<tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32> -> tensor<1x2x64x8xf32>
  return %o : tensor<1x2x64x8xf32>
}
