// RUN: attn-opt %s --split-input-file --verify-diagnostics

// attention_c23
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected prob_mod to take ('f32', 'index', 'index', 'index', 'index'), got ('f64', 'index', 'index', 'index', 'index')}}
  %o = attn.attention %q, %q, %q prob_mod (%p: f64, %b: index, %h: index, %i: index, %j: index) {
        attn.yield %p : f64
      } : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c23
func.func @f(%q: tensor<1x2x4x8xf16>) {
  %o = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{'attn.yield' op expected prob_mod to yield 'f32', got 'index'}}
        attn.yield %i : index
      } : tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16> -> tensor<1x2x4x8xf16>
  return
}

// -----

// attention_c14
func.func @f(%q: tensor<1x2x4x8xf16>, %t: tensor<1xf32>) {
  %o = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{prob_mod reads out of range: expected dimension 0 to be at least Hq = 2, got 1}}
        %x = tensor.extract %t[%h] : tensor<1xf32>
        attn.yield %x : f32
      } : tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16> -> tensor<1x2x4x8xf16>
  return
}

// -----

// attention_c12
func.func @f(%q: tensor<1x2x4x8xf16>, %m: memref<f32>) {
  %o = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{expected ops in prob_mod to be free of side effects}}
        memref.store %p, %m[] : memref<f32>
        attn.yield %p : f32
      } : tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16> -> tensor<1x2x4x8xf16>
  return
}

// -----

// attention_c24
func.func @f(%q: tensor<1x2x4x8xf16>) {
  // expected-error @+1 {{expected no prob_mod with normalization #attn.none: its score_mod gives the weights}}
  %o = attn.attention %q, %q, %q normalization(#attn.none) prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        attn.yield %p : f32
      } : tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16> -> tensor<1x2x4x8xf16>
  return
}

// -----

// attention_c24
func.func @f(%q: tensor<1x2x4x16xf8E4M3FN>) {
  // expected-error @+1 {{expected inputs of at least 16 bits with prob_mod, got 'f8E4M3FN'}}
  %o = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        attn.yield %p : f32
      } : tensor<1x2x4x16xf8E4M3FN>, tensor<1x2x4x16xf8E4M3FN>, tensor<1x2x4x16xf8E4M3FN> -> tensor<1x2x4x16xf16>
  return
}

// -----

// attention_c24
func.func @f(%p: tensor<?x2x8xf16>, %q: tensor<3x2x?x8xf16>, %offsets: tensor<4xi32>) {
  // expected-note @+1 {{view here}}
  %k = attn.ragged %p[%offsets] : tensor<?x2x8xf16>[tensor<4xi32>] -> tensor<3x2x?x8xf16>
  %n = attn.sequence_lengths %offsets : tensor<4xi32> -> tensor<3xi32>
  // expected-error @+1 {{expected no view of sequences behind each other with a prob_mod that is no factor of the weights}}
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<3xi32>) prob_mod (%x: f32, %b: index, %h: index, %i: index, %j: index) {
        %square = arith.mulf %x, %x : f32
        attn.yield %square : f32
      } : tensor<3x2x?x8xf16>, tensor<3x2x?x8xf16>, tensor<3x2x?x8xf16> -> tensor<3x2x?x8xf16>
  return
}

// -----

!q = tensor<1x1x4x8xf32>
!r = tensor<1x1x4xf32>
// online_attention_c4
func.func @f(%q: !q, %r: !r, %i: index) {
  // expected-error @+1 {{prob_mod}}
  %o:3 = attn.online_attention %q, %q, %q offsets(%i, %i, %i, %i) prob_mod (%p: f32, %b: index, %h: index, %m: index) {
        attn.yield %p : f32
      } outs(%q, %r, %r) : !q, !q, !q -> !q, !r, !r
  return
}

// -----

!q = tensor<1x1x4x8xf32>
!r = tensor<1x1x4xf32>
// online_attention_c5
func.func @f(%q: !q, %r: !r, %i: index) {
  // expected-error @+1 {{expected a prob_mod that is a factor of the weights: what it yields is no multiple of them}}
  %o:3 = attn.online_attention %q, %q, %q offsets(%i, %i, %i, %i) prob_mod (%p: f32, %b: index, %h: index, %m: index, %n: index) {
        %x = arith.mulf %p, %p : f32
        attn.yield %x : f32
      } outs(%q, %r, %r) : !q, !q, !q -> !q, !r, !r
  return
}

// -----

!q = tensor<1x1x4x8xf32>
// online_attention_c5
func.func @f(%q: !q, %i: index) {
  // expected-error @+1 {{expected no prob_mod with normalization #attn.none: its score_mod gives the weights}}
  %o = attn.online_attention %q, %q, %q offsets(%i, %i, %i, %i) normalization(#attn.none) prob_mod (%p: f32, %b: index, %h: index, %m: index, %n: index) {
        attn.yield %p : f32
      } outs(%q) : !q, !q, !q -> !q
  return
}
