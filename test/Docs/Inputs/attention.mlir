func.func @attention(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>,
                     %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = attn.attention %q, %k, %v
      : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>
      -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}
