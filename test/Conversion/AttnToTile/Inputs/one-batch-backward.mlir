func.func @grad(%q: tensor<1x2x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>,
                %o: tensor<1x2x?x64xf16>, %lse: tensor<1x2x?xf32>, %do: tensor<1x2x?x64xf16>)
    -> (tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x2x?x64xf16>)
      lse(%lse : tensor<1x2x?xf32>) d_output(%do : tensor<1x2x?x64xf16>) mask_mod causal(top_left)
      : tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
      -> tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
  return %d#0, %d#1, %d#2 : tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
}
