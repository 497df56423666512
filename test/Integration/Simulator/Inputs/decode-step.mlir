// A token of each of some sequences, whose keys are in pages.
func.func @decode(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi32>) -> (tensor<?x8x1x64xf16>, tensor<?x8x1xf32>) {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
  return %o, %lse : tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
}
