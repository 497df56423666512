// RUN: attn-opt %s --split-input-file --verify-diagnostics

// attention_c19
func.func @f(%q: tensor<2x2x4x8xf16>, %n: tensor<3xi32>) {
  // expected-error @+1 {{expected key lengths dimension 0 to be 2 as in query, got 3}}
  %o = attn.attention %q, %q, %q lengths(key %n : tensor<3xi32>)
      : tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16> -> tensor<2x2x4x8xf16>
  return
}

// -----

// attention_c19
func.func @f(%q: tensor<2x2x4x8xf16>, %n: tensor<3xi64>) {
  // expected-error @+1 {{expected query lengths dimension 0 to be 2 as in query, got 3}}
  %o = attn.attention %q, %q, %q lengths(query %n : tensor<3xi64>)
      : tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16> -> tensor<2x2x4x8xf16>
  return
}

// -----

// attention_c19
func.func @f(%q: tensor<2x2x4x8xf16>, %n: tensor<2xf32>) {
  // expected-error @+1 {{operand #3 must be 1D tensor of i32 or i64 values, but got 'tensor<2xf32>'}}
  %o = attn.attention %q, %q, %q lengths(key %n : tensor<2xf32>)
      : tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16> -> tensor<2x2x4x8xf16>
  return
}

// -----

func.func @f(%q: tensor<2x2x4x8xf16>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expected lengths of key or query, got 'value'}}
  %o = attn.attention %q, %q, %q lengths(value %n : tensor<2xi32>)
      : tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16> -> tensor<2x2x4x8xf16>
  return
}

// -----

func.func @f(%q: tensor<2x2x4x8xf16>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expected one length of a kind, got two}}
  %o = attn.attention %q, %q, %q lengths(key %n : tensor<2xi32>, key %n : tensor<2xi32>)
      : tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16>, tensor<2x2x4x8xf16> -> tensor<2x2x4x8xf16>
  return
}
