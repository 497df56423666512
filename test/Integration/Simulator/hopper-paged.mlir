// Pages in kernels of wgmma, brought by a TMA box each: attn-run puts pages at random places, writes NaN to rows that nobody has, and what
// is no page to entries behind the lengths. Pages of 8 to 256 keys beside tiles of 64 and 128, of K and V apart; lengths around pages and
// tiles; 64-bit entries; all keys there; persistent CTAs; splits; heads behind rows of a page.
// RUN: %python %S/Inputs/integers.py %t.npy 0,1,8,63,65,256
// RUN: attn-run %s --function=pages8 --device=sim:sm_90a --input arg4=%t.npy --random=1 --verify --schedules 3 | FileCheck %s
// RUN: attn-run %s --function=pages16 --device=sim:sm_90a --input arg4=%t.npy --random=2 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=pages64 --device=sim:sm_90a --input arg4=%t.npy --random=3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=pages256 --device=sim:sm_90a --input arg5=%t.npy --random=4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=whole --device=sim:sm_90a --shape P=23 --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=chosen --device=sim:sm_90a --shape P=41,T=20 --random=6 --trials 3 --verify 2>%t.err | FileCheck %s
// RUN: count 0 < %t.err
// CHECK: verify: PASS

!q = tensor<6x2x100x64xf16>
!n = tensor<6xi32>

func.func @pages8(%q: !q, %kp: tensor<200x1x8x64xf16>, %vp: tensor<200x1x8x64xf16>, %t: tensor<6x32xi32>, %n: !n) -> (!q, tensor<6x2x100xf32>) {
  %k = attn.paged %kp[%t] : tensor<200x1x8x64xf16>[tensor<6x32xi32>] -> tensor<6x1x256x64xf16>
  %v = attn.paged %vp[%t] : tensor<200x1x8x64xf16>[tensor<6x32xi32>] -> tensor<6x1x256x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3>}
      : !q, tensor<6x1x256x64xf16>, tensor<6x1x256x64xf16> -> !q, tensor<6x2x100xf32>
  return %o, %lse : !q, tensor<6x2x100xf32>
}

func.func @pages16(%q: !q, %kp: tensor<100x2x16x64xf16>, %vp: tensor<100x2x16x64xf16>, %t: tensor<6x16xi64>, %n: !n) -> !q {
  %k = attn.paged %kp[%t] : tensor<100x2x16x64xf16>[tensor<6x16xi64>] -> tensor<6x2x256x64xf16>
  %v = attn.paged %vp[%t] : tensor<100x2x16x64xf16>[tensor<6x16xi64>] -> tensor<6x2x256x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 80, stages = 3, warps = 4>}
      : !q, tensor<6x2x256x64xf16>, tensor<6x2x256x64xf16> -> !q
  return %o : !q
}

func.func @pages64(%q: tensor<6x2x100x128xbf16>, %kp: tensor<30x1x64x128xbf16>, %vp: tensor<30x1x64x128xbf16>, %t: tensor<6x4xi32>, %n: !n) -> tensor<6x2x100x128xbf16> {
  %k = attn.paged %kp[%t] : tensor<30x1x64x128xbf16>[tensor<6x4xi32>] -> tensor<6x1x256x128xbf16>
  %v = attn.paged %vp[%t] : tensor<30x1x64x128xbf16>[tensor<6x4xi32>] -> tensor<6x1x256x128xbf16>
  %o = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "split_kv", mma = "wgmma", tile_m = 128, tile_n = 128, stages = 2, warps = 8, splits = 2>}
      : tensor<6x2x100x128xbf16>, tensor<6x1x256x128xbf16>, tensor<6x1x256x128xbf16> -> tensor<6x2x100x128xbf16>
  return %o : tensor<6x2x100x128xbf16>
}

// Tiles of K are parts of a page, those of V have two.
func.func @pages256(%q: !q, %kp: tensor<9x1x256x64xf16>, %vp: tensor<60x1x32x64xf16>, %t: tensor<6x1xi32>, %u: tensor<6x8xi32>, %n: !n) -> !q {
  %k = attn.paged %kp[%t] : tensor<9x1x256x64xf16>[tensor<6x1xi32>] -> tensor<6x1x256x64xf16>
  %v = attn.paged %vp[%u] : tensor<60x1x32x64xf16>[tensor<6x8xi32>] -> tensor<6x1x256x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod sliding_window(90, 20)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8>}
      : !q, tensor<6x1x256x64xf16>, tensor<6x1x256x64xf16> -> !q
  return %o : !q
}

// Every key exists, up to the table's end, which is no end of a tile.
func.func @whole(%q: tensor<2x2x70x64xf16>, %kp: tensor<?x1x24x64xf16>, %vp: tensor<?x1x24x64xf16>, %t: tensor<2x11xi32>) -> tensor<2x2x70x64xf16> {
  %k = attn.paged %kp[%t] : tensor<?x1x24x64xf16>[tensor<2x11xi32>] -> tensor<2x1x264x64xf16>
  %v = attn.paged %vp[%t] : tensor<?x1x24x64xf16>[tensor<2x11xi32>] -> tensor<2x1x264x64xf16>
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 96, stages = 2, warps = 8>}
      : tensor<2x2x70x64xf16>, tensor<2x1x264x64xf16>, tensor<2x1x264x64xf16> -> tensor<2x2x70x64xf16>
  return %o : tensor<2x2x70x64xf16>
}

func.func @chosen(%q: tensor<2x4x150x128xbf16>, %kp: tensor<?x2x16x128xbf16>, %vp: tensor<?x2x16x128xbf16>, %t: tensor<2x?xi32>, %n: tensor<2xi64>) -> tensor<2x4x150x128xbf16> {
  %k = attn.paged %kp[%t] : tensor<?x2x16x128xbf16>[tensor<2x?xi32>] -> tensor<2x2x?x128xbf16>
  %v = attn.paged %vp[%t] : tensor<?x2x16x128xbf16>[tensor<2x?xi32>] -> tensor<2x2x?x128xbf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<2xi64>) mask_mod causal(bottom_right)
      : tensor<2x4x150x128xbf16>, tensor<2x2x?x128xbf16>, tensor<2x2x?x128xbf16> -> tensor<2x4x150x128xbf16>
  return %o : tensor<2x4x150x128xbf16>
}
