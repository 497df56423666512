// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile | FileCheck %s

// Gradients of scores beside those of query, key and value: a kernel of tiles, one of vectors, of keys and of rows, and for
// each vector and the sink a kernel of sums, with a warp for each element.

// CHECK-LABEL: attn_tile.kernel @grad_dq(
// CHECK-SAME: entry = "grad_dbias_keys", grid = ["ceildiv(dim(key, 2), 64)", "dim(query, 1)", "dim(query, 0)"]
// CHECK-SAME: entry = "grad_dcapture0", grid = ["ceildiv(dim(d_capture0, 2), 64)", "ceildiv(dim(d_capture0, 1), 64)", "dim(d_capture0, 0)"]
// CHECK-SAME: block = [32, 1, 1], cluster = [1, 1, 1], entry = "grad_dbias", grid = ["dim(d_bias, 0) * dim(d_bias, 1) * dim(d_bias, 2) * dim(d_bias, 3)", "1", "1"]
// CHECK-SAME: block = [32, 1, 1], cluster = [1, 1, 1], entry = "grad_dsink", grid = ["dim(d_sink, 0)", "1", "1"]
// CHECK-SAME: name = "sink", role = "input", shape = ["Hq"]
// CHECK-SAME: name = "d_bias", role = "output"
// CHECK-SAME: results = {d_bias = 3 : i64, d_capture0 = 4 : i64, d_key = 1 : i64, d_query = 0 : i64, d_sink = 5 : i64, d_value = 2 : i64}
// CHECK-SAME: workspaces = [{bytes = "dim(query, 0) * dim(query, 1) * dim(key, 2) * 4", name = "d_bias_vectors"}
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
