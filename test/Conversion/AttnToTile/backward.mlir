// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile | FileCheck %s

// The first kernel has queries as rows, and leaves delta for the second, whose
// rows are keys: P^T and dS^T are operands of the next products as they are.

// CHECK-LABEL: attn_launch.program "grad" attributes {deterministic, scale = 1.250000e-01 : f64, {{.*}}, semantics = "attention_backward"}
// CHECK: %[[Q:.*]] = attn_launch.operand input "query"
// CHECK: %[[K:.*]] = attn_launch.operand input "key"
// CHECK: attn_launch.operand output "d_query" vector(2) result(0)
// CHECK: attn_launch.operand output "d_key" vector(2) result(1)
// CHECK: attn_launch.operand output "d_value" vector(2) result(2)
// CHECK: %[[M:.*]] = attn_tile.dim %[[Q]], 2
// CHECK: %[[ROWS:.*]] = arith.ceildivsi %[[M]], %c64{{.*}} : index
// CHECK: %[[N:.*]] = attn_tile.dim %[[K]], 2
// CHECK: %[[KEYS:.*]] = arith.ceildivsi %[[N]], %c64{{.*}} : index
// Vectors of whole tiles of rows, for each of four heads.
// CHECK: %[[WHOLE:.*]] = arith.ceildivsi %{{.*}}, %c64{{.*}} : index
// CHECK: %[[PADDED:.*]] = arith.muli %[[WHOLE]], %c64{{.*}} : index
// CHECK: %[[ALL:.*]] = arith.muli %[[PADDED]], %c4{{.*}} : index
// CHECK: %[[BYTES:.*]] = arith.muli %[[ALL]], %c4{{.*}} : index
// CHECK: %[[LSE:.*]] = attn_launch.workspace "row_lse" bytes(%[[BYTES]])
// CHECK: attn_launch.view %[[LSE]][%c0{{.*}}] sizes(%[[PADDED]]) strides(%[[ALL]], %[[PADDED]]) : !attn_launch.workspace to <1x4x?xf32>
// CHECK: attn_launch.workspace "delta"
// CHECK: attn_launch.launch @grad_dq grid(%[[ROWS]], %c4{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @grad_dkv grid(%[[KEYS]], %c2{{[_0-9]*}}, %c1{{[_0-9]*}})

// CHECK-LABEL: attn_tile.kernel @grad_dq(
// CHECK-SAME: warps(4)
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
