// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// backward_step_c3
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %ds: tensor<1x1x8x6xf32>, %dq: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{expected d_query, d_key or d_value, or d_scores alone}}
  %r:2 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x8x16xf32>) d_scores(%ds : tensor<1x1x8x6xf32>) : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c4
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %ds: tensor<1x1x6x8xf32>) {
  // expected-error @+1 {{expected d_scores to have the rows of query and a column for each key, got}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z) d_scores(%ds : tensor<1x1x6x8xf32>) : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c6
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<4xf32>, %dq: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{expected d_scores of a captured tensor}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x8x16xf32>) of(%t : tensor<4xf32>) : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c6
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<4xf32>, %ds: tensor<1x1x8x6xf32>) {
  // expected-error @+1 {{expected score_mod to read the tensor that d_scores is of by tensor.extract}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z) score_mod soft_cap(2.0) d_scores(%ds : tensor<1x1x8x6xf32>) of(%t : tensor<4xf32>) : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_sum_c1
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<4xf32>) {
  // expected-error @+1 {{expected a map from (b, h, p) to the 1 indices of like, got}}
  %r = attn.backward_sum %lse like(%t : tensor<4xf32>) map affine_map<(b, h, p) -> (b, h)> : tensor<1x1x8xf32> -> tensor<4xf32>
  return
}

// -----

// backward_sum_c2
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<4xf32>, %other: tensor<1x1x6xf32>) {
  // expected-error @+1 {{expected lse to have the type of source}}
  %r = attn.backward_sum %lse like(%t : tensor<4xf32>) lse(%other : tensor<1x1x6xf32>) map affine_map<(b, h, p) -> (h)> : tensor<1x1x8xf32> -> tensor<4xf32>
  return
}

// -----

// backward_sum_c3
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<4xf32>) {
  // expected-error @+1 {{expected the result to have the shape of like}}
  %r = attn.backward_sum %lse like(%t : tensor<4xf32>) map affine_map<(b, h, p) -> (h)> : tensor<1x1x8xf32> -> tensor<5xf32>
  return
}

// -----

// attention_backward_c8
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<1xf32>) {
  // expected-error @+1 {{expected d_sink with a sink, and no sink without, got one of both}}
  %r:3 = attn.attention_backward %q, %k, %v output(%do : tensor<1x1x8x16xf16>) lse(%lse : tensor<1x1x8xf32>) d_output(%do : tensor<1x1x8x16xf16>) sink(%t : tensor<1xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16> -> tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>
  return
}

// -----

// attention_backward_c8
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<2xf32>) {
  // expected-error @+1 {{expected sink dimension 0}}
  %r:4 = attn.attention_backward %q, %k, %v output(%do : tensor<1x1x8x16xf16>) lse(%lse : tensor<1x1x8xf32>) d_output(%do : tensor<1x1x8x16xf16>) sink(%t : tensor<2xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16> -> tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16> d_sink(tensor<2xf32>)
  return
}

// -----

// attention_backward_c8
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<1xf32>) {
  // expected-error @+1 {{expected d_sink to have the shape of sink}}
  %r:4 = attn.attention_backward %q, %k, %v output(%do : tensor<1x1x8x16xf16>) lse(%lse : tensor<1x1x8xf32>) d_output(%do : tensor<1x1x8x16xf16>) sink(%t : tensor<1xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16> -> tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16> d_sink(tensor<2xf32>)
  return
}

// -----

// backward_step_c7
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %ds: tensor<1x1x8x6xf32>) {
  // expected-error @+1 {{expected d_scores of a captured tensor, since it is of one read}}
  %r:1 = attn.backward_step %q, %k, %k d_output(%q) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z) d_scores(%ds : tensor<1x1x8x6xf32>) {read = 0 : i64} : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c7
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %lse: tensor<1x1x8xf32>, %z: index, %t: tensor<4xf32>, %ds: tensor<1x1x8x6xf32>) {
  // expected-error @+1 {{expected one of the 1 reads of the captured tensor, got number 1}}
  %r:1 = attn.backward_step %q, %k, %k d_output(%q) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z)
    score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %x = tensor.extract %t[%h] : tensor<4xf32>
      %y = arith.mulf %s, %x : f32
      attn.yield %y : f32
    } d_scores(%ds : tensor<1x1x8x6xf32>) of(%t : tensor<4xf32>) {read = 1 : i64} : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}
