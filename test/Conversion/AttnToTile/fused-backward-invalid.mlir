// RUN: attn-opt %s --attn-to-tiled --attn-to-tile --verify-diagnostics

// The kernel that rounds dQ is gone with its only use.
func.func @f(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xf16>, %lse: tensor<1x1x?xf32>, %do: tensor<1x1x?x64xf16>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{expected the function to return the dQ of a fused backward, got no use of it}}
  %d:3 = attn.attention_backward %q, %k, %k output(%q : tensor<1x1x?x64xf16>) lse(%lse : tensor<1x1x?xf32>) d_output(%do : tensor<1x1x?x64xf16>)
      {schedule = #attn.schedule<fused = true, tile_m = 128, tile_n = 128, mma = "wgmma", warps = 8>}
      : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
  return %d#1, %d#2 : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
}
