!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
func.func @grad(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !t) lse(%lse : !l) d_output(%do : !t)
      : !t, !t, !t -> !t, !t, !t
  return %d#0, %d#1, %d#2 : !t, !t, !t
}
