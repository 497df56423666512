// Two layers: self-attention with a causal mask, attention to a memory, and a
// residual sum behind each. A program compiles the attentions from it and
// computes the sums itself.
func.func @decoder(%x: tensor<2x100x64xf16>, %memory: tensor<2x130x64xf16>) -> tensor<2x100x64xf16> {
  %q0 = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [1, 2, 100, 64]
      : tensor<2x100x64xf16> into tensor<1x2x100x64xf16>
  %a0 = attn.attention %q0, %q0, %q0 mask_mod causal(top_left)
      : tensor<1x2x100x64xf16>, tensor<1x2x100x64xf16>, tensor<1x2x100x64xf16> -> tensor<1x2x100x64xf16>
  %e = tensor.empty() : tensor<1x2x100x64xf16>
  %q1 = linalg.add ins(%q0, %a0 : tensor<1x2x100x64xf16>, tensor<1x2x100x64xf16>)
      outs(%e : tensor<1x2x100x64xf16>) -> tensor<1x2x100x64xf16>
  %m = tensor.expand_shape %memory [[0, 1], [2], [3]] output_shape [1, 2, 130, 64]
      : tensor<2x130x64xf16> into tensor<1x2x130x64xf16>
  %a1 = attn.attention %q1, %m, %m
      : tensor<1x2x100x64xf16>, tensor<1x2x130x64xf16>, tensor<1x2x130x64xf16> -> tensor<1x2x100x64xf16>
  %y = linalg.add ins(%q1, %a1 : tensor<1x2x100x64xf16>, tensor<1x2x100x64xf16>)
      outs(%e : tensor<1x2x100x64xf16>) -> tensor<1x2x100x64xf16>
  %r = tensor.collapse_shape %y [[0, 1], [2], [3]] : tensor<1x2x100x64xf16> into tensor<2x100x64xf16>
  return %r : tensor<2x100x64xf16>
}
