// Four launches: new rows of the caches, the query's rotation, parts of the keys, their combination.
func.func @decode(%q: tensor<1x4x2x64xf16>, %k: tensor<3x1x64xf16>, %v: tensor<3x1x64xf16>, %kc: tensor<1x1x80x64xf16>, %vc: tensor<1x1x80x64xf16>,
                  %slots: tensor<3xi32>, %cos: tensor<2x32xf32>, %sin: tensor<2x32xf32>)
    -> (tensor<1x4x2x64xf16>, tensor<1x1x80x64xf16>, tensor<1x1x80x64xf16>) {
  %k1, %v1 = attn.append %k, %v into %kc, %vc slots(%slots : tensor<3xi32>)
      : tensor<3x1x64xf16>, tensor<3x1x64xf16> into tensor<1x1x80x64xf16>, tensor<1x1x80x64xf16>
  %qr = attn.rotary %q, %cos, %sin halves : tensor<1x4x2x64xf16>, tensor<2x32xf32>
  %o = attn.attention %qr, %k1, %v1 {schedule = #attn.schedule<kind = "split_kv", splits = 3, query_prologue = "kernel", mma = "mma_sync", tile_m = 32, tile_n = 16, warps = 2, stages = 2>}
      : tensor<1x4x2x64xf16>, tensor<1x1x80x64xf16>, tensor<1x1x80x64xf16> -> tensor<1x4x2x64xf16>
  return %o, %k1, %v1 : tensor<1x4x2x64xf16>, tensor<1x1x80x64xf16>, tensor<1x1x80x64xf16>
}
