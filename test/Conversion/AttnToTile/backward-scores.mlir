// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile | FileCheck %s

// Gradients of scores beside those of query, key and value: a kernel of tiles, one of vectors, of keys and of rows, and for
// each vector and the sink a kernel of sums, with a warp for each element.

// CHECK-LABEL: attn_launch.program "grad"
// CHECK: attn_launch.operand input "sink" argument(5) dims ["Hq"]
// CHECK: attn_launch.operand output "d_query" vector(2) result(0)
// CHECK: attn_launch.operand output "d_key" vector(2) result(1)
// CHECK: attn_launch.operand output "d_value" vector(2) result(2)
// CHECK: %[[BIAS:.*]] = attn_launch.operand output "d_bias" result(3)
// CHECK: %[[CAPTURE:.*]] = attn_launch.operand output "d_capture0" result(4)
// CHECK: %[[SINK:.*]] = attn_launch.operand output "d_sink" result(5)
// CHECK: %[[VECTORS:.*]] = attn_launch.workspace "d_bias_vectors"
// CHECK: attn_launch.view %[[VECTORS]][{{.*}}] sizes(%[[B:.*]], %[[H:.*]], %[[N:.*]]) strides(%{{.*}}, %[[N]])
// CHECK: %[[KEY_TILES:.*]] = arith.ceildivsi %{{.*}}, %c64{{.*}} : index
// CHECK: %[[DIM2:.*]] = attn_tile.dim %[[CAPTURE]], 2
// CHECK: %[[COLUMN_TILES:.*]] = arith.ceildivsi %[[DIM2]], %c64{{.*}} : index
// CHECK: %[[DIM1:.*]] = attn_tile.dim %[[CAPTURE]], 1
// CHECK: %[[ROW_TILES:.*]] = arith.ceildivsi %[[DIM1]], %c64{{.*}} : index
// CHECK: %[[OUTER:.*]] = attn_tile.dim %[[CAPTURE]], 0
// CHECK: %[[HEADS:.*]] = attn_tile.dim %[[BIAS]], 1
// CHECK: %[[KEYS:.*]] = attn_tile.dim %[[BIAS]], 3
// CHECK: %[[ELEMENTS:.*]] = arith.muli %[[HEADS]], %[[KEYS]]
// CHECK: %[[SINKS:.*]] = attn_tile.dim %[[SINK]], 0
// CHECK: attn_launch.launch @grad_dbias_keys grid(%[[KEY_TILES]], %{{.*}}, %{{.*}})
// CHECK: attn_launch.launch @grad_dcapture0 grid(%[[COLUMN_TILES]], %[[ROW_TILES]], %[[OUTER]])
// CHECK: attn_launch.launch @grad_dbias grid(%[[ELEMENTS]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @grad_dsink grid(%[[SINKS]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}})

// CHECK-LABEL: attn_tile.kernel @grad_dq(
// CHECK-LABEL: attn_tile.kernel @grad_dbias_keys(
// CHECK: scf.for
// CHECK: attn_tile.row_reduce sum
// CHECK: attn_tile.store {{.*}} : <64xf32, row>
// CHECK-LABEL: attn_tile.kernel @grad_dcapture0(
// CHECK: scf.for
// CHECK: attn_tile.store {{.*}}] single : <64x64xf32, accumulator>
// CHECK-LABEL: attn_tile.kernel @grad_dbias(
// CHECK-SAME: warps(1)
// CHECK: gpu.subgroup_reduce add
// CHECK: attn_tile.insert
// CHECK-LABEL: attn_tile.kernel @grad_dsink(
// CHECK: math.exp2
// CHECK: gpu.subgroup_reduce add
!q = tensor<?x?x?x64xf16>
func.func @grad(%q: !q, %k: !q, %v: !q, %bias: tensor<1x?x1x?xf32>, %table: tensor<?x?x?xf32>, %sink: tensor<?xf32>, %o: !q,
                %lse: tensor<?x?x?xf32>, %do: !q) -> (!q, !q, !q, tensor<1x?x1x?xf32>, tensor<?x?x?xf32>, tensor<?xf32>) {
  %d:6 = attn.attention_backward %q, %k, %v bias(%bias : tensor<1x?x1x?xf32>) output(%o : !q) lse(%lse : tensor<?x?x?xf32>)
      d_output(%do : !q) sink(%sink : tensor<?xf32>) captures(%table : tensor<?x?x?xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %table[%h, %i, %j] : tensor<?x?x?xf32>
        %r = arith.mulf %x, %s : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right)
      : !q, !q, !q -> !q, !q, !q d_bias(tensor<1x?x1x?xf32>) d_captures(tensor<?x?x?xf32>) d_sink(tensor<?xf32>)
  return %d#0, %d#1, %d#2, %d#3, %d#4, %d#5 : !q, !q, !q, tensor<1x?x1x?xf32>, tensor<?x?x?xf32>, tensor<?xf32>
}
