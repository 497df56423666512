// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-overlap-products))' | FileCheck %s

// The second product starts behind the first, and the exponentials run beside it;
// the last one is waited for at the end, and the stage that it reads given back
// behind that. A second wait for a tile that is there holds the wait for the
// second product behind the exponentials.

!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!ring = !attn_tile.shared<2x64x64xf16, swizzle = 128>
!acc = !attn_tile.fragment<64x64xf32, accumulator>
!operand = !attn_tile.fragment<64x64xf16, operand_a>
!full = !attn_tile.mbarrier<2, arrivals = 1>
!empty = !attn_tile.mbarrier<2, arrivals = 4>

// CHECK-LABEL: attn_tile.kernel @step
attn_tile.kernel @step(%n: index) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = attn_tile.alloc : !tile
  %v = attn_tile.alloc : !tile
  %q = attn_tile.alloc : !ring
  %do = attn_tile.alloc : !ring
  %qfull = attn_tile.alloc_mbarrier : !full
  %qempty = attn_tile.alloc_mbarrier : !empty
  %dofull = attn_tile.alloc_mbarrier : !full
  %doempty = attn_tile.alloc_mbarrier : !empty
  attn_tile.roles producer(56) {
    %c = arith.constant 0 : index
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %zero = attn_tile.fill 0.0 : !acc
    // CHECK: scf.for
    // CHECK-NEXT: attn_tile.mbarrier_wait %[[QFULL:.+]][%{{.+}}]
    // CHECK-NEXT: attn_tile.stage
    // CHECK-NEXT: %[[S:.+]] = attn_tile.mma_async
    // CHECK-NEXT: attn_tile.mbarrier_wait %[[DOFULL:.+]][%{{.+}}]
    // CHECK-NEXT: attn_tile.stage
    // CHECK-NEXT: %[[DP:.+]] = attn_tile.mma_async
    // CHECK-NEXT: attn_tile.mma_wait 1, %[[S]]
    // CHECK-NEXT: attn_tile.map
    // CHECK: attn_tile.mbarrier_wait %[[DOFULL]]
    // CHECK-NEXT: attn_tile.mma_wait 0, %[[DP]]
    // CHECK-NEXT: attn_tile.sync_warp
    // CHECK-NEXT: attn_tile.mbarrier_arrive
    // CHECK-NEXT: attn_tile.map
    // CHECK: attn_tile.to_operand
    // CHECK-NEXT: attn_tile.stage
    // CHECK-NEXT: %[[DK:.+]] = attn_tile.mma_async
    // CHECK-NEXT: %[[R:.+]] = attn_tile.mma_wait 0, %[[DK]]
    // CHECK-NEXT: attn_tile.mbarrier_arrive
    // CHECK-NEXT: scf.yield %[[R]]
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%dk = %zero) -> (!acc) {
      attn_tile.mbarrier_wait %qfull[%c0], %c0 : !full
      %qt = attn_tile.stage %q[%c0] : !ring
      %s = attn_tile.mma_async %k[%warpgroup], %qt transpose_b : !tile, !tile -> !acc
      %s1 = attn_tile.mma_wait 0, %s : !acc
      %p = attn_tile.map %s1 : (!acc) -> !acc {
      ^bb0(%x: f32, %row: i32, %col: i32):
        %e = math.exp2 %x : f32
        attn_tile.yield %e : f32
      }
      attn_tile.mbarrier_wait %dofull[%c0], %c0 : !full
      %dot = attn_tile.stage %do[%c0] : !ring
      %dp = attn_tile.mma_async %v[%warpgroup], %dot transpose_b : !tile, !tile -> !acc
      %dp1 = attn_tile.mma_wait 0, %dp : !acc
      attn_tile.sync_warp
      attn_tile.mbarrier_arrive %doempty[%c0] : !empty
      %ds = attn_tile.map %p, %dp1 : (!acc, !acc) -> !acc {
      ^bb0(%x: f32, %y: f32, %row: i32, %col: i32):
        %e = arith.mulf %x, %y : f32
        attn_tile.yield %e : f32
      }
      %a = attn_tile.to_operand %ds : !acc -> !operand
      %qm = attn_tile.stage %q[%c0] : !ring
      %dk1 = attn_tile.mma_async %a, %qm acc(%dk : !acc) : !operand, !tile -> !acc
      %dk2 = attn_tile.mma_wait 0, %dk1 : !acc
      attn_tile.mbarrier_arrive %qempty[%c0] : !empty
      scf.yield %dk2 : !acc
    }
  }
  attn_tile.return
}
