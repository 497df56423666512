// A backward by products of 8 bits takes query, key and value of one type.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// attention_backward_c11
!q = tensor<1x1x8x32xf8E4M3FN>
!o = tensor<1x1x8x32xbf16>
func.func @f(%q: !q, %v: tensor<1x1x8x32xf8E5M2>, %o: !o, %lse: tensor<1x1x8xf32>) {
  // expected-error@+1 {{expected element type of value to be 'f8E4M3FN', got 'f8E5M2'}}
  %g:3 = attn.attention_backward %q, %q, %v output(%o : !o) lse(%lse : tensor<1x1x8xf32>) d_output(%q : !q)
      : !q, !q, tensor<1x1x8x32xf8E5M2> -> !o, !o, !o
  return
}

// -----

func.func @f(%q: tensor<1x1x8x32xf8E4M3FN>, %k: tensor<1x1x8x32xf8E5M2>, %lse: tensor<1x1x8xf32>, %dq: tensor<1x1x8x32xf32>, %c0: index) {
  // expected-error@+1 {{expected element type of key to be 'f8E4M3FN', got 'f8E5M2'}}
  %g = attn.backward_step %q, %k, %q d_output(%q) lse(%lse) delta(%lse) offsets(%c0, %c0, %c0, %c0)
      d_query(%dq : tensor<1x1x8x32xf32>)
      : tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E5M2>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8xf32>
  return
}
