// dQ, dK and dV of an attention with a bias, by a small cache.
func.func @bias(%q: tensor<2x4x?x32xf16>, %k: tensor<2x2x?x32xf16>, %v: tensor<2x2x?x32xf16>, %c: tensor<1x4x?x?xf16>,
                %do: tensor<2x4x?x32xf16>) -> (tensor<2x4x?x32xf16>, tensor<2x2x?x32xf16>, tensor<2x2x?x32xf16>) {
  %o, %lse = attn.attention %q, %k, %v bias(%c : tensor<1x4x?x?xf16>) mask_mod causal(bottom_right)
      : tensor<2x4x?x32xf16>, tensor<2x2x?x32xf16>, tensor<2x2x?x32xf16> -> tensor<2x4x?x32xf16>, tensor<2x4x?xf32>
  %d:3 = attn.attention_backward %q, %k, %v bias(%c : tensor<1x4x?x?xf16>) output(%o : tensor<2x4x?x32xf16>)
      lse(%lse : tensor<2x4x?xf32>) d_output(%do : tensor<2x4x?x32xf16>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "small_cache", tile_m = 32, tile_n = 32, tile_d = 32, tile_dv = 32, warps = 2, chunk_rows = 64>}
      : tensor<2x4x?x32xf16>, tensor<2x2x?x32xf16>, tensor<2x2x?x32xf16>
      -> tensor<2x4x?x32xf16>, tensor<2x2x?x32xf16>, tensor<2x2x?x32xf16>
  return %d#0, %d#1, %d#2 : tensor<2x4x?x32xf16>, tensor<2x2x?x32xf16>, tensor<2x2x?x32xf16>
}
