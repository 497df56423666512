// Causal attention of some rows and keys of a larger one, which stand at the
// positions %rows and %keys there.
func.func @attention(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>,
                     %rows: tensor<?xi32>, %keys: tensor<?xi32>)
    -> (tensor<?x4x?x64xf32>, tensor<?x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %row = tensor.extract %rows[%i] : tensor<?xi32>
        %key = tensor.extract %keys[%j] : tensor<?xi32>
        %seen = arith.cmpi sle, %key, %row : i32
        attn.yield %seen : i1
      }
      : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xf32>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x64xf32>, tensor<?x4x?xf32>
}
