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

// Descales of query and key are a factor of the score, with the scale; that of the value is one of the output.
// CHECK-LABEL: @descale
// CHECK-SAME: %[[DQ:[a-z0-9]*]]: tensor<1xf32>, %[[DK:[a-z0-9]*]]: tensor<1x2xf32>
// CHECK: attn.online_attention {{.*}} scale(1.000000e+00) {{.*}} score_mod (%[[S:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK: %[[D0:.*]] = tensor.extract %[[DQ]][%{{.*}}] : tensor<1xf32>
// CHECK: %[[KV:.*]] = arith.divui %[[H]], %{{.*}} : index
// CHECK: %[[D1:.*]] = tensor.extract %[[DK]][%[[B]], %[[KV]]] : tensor<1x2xf32>
// CHECK: %[[D:.*]] = arith.mulf %[[D0]], %[[D1]] : f32
// CHECK: %[[F:.*]] = arith.mulf %[[D]], %cst{{.*}} : f32
// CHECK: %[[T:.*]] = arith.mulf %[[S]], %[[F]] : f32
// CHECK: math.tanh
// CHECK: attn.normalize {{.*}} descale(%[[DK]] : tensor<1x2xf32>)
func.func @descale(%q: tensor<1x4x7x32xf8E4M3FN>, %k: tensor<1x2x9x32xf8E4M3FN>, %dq: tensor<1xf32>, %dk: tensor<1x2xf32>) -> tensor<1x4x7x32xf16> {
  %o = attn.attention %q, %k, %k descale(%dq, %dk, %dk : tensor<1xf32>, tensor<1x2xf32>, tensor<1x2xf32>) scale(0.5) score_mod soft_cap(30.0)
      : tensor<1x4x7x32xf8E4M3FN>, tensor<1x2x9x32xf8E4M3FN>, tensor<1x2x9x32xf8E4M3FN> -> tensor<1x4x7x32xf16>
  return %o : tensor<1x4x7x32xf16>
}
