// 8-bit keys and values beside a query of 16 bits.
!q = tensor<?x4x?x128xbf16>
!c = tensor<?x2x?x128xf8E4M3FN>
func.func @attention(%q: !q, %k: !c, %v: !c) -> !q {
  %o = attn.attention %q, %k, %v : !q, !c, !c -> !q
  return %o : !q
}
