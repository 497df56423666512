// RUN: attn-opt %s --attn-tile-backward="tile-m=32 tile-n=16" --split-input-file --verify-diagnostics | FileCheck %s

// A tile of the gradient stays, and all heads of all batches stream past: b Hq + h.

// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<1x1x96x48xf16>
// CHECK: scf.forall {{.*}} to (2, 4, 96)
// CHECK: scf.forall {{.*}} to (2, 2, 48)
// CHECK: %[[RESULT:.+]] = scf.forall (%{{.+}}, %{{.+}}, %[[M:.+]], %[[N:.+]]) = (0, 0, 0, 0) to (1, 1, 96, 48) step (1, 1, 32, 16) shared_outs(%{{.+}} = %{{.+}}) -> (tensor<1x1x96x48xf16>)
// CHECK: %[[SUM:.+]] = scf.for %[[T:.+]] = %c0{{.*}} to %c8{{.*}} step %c1{{.*}} iter_args(%[[ACC:.+]] = %{{.+}}) -> (tensor<1x1x32x16xf32>)
// CHECK: %[[B:.+]] = arith.divui %[[T]], %{{.+}} : index
// CHECK: %[[H:.+]] = arith.remui %[[T]], %{{.+}} : index
// CHECK: attn.backward_step {{.*}} offsets(%[[B]], %[[H]], %[[M]], %[[N]]) mask_mod causal(top_left) d_scores(%[[ACC]] : tensor<1x1x32x16xf32>)
// CHECK: %[[ROUNDED:.+]] = arith.truncf %[[SUM]]
// CHECK: %[[PART:.+]] = tensor.extract_slice %[[ROUNDED]]
// CHECK: tensor.parallel_insert_slice %[[PART]]
// CHECK: return %[[RESULT]]
func.func @tiles(%bias: tensor<1x1x96x48xf16>, %q: tensor<2x4x96x8xf16>, %k: tensor<2x2x48x8xf16>, %lse: tensor<2x4x96xf32>)
    -> tensor<1x1x96x48xf16> {
  %d:4 = attn.attention_backward %q, %k, %k bias(%bias : tensor<1x1x96x48xf16>) output(%q : tensor<2x4x96x8xf16>)
      lse(%lse : tensor<2x4x96xf32>) d_output(%q : tensor<2x4x96x8xf16>) mask_mod causal(top_left)
      : tensor<2x4x96x8xf16>, tensor<2x2x48x8xf16>, tensor<2x2x48x8xf16>
      -> tensor<2x4x96x8xf16>, tensor<2x2x48x8xf16>, tensor<2x2x48x8xf16> d_bias(tensor<1x1x96x48xf16>)
  return %d#3 : tensor<1x1x96x48xf16>
}

// -----

// Numbers of rows, for slopes, and of keys, for a bias; a sink.

// CHECK-DAG: #[[HEAD:.+]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[KEY:.+]] = affine_map<(d0, d1, d2) -> (0, d1, 0, d2)>
// CHECK-LABEL: func.func @vectors
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<1x4x1x48xf16>, %[[SLOPES:[a-z0-9]+]]: tensor<4xf32>, %[[SINK:[a-z0-9]+]]: tensor<4xf16>
// CHECK: %[[FIRST:.+]]:2 = scf.forall
// CHECK: scf.forall
// CHECK: %[[KEYS:.+]] = scf.forall {{.*}} = (0, 0, 0) to (2, 4, 48) step (1, 1, 16) {{.*}} -> (tensor<2x4x48xf32>)
// CHECK: scf.for {{.*}} -> (tensor<1x1x32x16xf32>)
// CHECK: attn.backward_step {{.*}} score_mod
// CHECK: d_scores(%{{.+}} : tensor<1x1x32x16xf32>) :
// CHECK: linalg.reduce {{.*}} dimensions = [2]
// CHECK: %[[DBIAS:.+]] = attn.backward_sum %[[KEYS]] like(%[[BIAS]] : tensor<1x4x1x48xf16>) map #[[KEY]]
// CHECK: %[[ROWS:.+]] = scf.forall {{.*}} = (0, 0, 0) to (2, 4, 96) step (1, 1, 32) {{.*}} -> (tensor<2x4x96xf32>)
// CHECK: attn.backward_step
// CHECK: d_scores(%{{.+}} : tensor<1x1x32x16xf32>) of(%[[SLOPES]] : tensor<4xf32>)
// CHECK: linalg.reduce {{.*}} dimensions = [3]
// CHECK: %[[DSLOPES:.+]] = attn.backward_sum %[[ROWS]] like(%[[SLOPES]] : tensor<4xf32>) map #[[HEAD]]
// CHECK: %[[DSINK:.+]] = attn.backward_sum %[[FIRST]]#1 like(%[[SINK]] : tensor<4xf16>) lse(%{{.+}} : tensor<2x4x96xf32>) map #[[HEAD]]
// CHECK: return %[[DBIAS]], %[[DSLOPES]], %[[DSINK]]
func.func @vectors(%bias: tensor<1x4x1x48xf16>, %slopes: tensor<4xf32>, %sink: tensor<4xf16>, %q: tensor<2x4x96x8xf16>,
                   %k: tensor<2x2x48x8xf16>, %lse: tensor<2x4x96xf32>) -> (tensor<1x4x1x48xf16>, tensor<4xf32>, tensor<4xf16>) {
  %d:6 = attn.attention_backward %q, %k, %k bias(%bias : tensor<1x4x1x48xf16>) output(%q : tensor<2x4x96x8xf16>)
      lse(%lse : tensor<2x4x96xf32>) d_output(%q : tensor<2x4x96x8xf16>) sink(%sink : tensor<4xf16>)
      captures(%slopes : tensor<4xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %r = arith.mulf %slope, %s : f32
        attn.yield %r : f32
      }
      : tensor<2x4x96x8xf16>, tensor<2x2x48x8xf16>, tensor<2x2x48x8xf16>
      -> tensor<2x4x96x8xf16>, tensor<2x2x48x8xf16>, tensor<2x2x48x8xf16> d_bias(tensor<1x4x1x48xf16>)
      d_captures(tensor<4xf32>) d_sink(tensor<4xf16>)
  return %d#3, %d#4, %d#5 : tensor<1x4x1x48xf16>, tensor<4xf32>, tensor<4xf16>
}

// -----

// Read at an index that depends on the score: the whole backward stays as it is, but for lengths.

// CHECK-LABEL: func.func @by_score
// CHECK-NOT: scf.forall
// CHECK: attn.attention_backward
// CHECK-NOT: attn.length
func.func @by_score(%table: tensor<2x191xf32>, %q: tensor<1x2x96x8xf32>, %lse: tensor<1x2x96xf32>) -> tensor<2x191xf32> {
  %last = arith.constant 95 : index
  // expected-remark @+1 {{gradients of captured tensors are computed unfused, from whole score tensors}}
  %d:4 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x96x8xf32>)
      lse(%lse : tensor<1x2x96xf32>) d_output(%q : tensor<1x2x96x8xf32>) captures(%table : tensor<2x191xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %n = arith.fptoui %s : f32 to i32
        %d = arith.index_cast %n : i32 to index
        %at = arith.minui %d, %last : index
        %x = tensor.extract %table[%h, %at] : tensor<2x191xf32>
        %r = arith.addf %x, %s : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right)
      : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
      -> tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32> d_captures(tensor<2x191xf32>)
  return %d#3 : tensor<2x191xf32>
}
