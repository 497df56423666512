// RUN: attn-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected epsilon to be finite and at least 0, got -1}}
#sum = #attn.sum<-1.0>

// -----

// attention_c18
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected no lse with normalization #attn.none}}
  %o, %l = attn.attention %q, %q, %q normalization(#attn.none)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// attention_c18
func.func @f(%q: tensor<1x2x4x8xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{expected no sink with normalization #attn.sum}}
  %o = attn.attention %q, %q, %q sink(%s : tensor<2xf32>) normalization(#attn.sum<0.0>)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c18: what is no row reduction.
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{Invalid attribute `normalization` in property conversion: 1 : i32}}
  %o = "attn.attention"(%q, %q, %q) <{normalization = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> ({}, {}, {})
      : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

// online_attention_c2
func.func @f(%q: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>, %i: index) {
  // expected-error @+1 {{expected row values () with normalization #attn.none, got 1}}
  %s:2 = attn.online_attention %q, %q, %q offsets(%i, %i, %i, %i) normalization(#attn.none) outs(%q, %l)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// online_attention_c2
func.func @f(%q: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>, %i: index) {
  // expected-error @+1 {{expected row values (max, sum) with normalization #attn.softmax, got 1}}
  %s:2 = attn.online_attention %q, %q, %q offsets(%i, %i, %i, %i) outs(%q, %l)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// normalize_c3
func.func @f(%q: tensor<1x2x4x8xf32>, %m: tensor<1x2x4xf32>, %l: tensor<1x2x?xf32>) {
  // expected-error @+1 {{expected row values of one type, got 'tensor<1x2x4xf32>' and 'tensor<1x2x?xf32>'}}
  %o = "attn.normalize"(%q, %m, %l) <{operandSegmentSizes = array<i32: 1, 2, 0, 0>, scale = 1.0 : f64}>
      : (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>, tensor<1x2x?xf32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

// normalize_c6
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected neither lse nor sink with normalization #attn.none}}
  %o, %l = attn.normalize %q normalization(#attn.none) : tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}

// -----

// attention_backward_c9
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected output with normalization #attn.softmax}}
  %d:3 = attn.attention_backward %q, %q, %q d_output(%q : tensor<1x2x4x8xf32>)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
  return
}

// -----

// attention_backward_c9
func.func @f(%q: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected no lse with normalization #attn.none}}
  %d:3 = attn.attention_backward %q, %q, %q lse(%l : tensor<1x2x4xf32>) d_output(%q : tensor<1x2x4x8xf32>) normalization(#attn.none)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
  return
}

// -----

// attention_backward_c9
func.func @f(%q: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected neither d_lse nor sink nor amax_ds with normalization #attn.none}}
  %d:3 = attn.attention_backward %q, %q, %q d_output(%q : tensor<1x2x4x8xf32>) d_lse(%l : tensor<1x2x4xf32>) normalization(#attn.none)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
  return
}

// -----

// attention_backward_c9
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected normalization #attn.softmax or #attn.none, got #attn.sum<}}
  %d:3 = attn.attention_backward %q, %q, %q d_output(%q : tensor<1x2x4x8xf32>) normalization(#attn.sum<0.0>)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
  return
}

// -----

// backward_step_c8
func.func @f(%q: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>, %i: index) {
  // expected-error @+1 {{expected no lse with normalization #attn.none}}
  %d = attn.backward_step %q, %q, %q d_output(%q) lse(%l) delta(%l) normalization(#attn.none)
      offsets(%i, %i, %i, %i) d_query(%q : tensor<1x2x4x8xf32>)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return
}
