// RUN: attn-opt %s --split-input-file --verify-diagnostics

// linear_attention_c1
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x3x8x32xf16>, %v: tensor<2x3x8x24xf16>) {
  // expected-error @+1 {{expected the number of query heads to be a multiple of the number of key heads, got Hq = 4 and Hkv = 3}}
  %o = attn.linear_attention %q, %k, %v 
      : tensor<2x4x8x32xf16>, tensor<2x3x8x32xf16>, tensor<2x3x8x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c1
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>) {
  // expected-error @+1 {{expected scale to be finite}}
  %o = attn.linear_attention %q, %k, %v scale(0x7FF0000000000000)
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c2
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x9x32xf16>, %v: tensor<2x2x9x24xf16>) {
  // expected-error @+1 {{expected key dimension N to be 8 as in query, got 9}}
  %o = attn.linear_attention %q, %k, %v 
      : tensor<2x4x8x32xf16>, tensor<2x2x9x32xf16>, tensor<2x2x9x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c3
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>) {
  // expected-error @+1 {{expected output dimension Dv to be 24 as in the inputs, got 32}}
  %o = attn.linear_attention %q, %k, %v 
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x32xf16>
  return
}

// -----

// linear_attention_c3
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>) {
  // expected-error @+1 {{expected element type of output to be 'f16' or 'f32', got 'bf16'}}
  %o = attn.linear_attention %q, %k, %v 
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x24xbf16>
  return
}

// -----

// linear_attention_c4
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>, %g: tensor<2x4x8xf32>, %a: tensor<4xf32>) {
  // expected-error @+1 {{expected decay or slope, got both}}
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<2x4x8xf32>) slope(%a : tensor<4xf32>)
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c4
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>, %g: tensor<2x4x7xf32>) {
  // expected-error @+1 {{expected decay dimension M to be 8 as in the inputs, got 7}}
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<2x4x7xf32>)
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c4
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>, %a: tensor<4xf64>) {
  // expected-error @+1 {{expected element type of slope to be 'f32', got 'f64'}}
  %o = attn.linear_attention %q, %k, %v slope(%a : tensor<4xf64>)
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c5
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>, %s: tensor<2x2x32x24xf32>) {
  // expected-error @+1 {{expected state dimension Hq to be 4 as in the inputs, got 2}}
  %o = attn.linear_attention %q, %k, %v state(%s : tensor<2x2x32x24xf32>)
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c5
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x8x32xf16>, %v: tensor<2x2x8x24xf16>) {
  // expected-error @+1 {{expected the final state dimension D to be 32 as in the inputs, got 24}}
  %o, %t = attn.linear_attention %q, %k, %v 
      : tensor<2x4x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x24xf16> -> tensor<2x4x8x24xf16>, tensor<2x4x24x24xf32>
  return
}

// -----

// linear_attention_c6
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x9x32xf16>, %v: tensor<2x2x9x24xf16>, %a: tensor<4xf32>) {
  // expected-error @+1 {{expected no reverse, decay or slope with full, where no position is before another}}
  %o = attn.linear_attention %q, %k, %v reverse full
      : tensor<2x4x8x32xf16>, tensor<2x2x9x32xf16>, tensor<2x2x9x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c6
func.func @f(%q: tensor<2x4x8x32xf16>, %k: tensor<2x2x9x32xf16>, %v: tensor<2x2x9x24xf16>, %a: tensor<4xf32>) {
  // expected-error @+1 {{expected no reverse, decay or slope with full, where no position is before another}}
  %o = attn.linear_attention %q, %k, %v full slope(%a : tensor<4xf32>)
      : tensor<2x4x8x32xf16>, tensor<2x2x9x32xf16>, tensor<2x2x9x24xf16> -> tensor<2x4x8x24xf16>
  return
}

// -----

// linear_attention_c7
func.func @f(%q: tensor<1x4x130x32xf16>) {
  // expected-error @+1 {{expected states dimension ceil(M / 64) to be 3 as in the inputs, got 2}}
  %o, %s = attn.linear_attention %q, %q, %q
      : tensor<1x4x130x32xf16>, tensor<1x4x130x32xf16>, tensor<1x4x130x32xf16> -> tensor<1x4x130x32xf16> states tensor<1x4x2x32x32xf32>
  return
}

// -----

// linear_attention_c7
func.func @f(%q: tensor<1x4x130x32xf16>) {
  // expected-error @+1 {{expected no states with full, which has one state}}
  %o, %s = attn.linear_attention %q, %q, %q full
      : tensor<1x4x130x32xf16>, tensor<1x4x130x32xf16>, tensor<1x4x130x32xf16> -> tensor<1x4x130x32xf16> states tensor<1x4x3x32x32xf32>
  return
}
