// Ten splits of five sequences, one without keys, for three CTAs; two row tiles of each group of heads.
func.func @attention(%q: tensor<?x2x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>, %n: tensor<?xi32>) -> tensor<?x2x?x64xf16> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 48, balance = "plan", persistent_ctas = 3, tile_m = 32, tile_n = 16, warps = 2, stages = 2, mma = "mma_sync">}
      : tensor<?x2x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x2x?x64xf16>
  return %o : tensor<?x2x?x64xf16>
}
