// Lengths of keys in kernels of tcgen05, whose products one thread starts: attn-run writes NaN to K and V behind them. Lengths around a
// tile and of none, one loop and two, persistent CTAs, splits, packed heads, masks by sequence, 8 bits. Warps run in several orders.
// RUN: %python %S/Inputs/integers.py %t.npy 0,1,63,64,65,300
// RUN: attn-run %s --function=plain --device=sim:sm_100a --input arg3=%t.npy --random=1 --verify --schedules 3 | FileCheck %s
// RUN: attn-run %s --function=causal --device=sim:sm_100a --input arg3=%t.npy --random=2 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=window --device=sim:sm_100a --input arg3=%t.npy --random=3 --verify | FileCheck %s
// RUN: %python %S/Inputs/integers.py %t.few.npy 0,1,0,0,65,0
// RUN: attn-run %s --function=persistent --device=sim:sm_100a --input arg3=%t.few.npy --random=4 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function=persistent --device=sim:sm_100a --input arg3=%t.npy --random=4 --verify --schedules 2 | FileCheck %s %}
// RUN: attn-run %s --function=splits --device=sim:sm_100a --input arg3=%t.npy --random=6 --verify | FileCheck %s
// RUN: attn-run %s --function=packed --device=sim:sm_100a --input arg3=%t.npy --random=7 --verify | FileCheck %s
// RUN: attn-run %s --function=bytes --device=sim:sm_100a --input arg3=%t.npy --random=8 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=chosen --device=sim:sm_100a --shape N=230 --random=9 --trials 3 --verify 2>%t.err | FileCheck %s
// The chosen schedule is one of tcgen05: no warning.
// RUN: count 0 < %t.err
// CHECK: verify: PASS

!q = tensor<6x4x200x64xf16>
!k = tensor<6x2x300x64xf16>
!lse = tensor<6x4x200xf32>
!n = tensor<6xi32>
!q8 = tensor<6x2x140x128xf8E4M3FN>
!k8 = tensor<6x1x300x128xf8E4M3FN>

func.func @plain(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 0>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

// Rows end, too.
func.func @causal(%q: !q, %k: !k, %v: !k, %n: !n, %m: tensor<6xi64>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n, query %m : tensor<6xi64>) score_mod soft_cap(20.0) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 128, stages = 2, warps = 4>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @window(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod sliding_window(40, 3)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 48, stages = 3, warps = 4, rescale_threshold = 0>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @persistent(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3, output_tile = true>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @splits(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "split_kv", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, splits = 3>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @packed(%q: tensor<6x4x40x64xbf16>, %k: tensor<6x2x300x64xbf16>, %v: tensor<6x2x300x32xbf16>, %n: !n) -> (tensor<6x4x40x32xbf16>, tensor<6x4x40xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, pack_gqa = true>}
      : tensor<6x4x40x64xbf16>, tensor<6x2x300x64xbf16>, tensor<6x2x300x32xbf16> -> tensor<6x4x40x32xbf16>, tensor<6x4x40xf32>
  return %o, %lse : tensor<6x4x40x32xbf16>, tensor<6x4x40xf32>
}

func.func @bytes(%q: !q8, %k: !k8, %v: !k8, %n: !n) -> tensor<6x2x140x128xbf16> {
  %o = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8>}
      : !q8, !k8, !k8 -> tensor<6x2x140x128xbf16>
  return %o : tensor<6x2x140x128xbf16>
}

func.func @chosen(%q: tensor<2x2x150x128xbf16>, %k: tensor<2x1x?x128xbf16>, %v: tensor<2x1x?x128xbf16>, %n: tensor<2xi32>) -> (tensor<2x2x150x128xbf16>, tensor<2x2x150xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<2xi32>) mask_mod causal(bottom_right)
      : tensor<2x2x150x128xbf16>, tensor<2x1x?x128xbf16>, tensor<2x1x?x128xbf16> -> tensor<2x2x150x128xbf16>, tensor<2x2x150xf32>
  return %o, %lse : tensor<2x2x150x128xbf16>, tensor<2x2x150xf32>
}
