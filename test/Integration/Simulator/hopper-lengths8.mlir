// Lengths and pages of 8-bit keys in kernels of wgmma, whose producer transposes V and clears what TMA brings behind the last key: attn-run
// writes NaN there. Lengths around a tile and a block of 32 rows, and of none; one loop and two, persistent CTAs, splits; pages as large as a
// tile, parts of one and several of them. Warps run in several orders.
// RUN: %python %S/Inputs/integers.py %t.npy 0,1,33,64,65,300
// RUN: attn-run %s --function=plain --device=sim:sm_90a --input arg3=%t.npy --random=1 --verify --schedules 3 | FileCheck %s
// RUN: attn-run %s --function=causal --device=sim:sm_90a --input arg3=%t.npy --random=2 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=persistent --device=sim:sm_90a --input arg3=%t.npy --random=3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=splits --device=sim:sm_90a --input arg3=%t.npy --random=4 --verify | FileCheck %s
// RUN: %python %S/Inputs/integers.py %t.npy 0,1,8,63,65,256
// RUN: attn-run %s --function=pages8 --device=sim:sm_90a --input arg4=%t.npy --random=5 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=pages64 --device=sim:sm_90a --input arg4=%t.npy --random=6 --verify | FileCheck %s
// RUN: attn-run %s --function=chosen --device=sim:sm_90a --shape N=230 --random=7 --trials 3 --verify 2>%t.err | FileCheck %s
// The chosen schedule is one of wgmma: no warning.
// RUN: count 0 < %t.err
// RUN: attn-opt %s --target=sm_90a --prove-barriers -o %t.proven
// CHECK: verify: PASS

!q = tensor<6x2x140x64xf8E4M3FN>
!k = tensor<6x1x300x64xf8E4M3FN>
!o = tensor<6x2x140x64xbf16>
!lse = tensor<6x2x140xf32>
!n = tensor<6xi32>
!p = tensor<6x1x256x64xf8E5M2>

func.func @plain(%q: !q, %k: !k, %v: !k, %n: !n) -> (!o, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 0>}
      : !q, !k, !k -> !o, !lse
  return %o, %lse : !o, !lse
}

func.func @causal(%q: !q, %k: !k, %v: !k, %n: !n, %m: tensor<6xi64>) -> (!o, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n, query %m : tensor<6xi64>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 96, stages = 3, warps = 4>}
      : !q, !k, !k -> !o, !lse
  return %o, %lse : !o, !lse
}

func.func @persistent(%q: !q, %k: !k, %v: !k, %n: !n) -> (!o, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod sliding_window(90, 20)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3, output_tile = true>}
      : !q, !k, !k -> !o, !lse
  return %o, %lse : !o, !lse
}

func.func @splits(%q: !q, %k: !k, %v: !k, %n: !n) -> (!o, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "split_kv", mma = "wgmma", tile_m = 128, tile_n = 128, stages = 2, warps = 8, splits = 2>}
      : !q, !k, !k -> !o, !lse
  return %o, %lse : !o, !lse
}

func.func @pages8(%q: tensor<6x2x100x64xf8E5M2>, %kp: tensor<200x1x8x64xf8E5M2>, %vp: tensor<200x1x8x64xf8E5M2>, %t: tensor<6x32xi32>, %n: !n) -> tensor<6x2x100x64xbf16> {
  %k = attn.paged %kp[%t] : tensor<200x1x8x64xf8E5M2>[tensor<6x32xi32>] -> !p
  %v = attn.paged %vp[%t] : tensor<200x1x8x64xf8E5M2>[tensor<6x32xi32>] -> !p
  %o = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3>}
      : tensor<6x2x100x64xf8E5M2>, !p, !p -> tensor<6x2x100x64xbf16>
  return %o : tensor<6x2x100x64xbf16>
}

// Tiles are parts of a page of K, and have two of V.
func.func @pages64(%q: tensor<6x2x100x64xf8E5M2>, %kp: tensor<9x1x256x64xf8E5M2>, %vp: tensor<60x1x32x64xf8E5M2>, %t: tensor<6x1xi32>, %n: !n, %u: tensor<6x8xi32>) -> tensor<6x2x100x64xbf16> {
  %k = attn.paged %kp[%t] : tensor<9x1x256x64xf8E5M2>[tensor<6x1xi32>] -> !p
  %v = attn.paged %vp[%u] : tensor<60x1x32x64xf8E5M2>[tensor<6x8xi32>] -> !p
  %o = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 64, stages = 2, warps = 4>}
      : tensor<6x2x100x64xf8E5M2>, !p, !p -> tensor<6x2x100x64xbf16>
  return %o : tensor<6x2x100x64xbf16>
}

func.func @chosen(%q: tensor<2x2x150x128xf8E4M3FN>, %k: tensor<2x1x?x128xf8E4M3FN>, %v: tensor<2x1x?x128xf8E4M3FN>, %n: tensor<2xi32>) -> tensor<2x2x150x128xbf16> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<2xi32>) mask_mod causal(bottom_right)
      : tensor<2x2x150x128xf8E4M3FN>, tensor<2x1x?x128xf8E4M3FN>, tensor<2x1x?x128xf8E4M3FN> -> tensor<2x2x150x128xbf16>
  return %o : tensor<2x2x150x128xbf16>
}
