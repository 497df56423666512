func.func @attention(%q: tensor<1x2x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>, %sink: tensor<2xf32>)
    -> (tensor<1x2x?x64xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<2xf32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", splits = 4, tile_m = 16, tile_n = 16, warps = 1, stages = 2, mma = "mma_sync">}
      : tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
}
