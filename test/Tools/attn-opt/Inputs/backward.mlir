!t = tensor<1x8x512x128xbf16>
func.func @b(%q: !t, %k: !t, %v: !t, %o: !t, %lse: tensor<1x8x512xf32>, %do: !t) -> (!t, !t, !t) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !t) lse(%lse : tensor<1x8x512xf32>) d_output(%do : !t) : !t, !t, !t -> !t, !t, !t
  return %d#0, %d#1, %d#2 : !t, !t, !t
}
