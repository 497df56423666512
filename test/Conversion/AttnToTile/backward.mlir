// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile | FileCheck %s

// The first kernel has queries as rows, and leaves delta for the second, whose
// rows are keys: P^T and dS^T are operands of the next products as they are.

// CHECK-LABEL: attn_tile.kernel @grad_dq(
// CHECK-SAME: warps(4)
// CHECK-SAME: block = [128, 1, 1], cluster = [1, 1, 1], entry = "grad_dq", grid = ["ceildiv(dim(query, 2), 64)", "dim(query, 1)", "dim(query, 0)"]
// CHECK-SAME: block = [128, 1, 1], cluster = [1, 1, 1], entry = "grad_dkv", grid = ["ceildiv(dim(key, 2), 64)", "dim(key, 1)", "dim(query, 0)"]
// CHECK-SAME: op = "attention_backward", results = {d_key = 1 : i64, d_query = 0 : i64, d_value = 2 : i64}, scale = 1.250000e-01 : f64
// CHECK-SAME: workspaces = [{bytes = "dim(query, 0) * dim(query, 1) * ceildiv(dim(query, 2), 64) * 64 * 4", name = "row_lse"}, {bytes = "dim(query, 0) * dim(query, 1) * ceildiv(dim(query, 2), 64) * 64 * 4", name = "delta"}]
// CHECK: %[[Q:.+]] = attn_tile.load
// CHECK: %[[DO:.+]] = attn_tile.load
// CHECK: %[[PRODUCTS:.+]] = attn_tile.map : () -> {{.*}}<64x64xf32, accumulator>
// CHECK: attn_tile.row_reduce sum %[[PRODUCTS]]
// CHECK: %[[LSE:.+]] = attn_tile.load_row
// CHECK: attn_tile.store {{.*}} : <64xf32, row>
// CHECK: attn_tile.store {{.*}} : <64xf32, row>
// CHECK: %[[FULL:.+]] = scf.for {{.*}} iter_args(%[[ACC:.+]] = %{{.+}}) -> (!attn_tile.fragment<64x64xf32, accumulator>)
// CHECK: %[[K:.+]] = attn_tile.load
// CHECK: %[[V:.+]] = attn_tile.load
// CHECK: %[[S:.+]] = attn_tile.mma %[[Q]], %[[K]] transpose_b
// CHECK: %[[P:.+]] = attn_tile.map %[[S]], %{{.+}} : {{.*}}row
// CHECK: math.exp2
// CHECK-NOT: arith.select
// CHECK: %[[DP:.+]] = attn_tile.mma %[[DO]], %[[V]] transpose_b
// CHECK: %[[DS:.+]] = attn_tile.map %[[P]], %[[DP]], %{{.+}}
// CHECK: %[[OPERAND:.+]] = attn_tile.to_operand %[[DS]]
// CHECK: attn_tile.mma %[[OPERAND]], %[[K]], %[[ACC]]
// The tiles that the diagonal cuts.
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[FULL]])
// CHECK: math.exp2
// CHECK: arith.select

// CHECK-LABEL: attn_tile.kernel @grad_dkv(
// CHECK: %[[KT:.+]] = attn_tile.load
// CHECK: %[[VT:.+]] = attn_tile.load
// CHECK: scf.for {{.*}} iter_args(%[[DK:.+]] = %{{.+}}, %[[DV:.+]] = %{{.+}})
// CHECK: %[[QT:.+]] = attn_tile.load {{.*}} -> <64x64xf16
// CHECK: %[[LSE:.+]] = attn_tile.load {{.*}} -> <1x64xf32
// CHECK: %[[DOT:.+]] = attn_tile.load {{.*}} -> <64x64xf16
// CHECK: %[[DELTA:.+]] = attn_tile.load {{.*}} -> <1x64xf32
// CHECK: %[[ST:.+]] = attn_tile.mma %[[KT]], %[[QT]] transpose_b
// CHECK: attn_tile.load_column %[[LSE]]
// CHECK: %[[PT:.+]] = attn_tile.map %[[ST]]
// CHECK: %[[DPT:.+]] = attn_tile.mma %[[VT]], %[[DOT]] transpose_b
// CHECK: attn_tile.load_column %[[DELTA]]
// CHECK: %[[DST:.+]] = attn_tile.map %[[PT]], %[[DPT]]
// CHECK: %[[PO:.+]] = attn_tile.to_operand %[[PT]]
// CHECK: attn_tile.mma %[[PO]], %[[DOT]], %[[DV]]
// CHECK: %[[DSO:.+]] = attn_tile.to_operand %[[DST]]
// CHECK: attn_tile.mma %[[DSO]], %[[QT]], %[[DK]]
// CHECK: attn_tile.store
// CHECK: attn_tile.store
func.func @grad(%q: tensor<1x4x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>,
                %o: tensor<1x4x?x64xf16>, %lse: tensor<1x4x?xf32>, %do: tensor<1x4x?x64xf16>)
    -> (tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x?x64xf16>)
      lse(%lse : tensor<1x4x?xf32>) d_output(%do : tensor<1x4x?x64xf16>) mask_mod causal(top_left)
      : tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
      -> tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
  return %d#0, %d#1, %d#2 : tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
}
