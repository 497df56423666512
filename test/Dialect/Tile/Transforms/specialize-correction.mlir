// A warpgroup of its own rescales the output in tensor memory, changes and stores it.

// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --split-input-file --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-stage-stores,attn-tile-slice-outputs,attn-tile-store-by-panels,attn-tile-specialize-products,attn-tile-start-first,attn-tile-commit-query,attn-tile-start-next-tile,attn-tile-specialize-correction,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @forward(
// CHECK-SAME: producer_warps = 8
// CHECK: %[[T:.*]]:2 = attn_tile.alloc_tensors
// CHECK: %[[WEIGHTS:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
// CHECK-NEXT: %[[TOLD:.*]] = attn_tile.alloc_mbarrier : <4, arrivals = 4>
// CHECK-NEXT: %[[CORRECTED:.*]] = attn_tile.alloc_mbarrier : <4, arrivals = 4>
// CHECK-NEXT: %[[READY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
// CHECK-NEXT: %[[ENDED:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
// CHECK-NEXT: %[[TAKEN:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
// CHECK: attn_tile.init_mbarriers {{.*}}%[[TOLD]], %[[CORRECTED]], %[[READY]], %[[ENDED]], %[[TAKEN]], %[[SEEN:.*]] :
// CHECK: %[[DECAYS:.*]] = attn_tile.alloc : <1x256xf32, swizzle = 128>
// CHECK: %[[ROWS:.*]] = attn_tile.alloc : <1x256xf32, swizzle = 128>

// The first product that is added to the output waits for zeros, the others for its scale.
// CHECK: } products {
// CHECK: scf.for {{.*}} iter_args(%[[BASE:.*]] = %c0, %[[NUMBER:.*]] = %c0,
// CHECK: %[[STEPS:.*]] = scf.for {{.*}} iter_args(%[[STEP:.*]] = %[[BASE]])
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[STEP]], %[[BASE]]
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: attn_tile.mbarrier_wait %[[READY]][%c0], %{{.*}} :
// CHECK-NEXT: } else {
// CHECK: attn_tile.mbarrier_wait %[[CORRECTED]][%{{.*}}], %{{.*}} :
// CHECK-NEXT: }
// CHECK-NEXT: attn_tile.mbarrier_wait %[[WEIGHTS]][%c0]
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor {{.*}} into %[[T]]#1[%c0]
// CHECK: attn_tile.mbarrier_wait %[[READY]][%c1]
// CHECK: attn_tile.mbarrier_wait %[[CORRECTED]]
// CHECK: attn_tile.mbarrier_wait %[[WEIGHTS]][%c1]
// A tile without steps has its zeros, too.
// CHECK: arith.cmpi eq, %{{.*}}, %[[BASE]]
// CHECK-NEXT: scf.if
// CHECK: attn_tile.mbarrier_wait %[[READY]][%c0]
// CHECK: attn_tile.mbarrier_wait %[[READY]][%c1]
// CHECK: attn_tile.mbarrier_arrive %[[SEEN]][%c0] one_thread

// CHECK: } correction warpgroup(96) {
// CHECK: attn_tile.as_warpgroup %c0 {
// CHECK-NEXT: %[[ZEROS:.*]] = attn_tile.fill 0.000000e+00
// CHECK-NEXT: attn_tile.store_tensor %[[ZEROS]] to %[[T]]#1[%c0]
// CHECK-NEXT: }
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[READY]][%c0]
// CHECK: attn_tile.mbarrier_arrive %[[TAKEN]][%c0]
// CHECK: attn_tile.store_tensor %{{.*}} to %[[T]]#1[%c1]
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%[[STEP:.*]] = %
// CHECK: attn_tile.mbarrier_wait %[[TOLD]]
// CHECK-NEXT: %[[LATER:.*]] = arith.cmpi ne, %[[STEP]]
// CHECK-NEXT: scf.if %[[LATER]] {
// CHECK-NEXT: attn_tile.as_warpgroup %c0 {
// CHECK-NEXT: %[[FACTORS:.*]] = attn_tile.load_shared_rows %[[DECAYS]] : <1x256xf32, swizzle = 128> -> <256xf32, lane_row>
// CHECK: %[[ANY:.*]] = attn_tile.any
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: attn_tile.scale_tensor %[[T]]#1[%c0] by %[[FACTORS]]
// CHECK: attn_tile.mbarrier_arrive %[[CORRECTED]]
// CHECK: attn_tile.scale_tensor %[[T]]#1[%c1]
// Behind the steps: the output of each warpgroup, and zeros for the next tile's, when the products' thread has seen this tile's, of which it may have
// used none.
// CHECK: attn_tile.mbarrier_wait %[[ENDED]][%c0]
// CHECK-NEXT: attn_tile.as_warpgroup %c0 {
// CHECK-NEXT: attn_tile.load_shared_rows %[[ROWS]]
// CHECK: attn_tile.load_tensor %[[T]]#1[%c0] : <256x64xf32> -> <256x32xf32, accumulator>
// CHECK: attn_tile.store_tma
// CHECK: attn_tile.mbarrier_wait %[[SEEN]][%c0]
// CHECK: attn_tile.store_tensor
// CHECK: attn_tile.mbarrier_arrive %[[READY]][%c0]
// CHECK: attn_tile.mbarrier_arrive %[[TAKEN]][%c0]
// CHECK: attn_tile.mbarrier_wait %[[ENDED]][%c1]
// CHECK: attn_tile.as_warpgroup %c0 {
// CHECK-NEXT: attn_tile.free_tensors
// CHECK-NEXT: attn_tile.wait_stores

// CHECK: } consumer(192) {
// CHECK-NOT: scale_tensor
// CHECK: %[[SENT:.*]] = attn_tile.map
// CHECK: attn_tile.store_shared_rows %{{.*}} to %[[DECAYS]]
// CHECK: attn_tile.mbarrier_arrive %[[TOLD]]
// CHECK-NOT: attn_tile.{{store_shared |store_tma|free_tensors|wait_stores}}
// CHECK: attn_tile.mbarrier_wait %[[TAKEN]]
// CHECK-NEXT: attn_tile.store_shared_rows %{{.*}} to %[[ROWS]]
// CHECK: attn_tile.mbarrier_arrive %[[ENDED]]
// CHECK-NOT: attn_tile.{{store_shared |store_tma|free_tensors|wait_stores}}
// CHECK: attn_tile.return
func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, correction_warps = 4, rescale_threshold = 8, persistent_ctas = 2, output_tile = true>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// One tile for each CTA: its zeros are stored once, and its output may go through the query's place, which has come.
// CHECK-LABEL: attn_tile.kernel @one_tile(
// CHECK: } correction warpgroup(
// CHECK: attn_tile.mbarrier_wait %[[ENDED:.*]][%c0], %c0
// CHECK: attn_tile.mbarrier_wait
// CHECK: attn_tile.store_shared
// CHECK: attn_tile.store_tma
// CHECK-NOT: store_tensor
// CHECK: } consumer(
func.func @one_tile(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, correction_warps = 4, rescale_threshold = 8>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
