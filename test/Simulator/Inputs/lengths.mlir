func.func @attention(%q: tensor<4x1x?x64xf16>, %k: tensor<4x1x?x64xf16>, %v: tensor<4x1x?x64xf16>, %n: tensor<4xi32>) -> (tensor<4x1x?x64xf16>, tensor<4x1x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<4xi32>)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 1, turns = "products", cluster_m = 1>}
      : tensor<4x1x?x64xf16>, tensor<4x1x?x64xf16>, tensor<4x1x?x64xf16> -> tensor<4x1x?x64xf16>, tensor<4x1x?xf32>
  return %o, %lse : tensor<4x1x?x64xf16>, tensor<4x1x?xf32>
}
