// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// attention_c2
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf16>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected element type of key to be 'f32', got 'f16'}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf16>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c2
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xbf16>) {
  // expected-error @+1 {{expected element type of value to be 'f32', got 'bf16'}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xbf16> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c3
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<3x2x6x8xf32>, %v: tensor<3x2x6x8xf32>) {
  // expected-error @+1 {{expected key dimension B to be 1 as in query, got 3}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<3x2x6x8xf32>, tensor<3x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c3
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<?x2x6x8xf32>, %v: tensor<3x2x6x8xf32>) {
  // expected-error @+1 {{expected value dimension B to be 1 as in query, got 3}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<?x2x6x8xf32>, tensor<3x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c3
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x1x6x8xf32>) {
  // expected-error @+1 {{expected value dimension Hkv to be 2 as in key, got 1}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x1x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c3
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x7x8xf32>) {
  // expected-error @+1 {{expected value dimension N to be 6 as in key, got 7}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x7x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c4
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expected the number of query heads to be a multiple of the number of key heads, got Hq = 2 and Hkv = 4}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c5
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x16xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected key dimension D to be 8 as in query, got 16}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c6
func.func @f(%q: tensor<1x2x4x?xf32>, %k: tensor<1x2x6x?xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected the head dimension D to be static and positive, got a dynamic size}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x?xf32>, tensor<1x2x6x?xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c6
func.func @f(%q: tensor<1x2x4x0xf32>, %k: tensor<1x2x6x0xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected the head dimension D to be static and positive, got 0}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x0xf32>, tensor<1x2x6x0xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c6
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x?xf32>) {
  // expected-error @+1 {{expected the head dimension Dv to be static and positive, got a dynamic size}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x?xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c7
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected element type of output to be 'f32', got 'f16'}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf16>
  return
}

// -----

// attention_c7
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected output dimension Dv to be 8 as in the inputs, got 4}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x4xf32>
  return
}

// -----

// attention_c7
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected output dimension M to be 4 as in the inputs, got 5}}
  %o = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x5x8xf32>
  return
}

// -----

// attention_c8
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected element type of lse to be 'f32', got 'f64'}}
  %o, %l = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf64>
  return
}

// -----

// attention_c8
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected lse dimension Hq to be 2 as in the inputs, got 3}}
  %o, %l = attn.attention %q, %k, %v
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x3x4xf32>
  return
}

// -----

// attention_c9
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>, %b: tensor<1x1x1x5xf32>) {
  // expected-error @+1 {{expected bias dimension N to be 1 or 6, got 5}}
  %o = attn.attention %q, %k, %v bias(%b : tensor<1x1x1x5xf32>)
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c16
func.func @f(%q: tensor<1x2x4x8xf16>, %sink: tensor<3xf32>) {
  // expected-error @+1 {{expected sink dimension 0 to be 2 as in query, got 3}}
  %o = attn.attention %q, %q, %q sink(%sink : tensor<3xf32>)
      : tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16> -> tensor<1x2x4x8xf16>
  return
}

// -----

// attention_c16
func.func @f(%q: tensor<1x2x4x8xf16>, %sink: tensor<2xbf16>) {
  // expected-error @+1 {{expected element type of sink to be 'f16' or 'f32', got 'bf16'}}
  %o = attn.attention %q, %q, %q sink(%sink : tensor<2xbf16>)
      : tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16> -> tensor<1x2x4x8xf16>
  return
}
