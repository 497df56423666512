func.func @attention(%q: tensor<?x4x1x64xf16>, %kp: tensor<?x1x12x64xf16>, %vp: tensor<?x1x12x64xf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x4x1x64xf16>, tensor<?x4x1xf32>) {
  %k = attn.paged %kp[%t] : tensor<?x1x12x64xf16>[tensor<?x?xi32>] -> tensor<?x1x?x64xf16>
  %v = attn.paged %vp[%t] : tensor<?x1x12x64xf16>[tensor<?x?xi32>] -> tensor<?x1x?x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 16, tile_n = 16, warps = 1, stages = 2, mma = "mma_sync", pack_gqa = true>}
      : tensor<?x4x1x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x4x1x64xf16>, tensor<?x4x1xf32>
  return %o, %lse : tensor<?x4x1x64xf16>, tensor<?x4x1xf32>
}
