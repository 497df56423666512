// RUN: attn-opt %s --attn-grad --split-input-file --verify-diagnostics

// something else is returned
!q = tensor<1x2x4x8xf32>
func.func @f(%q: !q) -> (!q, !q) {
  %o = attn.linear_attention %q, %q, %q : !q, !q, !q -> !q
  // expected-error @+1 {{expected @f to return the output of its linear attention, or that and its final state}}
  return %o, %q : !q, !q
}

// -----

// the decay is computed
!q = tensor<1x2x4x8xf32>
!g = tensor<1x2x4xf32>
func.func @f(%q: !q, %x: !g) -> !q {
  // expected-error @+1 {{cannot be differentiated: expected what the attention reads to be an argument of @f}}
  %g = arith.negf %x : !g
  %o = attn.linear_attention %q, %q, %q decay(%g : !g) : !q, !q, !q -> !q
  return %o : !q
}

// -----

// key is computed
!q = tensor<1x2x4x8xf32>
func.func @f(%q: !q) -> !q {
  %k = arith.negf %q : !q
  // expected-error @+1 {{expected key to be an argument of @f}}
  %o = attn.linear_attention %q, %k, %q : !q, !q, !q -> !q
  return %o : !q
}

// -----

// nothing of the final state comes back
!q = tensor<1x2x4x8xf32>
!s = tensor<1x2x8x8xf32>
func.func @f(%q: !q) -> (!q, !s) {
  // expected-error @+1 {{expected a scale from 1e-30 to 1e30, or from -1e30 to -1e-30, by which the gradient of the final state is divided}}
  %o, %s = attn.linear_attention %q, %q, %q scale(0.0) : !q, !q, !q -> !q, !s
  return %o, %s : !q, !s
}
