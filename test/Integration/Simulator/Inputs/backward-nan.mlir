!q = tensor<1x1x17x64xf16>
!k = tensor<1x1x70x64xf16>
!lse = tensor<1x1x17xf32>
func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !lse) d_output(%do : !q) : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}
