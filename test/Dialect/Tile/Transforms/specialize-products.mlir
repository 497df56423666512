// One thread of a producer warp starts the products of two warpgroups: PV of the first, its next S, PV of the second, its next S. It waits once for
// what both read. The consumers tell it what they have stored, and wait for the query and for products, not for keys and values.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,canonicalize))' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: sed -n '/} consumer/,$p' %t.mlir | FileCheck %s --check-prefix=CONSUMER

// CHECK: %[[QUERY:.*]] = attn_tile.alloc : <256x64xf16, swizzle = 128>
// CHECK-NEXT: %[[Q:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[VALUES:.*]] = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
// CHECK-NEXT: %[[V:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK-NEXT: attn_tile.alloc_mbarrier : <2, arrivals = 8>
// CHECK-NEXT: %[[KEYS:.*]] = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
// CHECK-NEXT: %[[K:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK: %[[T:.*]]:2 = attn_tile.alloc_tensors
// CHECK-NEXT: %[[SCORED:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK-NEXT: %[[ADDED:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>

// A stage for each warpgroup, at which its four warps arrive.
// CHECK-NEXT: %[[READY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
// CHECK-NEXT: attn_tile.init_mbarriers {{.*}}, %[[ADDED]], %[[READY]] :
// CHECK-NEXT: attn_tile.roles producer(40) {

// CHECK: } products {
// CHECK-NEXT: attn_tile.mbarrier_wait %[[Q]][%c0], %c0
// CHECK-NOT: mbarrier_
// CHECK: scf.if
// CHECK-NEXT: attn_tile.mbarrier_wait %[[K]][%c0], %c0
// CHECK-NEXT: %[[STAGE:.*]] = attn_tile.stage %[[KEYS]][%c0]
// CHECK-NEXT: attn_tile.mma_tensor %[[QUERY]], %[[STAGE]] transpose_b into %[[T]]#0[%c0], %[[SCORED]] one_thread
// CHECK-NEXT: %[[STAGE:.*]] = attn_tile.stage %[[KEYS]][%c0]
// CHECK-NEXT: attn_tile.mma_tensor %[[QUERY]], %[[STAGE]] transpose_b into %[[T]]#0[%c1], %[[SCORED]] one_thread
// CHECK-NEXT: }

// CHECK: scf.for %{{.*}} iter_args(%[[STEP:.*]] = %{{.*}}) -> (index) {
// CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[STEP]], %c1
// CHECK-NOT: mbarrier_
// CHECK: attn_tile.mbarrier_wait %[[V]][
// CHECK-NEXT: %[[STAGE:.*]] = attn_tile.stage %[[VALUES]]
// CHECK-NEXT: %[[P0:.*]] = attn_tile.narrow_tensor %[[T]]#0[%c0]
// CHECK-NEXT: %[[P1:.*]] = attn_tile.narrow_tensor %[[T]]#0[%c1]
// CHECK-NEXT: attn_tile.mbarrier_wait %[[READY]][%c0], %[[PARITY]]
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor %[[P0]], %[[STAGE]] into %[[T]]#1[%c0], %[[ADDED]] accumulate one_thread
// CHECK-NOT: mbarrier_
// CHECK: scf.if %[[NEXT:.*]] {
// CHECK-NOT: mma_tensor
// CHECK: attn_tile.mbarrier_wait %[[K]][
// CHECK-NEXT: attn_tile.stage %[[KEYS]]
// CHECK-NEXT: attn_tile.mma_tensor %[[QUERY]], {{.*}} transpose_b into %[[T]]#0[%c0], %[[SCORED]] one_thread
// CHECK-NEXT: }
// CHECK-NOT: mbarrier_
// CHECK: attn_tile.mbarrier_wait %[[READY]][%c1], %[[PARITY]]
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor %[[P1]], %[[STAGE]] into %[[T]]#1[%c1], %[[ADDED]] accumulate one_thread
// CHECK-NEXT: scf.if %[[NEXT]] {
// CHECK-NOT: mbarrier_
// CHECK: attn_tile.mma_tensor %[[QUERY]], {{.*}} transpose_b into %[[T]]#0[%c1], %[[SCORED]] one_thread
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %{{.*}} : index

// The ragged tile.
// CHECK: scf.for
// CHECK-COUNT-4: attn_tile.mma_tensor
// CHECK-NOT: attn_tile.mma_tensor
// CHECK: } consumer(232) {

// CONSUMER-NOT: mma_tensor
// CONSUMER: ^bb0(%[[G:.*]]: index):
// CONSUMER-NEXT: attn_tile.mbarrier_wait %{{.*}}[%c0], %c0 : <1, arrivals = 1>
// CONSUMER-NOT: {{mma_tensor|mbarrier_|attn_tile.stage}}
// CONSUMER: scf.for
// CONSUMER-NOT: {{mma_tensor|mbarrier_|attn_tile.stage}}
// CONSUMER: attn_tile.mbarrier_wait %[[SCORED:.*]][%[[G]]], %[[PARITY:.*]] : <2, arrivals = 1>
// CONSUMER-NEXT: attn_tile.load_tensor
// CONSUMER-NEXT: attn_tile.mbarrier_arrive %{{.*}} : <2, arrivals = 8>
// CONSUMER-NOT: {{mma_tensor|mbarrier_|attn_tile.stage}}
// CONSUMER: attn_tile.store_tensor
// CONSUMER: attn_tile.fence_tensors{{$}}
// CONSUMER-NEXT: attn_tile.sync_warp
// CONSUMER-NEXT: attn_tile.mbarrier_arrive %[[READY:.*]][%[[G]]] : <2, arrivals = 4>
// CONSUMER-NOT: {{mma_tensor|mbarrier_|attn_tile.stage}}
// CONSUMER: attn_tile.mbarrier_wait %[[ADDED:.*]][%[[G]]], %[[PARITY]] : <2, arrivals = 1>
// CONSUMER-NEXT: attn_tile.mbarrier_arrive %{{.*}} : <2, arrivals = 8>
// CONSUMER-NEXT: scf.yield
// CONSUMER: scf.for
// CONSUMER-NOT: {{mma_tensor|attn_tile.stage}}

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, cluster_m = 1>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
