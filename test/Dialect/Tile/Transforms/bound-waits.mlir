// RUN: attn-opt %s --attn-tile-bound-waits=tries=7 | FileCheck %s
// RUN: not attn-opt %s --attn-tile-bound-waits=tries=0 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: error: option tries: expected 1 to 2147483647, got 0

// CHECK-LABEL: attn_tile.kernel @wait
// CHECK-SAME: (%[[STAGE:[^:]*]]: index, %[[PARITY:[^:]*]]: index
// CHECK: scf.for %[[TURN:.*]] =
// CHECK: %[[RESULT:.*]]:2 = scf.while (%[[TRY:.*]] = %{{.*}})
// CHECK: %[[DONE:.*]] = attn_tile.mbarrier_test %{{.*}}[%[[STAGE]]], %[[PARITY]]
// CHECK: %[[TRIES:.*]] = arith.constant 7 : i32
// CHECK: arith.cmpi ult, %[[TRY]], %[[TRIES]]
// CHECK: scf.condition({{.*}}) %[[TRY]], %[[DONE]]
// CHECK: nvvm.nanosleep %
// CHECK: %[[LOST:.*]] = arith.xori %[[RESULT]]#1
// CHECK: scf.if %[[LOST]]
// CHECK: attn_tile.give_up 0 at %{{.*}}[%[[STAGE]]], %[[PARITY]] in %[[TURN]]
// CHECK: attn_tile.give_up 1 at %{{.*}}[%[[STAGE]]], %[[PARITY]] in %c0
// CHECK-NOT: mbarrier_wait

attn_tile.kernel @wait(%stage: index, %parity: index, %end: index) warps(4) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %full = attn_tile.alloc_mbarrier {offset = 0} : !attn_tile.mbarrier<2, arrivals = 1>
  scf.for %i = %c0 to %end step %c1 {
    attn_tile.mbarrier_wait %full[%stage], %parity : !attn_tile.mbarrier<2, arrivals = 1>
  }
  attn_tile.mbarrier_wait %full[%stage], %parity : !attn_tile.mbarrier<2, arrivals = 1>
  attn_tile.return
}
