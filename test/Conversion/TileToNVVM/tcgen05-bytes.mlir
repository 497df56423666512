// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

!query = !attn_tile.shared<128x64xf8E5M2, swizzle = 64>
!keys = !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
!done = !attn_tile.mbarrier<1, arrivals = 1>
!scores = !attn_tile.tensor<128x64xf32>
!weights = !attn_tile.tensor<128x64xf8E5M2>

// CHECK-LABEL: llvm.func @kernel
attn_tile.kernel @kernel() warps(4) attributes {producer_warps = 4 : i64} {
  %parity = gpu.block_id z
  %q = attn_tile.alloc {offset = 0 : i64} : !query
  %k = attn_tile.alloc {offset = 8192 : i64} : !keys
  %done = attn_tile.alloc_mbarrier {offset = 12288 : i64} : !done
  %s, %t = attn_tile.alloc_tensors {offset = 12304 : i64} : !scores, !scores
  attn_tile.roles producer(56) {
  } consumer(240) {
  ^bb0(%g: index):
    // Two of 32 k. f32, e5m2, N 64, M 128; nothing is transposed.
    // CHECK: tcgen05.mma.cta_group::1.kind::f8f6f4 [$0], $2, $4, $1, adds;
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f8f6f4 [$0], $3, $5, $1, adds;
    // CHECK-SAME: %c135267472_i32
    attn_tile.mma_tensor %q, %k transpose_b into %s[%g], %done : !query, !keys into !scores, !done
    attn_tile.mbarrier_wait %done[%g], %parity : !done
    %f = attn_tile.load_tensor %s[%g] : !scores -> !attn_tile.fragment<128x64xf32, accumulator>
    %w = attn_tile.to_operand %f
        : !attn_tile.fragment<128x64xf32, accumulator> -> !attn_tile.fragment<128x64xf8E5M2, operand_pairs>
    // A quarter of a warpgroup's columns.
    // CHECK: arith.muli %{{.*}}, %c48_i32
    %place = attn_tile.narrow_tensor %s[%g] : !scores -> !weights
    // Lane 2a + b of a quad reads lane 2b + a first, then its neighbour; an even one sends the low halves first, and the upper two
    // lanes have what comes second in front.
    // CHECK: %[[B:.*]] = arith.andi %[[LANE:.*]], %c1_i32
    // CHECK: %[[A1:.*]] = arith.shrui %[[LANE]], %c1_i32
    // CHECK: %[[A:.*]] = arith.andi %[[A1]], %c1_i32
    // CHECK: %[[B2:.*]] = arith.muli %[[B]], %c2_i32
    // CHECK: %[[FROM:.*]] = arith.addi %[[B2]], %[[A]]
    // CHECK: %[[ODD:.*]] = arith.muli %[[B]], %c8738_i32
    // CHECK: %[[SENT:.*]] = arith.xori %[[ODD]], %c21520_i32
    // CHECK: %[[UPPER:.*]] = arith.muli %[[A]], %c17476_i32
    // CHECK: %[[KEPT:.*]] = arith.xori %[[UPPER]], %c21520_i32
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: prmt.b32 %pair0, $1, $3, [[SENT0:\$[0-9]+]];
    // CHECK-SAME: shfl.sync.idx.b32 %pair0, %pair0, [[FROM0:\$[0-9]+]], 0x1c1f, -1;
    // CHECK-SAME: prmt.b32 %pair1, $1, $3,
    // CHECK-SAME: shfl.sync.idx.b32 %pair1, %pair1,
    // CHECK-SAME: prmt.b32 %cell0, %pair0, %pair1, [[KEPT0:\$[0-9]+]];
    // CHECK-SAME: prmt.b32 %cell2, %pair0, %pair1,
    // CHECK-SAME: prmt.b32 %pair0, $2, $4, [[SENT0]];
    // CHECK-SAME: tcgen05.st.sync.aligned.16x128b.x4.b32 [$0+0], {%cell0, %cell1, %cell2,
    // CHECK-SAME: tcgen05.st.sync.aligned.16x128b.x4.b32 [$0+1048576], {%cell8,
    // CHECK-SAME: tcgen05.wait::st.sync.aligned;
    attn_tile.store_tensor %w to %place[%g] : !attn_tile.fragment<128x64xf8E5M2, operand_pairs> to !weights
    // V as it is, which is MN-major.
    // CHECK: tcgen05.mma.cta_group::1.kind::f8f6f4 [$0], [$2], $4, $1, adds;
    // CHECK-SAME: %c135333008_i32
    attn_tile.mma_tensor %place, %k into %t[%g], %done meet : !weights, !keys into !scores, !done
    attn_tile.free_tensors %s, %t : !scores, !scores
  }
  attn_tile.return
}
