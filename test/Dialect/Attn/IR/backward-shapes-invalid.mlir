// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// A backward needs the LSE of its forward.
func.func @f(%q: tensor<1x4x8x16xf16>, %o: tensor<1x4x8x16xf16>) {
  // expected-error @+1 {{expected lse with normalization #attn.softmax}}
  %d:3 = attn.attention_backward %q, %q, %q output(%o : tensor<1x4x8x16xf16>) d_output(%o : tensor<1x4x8x16xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16> -> tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>
  return
}

// -----

// attention_c5, as in the forward
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x12xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected key dimension D to be 16 as in query, got 12}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x12xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x12xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c1
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xbf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected element type of output to be 'f16' or 'f32', got 'bf16'}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xbf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c1
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x9x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected output dimension M to be 8 as in the inputs, got 9}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x9x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c1
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf64>) {
  // expected-error @+1 {{expected element type of d_output to be 'f16' or 'f32', got 'f64'}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf64>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c1
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x16xf16>) {
  // expected-error @+1 {{expected d_output dimension Dv to be 8 as in the inputs, got 16}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x16xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c2
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf64>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected element type of lse to be 'f32', got 'f64'}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf64>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c2
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected lse dimension Hq to be 4 as in the inputs, got 2}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c2
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %dl: tensor<1x4x6xf32>) {
  // expected-error @+1 {{expected d_lse dimension M to be 8 as in the inputs, got 6}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) d_lse(%dl : tensor<1x4x6xf32>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c3
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected d_query to have the shape of query, 'tensor<1x4x8x16xf16>', got 'tensor<1x2x8x16xf16>'}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x2x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c3
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected d_key to have the shape of key, 'tensor<1x2x6x16xf16>', got 'tensor<1x4x6x16xf16>'}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x4x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c3
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected element type of d_value to be 'f16' or 'f32', got 'f64'}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf64>
  return
}

// -----

// attention_backward_c4
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  // expected-error @+1 {{expected a bias, since d_bias is asked for}}
  %d:4 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_bias(tensor<1x4x8x6xf16>)
  return
}

// -----

// attention_backward_c4
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %bias: tensor<1x4x1x6xf16>) {
  // expected-error @+1 {{expected d_bias to have the shape of bias, 'tensor<1x4x1x6xf16>', got 'tensor<1x4x8x6xf16>'}}
  %d:4 = attn.attention_backward %q, %k, %v bias(%bias : tensor<1x4x1x6xf16>) output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_bias(tensor<1x4x8x6xf16>)
  return
}
