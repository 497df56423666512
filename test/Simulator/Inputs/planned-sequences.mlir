// Sequences behind each other, one of them without rows and one without keys, of one to three row tiles; three CTAs.
!q = tensor<?x2x?x64xf16>
!k = tensor<?x1x?x64xf16>
func.func @attention(%qp: tensor<?x2x64xf16>, %k: !k, %v: !k, %offsets: tensor<?xi32>, %n: tensor<?xi32>) -> tensor<?x2x64xf16> {
  %q = attn.ragged %qp[%offsets] : tensor<?x2x64xf16>[tensor<?xi32>] -> !q
  %m = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 48, balance = "plan", persistent_ctas = 3, tile_m = 16, tile_n = 16, warps = 1, stages = 2, mma = "mma_sync">}
      : !q, !k, !k -> !q
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %qp, %c0 : tensor<?x2x64xf16>
  %e = tensor.empty(%rows) : tensor<?x2x64xf16>
  %o = attn.pack %r[%offsets] into %e : !q[tensor<?xi32>] into tensor<?x2x64xf16>
  return %o : tensor<?x2x64xf16>
}
