func.func @attention(%qp: tensor<?x2x64xf16>, %kp: tensor<?x1x64xf16>, %vp: tensor<?x1x64xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>)
    -> (tensor<?x2x64xf16>, tensor<2x?xf32>) {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x32x64xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x1x64xf16>[tensor<?xi32>] -> tensor<?x1x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x1x64xf16>[tensor<?xi32>] -> tensor<?x1x?x64xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %n = attn.sequence_lengths %ko : tensor<?xi32> -> tensor<?xi32>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 16, tile_n = 16, warps = 1, stages = 2, mma = "mma_sync", pack_gqa = false>}
      : tensor<?x2x32x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x2x32x64xf16>, tensor<?x2x32xf32>
  %rows = tensor.dim %qp, %c0 : tensor<?x2x64xf16>
  %eo = tensor.empty(%rows) : tensor<?x2x64xf16>
  %el = tensor.empty(%rows) : tensor<2x?xf32>
  %po = attn.pack %o[%qo] into %eo : tensor<?x2x32x64xf16>[tensor<?xi32>] into tensor<?x2x64xf16>
  %pl = attn.pack %lse[%qo] into %el : tensor<?x2x32xf32>[tensor<?xi32>] into tensor<2x?xf32>
  return %po, %pl : tensor<?x2x64xf16>, tensor<2x?xf32>
}
