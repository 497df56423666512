// RUN: attn-opt %s --attn-convert-to-online | FileCheck %s

// CHECK-LABEL: @dynamic
// CHECK-SAME: %[[Q:.*]]: tensor<?x8x?x64xf16>, %[[K:.*]]: tensor<?x2x?x64xf16>, %[[V:.*]]: tensor<?x2x?x32xf16>
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[Q]], %{{.*}}
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[K]], %{{.*}}
// CHECK: %[[ACC:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x8x?x32xf32>)
// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[MAX:.*]] = linalg.fill ins(%[[INF]] : f32) outs(%{{.*}} : tensor<?x8x?xf32>)
// CHECK: %[[SUM:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x8x?xf32>)
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: attn.online_attention %[[Q]], %[[K]], %[[V]] offsets(%[[C0]], %[[C0]], %[[C0]], %[[C0]]) mask_mod (
// CHECK: arith.subi %[[N]], %[[M]]
// CHECK: outs(%[[ACC]], %[[MAX]], %[[SUM]]) {schedule = #attn.schedule<tile_m = 64>}
// CHECK: attn.normalize {{.*}} -> tensor<?x8x?x32xf16>, tensor<?x8x?xf32>
func.func @dynamic(%q: tensor<?x8x?x64xf16>, %k: tensor<?x2x?x64xf16>,
                   %v: tensor<?x2x?x32xf16>)
    -> (tensor<?x8x?x32xf16>, tensor<?x8x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<tile_m = 64>}
      : tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>
      -> tensor<?x8x?x32xf16>, tensor<?x8x?xf32>
  return %o, %lse : tensor<?x8x?x32xf16>, tensor<?x8x?xf32>
}

// Scale, bias and both regions are kept; f64 has f64 statistics.
// CHECK-LABEL: @f64
// CHECK: attn.online_attention {{.*}} bias(%{{.*}} : tensor<1x1x1x9xf64>) scale(5.000000e-01) offsets({{.*}}) score_mod soft_cap(3.000000e+01 : f64) mask_mod sliding_window(2, 0) outs
// CHECK-SAME: -> tensor<1x2x7x8xf64>, tensor<1x2x7xf64>, tensor<1x2x7xf64>
func.func @f64(%q: tensor<1x2x7x8xf64>, %k: tensor<1x2x9x8xf64>,
               %bias: tensor<1x1x1x9xf64>) -> tensor<1x2x7x8xf64> {
  %o = attn.attention %q, %k, %k bias(%bias : tensor<1x1x1x9xf64>) scale(0.5)
      score_mod soft_cap(30.0 : f64) mask_mod sliding_window(2, 0)
      : tensor<1x2x7x8xf64>, tensor<1x2x9x8xf64>, tensor<1x2x9x8xf64>
      -> tensor<1x2x7x8xf64>
  return %o : tensor<1x2x7x8xf64>
}
