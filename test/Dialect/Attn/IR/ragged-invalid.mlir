// RUN: attn-opt %s --split-input-file --verify-diagnostics

// ragged_c1
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<?xi32>) {
  // expected-error @+1 {{expected element type of result to be 'bf16', got 'f16'}}
  %q = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<?xi32>] -> tensor<?x8x?x64xf16>
  return
}

// -----

// ragged_c1
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<?xf32>) {
  // expected-error @+1 {{operand #1 must be 1D tensor of i32 or i64 values, but got 'tensor<?xf32>'}}
  %q = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<?xf32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// ragged_c2
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<0xi32>) {
  // expected-error @+1 {{expected an offset for each sequence and the end of the last, got none}}
  %q = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<0xi32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// ragged_c2
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<4xi32>) {
  // expected-error @+1 {{expected result dimension 0 to be 3 as in the sequences, got 4}}
  %q = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<4xi32>] -> tensor<4x8x?x64xbf16>
  return
}

// -----

// ragged_c2
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<4xi32>) {
  // expected-error @+1 {{expected result dimension 1 to be 8 as in the packed tensor, got 4}}
  %q = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<4xi32>] -> tensor<3x4x?x64xbf16>
  return
}

// -----

// pack_c1
func.func @f(%s: tensor<?x8x?x64xbf16>, %o: tensor<?xi32>, %e: tensor<8x?xbf16>) {
  // expected-error @+1 {{expected a destination of rank 3, got 'tensor<8x?xbf16>'}}
  %q = attn.pack %s[%o] into %e : tensor<?x8x?x64xbf16>[tensor<?xi32>] into tensor<8x?xbf16>
  return
}

// -----

// pack_c1
func.func @f(%s: tensor<?x8x?x64xbf16>, %o: tensor<?xi32>, %e: tensor<?x8x64xf32>) {
  // expected-error @+1 {{expected element type of destination to be 'bf16', got 'f32'}}
  %q = attn.pack %s[%o] into %e : tensor<?x8x?x64xbf16>[tensor<?xi32>] into tensor<?x8x64xf32>
  return
}

// -----

// pack_c2
func.func @f(%s: tensor<4x8x?x64xbf16>, %o: tensor<4xi32>, %e: tensor<?x8x64xbf16>) {
  // expected-error @+1 {{expected source dimension 0 to be 3 as in the sequences, got 4}}
  %q = attn.pack %s[%o] into %e : tensor<4x8x?x64xbf16>[tensor<4xi32>] into tensor<?x8x64xbf16>
  return
}

// -----

// pack_c2
func.func @f(%s: tensor<3x8x?xf32>, %o: tensor<4xi32>, %e: tensor<4x?xf32>) {
  // expected-error @+1 {{expected destination dimension 0 to be 8 as in source, got 4}}
  %q = attn.pack %s[%o] into %e : tensor<3x8x?xf32>[tensor<4xi32>] into tensor<4x?xf32>
  return
}

// -----

// sequence_lengths_c1
func.func @f(%o: tensor<4xi32>) {
  // expected-error @+1 {{expected lengths dimension 0 to be 3 as in the sequences, got 4}}
  %n = attn.sequence_lengths %o : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

// sequence_lengths_c1
func.func @f(%o: tensor<4xi32>) {
  // expected-error @+1 {{expected element type of lengths to be 'i32', got 'i64'}}
  %n = attn.sequence_lengths %o : tensor<4xi32> -> tensor<3xi64>
  return
}

// -----

// attention_c22
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<?xi32>, %k: tensor<?x8x?x64xbf16>, %n: tensor<?xi32>) {
  // expected-note @+1 {{view here}}
  %q = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<?xi32>] -> tensor<?x8x?x64xbf16>
  // expected-error @+1 {{expected query lengths that are the attn.sequence_lengths of the offsets of its view}}
  %r = attn.attention %q, %k, %k lengths(query %n : tensor<?xi32>)
      : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// attention_c22: of other offsets
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<?xi32>, %other: tensor<?xi32>, %q: tensor<?x8x?x64xbf16>) {
  // expected-note @+1 {{view here}}
  %k = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<?xi32>] -> tensor<?x8x?x64xbf16>
  %n = attn.sequence_lengths %other : tensor<?xi32> -> tensor<?xi32>
  // expected-error @+1 {{expected key lengths that are the attn.sequence_lengths of the offsets of its view}}
  %r = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>)
      : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// attention_backward_c10
func.func @f(%p: tensor<?x8x64xbf16>, %o: tensor<?xi32>, %k: tensor<?x8x?x64xbf16>, %lse: tensor<?x8x?xf32>) {
  // expected-note @+1 {{view here}}
  %q = attn.ragged %p[%o] : tensor<?x8x64xbf16>[tensor<?xi32>] -> tensor<?x8x?x64xbf16>
  // expected-error @+1 {{expected no view of sequences behind each other: a backward has no lengths}}
  %a, %b, %c = attn.attention_backward %q, %k, %k output(%k : tensor<?x8x?x64xbf16>) lse(%lse : tensor<?x8x?xf32>) d_output(%k : tensor<?x8x?x64xbf16>)
      : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
  return
}
