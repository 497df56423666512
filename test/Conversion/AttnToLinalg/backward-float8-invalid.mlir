// Tiles of 8-bit inputs are those of a GPU's kernels.
// RUN: attn-opt %s --convert-attn-to-linalg --verify-diagnostics
// RUN: attn-opt %s --attn-decompose-backward --verify-diagnostics

func.func @step(%q: tensor<1x1x8x32xf8E4M3FN>, %lse: tensor<1x1x8xf32>, %dq: tensor<1x1x8x32xf32>, %c0: index) -> tensor<1x1x8x32xf32> {
  // expected-error@+1 {{expected inputs of at least 16 bits but in the kernels of a GPU, got 'f8E4M3FN'}}
  %g = attn.backward_step %q, %q, %q d_output(%q) lse(%lse) delta(%lse) offsets(%c0, %c0, %c0, %c0) d_query(%dq : tensor<1x1x8x32xf32>)
      : tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8xf32>
  return %g : tensor<1x1x8x32xf32>
}
