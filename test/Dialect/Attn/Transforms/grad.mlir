// RUN: attn-opt %s --attn-grad | FileCheck %s
// RUN: attn-opt %s --attn-grad="lse-gradient=true" | FileCheck %s --check-prefix=DLSE
// RUN: attn-opt %s --attn-grad=recompute=true | FileCheck %s --check-prefix=RECOMPUTE

// The forward stays; its results follow its arguments.
// CHECK-LABEL: func.func @saved(
// CHECK: attn.attention
// CHECK-LABEL: func.func @saved_grad(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x4x?x16xf16>, %[[KV:[a-z0-9]+]]: tensor<?x2x?x16xf16>, %[[L:[a-z0-9]+]]: tensor<?x4x?xf32>, %[[O:[a-z0-9]+]]: tensor<?x4x?x16xf16>, %[[DO:[a-z0-9]+]]: tensor<?x4x?x16xf16>) -> (tensor<?x4x?x16xf16>, tensor<?x2x?x16xf16>)
// CHECK: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = attn.attention_backward %[[Q]], %[[KV]], %[[KV]] output(%[[O]] : tensor<?x4x?x16xf16>) lse(%[[L]] : tensor<?x4x?xf32>) d_output(%[[DO]] : tensor<?x4x?x16xf16>) scale(5.000000e-01) mask_mod causal(bottom_right)
// One tensor that is key and value gets the sum.
// CHECK: %[[SUM:.+]] = linalg.add ins(%[[DK]], %[[DV]]
// CHECK: return %[[DQ]], %[[SUM]]

// DLSE-LABEL: func.func @saved_grad(
// DLSE-SAME: %[[GRAD:[a-z0-9]+]]: tensor<?x4x?xf32>) ->
// DLSE: d_lse(%[[GRAD]] : tensor<?x4x?xf32>)

// RECOMPUTE-LABEL: func.func @saved_grad(
// RECOMPUTE-SAME: %[[Q:[a-z0-9]+]]: tensor<?x4x?x16xf16>, %[[KV:[a-z0-9]+]]: tensor<?x2x?x16xf16>, %[[DO:[a-z0-9]+]]: tensor<?x4x?x16xf16>) ->
// RECOMPUTE: %[[O:.+]], %[[L:.+]] = attn.attention %[[Q]], %[[KV]], %[[KV]] scale(5.000000e-01) mask_mod causal(bottom_right)
// RECOMPUTE: attn.attention_backward %[[Q]], %[[KV]], %[[KV]] output(%[[O]] : tensor<?x4x?x16xf16>) lse(%[[L]] : tensor<?x4x?xf32>) d_output(%[[DO]]
func.func @saved(%q: tensor<?x4x?x16xf16>, %kv: tensor<?x2x?x16xf16>)
    -> (tensor<?x4x?xf32>, tensor<?x4x?x16xf16>) {
  %o, %lse = attn.attention %q, %kv, %kv scale(0.5) mask_mod causal(bottom_right)
      : tensor<?x4x?x16xf16>, tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>
      -> tensor<?x4x?x16xf16>, tensor<?x4x?xf32>
  return %lse, %o : tensor<?x4x?xf32>, tensor<?x4x?x16xf16>
}

// Bias, captures, what is computed from sizes, an argument that only the mask
// reads, and one that nothing reads.
// CHECK-LABEL: func.func @everything_grad(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x2x4x8xf32>, %[[K:[a-z0-9]+]]: tensor<1x2x?x8xf32>, %[[V:[a-z0-9]+]]: tensor<1x2x?x8xf32>, %[[B:[a-z0-9]+]]: tensor<1x2x1x1xf32>, %[[T:[a-z0-9]+]]: tensor<2xf32>, %[[IDS:[a-z0-9]+]]: tensor<?xi32>, %[[W:[a-z0-9]+]]: tensor<?xf32>, %{{.+}}: tensor<3xbf16>,
// CHECK: %[[N:.+]] = tensor.dim %[[K]]
// CHECK: attn.attention_backward
// CHECK-SAME: captures(%[[T]] : tensor<2xf32>) score_mod
// CHECK: tensor.extract %[[T]]
// CHECK: mask_mod
// CHECK: tensor.extract %[[W]]
// CHECK: d_bias(tensor<1x2x1x1xf32>) d_captures(tensor<2xf32>)
// CHECK: %[[ZERO:.+]] = linalg.fill {{.*}} -> tensor<?xf32>
// CHECK: %[[NONE:.+]] = linalg.fill {{.*}} -> tensor<3xbf16>
// CHECK: return %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[ZERO]], %[[NONE]]
func.func @everything(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x?x8xf32>, %v: tensor<1x2x?x8xf32>,
                      %bias: tensor<1x2x1x1xf32>, %slopes: tensor<2xf32>, %ids: tensor<?xi32>,
                      %weights: tensor<?xf32>, %unused: tensor<3xbf16>)
    -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %k, %c2 : tensor<1x2x?x8xf32>
  %zero = arith.constant 0.0 : f32
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<1x2x1x1xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<2xf32>
        %r = arith.mulf %slope, %s : f32
        attn.yield %r : f32
      }
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %id = tensor.extract %ids[%j] : tensor<?xi32>
        %at = arith.index_cast %id : i32 to index
        %in = arith.cmpi slt, %at, %n : index
        %w = tensor.extract %weights[%j] : tensor<?xf32>
        %p = arith.cmpf ogt, %w, %zero : f32
        %both = arith.andi %in, %p : i1
        attn.yield %both : i1
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// A function without attention, and a private one, get none.
// CHECK-NOT: _grad
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @hidden(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %o = attn.attention %q, %q, %q
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}
