// RUN: attn-opt %s --attn-decompose-backward --split-input-file --verify-diagnostics

func.func @ragged(%o: tensor<1x1x?x8xf32>, %do: tensor<1x1x?x8xf32>) -> tensor<1x1x?xf32> {
  // expected-error @+1 {{expected static tiles of one batch and one head, as --attn-tile-backward gives, got 'tensor<1x1x?x8xf32>'}}
  %d = attn.backward_delta %o, %do : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?xf32>
  return %d : tensor<1x1x?xf32>
}

// -----

func.func @two_heads(%q: tensor<1x2x8x8xf32>, %lse: tensor<1x2x8xf32>, %dq: tensor<1x2x8x8xf32>, %z: index)
    -> tensor<1x2x8x8xf32> {
  // expected-error @+1 {{expected static tiles of one batch and one head, as --attn-tile-backward gives, got 'tensor<1x2x8x8xf32>'}}
  %r = attn.backward_step %q, %q, %q d_output(%q) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z)
      d_query(%dq : tensor<1x2x8x8xf32>)
      : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>
  return %r : tensor<1x2x8x8xf32>
}

// -----

func.func @small_cache(%q: tensor<1x1x8x8xf32>, %lse: tensor<1x1x8xf32>, %dq: tensor<1x1x8x8xf32>, %z: index)
    -> tensor<1x1x8x8xf32> {
  // expected-error @+1 {{expected kind = "large_cache" for a backward on a CPU, got #attn.schedule<kind = "small_cache"}}
  %r = attn.backward_step %q, %q, %q d_output(%q) lse(%lse) delta(%lse) offsets(%z, %z, %z, %z)
      d_query(%dq : tensor<1x1x8x8xf32>) {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8xf32>
  return %r : tensor<1x1x8x8xf32>
}
