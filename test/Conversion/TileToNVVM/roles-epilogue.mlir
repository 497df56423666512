// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

// Four warps fence what they have written for copies and tell of it; one thread of a third role copies it, meets nobody and fences nothing.
// CHECK-LABEL: llvm.func @epilogue
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: arith.cmpi uge, %[[WARP]], %c8_i32
// CHECK: nvvm.stmatrix
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: attn_ptx.mbarrier_arrive
// CHECK-NOT: nvvm.cp.async.bulk
// CHECK: } else {
// CHECK: %[[IS_THIRD:.*]] = arith.cmpi eq, %[[WARP]], %c6_i32
// CHECK-NEXT: scf.if %[[IS_THIRD]] {
// CHECK-NEXT: %[[ONE:.*]] = nvvm.elect.sync -> i1
// CHECK-NEXT: scf.if %[[ONE]] {
// CHECK-NOT: {{nvvm.(barrier|elect|fence)|scf.if}}
// CHECK: nvvm.mbarrier.try_wait
// CHECK-NOT: {{nvvm.(barrier|elect|fence)|scf.if}}
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: {{nvvm.(barrier|elect|fence)|scf.if}}
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK-NOT: {{nvvm.(barrier|elect|fence)|scf.if}}
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK-NOT: {{nvvm.(barrier|elect|fence)|scf.if}}
// CHECK: attn_ptx.mbarrier_arrive
attn_tile.kernel @epilogue(%o: !attn_tile.global<?x8x?x64xf16>, %map: !attn_tile.tensor_map<128x64xf16, swizzle = 128>) warps(4)
    attributes {producer_warps = 8 : i64, mapped = array<i64: 0>, mapped_heads = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %tile = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<128x64xf16, swizzle = 128>
  %filled = attn_tile.alloc_mbarrier {offset = 16384 : i64} : !attn_tile.mbarrier<1, arrivals = 4>
  %drained = attn_tile.alloc_mbarrier {offset = 16392 : i64} : !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.init_mbarriers %filled, %drained : !attn_tile.mbarrier<1, arrivals = 4>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.roles producer(32) {
  } products {
  } epilogue {
    attn_tile.mbarrier_wait %filled[%c0], %c0 : !attn_tile.mbarrier<1, arrivals = 4>
    attn_tile.store_tma %tile[%c0] to %map[%c0, %c0, %c0] async one_thread
        : !attn_tile.shared<128x64xf16, swizzle = 128> to !attn_tile.tensor_map<128x64xf16, swizzle = 128>
    attn_tile.wait_stores
    attn_tile.mbarrier_arrive %drained[%c0] one_thread : !attn_tile.mbarrier<1, arrivals = 1>
  } correction warpgroup(96) {
    attn_tile.as_warpgroup %c0 {
      %sum = attn_tile.fill 1.0 : !attn_tile.fragment<128x64xf32, accumulator>
      attn_tile.store_shared %sum to %tile : !attn_tile.fragment<128x64xf32, accumulator> to !attn_tile.shared<128x64xf16, swizzle = 128>
      attn_tile.fence_shared
      attn_tile.sync_warp
      attn_tile.mbarrier_arrive %filled[%c0] : !attn_tile.mbarrier<1, arrivals = 4>
    }
  } consumer(192) {
  ^bb0(%g: index):
  }
  attn_tile.return
}
