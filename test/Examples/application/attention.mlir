// Causal attention of 4 query heads over 2 key heads. Batch and lengths are
// known when it is launched.
func.func @attention(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>)
    -> tensor<?x4x?x64xbf16> {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}
