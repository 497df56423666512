func.func @layer(%q: tensor<2x4x?x64xf16>, %k: tensor<2x4x?x64xf16>)
    -> (tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>) {
  %o = attn.attention %q, %k, %k
      : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16> -> tensor<2x4x?x64xf16>
  %sum = arith.addf %o, %q : tensor<2x4x?x64xf16>
  return %sum, %o, %q : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>
}
