// RUN: attn-opt %s --attn-tile-backward --convert-attn-to-tile | FileCheck %s

// The kernels of the small-cache backward: rounds of 128 rows, which are a part
// of the three tiles of 64 rows that each group of two heads has.

// CHECK-LABEL: attn_launch.program "f"
// CHECK: attn_launch.workspace "row_lse"
// CHECK: attn_launch.workspace "delta"
// CHECK: attn_launch.workspace "probabilities" bytes(%c24576{{.*}})
// CHECK: attn_launch.workspace "d_scores" bytes(%c24576{{.*}})
// CHECK: attn_launch.workspace "d_key_sums" bytes(%c24576{{.*}})
// CHECK: attn_launch.workspace "d_value_sums" bytes(%c24576{{.*}})
// Two rounds for each of two groups.
// CHECK: attn_launch.repeat %c4{{.*}} {
// CHECK: ^bb0(%[[I:.*]]: index):
// CHECK: %[[GROUP:.*]] = arith.floordivsi %[[I]], %c2{{.*}} : index
// CHECK: %[[LEFT:.*]] = arith.subi %c2{{.*}}, %[[GROUP]] : index
// CHECK: %[[GROUPS:.*]] = arith.minsi %[[LEFT]], %c1{{.*}} : index
// CHECK: %[[TILES:.*]] = arith.minsi %{{.*}}, %c2{{.*}} : index
// CHECK: attn_launch.launch @f_delta grid(%[[TILES]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @f_scores grid(%[[TILES]], %c3{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @f_dq grid(%[[TILES]], %c2{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @f_dk grid(%c3{{[_0-9]*}}, %c2{{[_0-9]*}}, %[[GROUPS]])
// CHECK: attn_launch.launch @f_dv grid(%c3{{[_0-9]*}}, %c2{{[_0-9]*}}, %[[GROUPS]])

// CHECK-LABEL: attn_tile.kernel @f_delta
// CHECK-SAME: warps(4)
// CHECK: scf.for {{.*}} -> (!attn_tile.fragment<64xf32, row>)
// CHECK: attn_tile.row_reduce sum
// CHECK: attn_tile.row_all_reduce sum
// CHECK-COUNT-2: attn_tile.store {{.*}} : <64xf32, row>, <1x4x128xf32>

// S and dP side by side, in slices of 32 columns; P with the mask only where the
// diagonal cuts the tile.
// CHECK-LABEL: attn_tile.kernel @f_scores
// CHECK: %[[S:.+]]:2 = scf.for %[[D:.+]] = %c0{{.*}} to %{{.+}} step %c32
// CHECK-COUNT-4: attn_tile.load {{.*}}, %[[D]]]
// CHECK-COUNT-2: attn_tile.mma {{.*}} transpose_b
// CHECK: scf.if
// CHECK-COUNT-2: attn_tile.load_row
// CHECK: %[[P:.+]] = scf.if
// CHECK: attn_tile.map %[[S]]#0
// CHECK: } else {
// CHECK: attn_tile.map %[[S]]#0
// CHECK: attn_tile.store %[[P]], %{{.+}} : <64x32xf32, accumulator>, <1x4x96x96xf16>
// CHECK: %[[DS:.+]] = attn_tile.map %[[P]], %[[S]]#1
// CHECK: attn_tile.store %[[DS]], %{{.+}} : <64x32xf32, accumulator>, <1x4x96x96xf16>

// CHECK-LABEL: attn_tile.kernel @f_dq
// CHECK-SAME: warps(4)
// CHECK: scf.for
// CHECK: attn_tile.mma {{.*}} : !attn_tile.shared<64x32xf16, swizzle = 64>, <32x32xf16, swizzle = 64>, <64x32xf32, accumulator>
// CHECK: attn_tile.store

// The sums of the round before, and for the next one.
// CHECK-LABEL: attn_tile.kernel @f_dk
// CHECK-SAME: warps(2)
// CHECK: scf.if
// CHECK: attn_tile.extract %[[SUMS:.+]][
// CHECK: scf.for
// CHECK: scf.if
// CHECK: attn_tile.load_operand {{.*}} transpose : <64x32xf16, swizzle = 64> -> <32x64xf16, operand_a>
// CHECK: attn_tile.mma
// CHECK: scf.if
// CHECK: attn_tile.store {{.*}} : <32x32xf32, accumulator>, <1x2x96x64xf16>
// CHECK: } else {
// CHECK: attn_tile.store {{.*}}, %[[SUMS]][{{.*}} : <32x32xf32, accumulator>, <96x64xf32>

// CHECK-LABEL: attn_tile.kernel @f_dv
// CHECK: attn_tile.load_operand {{.*}} transpose
func.func @f(%q: tensor<1x4x96x64xf16>, %k: tensor<1x2x96x64xf16>, %o: tensor<1x4x96x64xf16>, %lse: tensor<1x4x96xf32>)
    -> (tensor<1x4x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>) {
  %d:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x4x96x64xf16>) lse(%lse : tensor<1x4x96xf32>)
      d_output(%o : tensor<1x4x96x64xf16>) mask_mod causal(top_left)
      {schedule = #attn.schedule<kind = "small_cache", mma = "mma_sync", tile_m = 64, tile_n = 32, tile_d = 32, tile_dv = 32, stages = 2, warps = 4, chunk_rows = 128>}
      : tensor<1x4x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x4x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>
  return %d#0, %d#1, %d#2 : tensor<1x4x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>
}
