// Windows without an end, which 64-bit bounds have, of heads that share a tile: each op that such a bound enters computes in 64 bits,
// however many others were rewritten before.
// RUN: attn-run %s --function=weights --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=weights --device=sim:sm_90a --random=1 --verify 2>/dev/null | FileCheck %s
// RUN: attn-run %s --function=softmax --device=sim:sm_80 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=softmax --device=sim:sm_90a --random=1 --verify 2>/dev/null | FileCheck %s
// CHECK: verify: PASS

func.func @weights(%q: tensor<1x4x16x64xf16>, %k: tensor<1x1x40x64xf16>, %v: tensor<1x1x40x64xf16>) -> tensor<1x4x16x64xf16> {
  %o = attn.attention %q, %k, %v normalization(#attn.none) mask_mod sliding_window(0, 2147483647)
      {schedule = #attn.schedule<pack_gqa = true, tile_n = 16>}
      : tensor<1x4x16x64xf16>, tensor<1x1x40x64xf16>, tensor<1x1x40x64xf16> -> tensor<1x4x16x64xf16>
  return %o : tensor<1x4x16x64xf16>
}

func.func @softmax(%q: tensor<1x4x100x64xf16>, %k: tensor<1x1x40x64xf16>, %v: tensor<1x1x40x64xf16>) -> tensor<1x4x100x64xf16> {
  %o = attn.attention %q, %k, %v mask_mod sliding_window(0, 2147483647)
      {schedule = #attn.schedule<pack_gqa = true, tile_n = 16>}
      : tensor<1x4x100x64xf16>, tensor<1x1x40x64xf16>, tensor<1x1x40x64xf16> -> tensor<1x4x100x64xf16>
  return %o : tensor<1x4x100x64xf16>
}
