// Heads that are packed must be known.
// RUN: attn-opt %s --attn-to-tiled --split-input-file --verify-diagnostics

func.func @unknown(%q: tensor<1x?x64x64xf16>, %k: tensor<1x?x64x64xf16>) -> tensor<1x?x64x64xf16> {
  // expected-error @below {{expected known numbers of heads with pack_gqa, and tile_m to be a multiple of the query heads of a group}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2, pack_gqa = true>}
      : tensor<1x?x64x64xf16>, tensor<1x?x64x64xf16>, tensor<1x?x64x64xf16> -> tensor<1x?x64x64xf16>
  return %o : tensor<1x?x64x64xf16>
}

// -----

func.func @groups(%q: tensor<1x6x64x64xf16>, %k: tensor<1x2x64x64xf16>) -> tensor<1x6x64x64xf16> {
  // expected-error @below {{expected known numbers of heads with pack_gqa, and tile_m to be a multiple of the query heads of a group, or a part of them}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2, pack_gqa = true>}
      : tensor<1x6x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x6x64x64xf16>
  return %o : tensor<1x6x64x64xf16>
}
