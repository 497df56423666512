// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-to-scheduled=target=sm_80 --attn-to-tiled --convert-attn-to-tile

func.func @f(%q: tensor<1x4x1x64xf16>, %p: tensor<?x4x16x64xf16>,
             %t: tensor<1x?xi32>, %c: tensor<256x32xf32>) -> tensor<1x4x1x64xf16> {
  %k = attn.paged %p[%t] : tensor<?x4x16x64xf16>[tensor<1x?xi32>] -> tensor<1x4x?x64xf16>
  // expected-error @+1 {{expected rows of a tensor on a GPU, got those of 'attn.paged'}}
  %kr = attn.rotary %k, %c, %c halves : tensor<1x4x?x64xf16>, tensor<256x32xf32>
  %o = attn.attention %q, %kr, %k
      : tensor<1x4x1x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16> -> tensor<1x4x1x64xf16>
  return %o : tensor<1x4x1x64xf16>
}
