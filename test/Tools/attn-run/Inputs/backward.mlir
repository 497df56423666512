!q = tensor<1x2x9x16xf16>
!lse = tensor<1x2x9xf32>

func.func @forward(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left) : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @backward(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !lse, %do: !q) -> (!q, !q, !q) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !lse) d_output(%do : !q) mask_mod causal(top_left) : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}
