!t = tensor<?x?x?x64xf16>
func.func @attention(%q: !t, %k: !t, %v: !t, %n: tensor<?xi32>) -> !t {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) : !t, !t, !t -> !t
  return %o : !t
}
