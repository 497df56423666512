// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-stage-fragments))' | FileCheck %s

// Fragments that other warps read go to a ring that turns with the stages of the
// loop, in a chain of loops to the same one; sums go through a place of their own,
// which has been read when the kernel ends.

!q = !attn_tile.shared<2x64x64xf16, swizzle = 128>
!once = !attn_tile.shared<1x64x64xf16, swizzle = 128>
!shared = !attn_tile.shared<64x128xf16, swizzle = 128>
!k = !attn_tile.shared<128x128xf16, swizzle = 128>
!ds = !attn_tile.fragment<128x64xf32, accumulator>
!dq = !attn_tile.fragment<128x64xf32, accumulator>
!sums = !attn_tile.global<2x8x?x64xf32>

// CHECK-LABEL: attn_tile.kernel @step
// CHECK: %[[Q:.+]] = attn_tile.alloc : <2x64x64xf16
// CHECK: %[[K:.+]] = attn_tile.alloc : <128x128xf16
// CHECK: %[[RING:.+]] = attn_tile.alloc : <2x64x128xf16
// CHECK: %[[STAGING:.+]] = attn_tile.alloc : <1x8192xf32
// CHECK-NOT: attn_tile.alloc
attn_tile.kernel @step(%sums: !sums, %n: index) warps(8) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = attn_tile.alloc : !q
  %k = attn_tile.alloc : !k
  attn_tile.roles producer(24) {
    %c = arith.constant 0 : index
  // CHECK: ^bb0(%[[WG:.*]]: index):
  } consumer(240) {
  ^bb0(%warpgroup: index):
    // CHECK: scf.for %[[I:.+]] =
    scf.for %i = %c0 to %n step %c1 {
      %stage = arith.remui %i, %n : index
      %qt = attn_tile.stage %q[%stage] : !q
      %ds = attn_tile.fill 1.0 : !ds
      // CHECK: %[[TILE:.+]] = attn_tile.stage %[[RING]][%[[STAGE:.+]]]
      // CHECK-NEXT: attn_tile.store_shared %{{.*}} to %[[TILE]] transpose
      // CHECK-NEXT: attn_tile.sync_consumers
      // CHECK-NEXT: %[[AGAIN:.+]] = attn_tile.stage %[[RING]][%[[STAGE]]]
      // CHECK-NEXT: %[[DQ:.+]] = attn_tile.mma_async %[[K]][%[[WG]]] transpose_a, %[[AGAIN]] transpose_b
      %t = attn_tile.share %ds : !ds -> !shared
      %s = attn_tile.mma_async %k[%warpgroup] transpose_a, %t transpose_b : !k, !shared -> !dq
      // CHECK-NEXT: attn_tile.accumulate_bulk %[[DQ]] through %[[STAGING]][%[[WG]]] to %{{.*}}[
      attn_tile.accumulate %s to %sums[%c0, %c0, %i] : !dq to !sums
    }
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 {
      %qt = attn_tile.stage %q[%i] : !q
      %ds = attn_tile.fill 1.0 : !ds
      // CHECK: attn_tile.stage %[[RING]]
      %t = attn_tile.share %ds : !ds -> !shared
      // CHECK: attn_tile.accumulate_bulk %{{.*}} through %[[STAGING]]
      attn_tile.accumulate %ds to %sums[%c0, %c0, %i] : !dq to !sums
    }
    // CHECK: attn_tile.wait_stores
    // CHECK-NEXT: }
  }
  attn_tile.return
}

// With one stage all warps have read the tile before it is written again.
// CHECK-LABEL: attn_tile.kernel @one_stage
// CHECK: %[[ONE:.+]] = attn_tile.alloc : <64x128xf16
// CHECK: attn_tile.sync_consumers
// CHECK-NEXT: attn_tile.store_shared %{{.*}} to %[[ONE]] transpose
// CHECK-NEXT: attn_tile.sync_consumers
// CHECK-NOT: attn_tile.wait_stores
attn_tile.kernel @one_stage(%n: index) warps(8) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = attn_tile.alloc : !once
  attn_tile.roles producer(24) {
    %c = arith.constant 0 : index
  } consumer(240) {
  ^bb0(%warpgroup: index):
    scf.for %i = %c0 to %n step %c1 {
      %qt = attn_tile.stage %q[%c0] : !once
      %ds = attn_tile.fill 1.0 : !ds
      %t = attn_tile.share %ds : !ds -> !shared
    }
  }
  attn_tile.return
}
