// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s

// Without roles each lane adds its elements to global memory.
// CHECK-LABEL: llvm.func @atomic
// CHECK-COUNT-32: llvm.atomicrmw fadd %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
// CHECK-NOT: atomicrmw
// CHECK: llvm.return
attn_tile.kernel @atomic(%sums: !attn_tile.global<1x1x?x64xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  %dq = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.accumulate %dq to %sums[%c0, %c0, %c0] : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.global<1x1x?x64xf32>
  attn_tile.return
}

// A warpgroup writes its part to shared memory when the copy before has read it, and one thread has it added, when all have
// written and the proxy of copies sees it.
// CHECK-LABEL: llvm.func @bulk
// What other warps have written is seen by wgmma and copies behind this barrier of all consumers.
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK-NEXT: %[[ID:.*]] = arith.constant 7 : i32
// CHECK: nvvm.barrier id = %[[ID]] number_of_threads
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: nvvm.barrier id = %[[WARPGROUP:.*]] number_of_threads
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.barrier id =
// CHECK: scf.if
// CHECK: attn_ptx.add_bulk
// CHECK-NEXT: nvvm.cp.async.bulk.commit.group
attn_tile.kernel @bulk(%sums: !attn_tile.global<1x1x?x64xf32>) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %staging = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<1x4096xf32, swizzle = 128>
  attn_tile.roles producer(24) {
    %c = arith.constant 0 : index
  } consumer(240) {
  ^bb0(%warpgroup: index):
    %dq = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
    attn_tile.sync_consumers
    attn_tile.accumulate_bulk %dq through %staging[%warpgroup] to %sums[%c0, %c0, %c0] : !attn_tile.fragment<64x64xf32, accumulator> through !attn_tile.shared<1x4096xf32, swizzle = 128> to !attn_tile.global<1x1x?x64xf32>
    attn_tile.wait_stores
  }
  attn_tile.return
}
