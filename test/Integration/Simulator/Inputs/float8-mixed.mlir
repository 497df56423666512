func.func @f(%q: tensor<?x4x?x128xf8E4M3FN>, %k: tensor<?x2x?x128xf8E5M2>, %v: tensor<?x2x?x128xf8E5M2>)
    -> tensor<?x4x?x128xbf16> {
  %o = attn.attention %q, %k, %v
      : tensor<?x4x?x128xf8E4M3FN>, tensor<?x2x?x128xf8E5M2>, tensor<?x2x?x128xf8E5M2> -> tensor<?x4x?x128xbf16>
  return %o : tensor<?x4x?x128xbf16>
}
