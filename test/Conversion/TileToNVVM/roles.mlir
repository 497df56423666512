// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

// Warp 4 is the first of the producer's, 5 the second: one thread of each runs its role. Warps 6 and 7 run none.
// CHECK-LABEL: llvm.func @roles
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[IS_CONSUMER:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32
// CHECK-NEXT: scf.if %[[IS_CONSUMER]] {
// CHECK: nvvm.setmaxregister increase 232

// Each lane orders what it did, then one arrives.
// CHECK: nvvm.tcgen05.fence <before>
// CHECK: nvvm.bar.warp.sync
// CHECK: attn_ptx.mbarrier_arrive
// CHECK: } else {
// CHECK-NEXT: nvvm.setmaxregister decrease 40
// CHECK-NEXT: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c4_i32
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NEXT: %[[LOADS:.*]] = nvvm.elect.sync -> i1
// CHECK-NEXT: scf.if %[[LOADS]] {
// CHECK-NOT: tcgen05
// CHECK: nvvm.mbarrier.try_wait
// CHECK: }
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[IS_SECOND:.*]] = arith.cmpi eq, %[[WARP]], %c5_i32
// CHECK-NEXT: scf.if %[[IS_SECOND]] {
// CHECK-NEXT: %[[MULTIPLIES:.*]] = nvvm.elect.sync -> i1
// CHECK-NEXT: scf.if %[[MULTIPLIES]] {

// No warps to meet, no lane to choose.
// CHECK-NOT: {{nvvm.(barrier|elect)|scf.if}}
// CHECK: nvvm.mbarrier.try_wait
// CHECK-NOT: {{nvvm.(barrier|elect)|scf.if}}
// CHECK: nvvm.tcgen05.fence <after>
// CHECK-NOT: {{nvvm.(barrier|elect)|scf.if}}
// CHECK: tcgen05.mma.cta_group::1.kind::f16
// CHECK-SAME: tcgen05.commit
// CHECK-NOT: {{nvvm.(barrier|elect)|scf.if}}
// CHECK: llvm.inline_asm has_side_effects {{"[^m]*}}tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];
// CHECK-NOT: {{nvvm.(barrier|elect)|scf.if}}
// CHECK: attn_ptx.mbarrier_arrive %{{[0-9]+}} : <3>
// CHECK-NOT: {{nvvm.(barrier|elect)|scf.if}}
// CHECK: llvm.return
attn_tile.kernel @roles() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %parity = gpu.block_id z
  %k = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<128x64xf16, swizzle = 128>
  %free = attn_tile.alloc_mbarrier {offset = 16384 : i64} : !attn_tile.mbarrier<1, arrivals = 1>
  %ready = attn_tile.alloc_mbarrier {offset = 16392 : i64} : !attn_tile.mbarrier<1, arrivals = 4>
  %done = attn_tile.alloc_mbarrier {offset = 16400 : i64} : !attn_tile.mbarrier<1, arrivals = 1>
  %s = attn_tile.alloc_tensors {offset = 16408 : i64} : !attn_tile.tensor<128x128xf32>
  attn_tile.roles producer(40) {
    attn_tile.mbarrier_wait %free[%c0], %parity : !attn_tile.mbarrier<1, arrivals = 1>
  } products {
    attn_tile.mbarrier_wait %ready[%c0], %parity : !attn_tile.mbarrier<1, arrivals = 4>
    attn_tile.fence_tensors after
    attn_tile.mma_tensor %k, %k transpose_b into %s[%c0], %done one_thread
        : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<128x64xf16, swizzle = 128>
          into !attn_tile.tensor<128x128xf32>, !attn_tile.mbarrier<1, arrivals = 1>
    attn_tile.commit_tensors %done[%c0] : !attn_tile.mbarrier<1, arrivals = 1>
    attn_tile.mbarrier_arrive %free[%c0] one_thread : !attn_tile.mbarrier<1, arrivals = 1>
  } consumer(232) {
  ^bb0(%g: index):
    attn_tile.fence_tensors
    attn_tile.sync_warp
    attn_tile.mbarrier_arrive %ready[%g] : !attn_tile.mbarrier<1, arrivals = 4>
  }
  attn_tile.return
}
