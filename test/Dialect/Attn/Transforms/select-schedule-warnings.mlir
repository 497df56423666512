// RUN: attn-opt %s --attn-select-schedule=target=sm_90a --split-input-file --verify-diagnostics

func.func @linear(%q: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  // expected-warning @below {{falls back from wgmma to the mma_sync kernels of sm_80: there are no others of linear attention}}
  %o = attn.linear_attention %q, %q, %q : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}

// -----

func.func @latent(%q: tensor<1x16x1x576xf16>, %c: tensor<1x1x64x576xf16>, %n: tensor<1xi32>) -> tensor<1x16x1x512xf16> {
  %v = tensor.extract_slice %c[0, 0, 0, 0] [1, 1, 64, 512] [1, 1, 1, 1] : tensor<1x1x64x576xf16> to tensor<1x1x64x512xf16>
  // expected-warning @below {{expected a scale beside values that are columns of the keys: it is 1/sqrt(576), and with a latent cache that of the heads' own columns}}
  %o = attn.attention %q, %c, %v lengths(key %n : tensor<1xi32>) : tensor<1x16x1x576xf16>, tensor<1x1x64x576xf16>, tensor<1x1x64x512xf16> -> tensor<1x16x1x512xf16>
  return %o : tensor<1x16x1x512xf16>
}

// -----

func.func @scaled(%q: tensor<1x16x1x576xf16>, %c: tensor<1x1x64x576xf16>, %n: tensor<1xi32>) -> tensor<1x16x1x512xf16> {
  %v = tensor.extract_slice %c[0, 0, 0, 0] [1, 1, 64, 512] [1, 1, 1, 1] : tensor<1x1x64x576xf16> to tensor<1x1x64x512xf16>
  %o = attn.attention %q, %c, %v lengths(key %n : tensor<1xi32>) scale(0.0721688) : tensor<1x16x1x576xf16>, tensor<1x1x64x576xf16>, tensor<1x1x64x512xf16> -> tensor<1x16x1x512xf16>
  return %o : tensor<1x16x1x512xf16>
}
