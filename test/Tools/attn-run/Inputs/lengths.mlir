func.func @attention(%q: tensor<2x1x8x16xf32>, %k: tensor<2x1x40x16xf32>, %n: tensor<2xi32>) -> tensor<2x1x8x16xf32> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      : tensor<2x1x8x16xf32>, tensor<2x1x40x16xf32>, tensor<2x1x40x16xf32> -> tensor<2x1x8x16xf32>
  return %o : tensor<2x1x8x16xf32>
}
