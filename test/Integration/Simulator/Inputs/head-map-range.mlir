!q = tensor<1x2x9x64xf16>
!k = tensor<1x3x9x64xf16>
func.func @f(%q: !q, %k: !k, %v: !k, %map: tensor<2xi64>) -> !q {
  %key = attn.select_heads %k[%map] : !k[tensor<2xi64>] -> !q
  %value = attn.select_heads %v[%map] : !k[tensor<2xi64>] -> !q
  %o = attn.attention %q, %key, %value : !q, !q, !q -> !q
  return %o : !q
}
