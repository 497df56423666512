// The place of a persistent CTA's query is given back by the last product that reads it: of the step before the last one, in front of the key loops if
// there is one step, and at once where there are no keys. Consumers neither wait for the query nor give it back.

// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --split-input-file --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-stage-stores,attn-tile-specialize-products,attn-tile-start-first,attn-tile-commit-query,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @forward(
// CHECK: %[[QUERY:.*]] = attn_tile.alloc : <256x64xf16, swizzle = 128>
// CHECK-NEXT: %[[Q:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK: } products {
// CHECK: attn_tile.mbarrier_wait %[[Q]][%c0]
// CHECK-NOT: mbarrier_arrive
// CHECK: %[[ANY:.*]] = arith.cmpi ult, %[[NUMBER:.*]], %[[COUNT:.*]] : index
// CHECK: scf.if %[[ANY]] {
// CHECK-COUNT-2: attn_tile.mma_tensor %[[QUERY]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK-NEXT: %[[ONE:.*]] = arith.cmpi eq, %[[SECOND]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[ONE]] {
// CHECK-NEXT: attn_tile.commit_tensors %[[EMPTY]][%c0] : <1, arrivals = 1>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpi eq, %[[NUMBER]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[NONE]] {
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[EMPTY]][%c0] one_thread
// CHECK-NEXT: }
// CHECK: scf.for
// The first warpgroup's next product, and behind the second one's the commit.
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK-NEXT: }
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi
// CHECK-NEXT: %[[LAST:.*]] = arith.cmpi eq, %[[NEXT]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK-NEXT: attn_tile.commit_tensors %[[EMPTY]][%c0]
// CHECK: } consumer(
// CHECK-NOT: attn_tile.{{mbarrier_wait|mbarrier_arrive}} %[[Q]]
// CHECK-NOT: attn_tile.{{mbarrier_wait|mbarrier_arrive}} %[[EMPTY]]
// CHECK: attn_tile.return
func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 2, output_tile = true>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// The output goes through the query's place.
// CHECK-LABEL: attn_tile.kernel @through_query(
// CHECK-NOT: commit_tensors
func.func @through_query(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 2, output_tile = false>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// One tile for each CTA, whose query nobody waits for.
// CHECK-LABEL: attn_tile.kernel @one_tile(
// CHECK-NOT: commit_tensors
func.func @one_tile(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
