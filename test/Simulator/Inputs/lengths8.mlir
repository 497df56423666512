!t = tensor<4x1x?x64xf8E4M3FN>
func.func @attention(%q: !t, %k: !t, %v: !t, %n: tensor<4xi32>) -> tensor<4x1x?x64xf32> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<4xi32>)
      {schedule = #attn.schedule<kind = "large_cache", tile_n = 64, stages = 2, persistent_ctas = 1>} : !t, !t, !t -> tensor<4x1x?x64xf32>
  return %o : tensor<4x1x?x64xf32>
}
