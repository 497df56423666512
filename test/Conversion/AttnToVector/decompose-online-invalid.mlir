// RUN: attn-opt %s --attn-decompose-online --split-input-file --verify-diagnostics

func.func @dynamic(%acc: tensor<1x1x?x8xf32>, %s: tensor<1x1x?xf32>)
    -> tensor<1x1x?x8xf32> {
  // expected-error @+1 {{expected static tiles of one batch and one head, as --attn-tile and --attn-pad-tiles give, got 'tensor<1x1x?x8xf32>'}}
  %o = attn.normalize %acc, %s, %s
      : tensor<1x1x?x8xf32>, tensor<1x1x?xf32> -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// -----

func.func @heads(%acc: tensor<1x2x4x8xf32>, %s: tensor<1x2x4xf32>)
    -> tensor<1x2x4x8xf32> {
  // expected-error @+1 {{expected static tiles of one batch and one head, as --attn-tile and --attn-pad-tiles give, got 'tensor<1x2x4x8xf32>'}}
  %o = attn.normalize %acc, %s, %s
      : tensor<1x2x4x8xf32>, tensor<1x2x4xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}
