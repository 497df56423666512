// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize --cse | FileCheck %s

!map = !attn_tile.tensor_map<32x64xf16, swizzle = 128>
!tile = !attn_tile.shared<64x128xf16, swizzle = 128>
!full = !attn_tile.mbarrier<1, arrivals = 1>

// The bytes of the whole tile are announced once; of each page come two panels of 32 rows: 4096 bytes from page to page, 8192 from panel to
// panel. Coordinates are column, row in the page, head, page.
// CHECK-LABEL: llvm.func @pages
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 16384 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%c0_i32, %[[ROW:.*]], %c0_i32, %[[A:.*]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%c64_i32, %[[ROW]], %c0_i32, %[[A]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%c0_i32, %[[ROW]], %c0_i32, %[[B:.*]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%c64_i32, %[[ROW]], %c0_i32, %[[B]]]
attn_tile.kernel @pages(%table: !attn_tile.global<?xi32>, %map: !map) warps(4) attributes {producer_warps = 4 : i64, shared_bytes = 16392 : i64} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %row = attn_tile.dim %table, 0 : !attn_tile.global<?xi32>
  %a = attn_tile.extract %table[%z] : !attn_tile.global<?xi32>
  %b = attn_tile.extract %table[%one] : !attn_tile.global<?xi32>
  %first = arith.index_cast %a : i32 to index
  %second = arith.index_cast %b : i32 to index
  %t = attn_tile.alloc {offset = 0 : i64} : !tile
  %full = attn_tile.alloc_mbarrier {offset = 16384 : i64} : !full
  attn_tile.init_mbarriers %full : !full
  attn_tile.roles producer(56) {
    attn_tile.copy_tma %map[%c0, %row] pages(%first, %second) to %t, %full[%c0] : !map to !tile, !full
  } consumer(256) {
  ^bb0(%warpgroup: index):
    attn_tile.mbarrier_wait %full[%c0], %c0 : !full
  }
  attn_tile.return
}
