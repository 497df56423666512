// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-overlap-softmax{turns=products}),canonicalize,cse)' | FileCheck %s
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-overlap-softmax),canonicalize,cse)' | FileCheck %s --check-prefix=NOTURNS
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-overlap-softmax{turns=softmax}),canonicalize,cse)' | FileCheck %s --check-prefix=SOFTMAX
// RUN: not attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-overlap-softmax{turns=ever}))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'attn_tile.kernel' op expected turns one of none, products, softmax, got 'ever'

!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!ring = !attn_tile.shared<2x64x64xf16, swizzle = 128>
!query = !attn_tile.shared<128x64xf16, swizzle = 128>
!operand = !attn_tile.fragment<128x64xf16, operand_a>
!acc = !attn_tile.fragment<128x64xf32, accumulator>
!row = !attn_tile.fragment<128xf32, row>
!full = !attn_tile.mbarrier<2, arrivals = 1>
!empty = !attn_tile.mbarrier<2, arrivals = 8>

// A full loop and a masked loop, which the softmax is the same in.
// CHECK-LABEL: attn_tile.kernel @two_loops
// CHECK-SAME: %[[LO:[a-z0-9]*]]: index, %[[MID:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index
// NOTURNS-LABEL: attn_tile.kernel @two_loops
// NOTURNS-NOT: turn %
// Turns around softmax: products start when they can.
// SOFTMAX-LABEL: attn_tile.kernel @two_loops
// SOFTMAX: scf.for
// SOFTMAX-NOT: turn
// SOFTMAX: attn_tile.mma_wait 1
// SOFTMAX-NEXT: attn_tile.mbarrier_arrive
// SOFTMAX-NEXT: attn_tile.take_turn
// SOFTMAX-NEXT: attn_tile.row_reduce max
// SOFTMAX-NEXT: attn_tile.row_reduce sum
// SOFTMAX-NEXT: attn_tile.pass_turn
attn_tile.kernel @two_loops(%lo: index, %mid: index, %hi: index) warps(8) attributes {forward, producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %q = attn_tile.alloc : !query
  %k = attn_tile.alloc : !ring
  %v = attn_tile.alloc : !ring
  %kfull = attn_tile.alloc_mbarrier : !full
  %kempty = attn_tile.alloc_mbarrier : !empty
  %vfull = attn_tile.alloc_mbarrier : !full
  %vempty = attn_tile.alloc_mbarrier : !empty
  // CHECK-DAG: %[[Q:.*]] = attn_tile.alloc : <128x64xf16
  // CHECK: consumer(240) {
  // CHECK-NEXT: ^bb0(%[[WG:.*]]: index):
  attn_tile.roles producer(24) {
    %c = arith.constant 0 : index
  } consumer(240) {
  ^bb0(%warpgroup: index):
    %acc0 = attn_tile.fill 0.0 : !acc
    %max0 = attn_tile.fill 0xFF800000 : !row
    %sum0 = attn_tile.fill 0.0 : !row
    // Warpgroup 0 has the first turn.
    // CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[WG]], %c1
    // CHECK: scf.if %[[LAST]] {
    // CHECK-NEXT: attn_tile.pass_turn %[[WG]]
    // CHECK-NEXT: }
    // Nothing at all if there is no tile.
    // CHECK: arith.cmpi slt, %[[LO]], %[[HI]]
    // CHECK: %[[RESULT:.*]] = scf.if
    // The first tile: product, mask of the loop that has it, softmax.
    // CHECK: attn_tile.mbarrier_wait %[[KFULL:.*]][%c0], %c0
    // CHECK: attn_tile.take_turn %[[WG]]
    // CHECK-NEXT: %[[S:.*]] = attn_tile.mma_async %[[Q]][%[[WG]]]
    // CHECK-NEXT: attn_tile.pass_turn %[[WG]]
    // CHECK-NEXT: %[[W:.*]] = attn_tile.mma_wait 0, %[[S]]
    // CHECK-NEXT: attn_tile.mbarrier_arrive
    // CHECK: arith.cmpi slt, %[[LO]], %[[MID]]
    // CHECK: %[[FIRST:.*]] = scf.if
    // CHECK-NEXT: scf.yield %[[W]]
    // CHECK-NEXT: } else {
    // CHECK: attn_tile.map %[[W]]
    // CHECK: attn_tile.row_reduce max %[[FIRST]]
    // CHECK: attn_tile.mbarrier_wait %[[VFULL:.*]][%c0], %c0
    // CHECK: %[[P:.*]] = attn_tile.to_operand
    // The full tiles but the first: the loop starts at the second tile.
    // CHECK: %[[START:.*]] = arith.addi %[[LO]], %c64
    // CHECK: %[[FULL:.*]]:5 = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[P]], %{{.*}}, %{{.*}}, %[[NUMBER:.*]] = %c1)
    // CHECK: attn_tile.mbarrier_wait
    // CHECK: attn_tile.take_turn %[[WG]]
    // CHECK-NEXT: %[[S:.*]] = attn_tile.mma_async %[[Q]][%[[WG]]]
    // CHECK: %[[PREVIOUS:.*]] = arith.subi %[[NUMBER]], %c1
    // CHECK: %[[OLD:.*]] = arith.remui %[[PREVIOUS]], %c2
    // CHECK: %[[PV:.*]] = attn_tile.mma_async %[[BEFORE]], %{{.*}} acc(%[[O]]
    // CHECK-NEXT: attn_tile.pass_turn %[[WG]]
    // CHECK-NEXT: %[[W:.*]] = attn_tile.mma_wait 1, %[[S]]
    // CHECK-NEXT: attn_tile.mbarrier_arrive
    // No mask.
    // CHECK-NEXT: attn_tile.row_reduce max %[[W]]
    // CHECK: attn_tile.row_reduce sum
    // The wait for V is between the softmax and the wait for the product.
    // CHECK-NEXT: attn_tile.mbarrier_wait
    // CHECK-NEXT: %[[O:.*]] = attn_tile.mma_wait 0, %[[PV]]
    // CHECK-NEXT: attn_tile.mbarrier_arrive %{{.*}}[%[[OLD]]]
    // CHECK: %[[P:.*]] = attn_tile.to_operand
    // CHECK: %[[R:.*]] = attn_tile.map %[[O]]
    // CHECK: scf.yield %[[R]], %[[P]]
    // The masked tiles.
    // CHECK: arith.maxsi %[[MID]], %[[START]]
    // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FULL]]#0, %{{.*}} = %[[FULL]]#1
    // CHECK: %[[W:.*]] = attn_tile.mma_wait 1
    // CHECK: %[[MASKED:.*]] = attn_tile.map %[[W]]
    // CHECK: attn_tile.row_reduce max %[[MASKED]]
    // The last product.
    // CHECK: attn_tile.mma_async
    // CHECK-NEXT: attn_tile.mma_wait 0
    %a:4 = scf.for %n = %lo to %mid step %c64 iter_args(%acc = %acc0, %max = %max0, %sum = %sum0, %number = %c0) -> (!acc, !row, !row, index) {
      %stage = arith.remui %number, %c2 : index
      %round = arith.divui %number, %c2 : index
      %parity = arith.andi %round, %c1 : index
      attn_tile.mbarrier_wait %kfull[%stage], %parity : !full
      %kt = attn_tile.stage %k[%stage] : !ring
      %s = attn_tile.mma_async %q[%warpgroup], %kt transpose_b : !query, !tile -> !acc
      %s1 = attn_tile.mma_wait 0, %s : !acc
      attn_tile.mbarrier_arrive %kempty[%stage] : !empty
      %max1 = attn_tile.row_reduce max %s1, %max : !acc, !row
      %sum1 = attn_tile.row_reduce sum %s1, %sum : !acc, !row
      %o = attn_tile.map %acc, %max1 : (!acc, !row) -> !acc {
      ^bb0(%x: f32, %r: f32, %i: i32, %j: i32):
        %y = arith.mulf %x, %r : f32
        attn_tile.yield %y : f32
      }
      %p = attn_tile.to_operand %s1 : !acc -> !operand
      attn_tile.mbarrier_wait %vfull[%stage], %parity : !full
      %vt = attn_tile.stage %v[%stage] : !ring
      %o1 = attn_tile.mma_async %p, %vt acc(%o : !acc) : !operand, !tile -> !acc
      %o2 = attn_tile.mma_wait 0, %o1 : !acc
      attn_tile.mbarrier_arrive %vempty[%stage] : !empty
      %next = arith.addi %number, %c1 : index
      scf.yield %o2, %max1, %sum1, %next : !acc, !row, !row, index
    }
    %b:4 = scf.for %n = %mid to %hi step %c64 iter_args(%acc = %a#0, %max = %a#1, %sum = %a#2, %number = %a#3) -> (!acc, !row, !row, index) {
      %stage = arith.remui %number, %c2 : index
      %round = arith.divui %number, %c2 : index
      %parity = arith.andi %round, %c1 : index
      attn_tile.mbarrier_wait %kfull[%stage], %parity : !full
      %kt = attn_tile.stage %k[%stage] : !ring
      %s = attn_tile.mma_async %q[%warpgroup], %kt transpose_b : !query, !tile -> !acc
      %s1 = attn_tile.mma_wait 0, %s : !acc
      attn_tile.mbarrier_arrive %kempty[%stage] : !empty
      %n32 = arith.index_cast %n : index to i32
      %masked = attn_tile.map %s1 : (!acc) -> !acc {
      ^bb0(%x: f32, %i: i32, %j: i32):
        %col = arith.addi %n32, %j : i32
        %sees = arith.cmpi sle, %col, %i : i32
        %zero = arith.constant 0.0 : f32
        %y = arith.select %sees, %x, %zero : f32
        attn_tile.yield %y : f32
      }
      %max1 = attn_tile.row_reduce max %masked, %max : !acc, !row
      %sum1 = attn_tile.row_reduce sum %masked, %sum : !acc, !row
      %o = attn_tile.map %acc, %max1 : (!acc, !row) -> !acc {
      ^bb0(%x: f32, %r: f32, %i: i32, %j: i32):
        %y = arith.mulf %x, %r : f32
        attn_tile.yield %y : f32
      }
      %p = attn_tile.to_operand %masked : !acc -> !operand
      attn_tile.mbarrier_wait %vfull[%stage], %parity : !full
      %vt = attn_tile.stage %v[%stage] : !ring
      %o1 = attn_tile.mma_async %p, %vt acc(%o : !acc) : !operand, !tile -> !acc
      %o2 = attn_tile.mma_wait 0, %o1 : !acc
      attn_tile.mbarrier_arrive %vempty[%stage] : !empty
      %next = arith.addi %number, %c1 : index
      scf.yield %o2, %max1, %sum1, %next : !acc, !row, !row, index
    }
    // CHECK: attn_tile.store_shared %[[RESULT]] to
    attn_tile.store_shared %b#0 to %q : !acc to !query
  }
  attn_tile.return
}
