// Tensors between the ops, and a parallel loop.
func.func @f(%q: tensor<2x2x100x64xf16>, %k: tensor<2x2x130x64xf16>) -> tensor<2x2x100x64xf16> {
  %s = arith.addf %k, %k : tensor<2x2x130x64xf16>
  %o = attn.attention %q, %s, %k
      : tensor<2x2x100x64xf16>, tensor<2x2x130x64xf16>, tensor<2x2x130x64xf16> -> tensor<2x2x100x64xf16>
  %r = arith.mulf %o, %q : tensor<2x2x100x64xf16>
  return %r : tensor<2x2x100x64xf16>
}
