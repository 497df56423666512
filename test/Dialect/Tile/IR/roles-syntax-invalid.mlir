// RUN: not attn-opt %s 2>&1 | FileCheck %s

// Wrong text after roles that hold values of each other: what was parsed is
// taken down in an order that reads no freed value.

  %ring = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
  %s, %place, %dq = attn_tile.alloc_tensors
      : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x64xf16>, !attn_tile.tensor<128x64xf32>
  %full = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  attn_tile.roles producer(56) {
    %tiles = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      scf.yield %next : index
    }
  } products {
    %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %next = arith.addi %step, %c1 : index
      %exists = arith.cmpi ult, %next, %n : index
      scf.if %exists {
        %nextStage = arith.andi %next, %c1 : index
        %nextRound = arith.shrui %next, %c1 : index
        %nextParity = arith.andi %nextRound, %c1 : index
        %nextK = attn_tile.stage %ring[%nextStage] : <2x64x64xf16, swizzle = 128>
      }
      attn_tile.mma_tensor %place, %k into %dq[%c0], %added accumulate one_thread
          : !attn_tile.tensor<128x64xf16>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
    }
  } consumer(256) {
      %stage = arith.andi %step, %c1 : index
// CHECK: error: expected operation name in quotes
