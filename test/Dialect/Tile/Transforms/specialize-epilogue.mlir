// A thread of its own copies what the correction has written to shared memory.

// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --split-input-file --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-stage-stores,attn-tile-slice-outputs,attn-tile-store-by-panels,attn-tile-specialize-products,attn-tile-start-first,attn-tile-commit-query,attn-tile-start-next-tile,attn-tile-specialize-correction,attn-tile-specialize-epilogue,canonicalize))' \
// RUN:   | FileCheck %s

// Tiles of one panel of columns: a copy for each warpgroup, whose parity is the tile's.
// CHECK-LABEL: attn_tile.kernel @panel(
// CHECK: attn_tile.init_mbarriers {{.*}}, %[[FILLED:.*]], %[[DRAINED:.*]] : {{.*}}, !attn_tile.mbarrier<2, arrivals = 4>, !attn_tile.mbarrier<2, arrivals = 1>
// CHECK: } products {
// CHECK: } epilogue {
// CHECK-NEXT: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[NUMBER:.*]] = %c0) -> (index) {
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[NUMBER]], %c1
// CHECK-NEXT: attn_tile.mbarrier_wait %[[FILLED]][%c0], %[[PARITY]] :
// CHECK: attn_tile.store_tma %[[OUT:.*]][%c0] to %[[MAP:.*]][%{{.*}}, %{{.*}}, %{{.*}}] async one_thread :
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[DRAINED]][%c0] one_thread
// CHECK: attn_tile.mbarrier_wait %[[FILLED]][%c1]
// CHECK: attn_tile.store_tma %[[OUT]][%c1] to %[[MAP]]
// CHECK: attn_tile.mbarrier_arrive %[[DRAINED]][%c1] one_thread
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: }
// CHECK-NEXT: } correction warpgroup(96) {
// The tile before has been read; all warps tell of what they have written.
// CHECK: attn_tile.mbarrier_wait %[[DRAINED]][%c0], %{{.*}} :
// CHECK: attn_tile.store_shared %{{.*}} to %[[OUT]]
// CHECK: attn_tile.store_shared %{{.*}} to %[[OUT]] {column = 32 : i64}
// CHECK-NEXT: attn_tile.fence_shared
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[FILLED]][%c0] :
// CHECK: attn_tile.mbarrier_arrive %[[FILLED]][%c1] :
// CHECK-NOT: attn_tile.{{store_tma|wait_stores}}
// CHECK: } consumer(192) {
func.func @panel(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, correction_warps = 4, rescale_threshold = 8, persistent_ctas = 2, output_tile = true>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// Two panels go through one place, each a phase of its barriers: of two in a tile the parities are those of the panels.
// CHECK-LABEL: attn_tile.kernel @panels(
// CHECK: attn_tile.init_mbarriers {{.*}}, %[[FILLED:.*]], %[[DRAINED:.*]] : {{.*}}, !attn_tile.mbarrier<1, arrivals = 4>, !attn_tile.mbarrier<1, arrivals = 1>
// CHECK: } epilogue {
// CHECK: attn_tile.mbarrier_wait %[[FILLED]][%c0], %c0
// CHECK: attn_tile.store_tma %[[OUT:.*]][%c0] {{.*}} async one_thread :
// CHECK: attn_tile.mbarrier_arrive %[[DRAINED]][%c0] one_thread
// CHECK: attn_tile.mbarrier_wait %[[FILLED]][%c0], %c1
// CHECK-NEXT: attn_tile.store_tma %[[OUT]][%c0] {{.*}} async one_thread {column = 64 : i64}
// CHECK: attn_tile.mbarrier_arrive %[[DRAINED]][%c0] one_thread
// CHECK: } correction
// CHECK: attn_tile.mbarrier_wait %[[DRAINED]][%c0], %c1
// CHECK-NEXT: attn_tile.store_shared
// CHECK: attn_tile.mbarrier_arrive %[[FILLED]]
// CHECK: attn_tile.mbarrier_wait %[[DRAINED]][%c0], %c0
// CHECK-NEXT: attn_tile.store_shared
// CHECK: attn_tile.mbarrier_arrive %[[FILLED]]
// CHECK: } consumer(
func.func @panels(%q: tensor<1x2x?x128xf16>, %k: tensor<1x2x?x128xf16>, %v: tensor<1x2x?x128xf16>) -> tensor<1x2x?x128xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, correction_warps = 4, rescale_threshold = 8, persistent_ctas = 2, output_tile = true>}
      : tensor<1x2x?x128xf16>, tensor<1x2x?x128xf16>, tensor<1x2x?x128xf16> -> tensor<1x2x?x128xf16>
  return %o : tensor<1x2x?x128xf16>
}

// -----

// A CTA of one tile writes to a place that nobody copies from before: the first phase alone, and nothing to wait for.
// CHECK-LABEL: attn_tile.kernel @one_tile(
// CHECK: } epilogue {
// CHECK-NEXT: attn_tile.mbarrier_wait %[[FILLED:.*]][%c0], %c0
// CHECK: attn_tile.store_tma {{.*}} async one_thread
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[DRAINED:.*]][%c0] one_thread
// CHECK-NEXT: } correction
// CHECK-NOT: attn_tile.mbarrier_wait %[[DRAINED]]
// CHECK: attn_tile.store_shared
// CHECK: attn_tile.mbarrier_arrive %[[FILLED]][%c0]
// CHECK-NOT: attn_tile.{{store_tma|wait_stores}}
// CHECK: attn_tile.return
func.func @one_tile(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, correction_warps = 4, rescale_threshold = 8>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
