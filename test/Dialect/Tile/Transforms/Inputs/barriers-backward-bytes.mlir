// Products of 8 bits: the producer transposes tiles that it has brought once more.
!b = tensor<?x?x?x64xf8E4M3FN>
!w = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @bytes(%q: !b, %k: !b, %v: !b, %o: !w, %lse: !l, %do: !b) -> (!w, !w, !w) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !w) lse(%lse : !l) d_output(%do : !b) {schedule = #attn.schedule<promote = true>}
      : !b, !b, !b -> !w, !w, !w
  return %d#0, %d#1, %d#2 : !w, !w, !w
}
