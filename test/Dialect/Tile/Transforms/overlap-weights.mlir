// Weights without softmax: the product with V of a tile still runs beside the scores of the next, and the loops carry the
// accumulator, the operand and the tile's number, and nothing of rows.
// RUN: attn-opt %s --attn-to-scheduled=target=sm_90a --attn-to-tiled --attn-to-tile=target=sm_90a | FileCheck %s
// CHECK: attn_tile.kernel @linear({{.*}}attributes {{.*}}forward
// CHECK-NOT: row_reduce
// CHECK: scf.for {{.*}} -> (!attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.fragment<64x128xf16, operand_a>, index) {
// CHECK: %[[S:.*]] = attn_tile.mma_async
// CHECK: %[[O:.*]] = attn_tile.mma_async
// CHECK: attn_tile.mma_wait 1, %[[S]]
// CHECK: attn_tile.mma_wait 0, %[[O]]
// CHECK: attn_tile.to_operand
// CHECK: scf.yield
// CHECK-NOT: row_reduce

!q = tensor<1x2x512x64xf16>
func.func @linear(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q normalization(#attn.none)
      {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 128, warps = 4, stages = 2, cluster_m = 1>}
      : !q, !q, !q -> !q
  return %o : !q
}
