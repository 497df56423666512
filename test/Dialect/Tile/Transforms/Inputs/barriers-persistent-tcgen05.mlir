func.func @attention(%q: tensor<1x2x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, rescale_threshold = 8, persistent_ctas = 2, cluster_m = 2, output_tile = true>}
      : tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
