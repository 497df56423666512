// Pages in kernels of tcgen05, brought by a TMA box each: attn-run puts pages at random places, writes NaN to rows that nobody has, and
// what is no page to entries behind the lengths. Pages of 8 keys and of a whole tile; 8 bits.
// RUN: %python %S/Inputs/integers.py %t.npy 0,1,8,63,65,256
// RUN: attn-run %s --function=pages8 --device=sim:sm_100a --input arg4=%t.npy --random=1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=pages64 --device=sim:sm_100a --input arg4=%t.npy --random=3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=chosen --device=sim:sm_100a --shape P=41,T=20 --random=6 --trials 2 --verify 2>%t.err | FileCheck %s
// RUN: count 0 < %t.err
// CHECK: verify: PASS

!q = tensor<6x2x100x64xf16>
!n = tensor<6xi32>

func.func @pages8(%q: !q, %kp: tensor<200x1x8x64xf16>, %vp: tensor<200x1x8x64xf16>, %t: tensor<6x32xi32>, %n: !n) -> (!q, tensor<6x2x100xf32>) {
  %k = attn.paged %kp[%t] : tensor<200x1x8x64xf16>[tensor<6x32xi32>] -> tensor<6x1x256x64xf16>
  %v = attn.paged %vp[%t] : tensor<200x1x8x64xf16>[tensor<6x32xi32>] -> tensor<6x1x256x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4>}
      : !q, tensor<6x1x256x64xf16>, tensor<6x1x256x64xf16> -> !q, tensor<6x2x100xf32>
  return %o, %lse : !q, tensor<6x2x100xf32>
}

func.func @pages64(%q: tensor<6x2x100x128xf8E5M2>, %kp: tensor<30x1x64x128xf8E5M2>, %vp: tensor<30x1x64x128xf8E5M2>, %t: tensor<6x4xi32>, %n: !n) -> tensor<6x2x100x128xbf16> {
  %k = attn.paged %kp[%t] : tensor<30x1x64x128xf8E5M2>[tensor<6x4xi32>] -> tensor<6x1x256x128xf8E5M2>
  %v = attn.paged %vp[%t] : tensor<30x1x64x128xf8E5M2>[tensor<6x4xi32>] -> tensor<6x1x256x128xf8E5M2>
  %o = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8>}
      : tensor<6x2x100x128xf8E5M2>, tensor<6x1x256x128xf8E5M2>, tensor<6x1x256x128xf8E5M2> -> tensor<6x2x100x128xbf16>
  return %o : tensor<6x2x100x128xbf16>
}

func.func @chosen(%q: tensor<2x4x150x128xbf16>, %kp: tensor<?x2x16x128xbf16>, %vp: tensor<?x2x16x128xbf16>, %t: tensor<2x?xi32>, %n: tensor<2xi64>) -> tensor<2x4x150x128xbf16> {
  %k = attn.paged %kp[%t] : tensor<?x2x16x128xbf16>[tensor<2x?xi32>] -> tensor<2x2x?x128xbf16>
  %v = attn.paged %vp[%t] : tensor<?x2x16x128xbf16>[tensor<2x?xi32>] -> tensor<2x2x?x128xbf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<2xi64>) mask_mod causal(bottom_right)
      : tensor<2x4x150x128xbf16>, tensor<2x2x?x128xbf16>, tensor<2x2x?x128xbf16> -> tensor<2x4x150x128xbf16>
  return %o : tensor<2x4x150x128xbf16>
}
