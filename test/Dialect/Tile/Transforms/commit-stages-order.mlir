// S of the next step is started in front of the product that reads P, whose place is its own: the wait for S does not say that P may be stored, so that the wait
// for the sums stays.

// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-commit-stages))' | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @kept
// CHECK: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
// CHECK-NEXT: attn_tile.alloc_mbarrier
// CHECK-NEXT: %[[SUMS:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NOT: commit_tensors
// CHECK: } consumer(
// CHECK: scf.for
// CHECK: attn_tile.mbarrier_wait %[[SUMS]][
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[EMPTY]][
// CHECK: scf.yield
attn_tile.kernel @kept(%n: index, %map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>, %o: !attn_tile.global<2x8x?x64xf32>)
    warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
  %ring = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
  %s, %place, %dq = attn_tile.alloc_tensors
      : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf16>, !attn_tile.tensor<128x64xf32>
  %full = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  %empty = attn_tile.alloc_mbarrier : <2, arrivals = 4>
  %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
  %added = attn_tile.alloc_mbarrier : <1, arrivals = 1>
  %stored = attn_tile.alloc_mbarrier : <1, arrivals = 4>
  attn_tile.roles producer(56) {
    %tiles = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %stage = arith.andi %step, %c1 : index
      %round = arith.shrui %step, %c1 : index
      %parity = arith.andi %round, %c1 : index
      %before = arith.xori %parity, %c1 : index
      attn_tile.mbarrier_wait %empty[%stage], %before : <2, arrivals = 4>
      %k = attn_tile.stage %ring[%stage] : <2x64x64xf16, swizzle = 128>
      attn_tile.copy_tma %map[%c0, %c0, %j] to %k, %full[%stage]
          : <64x64xf16, swizzle = 128> to <64x64xf16, swizzle = 128>, <2, arrivals = 1>
      %next = arith.addi %step, %c1 : index
      scf.yield %next : index
    }
  } products {
    %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %stage = arith.andi %step, %c1 : index
      %k = attn_tile.stage %ring[%stage] : <2x64x64xf16, swizzle = 128>
      %next = arith.addi %step, %c1 : index
      %exists = arith.cmpi ult, %next, %n : index
      attn_tile.mbarrier_wait %stored[%c0], %stage : <1, arrivals = 4>
      attn_tile.fence_tensors after
      scf.if %exists {
        %nextStage = arith.andi %next, %c1 : index
        %nextRound = arith.shrui %next, %c1 : index
        %nextParity = arith.andi %nextRound, %c1 : index
        attn_tile.mbarrier_wait %full[%nextStage], %nextParity : <2, arrivals = 1>
        %nextK = attn_tile.stage %ring[%nextStage] : <2x64x64xf16, swizzle = 128>
        attn_tile.mma_tensor %q, %nextK transpose_b into %s[%c0], %done one_thread
            : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
      }
      attn_tile.mma_tensor %place, %k into %dq[%c0], %added accumulate one_thread
          : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
      scf.yield %next : index
    }
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %stage = arith.andi %step, %c1 : index
      attn_tile.mbarrier_wait %done[%warpgroup], %stage : <1, arrivals = 1>
      %scores = attn_tile.load_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
      %p = attn_tile.to_operand %scores : <128x64xf32, accumulator> -> <128x64xf16, operand_a>
      attn_tile.store_tensor %p to %place[%warpgroup] : <128x64xf16, operand_a> to <128x64xf16>
      attn_tile.fence_tensors
      attn_tile.sync_warp
      attn_tile.mbarrier_arrive %stored[%warpgroup] : <1, arrivals = 4>
      attn_tile.mbarrier_wait %added[%warpgroup], %stage : <1, arrivals = 1>
      attn_tile.mbarrier_arrive %empty[%stage] : <2, arrivals = 4>
      %next = arith.addi %step, %c1 : index
      scf.yield %next : index
    }
    %sum = attn_tile.load_tensor %dq[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
    attn_tile.store %sum, %o[%c0, %c0, %c0]
        : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<2x8x?x64xf32>
    attn_tile.free_tensors %s, %place, %dq
          : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf16>, !attn_tile.tensor<128x64xf32>
  }
  attn_tile.return
}

// Nobody else reads the stages of K: the commit behind the last product that does is the one arrival.
// CHECK-LABEL: attn_tile.kernel @given_back
// CHECK: attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK-NEXT: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK-NEXT: attn_tile.alloc_mbarrier
// CHECK-NEXT: %[[SUMS:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK: } products {
// CHECK: scf.for
// CHECK: %[[STAGE:.*]] = arith.andi
// CHECK-NOT: commit_tensors
// CHECK: attn_tile.mma_tensor {{.*}} accumulate one_thread : !attn_tile.shared<128x64xf16
// CHECK-NEXT: attn_tile.commit_tensors %[[EMPTY]][%[[STAGE]]] : <2, arrivals = 1>
// CHECK-NEXT: scf.yield
// CHECK: attn_tile.commit_tensors %[[SUMS]][%{{.*}}] : <1, arrivals = 1>
// CHECK: } consumer(
// CHECK: scf.for
// CHECK-NOT: mbarrier_wait %[[SUMS]]
// CHECK: attn_tile.mbarrier_arrive %{{.*}} : <1, arrivals = 4>
// CHECK-NOT: mbarrier_
// CHECK: scf.yield
// CHECK: attn_tile.mbarrier_wait %[[SUMS]][%{{.*}}], %{{.*}} : <1, arrivals = 1>
// CHECK-NEXT: attn_tile.load_tensor
attn_tile.kernel @given_back(%n: index, %map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>, %o: !attn_tile.global<2x8x?x64xf32>)
    warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
  %ring = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
  %s, %a, %b = attn_tile.alloc_tensors
      : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
  %full = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  %empty = attn_tile.alloc_mbarrier : <2, arrivals = 4>
  %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
  %added = attn_tile.alloc_mbarrier : <1, arrivals = 1>
  %stored = attn_tile.alloc_mbarrier : <1, arrivals = 4>
  attn_tile.roles producer(56) {
    %tiles = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %stage = arith.andi %step, %c1 : index
      %round = arith.shrui %step, %c1 : index
      %parity = arith.andi %round, %c1 : index
      %before = arith.xori %parity, %c1 : index
      attn_tile.mbarrier_wait %empty[%stage], %before : <2, arrivals = 4>
      %k = attn_tile.stage %ring[%stage] : <2x64x64xf16, swizzle = 128>
      attn_tile.copy_tma %map[%c0, %c0, %j] to %k, %full[%stage]
          : <64x64xf16, swizzle = 128> to <64x64xf16, swizzle = 128>, <2, arrivals = 1>
      %next = arith.addi %step, %c1 : index
      scf.yield %next : index
    }
  } products {
    attn_tile.mbarrier_wait %full[%c0], %c0 : <2, arrivals = 1>
    %k0 = attn_tile.stage %ring[%c0] : <2x64x64xf16, swizzle = 128>
    attn_tile.mma_tensor %q, %k0 transpose_b into %s[%c0], %done one_thread
        : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
    %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %stage = arith.andi %step, %c1 : index
      %k = attn_tile.stage %ring[%stage] : <2x64x64xf16, swizzle = 128>
      attn_tile.mbarrier_wait %stored[%c0], %stage : <1, arrivals = 4>
      attn_tile.fence_tensors after
      %place = attn_tile.narrow_tensor %s[%c0] : <128x64xf32> -> <128x64xf16>
      attn_tile.mma_tensor %place, %k into %a[%c0] accumulate one_thread
          : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>
      %next = arith.addi %step, %c1 : index
      %exists = arith.cmpi ult, %next, %n : index
      scf.if %exists {
        %nextStage = arith.andi %next, %c1 : index
        %nextRound = arith.shrui %next, %c1 : index
        %parity = arith.andi %nextRound, %c1 : index
        attn_tile.mbarrier_wait %full[%nextStage], %parity : <2, arrivals = 1>
        %nextK = attn_tile.stage %ring[%nextStage] : <2x64x64xf16, swizzle = 128>
        attn_tile.mma_tensor %q, %nextK transpose_b into %s[%c0], %done one_thread
            : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
      }
      attn_tile.mma_tensor %q, %k into %b[%c0], %added accumulate one_thread
          : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
      scf.yield %next : index
    }
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %stage = arith.andi %step, %c1 : index
      attn_tile.mbarrier_wait %done[%warpgroup], %stage : <1, arrivals = 1>
      %scores = attn_tile.load_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
      %p = attn_tile.to_operand %scores : <128x64xf32, accumulator> -> <128x64xf16, operand_a>
      %place = attn_tile.narrow_tensor %s[%warpgroup] : <128x64xf32> -> <128x64xf16>
      attn_tile.store_tensor %p to %place[%warpgroup] : <128x64xf16, operand_a> to <128x64xf16>
      attn_tile.fence_tensors
      attn_tile.sync_warp
      attn_tile.mbarrier_arrive %stored[%warpgroup] : <1, arrivals = 4>
      attn_tile.mbarrier_wait %added[%warpgroup], %stage : <1, arrivals = 1>
      attn_tile.mbarrier_arrive %empty[%stage] : <2, arrivals = 4>
      %next = arith.addi %step, %c1 : index
      scf.yield %next : index
    }
    %sum = attn_tile.load_tensor %b[%warpgroup] : <128x64xf32> -> <128x64xf32, accumulator>
    attn_tile.store %sum, %o[%c0, %c0, %c0]
        : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<2x8x?x64xf32>
    attn_tile.free_tensors %s, %a, %b
        : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf32>
  }
  attn_tile.return
}
