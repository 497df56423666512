// The first 8 keys, and a causal window of 96.
func.func @sink_and_window(%q: tensor<1x2x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c8 = arith.constant 8 : index
        %c95 = arith.constant 95 : index
        %sink = arith.cmpi slt, %j, %c8 : index
        %distance = arith.subi %i, %j : index
        %near = arith.cmpi sle, %distance, %c95 : index
        %either = arith.ori %sink, %near : i1
        %past = arith.cmpi sle, %j, %i : index
        %visible = arith.andi %either, %past : i1
        attn.yield %visible : i1
      } {schedule = #attn.schedule<kind = "large_cache", tile_m = 32, tile_n = 32, warps = 2>}
      : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}
