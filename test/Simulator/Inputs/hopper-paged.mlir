func.func @attention(%q: tensor<?x1x?x64xf16>, %kp: tensor<?x1x16x64xf16>, %vp: tensor<?x1x16x64xf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x1x?x64xf16>, tensor<?x1x?xf32>) {
  %k = attn.paged %kp[%t] : tensor<?x1x16x64xf16>[tensor<?x?xi32>] -> tensor<?x1x?x64xf16>
  %v = attn.paged %vp[%t] : tensor<?x1x16x64xf16>[tensor<?x?xi32>] -> tensor<?x1x?x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, warps = 4, stages = 2, mma = "wgmma", persistent_ctas = 0, cluster_m = 1>}
      : tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x1x?x64xf16>, tensor<?x1x?xf32>
  return %o, %lse : tensor<?x1x?x64xf16>, tensor<?x1x?xf32>
}
