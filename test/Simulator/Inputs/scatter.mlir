!q = tensor<1x2x?x64xf16>
func.func @grad(%q: !q, %k: !q, %v: !q, %table: tensor<2x400xf32>, %o: !q, %lse: tensor<1x2x?xf32>, %do: !q) -> (!q, !q, !q, tensor<2x400xf32>) {
  %c = arith.constant 199 : index
  %d:4 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x2x?xf32>) d_output(%do : !q)
      captures(%table : tensor<2x400xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %d = arith.subi %i, %j : index
        %at = arith.addi %d, %c : index
        %x = tensor.extract %table[%h, %at] : tensor<2x400xf32>
        %r = arith.addf %s, %x : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q, !q, !q d_captures(tensor<2x400xf32>)
  return %d#0, %d#1, %d#2, %d#3 : !q, !q, !q, tensor<2x400xf32>
}
