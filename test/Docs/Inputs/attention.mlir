func.func @attention(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>,
                     %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<tile_m = 64,
          tile_n = 64, stages = 2, warps = 4, query_in_registers = true>}
      : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>
      -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}
