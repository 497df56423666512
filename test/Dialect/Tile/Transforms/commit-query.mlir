// The place of a persistent CTA's query is given back by the last product that reads it: of the step before the last one, in front of the key loops if
// there is one step, and at once where there are no keys. Consumers neither wait for the query nor give it back.

// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --split-input-file --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-stage-stores,attn-tile-specialize-products,attn-tile-start-first,attn-tile-commit-query,canonicalize))' \
// RUN:   | FileCheck %s

// Each of two warpgroups has a half of the query, whose copy, place and commit are its own. The tile's first keys come before them.
// CHECK-LABEL: attn_tile.kernel @forward(
// CHECK: %[[QUERY:.*]] = attn_tile.alloc : <256x64xf16, swizzle = 128>
// CHECK-NEXT: %[[Q:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK-NEXT: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK: attn_tile.roles producer
// CHECK: scf.for {{.*}} iter_args(%[[BASE:.*]] = %c0, %{{.*}} = %c0)
// CHECK: %[[STEPS:.*]] = scf.for {{.*}} iter_args(%[[STEP:.*]] = %[[BASE]])
// CHECK: attn_tile.copy_tma {{.*}} evict_last {ctas = 2 : i64}
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[STEP]], %[[BASE]]
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT: attn_tile.mbarrier_wait %[[EMPTY]][%c0], %[[FREE:.*]] :
// CHECK-NEXT: attn_tile.copy_tma %[[MAP:.*]][{{.*}}] to %[[QUERY]], %[[Q]][%c0] evict_first rows = [0, 128] : <128x64xf16, swizzle = 128> to <256x64xf16, swizzle = 128>
// CHECK-NEXT: attn_tile.mbarrier_wait %[[EMPTY]][%c1], %[[FREE]] :
// CHECK-NEXT: attn_tile.copy_tma %[[MAP]][{{.*}}] to %[[QUERY]], %[[Q]][%c1] evict_first rows = [128, 256]
// CHECK-NEXT: }
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[NOSTEPS:.*]] = arith.cmpi eq, %[[STEPS]], %[[BASE]]
// CHECK-NEXT: scf.if %[[NOSTEPS]] {
// CHECK-NEXT: attn_tile.mbarrier_wait %[[EMPTY]][%c0]
// CHECK-NEXT: attn_tile.copy_tma
// CHECK: } products {
// CHECK: %[[ANY:.*]] = arith.cmpi ult, %[[NUMBER:.*]], %[[COUNT:.*]] : index
// CHECK: attn_tile.mbarrier_wait %[[Q]][%c0]
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK-NEXT: %[[ONE:.*]] = arith.cmpi eq, %[[SECOND]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[ONE]] {
// CHECK-NEXT: attn_tile.commit_tensors %[[EMPTY]][%c0] : <2, arrivals = 1>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpi eq, %[[NUMBER]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[NONE]] {
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[EMPTY]][%c0] one_thread
// CHECK-NEXT: }
// CHECK-NEXT: attn_tile.mbarrier_wait %[[Q]][%c1]
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK: attn_tile.commit_tensors %[[EMPTY]][%c1]
// CHECK: attn_tile.mbarrier_arrive %[[EMPTY]][%c1] one_thread
// CHECK: scf.for
// Behind each warpgroup's next product, if it is the last, the commit of its half.
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi
// CHECK-NEXT: %[[LAST:.*]] = arith.cmpi eq, %[[NEXT]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK-NEXT: attn_tile.commit_tensors %[[EMPTY]][%c0]
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK: attn_tile.commit_tensors %[[EMPTY]][%c1]
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

// One warpgroup has all of it.
// CHECK-LABEL: attn_tile.kernel @one_warpgroup(
// CHECK: %[[QUERY:.*]] = attn_tile.alloc : <128x64xf16, swizzle = 128>
// CHECK-NEXT: %[[Q:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK: attn_tile.mbarrier_wait %[[EMPTY]][%c0]
// CHECK-NEXT: attn_tile.copy_tma %{{.*}}[{{.*}}] to %[[QUERY]], %[[Q]][%c0] evict_first : <128x64xf16, swizzle = 128>
// CHECK: } products {
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK: attn_tile.commit_tensors %[[EMPTY]][%c0] : <1, arrivals = 1>
// CHECK: attn_tile.mbarrier_arrive %[[EMPTY]][%c0] one_thread
func.func @one_warpgroup(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, persistent_ctas = 2, output_tile = true>}
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
