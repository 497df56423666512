// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// attention_c4, as in the forward
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>, %z: index, %dq: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{expected the number of query heads to be a multiple of the number of key heads, got Hq = 1 and Hkv = 2}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x8x16xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c1
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>, %z: index, %dq: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{expected 4 offsets (b, h, i, j), got 3}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z) d_query(%dq : tensor<1x1x8x16xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c2
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x6x16xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>, %z: index, %dq: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{expected d_output dimension M to be 8 as in the inputs, got 6}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x8x16xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c2
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x6xf32>, %delta: tensor<1x1x6xf32>, %z: index, %dq: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{expected lse dimension M to be 8 as in the inputs, got 6}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x8x16xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x6xf32>
  return
}

// -----

// backward_step_c2
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf64>, %delta: tensor<1x1x8xf64>, %z: index, %dq: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{expected element type of lse to be 'f32', got 'f64'}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x8x16xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf64>
  return
}

// -----

// backward_step_c3
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>, %z: index) {
  // expected-error @+1 {{expected d_query, d_key or d_value, or d_scores alone}}
  attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c4
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>, %z: index, %dq: tensor<1x1x8x16xf64>) {
  // expected-error @+1 {{expected element type of d_query to be 'f32', got 'f64'}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x8x16xf64>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c4
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>, %z: index, %dq: tensor<1x1x6x16xf32>) {
  // expected-error @+1 {{expected d_query to have the shape of query, 'tensor<1x1x8x16xf16>', got 'tensor<1x1x6x16xf32>'}}
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z) d_query(%dq : tensor<1x1x6x16xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_step_c5
func.func @f(%q: tensor<1x1x8x16xf16>, %k: tensor<1x1x6x16xf16>, %v: tensor<1x1x6x16xf16>, %do: tensor<1x1x8x16xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>, %z: index, %dq: tensor<1x1x8x16xf32>) {
  %r:1 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) offsets(%z, %z, %z, %z) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{'arith.bitcast' op cannot be differentiated}}
        %n = arith.bitcast %s : f32 to i32
        %r = arith.bitcast %n : i32 to f32
        attn.yield %r : f32
      } d_query(%dq : tensor<1x1x8x16xf32>)
      : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x6x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8xf32>
  return
}

// -----

// backward_delta_c1
func.func @f(%o: tensor<1x1x8x16xf16>, %do: tensor<1x1x6x16xf16>) {
  // expected-error @+1 {{expected output and d_output to have one shape, got 'tensor<1x1x8x16xf16>' and 'tensor<1x1x6x16xf16>'}}
  %d = attn.backward_delta %o, %do : tensor<1x1x8x16xf16>, tensor<1x1x6x16xf16> -> tensor<1x1x8xf32>
  return
}

// -----

// backward_delta_c1
func.func @f(%o: tensor<1x1x8x16xf16>, %do: tensor<1x1x8x16xf16>) {
  // expected-error @+1 {{expected delta to have the rows of output, 'tensor<1x1x8x16xf16>', got 'tensor<1x1x6xf32>'}}
  %d = attn.backward_delta %o, %do : tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16> -> tensor<1x1x6xf32>
  return
}

// -----

// backward_delta_c2
func.func @f(%o: tensor<1x1x8x16xf16>, %do: tensor<1x1x8x16xf16>, %dl: tensor<1x1x6xf32>) {
  // expected-error @+1 {{expected d_lse to have the type of delta, 'tensor<1x1x8xf32>', got 'tensor<1x1x6xf32>'}}
  %d = attn.backward_delta %o, %do d_lse(%dl : tensor<1x1x6xf32>) : tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16> -> tensor<1x1x8xf32>
  return
}
