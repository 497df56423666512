// RUN: attn-opt %s --split-input-file --verify-diagnostics

!q = tensor<2x4x8x32xf8E4M3FN>
!k = tensor<2x2x8x32xf8E4M3FN>
func.func @wide_value(%q: !q, %k: tensor<2x2x8x32xf8E5M2>, %v: tensor<2x2x8x32xf16>) {
  // expected-error @+1 {{expected element type of value to be f8E4M3FN or f8E5M2 beside a query of 'f8E4M3FN', got 'f16'}}
  %o = attn.attention %q, %k, %v : !q, tensor<2x2x8x32xf8E5M2>, tensor<2x2x8x32xf16> -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @output(%q: !q) {
  // expected-error @+1 {{expected element type of output to be f16, bf16 or f32 with inputs of 'f8E4M3FN', got 'f64'}}
  %o = attn.attention %q, %q, %q : !q, !q, !q -> tensor<2x4x8x32xf64>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @bytes_out(%q: !q) {
  // expected-error @+1 {{result #0 must be 4D tensor of f16, bf16, f32 or f64 values}}
  %o = attn.attention %q, %q, %q : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FNUZ>
func.func @other_format(%q: !q) {
  // expected-error @+1 {{operand #0 must be 4D tensor of f8E4M3FN, f8E5M2, f16, bf16, f32, f64 or i8 values}}
  %o = attn.attention %q, %q, %q : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @sink(%q: !q, %s: tensor<4xbf16>) {
  // expected-error @+1 {{expected element type of sink to be 'f32', got 'bf16'}}
  %o = attn.attention %q, %q, %q sink(%s : tensor<4xbf16>) : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @weights(%q: !q) {
  // expected-error @+1 {{expected normalization #attn.softmax with inputs of 'f8E4M3FN', got #attn.none}}
  %o = attn.attention %q, %q, %q normalization(#attn.none) : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @two(%q: !q, %d: tensor<1xf32>) {
  // expected-error @+1 {{expected descales of query, key and value, which have 8 bits, got 2}}
  %o = attn.attention %q, %q, %q descale(%d, %d : tensor<1xf32>, tensor<1xf32>) : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf16>
func.func @wide(%q: !q, %d: tensor<1xf32>) {
  // expected-error @+1 {{expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got 'f16'}}
  %o = attn.attention %q, %q, %q descale(%d, %d, %d : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @bias(%q: !q, %d: tensor<1xf32>, %b: tensor<1x1x8x8xf32>) {
  // expected-error @+1 {{expected no bias with descale: add it in score_mod}}
  %o = attn.attention %q, %q, %q bias(%b : tensor<1x1x8x8xf32>) descale(%d, %d, %d : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
      : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @vector(%q: !q, %d: tensor<1xf32>, %h: tensor<4xf32>) {
  // expected-error @+1 {{expected the descale of key to be [1] or [B, Hkv], got a vector of 4}}
  %o = attn.attention %q, %q, %q descale(%d, %h, %d : tensor<1xf32>, tensor<4xf32>, tensor<1xf32>) : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @heads(%q: !q, %d: tensor<1xf32>, %h: tensor<2x2xf32>) {
  // expected-error @+1 {{expected the descale of value dimension Hkv to be 4 as in the inputs, got 2}}
  %o = attn.attention %q, %q, %q descale(%d, %d, %h : tensor<1xf32>, tensor<1xf32>, tensor<2x2xf32>) : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

!q = tensor<2x4x8x32xf8E4M3FN>
func.func @type(%q: !q, %d: tensor<1xf16>) {
  // expected-error @+1 {{must be variadic of tensor of f32 of rank 1 or 2}}
  %o = attn.attention %q, %q, %q descale(%d, %d, %d : tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) : !q, !q, !q -> tensor<2x4x8x32xf32>
  return
}

// -----

func.func @normalize(%acc: tensor<1x4x8x16xf32>, %row: tensor<1x4x8xf32>, %d: tensor<?xf32>) {
  // expected-error @+1 {{expected descale to be [1] or [B, Hkv], got a vector of a dynamic size}}
  %o = attn.normalize %acc, %row, %row descale(%d : tensor<?xf32>) : tensor<1x4x8x16xf32>, tensor<1x4x8xf32> -> tensor<1x4x8x16xf16>
  return
}

// -----

!q = tensor<2x4x8x32xf16>
!k = tensor<2x2x8x32xf8E4M3FN>
func.func @cache(%q: !q, %k: !k, %d: tensor<1xf32>) {
  // expected-error @+1 {{expected descales of key and value, which have 8 bits, got 3}}
  %o = attn.attention %q, %k, %k descale(%d, %d, %d : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) : !q, !k, !k -> !q
  return
}

// -----

!q = tensor<2x4x8x32xf16>
!k = tensor<2x2x8x32xf8E4M3FN>
func.func @cache_types(%q: !q, %k: !k, %v: tensor<2x2x8x32xf8E5M2>) {
  // expected-error @+1 {{expected element type of value to be 'f8E4M3FN', got 'f8E5M2'}}
  %o = attn.attention %q, %k, %v : !q, !k, tensor<2x2x8x32xf8E5M2> -> !q
  return
}

// -----

!q = tensor<2x4x8x32xf64>
!k = tensor<2x2x8x32xf8E4M3FN>
func.func @cache_f64(%q: !q, %k: !k) {
  // expected-error @+1 {{expected element type of key to be 'f64', got 'f8E4M3FN'}}
  %o = attn.attention %q, %k, %k : !q, !k, !k -> !q
  return
}

// -----

!q = tensor<2x4x8x32xf16>
!k = tensor<2x2x8x32xf16>
func.func @cache_wide(%q: !q, %k: !k, %d: tensor<1xf32>) {
  // expected-error @+1 {{expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got 'f16'}}
  %o = attn.attention %q, %k, %k descale(%d, %d : tensor<1xf32>, tensor<1xf32>) : !q, !k, !k -> !q
  return
}

// -----

!q = tensor<2x4x8x32xf16>
!k = tensor<2x2x8x32xf8E4M3FN>
func.func @cache_descale(%q: !q, %k: !k, %d: tensor<1xf32>, %e: tensor<2x4xf32>) {
  // expected-error @+1 {{the descale of value}}
  %o = attn.attention %q, %k, %k descale(%d, %e : tensor<1xf32>, tensor<2x4xf32>) : !q, !k, !k -> !q
  return
}

// -----

// attention_c2
func.func @values(%q: tensor<1x2x16x32xi8>) {
  // expected-error @+1 {{expected values of f8E4M3FN, f8E5M2, f16, bf16 or f32 beside a query of i8, got 'i8'}}
  %o = attn.attention %q, %q, %q : tensor<1x2x16x32xi8>, tensor<1x2x16x32xi8>, tensor<1x2x16x32xi8> -> tensor<1x2x16x32xf16>
  return
}

// -----

// attention_c2
func.func @mixed(%q: tensor<1x2x16x32xf16>, %k: tensor<1x2x16x32xi8>, %v: tensor<1x2x16x32xf8E4M3FN>) {
  // expected-error @+1 {{expected element type of value to be 'i8', got 'f8E4M3FN'}}
  %o = attn.attention %q, %k, %v : tensor<1x2x16x32xf16>, tensor<1x2x16x32xi8>, tensor<1x2x16x32xf8E4M3FN> -> tensor<1x2x16x32xf16>
  return
}

// -----

// attention_c2
func.func @beside_bytes(%q: tensor<1x2x16x32xf8E4M3FN>, %k: tensor<1x2x16x32xi8>) {
  // expected-error @+1 {{expected element type of key to be f8E4M3FN or f8E5M2 beside a query of 'f8E4M3FN', got 'i8'}}
  %o = attn.attention %q, %k, %k : tensor<1x2x16x32xf8E4M3FN>, tensor<1x2x16x32xi8>, tensor<1x2x16x32xi8> -> tensor<1x2x16x32xf16>
  return
}

// -----

// attention_c2
func.func @keys(%q: tensor<1x2x16x32xi8>, %k: tensor<1x2x16x32xf16>) {
  // expected-error @+1 {{expected element type of key to be 'i8', got 'f16'}}
  %o = attn.attention %q, %k, %k : tensor<1x2x16x32xi8>, tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16> -> tensor<1x2x16x32xf16>
  return
}

// -----

// attention_c20
func.func @integers(%q: tensor<1x2x16x32xi8>, %v: tensor<1x2x16x32xf16>, %d: tensor<1xf32>) {
  // expected-error @+1 {{expected descales of query and key, which have 8 bits, got 3}}
  %o = attn.attention %q, %q, %v descale(%d, %d, %d : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
      : tensor<1x2x16x32xi8>, tensor<1x2x16x32xi8>, tensor<1x2x16x32xf16> -> tensor<1x2x16x32xf16>
  return
}

// -----

// attention_c21
func.func @weights(%q: tensor<1x2x16x32xi8>, %v: tensor<1x2x16x32xf8E5M2>) {
  // expected-error @+1 {{expected normalization #attn.softmax with inputs of 'f8E5M2', got #attn.none}}
  %o = attn.attention %q, %q, %v normalization(#attn.none)
      : tensor<1x2x16x32xi8>, tensor<1x2x16x32xi8>, tensor<1x2x16x32xf8E5M2> -> tensor<1x2x16x32xf16>
  return
}
