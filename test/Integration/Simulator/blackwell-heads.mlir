// sm_100a: packed heads; a causal mask with a score_mod of positions.
// RUN: attn-run %s --function=packed --device=sim:sm_100a --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=positions --device=sim:sm_100a --random 1 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @packed(%q: tensor<1x4x70x64xf16>, %k: tensor<1x2x200x64xf16>, %v: tensor<1x2x200x64xf16>) -> tensor<1x4x70x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<mma = "tcgen05", pack_gqa = true, tile_m = 128, warps = 4>}
      : tensor<1x4x70x64xf16>, tensor<1x2x200x64xf16>, tensor<1x2x200x64xf16> -> tensor<1x4x70x64xf16>
  return %o : tensor<1x4x70x64xf16>
}

func.func @positions(%q: tensor<1x2x300x64xbf16>, %k: tensor<1x2x300x64xbf16>, %v: tensor<1x2x300x64xbf16>) -> tensor<1x2x300x64xbf16> {
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %d = arith.subi %j, %i : index
        %d32 = arith.index_cast %d : index to i32
        %f = arith.sitofp %d32 : i32 to f32
        %slope = arith.constant 0.02 : f32
        %bias = arith.mulf %f, %slope : f32
        %r = arith.addf %s, %bias : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right) {schedule = #attn.schedule<mma = "tcgen05">}
      : tensor<1x2x300x64xbf16>, tensor<1x2x300x64xbf16>, tensor<1x2x300x64xbf16> -> tensor<1x2x300x64xbf16>
  return %o : tensor<1x2x300x64xbf16>
}
