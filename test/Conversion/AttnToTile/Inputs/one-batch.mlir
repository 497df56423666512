// One batch, whose loop runs once.
func.func @attention(%q: tensor<1x2x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 16, tile_n = 16>} : tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
