// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile | FileCheck %s

// One kernel for all gradients between one that clears the sums of dQ and one that
// rounds them. Its CTAs have a tile of keys each: the loop over them is the grid.

// CHECK-LABEL: attn_launch.program "grad"
// CHECK-NOT: deterministic
// CHECK: %[[Q:.*]] = attn_launch.operand input "query"
// CHECK: %[[K:.*]] = attn_launch.operand input "key"
// CHECK: %[[M:.*]] = attn_tile.dim %[[Q]], 2
// CHECK: %[[ROWS:.*]] = arith.ceildivsi %[[M]], %c64{{.*}} : index
// CHECK: %[[N:.*]] = attn_tile.dim %[[K]], 2
// CHECK: %[[KEYS:.*]] = arith.ceildivsi %[[N]], %c128{{.*}} : index
// CHECK: %[[SUMS:.*]] = attn_launch.workspace "d_query_sums"
// CHECK: attn_launch.view %[[SUMS]][{{.*}} to <1x4x?x128xf32>
// CHECK: attn_launch.workspace "row_lse"
// CHECK: attn_launch.workspace "delta"
// CHECK: attn_launch.launch @grad_delta grid(%[[ROWS]], %c4{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @grad_dqkv grid(%[[KEYS]], %c2{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @grad_round

// CHECK-LABEL: attn_tile.kernel @grad_delta(
// CHECK-SAME: warps(4)
// CHECK: %[[ZERO:.+]] = attn_tile.fill 0.000000e+00 : <64x128xf32, accumulator>
// CHECK: attn_tile.store {{.*}} : <64xf32, row>
// CHECK: attn_tile.store {{.*}} : <64xf32, row>
// CHECK: attn_tile.store %[[ZERO]]

// dP starts from -delta, which is read before any product starts. D is as large as
// the rows of all warps: they sum up dQ^T = K^T dS^T. Keys past the end have no P, whatever the LSE: dQ sums over them.
// CHECK-LABEL: attn_tile.kernel @grad_dqkv(
// CHECK: %[[K:.+]] = attn_tile.load
// CHECK: %[[V:.+]] = attn_tile.load
// CHECK: scf.for {{.*}} iter_args(%[[DK:.+]] = %{{.+}}, %[[DV:.+]] = %{{.+}})
// CHECK: %[[Q:.+]] = attn_tile.load {{.*}} -> <64x128xf16
// CHECK: %[[DO:.+]] = attn_tile.load {{.*}} -> <64x128xf16
// CHECK: %[[INIT:.+]] = attn_tile.load_column {{.*}} -> <128x64xf32, accumulator>
// CHECK: attn_tile.mma %[[K]], %[[Q]] transpose_b
// CHECK: %[[ALL:.+]] = attn_tile.map
// CHECK: %[[CUT:.+]] = arith.cmpi slt, %{{.*}}, %c128_i32
// CHECK: %[[KEYS:.+]] = attn_tile.map : () -> !attn_tile.fragment<128xf32, row>
// CHECK: %[[P:.+]] = attn_tile.update_rows keep %[[ALL]], %[[KEYS]] if %[[CUT]]
// CHECK: %[[DP:.+]] = attn_tile.mma %[[V]], %[[DO]] transpose_b, %[[INIT]]
// CHECK: %[[DS:.+]] = attn_tile.map %[[P]], %[[DP]]
// CHECK: attn_tile.mma %{{.+}}, %[[DO]], %[[DV]]
// CHECK: %[[SHARED:.+]] = attn_tile.share %[[DS]] : <128x64xf32, accumulator> -> <64x128xf16
// CHECK: %[[DQ:.+]] = attn_tile.mma %[[K]] transpose_a, %[[SHARED]] transpose_b, %{{.+}} : {{.*}}<128x64xf32, accumulator>
// CHECK: attn_tile.mma %{{.+}}, %[[Q]], %[[DK]]
// CHECK: attn_tile.accumulate %[[DQ]] to
// CHECK: attn_tile.store
// CHECK: attn_tile.store

// CHECK-LABEL: attn_tile.kernel @grad_round(
// CHECK: %[[SUM:.+]] = attn_tile.map : () -> {{.*}}<64x128xf32, accumulator>
// CHECK: attn_tile.extract
// CHECK: %[[SCALED:.+]] = attn_tile.map %[[SUM]]
// CHECK: attn_tile.store %[[SCALED]]
!q = tensor<1x4x?x128xf16>
!k = tensor<1x2x?x128xf16>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x4x?xf32>, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x4x?xf32>) d_output(%do : !q)
      {schedule = #attn.schedule<tile_m = 64, tile_n = 128, warps = 8, stages = 2, fused = true>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}
