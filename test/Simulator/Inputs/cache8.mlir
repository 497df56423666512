func.func @attention(%q: tensor<1x4x1x64xf16>, %k: tensor<1x1x41x64xf8E4M3FN>, %v: tensor<1x1x41x64xf8E4M3FN>)
    -> (tensor<1x4x1x64xf16>, tensor<1x4x1xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 16, tile_n = 16, warps = 1, stages = 2, mma = "mma_sync", pack_gqa = true>}
      : tensor<1x4x1x64xf16>, tensor<1x1x41x64xf8E4M3FN>, tensor<1x1x41x64xf8E4M3FN> -> tensor<1x4x1x64xf16>, tensor<1x4x1xf32>
  return %o, %lse : tensor<1x4x1x64xf16>, tensor<1x4x1xf32>
}
