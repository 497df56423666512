// 8-bit inputs with 256 columns of V.
func.func @attention(%q: tensor<?x8x?x256xf8E4M3FN>, %k: tensor<?x2x?x256xf8E4M3FN>,
                     %v: tensor<?x2x?x256xf8E4M3FN>) -> tensor<?x8x?x256xbf16> {
  %o = attn.attention %q, %k, %v
      : tensor<?x8x?x256xf8E4M3FN>, tensor<?x2x?x256xf8E4M3FN>, tensor<?x2x?x256xf8E4M3FN>
      -> tensor<?x8x?x256xbf16>
  return %o : tensor<?x8x?x256xbf16>
}
