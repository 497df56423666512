// Two kernels for each chunk of rows, with a workspace between them.
func.func @rounds(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>)
    -> tensor<?x2x?x64xbf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "small_cache", chunk_rows = 128>}
      : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}
