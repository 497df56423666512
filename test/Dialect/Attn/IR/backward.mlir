// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: func @plain
func.func @plain(%q: tensor<?x32x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>,
                 %o: tensor<?x32x?x64xbf16>, %lse: tensor<?x32x?xf32>, %do: tensor<?x32x?x64xbf16>)
    -> (tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xf32>) {
  // CHECK: attn.attention_backward %{{.*}}, %{{.*}}, %{{.*}} output(%{{.*}} : tensor<?x32x?x64xbf16>) lse(%{{.*}} : tensor<?x32x?xf32>) d_output(%{{.*}} : tensor<?x32x?x64xbf16>) scale(1.250000e-01) mask_mod causal(bottom_right) : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xf32>
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<?x32x?x64xbf16>)
      lse(%lse : tensor<?x32x?xf32>) d_output(%do : tensor<?x32x?x64xbf16>)
      scale(0.125) mask_mod causal(bottom_right)
      : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
      -> tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xf32>
  return %d#0, %d#1, %d#2 : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xf32>
}

// CHECK-LABEL: func @everything
func.func @everything(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x6x16xf32>, %v: tensor<1x2x6x8xf32>,
                      %bias: tensor<1x4x1x6xf32>, %o: tensor<1x4x8x8xf32>, %lse: tensor<1x4x8xf32>,
                      %do: tensor<1x4x8x8xf32>, %dlse: tensor<1x4x8xf32>, %slopes: tensor<4xf16>)
    -> (tensor<1x4x1x6xf32>, tensor<4xf16>) {
  // CHECK: bias(%{{.*}} : tensor<1x4x1x6xf32>)
  // CHECK-SAME: d_lse(%{{.*}} : tensor<1x4x8xf32>) captures(%{{.*}} : tensor<4xf16>)
  // CHECK: -> tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x8xf32> d_bias(tensor<1x4x1x6xf32>) d_captures(tensor<4xf16>)
  %d:5 = attn.attention_backward %q, %k, %v bias(%bias : tensor<1x4x1x6xf32>)
      output(%o : tensor<1x4x8x8xf32>) lse(%lse : tensor<1x4x8xf32>)
      d_output(%do : tensor<1x4x8x8xf32>) d_lse(%dlse : tensor<1x4x8xf32>)
      captures(%slopes : tensor<4xf16>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf16>
        %wide = arith.extf %slope : f16 to f32
        %r = arith.mulf %wide, %s : f32
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x8xf32>
      -> tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x8xf32>
      d_bias(tensor<1x4x1x6xf32>) d_captures(tensor<4xf16>)
  return %d#3, %d#4 : tensor<1x4x1x6xf32>, tensor<4xf16>
}

// CHECK-LABEL: func @tiles
func.func @tiles(%q: tensor<1x1x32x16xf16>, %k: tensor<1x1x8x16xf16>, %v: tensor<1x1x8x16xf16>,
                 %o: tensor<1x1x32x16xf16>, %lse: tensor<1x1x32xf32>, %do: tensor<1x1x32x16xf16>,
                 %dq: tensor<1x1x32x16xf32>, %dk: tensor<1x1x8x16xf32>, %dv: tensor<1x1x8x16xf32>,
                 %b: index) -> (tensor<1x1x32x16xf32>, tensor<1x1x8x16xf32>) {
  // CHECK: %[[DELTA:.+]] = attn.backward_delta %{{.*}}, %{{.*}} : tensor<1x1x32x16xf16>, tensor<1x1x32x16xf16> -> tensor<1x1x32xf32>
  %delta = attn.backward_delta %o, %do
      : tensor<1x1x32x16xf16>, tensor<1x1x32x16xf16> -> tensor<1x1x32xf32>
  // CHECK: %{{.*}} = attn.backward_step {{.*}} delta(%[[DELTA]]) offsets({{.*}}) d_query(%{{.*}} : tensor<1x1x32x16xf32>) : tensor<1x1x32x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x32x16xf16>, tensor<1x1x32xf32>
  %dq1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta)
      offsets(%b, %b, %b, %b) d_query(%dq : tensor<1x1x32x16xf32>)
      : tensor<1x1x32x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x32x16xf16>,
        tensor<1x1x32xf32>
  // CHECK: %{{.*}}, %{{.*}} = attn.backward_step {{.*}} d_key(%{{.*}} : tensor<1x1x8x16xf32>) d_value(%{{.*}} : tensor<1x1x8x16xf32>)
  %dkv:2 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta)
      offsets(%b, %b, %b, %b) d_key(%dk : tensor<1x1x8x16xf32>) d_value(%dv : tensor<1x1x8x16xf32>)
      : tensor<1x1x32x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x32x16xf16>,
        tensor<1x1x32xf32>
  return %dq1, %dkv#0 : tensor<1x1x32x16xf32>, tensor<1x1x8x16xf32>
}

// CHECK-LABEL: func @sums
func.func @sums(%q: tensor<1x1x32x16xf16>, %k: tensor<1x1x8x16xf16>, %lse: tensor<1x1x32xf32>, %ds: tensor<1x1x32x8xf32>,
                %slopes: tensor<?xf16>, %b: index) -> (tensor<?xf16>, tensor<?xf32>) {
  // CHECK: attn.backward_step {{.*}} d_scores(%{{.*}} : tensor<1x1x32x8xf32>) : tensor<1x1x32x16xf16>
  %0 = attn.backward_step %q, %k, %k d_output(%q) lse(%lse) delta(%lse) offsets(%b, %b, %b, %b)
      d_scores(%ds : tensor<1x1x32x8xf32>)
      : tensor<1x1x32x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x32x16xf16>, tensor<1x1x32xf32>
  // CHECK: d_scores(%{{.*}} : tensor<1x1x32x8xf32>) of(%{{.*}} : tensor<?xf16>) : tensor<1x1x32x16xf16>
  %1 = attn.backward_step %q, %k, %k d_output(%q) lse(%lse) delta(%lse) offsets(%b, %b, %b, %b)
      score_mod (%s: f32, %bb: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<?xf16>
        %wide = arith.extf %slope : f16 to f32
        %r = arith.mulf %wide, %s : f32
        attn.yield %r : f32
      } d_scores(%0 : tensor<1x1x32x8xf32>) of(%slopes : tensor<?xf16>)
      : tensor<1x1x32x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x32x16xf16>, tensor<1x1x32xf32>
  // CHECK: attn.backward_sum %{{.*}} like(%{{.*}} : tensor<?xf16>) map #{{.*}} : tensor<1x1x32xf32> -> tensor<?xf16>
  %2 = attn.backward_sum %lse like(%slopes : tensor<?xf16>) map affine_map<(b, h, p) -> (h)> : tensor<1x1x32xf32> -> tensor<?xf16>
  // CHECK: attn.backward_sum %{{.*}} like(%{{.*}} : tensor<?xf16>) lse(%{{.*}} : tensor<1x1x32xf32>) map #{{.*}} : tensor<1x1x32xf32> -> tensor<?xf32>
  %3 = attn.backward_sum %lse like(%slopes : tensor<?xf16>) lse(%lse : tensor<1x1x32xf32>) map affine_map<(b, h, p) -> (h)> : tensor<1x1x32xf32> -> tensor<?xf32>
  return %2, %3 : tensor<?xf16>, tensor<?xf32>
}

!q8 = tensor<?x32x?x64xf8E4M3FN>
!k8 = tensor<?x8x?x64xf8E4M3FN>
!o = tensor<?x32x?x64xbf16>
!kv = tensor<?x8x?x64xbf16>
!rows = tensor<?x32x?xf32>
!one = tensor<1xf32>
// CHECK-LABEL: func @float8
func.func @float8(%q: !q8, %k: !k8, %v: !k8, %o: !o, %lse: !rows, %do: tensor<?x32x?x64xf8E5M2>, %dq: !one, %dk: tensor<?x8xf32>, %s: !one)
    -> (!o, !kv, !rows) {
  // CHECK: attn.attention_backward %{{.*}} d_output(%{{.*}} : tensor<?x32x?x64xf8E5M2>) descale(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<1xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<1xf32>) scale_ds(%{{.*}} : tensor<1xf32>) :
  // CHECK-SAME: -> tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xf32> amax_ds(tensor<?x32x?xf32>)
  %g:4 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !rows) d_output(%do : tensor<?x32x?x64xf8E5M2>)
      descale(%dq, %dk, %dk, %dq : !one, tensor<?x8xf32>, tensor<?x8xf32>, !one) scale_ds(%s : !one)
      : !q8, !k8, !k8 -> !o, !kv, tensor<?x8x?x64xf32> amax_ds(!rows)
  // CHECK: attn.attention_backward %{{.*}} d_output(%{{.*}} : tensor<?x32x?x64xf8E4M3FN>) :
  %h:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !rows) d_output(%q : !q8) : !q8, !k8, !k8 -> !o, !kv, !kv
  return %h#0, %g#1, %g#3 : !o, !kv, !rows
}

// CHECK-LABEL: func @float8_tiles
func.func @float8_tiles(%q: tensor<1x1x64x64xf8E4M3FN>, %do: tensor<1x1x64x64xf8E5M2>, %o: tensor<1x1x64x64xbf16>, %lse: tensor<1x1x64xf32>,
                        %d: !one, %dq: tensor<1x1x64x64xf32>, %c0: index) -> (tensor<1x1x64x64xf32>, tensor<1x1x64xf32>) {
  // CHECK: attn.backward_delta %{{.*}}, %{{.*}} descale(%{{.*}} : tensor<1xf32>) : tensor<1x1x64x64xbf16>, tensor<1x1x64x64xf8E5M2> -> tensor<1x1x64xf32>
  %delta = attn.backward_delta %o, %do descale(%d : !one) : tensor<1x1x64x64xbf16>, tensor<1x1x64x64xf8E5M2> -> tensor<1x1x64xf32>
  // CHECK: attn.backward_step %{{.*}} delta(%{{.*}}) descale(%{{.*}} : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) scale_ds(%{{.*}} : tensor<1xf32>) offsets
  // CHECK-SAME: d_query(%{{.*}} : tensor<1x1x64x64xf32>) amax(%{{.*}} : tensor<1x1x64xf32>)
  %g:2 = attn.backward_step %q, %q, %q d_output(%do) lse(%lse) delta(%delta) descale(%d, %d, %d, %d : !one, !one, !one, !one) scale_ds(%d : !one)
      offsets(%c0, %c0, %c0, %c0) d_query(%dq : tensor<1x1x64x64xf32>) amax(%lse : tensor<1x1x64xf32>)
      : tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E5M2>, tensor<1x1x64xf32>
  return %g#0, %g#1 : tensor<1x1x64x64xf32>, tensor<1x1x64xf32>
}
