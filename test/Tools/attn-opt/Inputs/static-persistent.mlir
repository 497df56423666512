!q = tensor<1x8x4096x128xbf16>
!k = tensor<1x2x4096x128xbf16>
func.func @f(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<persistent_ctas = 132>} : !q, !k, !k -> !q
  return %o : !q
}
