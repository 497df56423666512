// RUN: attn-opt %s --split-input-file --verify-diagnostics

// attention_c17
func.func @f(%q: tensor<1x2x4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected the rate of dropout to be at least 0 and below 1, got 1}}
  %o = attn.attention %q, %q, %q dropout(%s, %s) rate(1.0)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c17
func.func @f(%q: tensor<1x2x4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected the rate of dropout to be at least 0 and below 1, got -5.000000e-01}}
  %o = attn.attention %q, %q, %q dropout(%s, %s) rate(-0.5)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c17
func.func @f(%q: tensor<1x2x4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected dropout to have a seed, an offset and a rate}}
  %o = "attn.attention"(%q, %q, %q, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 0>}> ({}, {}, {})
      : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, i64) -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c17, for a backward.
func.func @f(%q: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>, %s: i64) {
  // expected-error @+1 {{expected the rate of dropout to be at least 0 and below 1, got 2}}
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x4x8xf32>) lse(%l : tensor<1x2x4xf32>)
      d_output(%q : tensor<1x2x4x8xf32>) dropout(%s, %s) rate(2.0)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
      -> tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c17, for tiles.
func.func @f(%q: tensor<1x2x4x8xf32>, %c: index, %m: tensor<1x2x4xf32>, %s: i64) {
  // expected-error @+1 {{expected the rate of dropout to be at least 0 and below 1, got 1}}
  %r:3 = attn.online_attention %q, %q, %q offsets(%c, %c, %c, %c) dropout(%s, %s) rate(1.0) outs(%q, %m, %m)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
      -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
  return
}

// -----

// Assembly.
func.func @f(%q: tensor<1x2x4x8xf32>, %s: i32) { // expected-note {{prior use here}}
  // expected-error @+1 {{use of value '%s' expects different type than prior uses: 'i64' vs 'i32'}}
  %o = attn.attention %q, %q, %q dropout(%s, %s) rate(0.5)
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// Assembly.
func.func @f(%q: tensor<1x2x4x8xf32>, %s: i64) {
  %o = attn.attention %q, %q, %q dropout(%s, %s)
      // expected-error @+1 {{expected 'rate'}}
      : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// normalize_c5
func.func @f(%a: tensor<1x2x4x8xf32>, %m: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected scale to be finite, got INF}}
  %o = "attn.normalize"(%a, %m, %m) <{operandSegmentSizes = array<i32: 1, 2, 0, 0>, scale = 0x7FF0000000000000 : f64}>
      : (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4x8xf32>
  return
}
