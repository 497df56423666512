// The backward whose sums of heads head-sum-mutants.test edits.
!q = tensor<1x3x20x32xf16>
!k = tensor<1x2x20x32xf16>
func.func @summed(%q: !q, %k: !k, %do: !q, %o: !q, %lse: tensor<1x3x20xf32>, %map: tensor<3xi32>) -> (!q, !k, !k) {
  %keys = attn.select_heads %k[%map] : !k[tensor<3xi32>] -> !q
  %d:3 = attn.attention_backward %q, %keys, %keys output(%o : !q) lse(%lse : tensor<1x3x20xf32>) d_output(%do : !q)
      : !q, !q, !q -> !q, !q, !q
  %none = tensor.empty() : !k
  %dk = attn.sum_heads %d#1[%map] into %none : !q[tensor<3xi32>] into !k
  %dv = attn.sum_heads %d#2[%map] into %none : !q[tensor<3xi32>] into !k
  return %d#0, %dk, %dv : !q, !k, !k
}
