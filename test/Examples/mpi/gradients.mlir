// The gradients of what attention.mlir computes, of some rows and keys, where
// output and LSE of the rows are those over all keys.
func.func @gradients(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>,
                     %rows: tensor<?xi32>, %keys: tensor<?xi32>,
                     %o: tensor<?x4x?x64xbf16>, %lse: tensor<?x4x?xf32>, %do: tensor<?x4x?x64xbf16>)
    -> (tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) {
  %dq, %dk, %dv = attn.attention_backward %q, %k, %v
      output(%o : tensor<?x4x?x64xbf16>) lse(%lse : tensor<?x4x?xf32>)
      d_output(%do : tensor<?x4x?x64xbf16>)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%i] : tensor<?xi32>
        %key = tensor.extract %keys[%j] : tensor<?xi32>
        %seen = arith.cmpi sle, %key, %row : i32
        attn.yield %seen : i1
      }
      : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>
      -> tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>
  return %dq, %dk, %dv : tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>
}
