!q = tensor<1x2x320x64xf8E4M3FN>
!k = tensor<1x1x384x64xf8E4M3FN>
!o = tensor<1x2x320x64xbf16>
!w = tensor<1x1x384x64xbf16>
!l = tensor<1x2x320xf32>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !o, %lse: !l, %do: !q) -> (!o, !w, !w) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !l) d_output(%do : !q) {schedule = #attn.schedule<promote = true>}
      : !q, !k, !k -> !o, !w, !w
  return %d#0, %d#1, %d#2 : !o, !w, !w
}
