// In the last step of a persistent CTA's tile the products' thread starts the first scores of the next tile, of each warpgroup behind its own product.

// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --split-input-file --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-stage-stores,attn-tile-specialize-products,attn-tile-start-first,attn-tile-commit-query,attn-tile-start-next-tile,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @forward(
// CHECK: %[[QUERY:.*]] = attn_tile.alloc : <256x64xf16, swizzle = 128>
// CHECK-NEXT: %[[Q:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK-NEXT: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
// CHECK: } products {
// CHECK: scf.for %[[TILE:.*]] = %{{.*}} to %[[TILES:.*]] step %[[CTAS:.*]] iter_args(%[[BASE:.*]] = %c0, %[[NUMBER:.*]] = %c0, %[[STARTED:.*]] = %false)
// CHECK: %[[ANY:.*]] = arith.cmpi ult, %[[BASE]], %[[COUNT:.*]] : index
// The first scores, if the tile before has not started them. Then it has waited for the query, too, and of a tile of one step given it back: the next one
// may be there, and another wait would be in vain.
// CHECK: %[[DONE:.*]] = arith.andi %[[STARTED]], %{{.*}} : i1
// CHECK-NEXT: %[[LEFT:.*]] = arith.xori %[[DONE]], %true
// CHECK-NEXT: scf.if %[[LEFT]] {
// CHECK-NEXT: attn_tile.mbarrier_wait %[[Q]][%c0]
// CHECK-NEXT: }
// CHECK-NEXT: %[[START:.*]] = arith.andi %[[ANY]], %[[LEFT]]
// CHECK-NEXT: scf.if %[[START]] {
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK: scf.if %[[LEFT]] {
// CHECK-NEXT: attn_tile.mbarrier_wait %[[Q]][%c1]
// CHECK-NEXT: }
// CHECK-NEXT: %[[OTHER:.*]] = arith.andi %[[ANY]], %[[LEFT]]
// CHECK-NEXT: scf.if %[[OTHER]] {
// CHECK: attn_tile.mma_tensor %[[QUERY]]
// CHECK: scf.for
// CHECK: %[[STEP:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[STEP]], %[[COUNT]]
// CHECK: scf.if %[[MORE]] {
// CHECK: attn_tile.mma_tensor %[[QUERY]]{{.*}}[%c0]
// CHECK: } else {
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]], %[[CTAS]]
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[NEXT]], %[[TILES]]
// CHECK-NEXT: scf.if %[[EXISTS]] {
// CHECK: %[[STEPS:.*]] = arith.cmpi ult, %[[STEP]], %[[END:.*]] : index
// CHECK-NEXT: scf.if %[[STEPS]] {
// CHECK: %[[PHASE:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK: %[[PARITY:.*]] = arith.andi %[[PHASE]], %c1
// CHECK: attn_tile.mbarrier_wait %[[Q]][%c0], %[[PARITY]]
// CHECK: attn_tile.mma_tensor %[[QUERY]]{{.*}}[%c0]
// CHECK: arith.cmpi eq, %{{.*}}, %[[END]]
// CHECK: attn_tile.commit_tensors %[[EMPTY]][%c0]
// The second warpgroup's, behind its product.
// CHECK: attn_tile.mma_tensor {{.*}} accumulate
// CHECK: scf.if %[[MORE]] {
// CHECK: } else {
// CHECK: attn_tile.mbarrier_wait %[[Q]][%c1]
// CHECK: attn_tile.mma_tensor %[[QUERY]]{{.*}}[%c1]
// CHECK: attn_tile.commit_tensors %[[EMPTY]][%c1]
// A tile without keys has started nothing.
// CHECK: %[[NONE:.*]] = arith.cmpi ne, %[[BASE]], %[[COUNT]]
// CHECK-NEXT: scf.yield %{{.*}}, %{{.*}}, %[[NONE]] : index, index, i1
func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 2, output_tile = true>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// The next query waits for the output of this tile, which waits for products of all warpgroups.
// CHECK-LABEL: attn_tile.kernel @through_query(
// CHECK: } products {
// CHECK-NOT: } else {
// CHECK: } consumer
func.func @through_query(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 2, output_tile = false>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
