// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile | FileCheck %s

// The first kernel has queries as rows, and leaves delta for the second, whose
// rows are keys: P^T and dS^T are operands of the next products as they are.

// CHECK-LABEL: attn_tile.kernel @grad_dq(
// CHECK-SAME: warps(4)
// CHECK-SAME: block = [128, 1, 1], cluster = [1, 1, 1], entry = "grad_dq", grid = ["ceildiv(dim(query, 2), 64)", "dim(query, 1)", "dim(query, 0)"]
// CHECK-SAME: block = [128, 1, 1], cluster = [1, 1, 1], entry = "grad_dkv", grid = ["ceildiv(dim(key, 2), 64)", "dim(key, 1)", "dim(query, 0)"]
// CHECK-SAME: op = "attention_backward", results = {d_key = 1 : i64, d_query = 0 : i64, d_value = 2 : i64}, scale = 1.250000e-01 : f64
// CHECK-SAME: workspaces = [{bytes = "dim(query, 0) * dim(query, 1) * dim(query, 2) * 4", name = "delta"}]
// CHECK: %[[V:.+]] = attn_tile.alloc : <64x64xf16, swizzle = 128>
// CHECK: %[[K:.+]] = attn_tile.alloc
// CHECK: %[[DO:.+]] = attn_tile.alloc
// CHECK: %[[Q:.+]] = attn_tile.alloc
// CHECK: attn_tile.copy_async {{.*}} to %[[Q]]
// CHECK: attn_tile.copy_async {{.*}} to %[[DO]]
// CHECK: %[[PRODUCTS:.+]] = attn_tile.map : () -> {{.*}}<64x64xf32, accumulator>
// CHECK: attn_tile.row_reduce sum %[[PRODUCTS]]
// CHECK: attn_tile.store {{.*}} : <64xf32, row>
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.+]] = %{{.+}}) -> (!attn_tile.fragment<64x64xf32, accumulator>)
// CHECK: gpu.barrier
// CHECK: attn_tile.copy_async {{.*}} to %[[K]]
// CHECK: attn_tile.copy_async {{.*}} to %[[V]]
// CHECK: attn_tile.wait_group 0
// CHECK: gpu.barrier
// CHECK: %[[S:.+]] = attn_tile.mma %[[Q]], %[[K]] transpose_b
// CHECK: %[[P:.+]] = attn_tile.map %[[S]]
// CHECK: math.exp2
// CHECK: %[[DP:.+]] = attn_tile.mma %[[DO]], %[[V]] transpose_b
// CHECK: %[[DS:.+]] = attn_tile.map %[[S]], %[[P]], %[[DP]]
// CHECK: %[[OPERAND:.+]] = attn_tile.to_operand %[[DS]]
// CHECK: attn_tile.mma %[[OPERAND]], %[[K]], %[[ACC]]

// CHECK-LABEL: attn_tile.kernel @grad_dkv(
// CHECK: scf.for {{.*}} iter_args(%[[DK:.+]] = %{{.+}}, %[[DV:.+]] = %{{.+}})
// CHECK: scf.for {{.*}} iter_args(%[[DK1:.+]] = %[[DK]], %[[DV1:.+]] = %[[DV]])
// CHECK: scf.if
// CHECK: %[[ST:.+]] = attn_tile.mma %[[KT:.+]], %[[QT:.+]] transpose_b
// CHECK: %[[PT:.+]] = attn_tile.map %[[ST]]
// CHECK: %[[DPT:.+]] = attn_tile.mma %{{.+}}, %[[DOT:.+]] transpose_b
// CHECK: %[[DST:.+]] = attn_tile.map %[[ST]], %[[PT]], %[[DPT]]
// CHECK-DAG: %[[PO:.+]] = attn_tile.to_operand %[[PT]]
// CHECK-DAG: %[[DSO:.+]] = attn_tile.to_operand %[[DST]]
// CHECK: attn_tile.mma %[[DSO]], %[[QT]], %[[DK1]]
// CHECK: attn_tile.mma %[[PO]], %[[DOT]], %[[DV1]]
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
