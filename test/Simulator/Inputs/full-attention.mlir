!t = tensor<?x?x?x64xf16>
func.func @attention(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.attention %q, %k, %v : !t, !t, !t -> !t
  return %o : !t
}
