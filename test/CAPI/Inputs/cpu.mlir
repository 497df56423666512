func.func @f(%q: tensor<?x?x?x8xf32>, %k: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  %o = attn.attention %q, %k, %k
      : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32> -> tensor<?x?x?x8xf32>
  return %o : tensor<?x?x?x8xf32>
}
