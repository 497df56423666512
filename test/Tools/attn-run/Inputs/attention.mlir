func.func @attention(%q: tensor<1x2x?x4xf32>, %k: tensor<1x1x?x4xf32>,
                     %v: tensor<1x1x?x4xf32>)
    -> (tensor<1x2x?x4xf32>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>
      -> tensor<1x2x?x4xf32>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x4xf32>, tensor<1x2x?xf32>
}
