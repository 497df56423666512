func.func @attention(%q: tensor<1x2x?x64xf8E4M3FN>, %k: tensor<1x1x?x64xf8E4M3FN>, %v: tensor<1x1x?x64xf8E4M3FN>) -> (tensor<1x2x?x64xf32>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 64, stages = 2, warps = 4, persistent_ctas = 1, output_tile = false, cluster_m = 1>}
      : tensor<1x2x?x64xf8E4M3FN>, tensor<1x1x?x64xf8E4M3FN>, tensor<1x1x?x64xf8E4M3FN> -> tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
}
