// Persistent CTAs. Of a tile without keys consumers give the query's place back when it is there. The products' thread, which need not have seen that by
// then, does so, too. What all lanes of a warp agree on, with all of them, the one thread has.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK: %[[QUERY:.*]] = attn_tile.alloc : <128x64xf16, swizzle = 128>
// CHECK-NEXT: %[[Q:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 5>
// CHECK: attn_tile.roles producer(
// CHECK: attn_tile.mbarrier_wait %[[EMPTY]][%c0], %{{.*}} : <1, arrivals = 5>
// CHECK-NEXT: attn_tile.copy_tma %{{.*}} to %[[QUERY]], %[[Q]][%c0]
// CHECK: } products {
// CHECK-NOT: attn_tile.uniform
// CHECK: scf.for {{.*}} iter_args(%[[NUMBER:.*]] = %c0, %[[ROUND:.*]] = %c0)
// CHECK-NOT: {{mbarrier_|attn_tile.uniform}}
// CHECK: %[[PARITY:.*]] = arith.andi %[[ROUND]], %c1
// CHECK-NEXT: attn_tile.mbarrier_wait %[[Q]][%c0], %[[PARITY]]
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[EMPTY]][%c0] one_thread : <1, arrivals = 5>
// CHECK-NOT: {{mbarrier_|attn_tile.uniform}}
// CHECK: scf.if
// CHECK: attn_tile.mma_tensor %[[QUERY]], {{.*}} one_thread
// CHECK-NEXT: }
// CHECK-NEXT: %[[LAST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[NUMBER]]) -> (index) {
// CHECK-NOT: {{mbarrier_.+ : <1, arrivals = [15]>|attn_tile.uniform}}
// CHECK: %[[END:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[LAST]]) -> (index) {
// CHECK-NOT: {{mbarrier_.+ : <1, arrivals = [15]>|attn_tile.uniform}}
// CHECK: scf.yield %[[END]], %{{.*}} : index, index
// CHECK: } consumer(
// CHECK: attn_tile.uniform
// CHECK: scf.for
// CHECK: attn_tile.mbarrier_wait %[[Q]][%c0]
// CHECK: attn_tile.mbarrier_arrive %[[EMPTY]][%c0] : <1, arrivals = 5>

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, persistent_ctas = 2>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
