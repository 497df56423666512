// Lengths of keys in kernels of wgmma and TMA: attn-run writes NaN to K and V behind them. Lengths around a tile and of none, one loop
// and two, persistent CTAs and clusters, whose producer and consumers agree on how many tiles there are, splits, packed heads, masks by
// sequence. Checks of races and proxies are on; warps run in several orders.
// RUN: %python %S/Inputs/integers.py %t.npy 0,1,63,64,65,300
// RUN: attn-run %s --function=plain --device=sim:sm_90a --input arg3=%t.npy --random=1 --verify --schedules %if long %{4%} %else %{2%} | FileCheck %s
// RUN: %if long %{ attn-run %s --function=causal --device=sim:sm_90a --input arg3=%t.npy --random=2 --verify --schedules 3 | FileCheck %s %}
// RUN: attn-run %s --function=window --device=sim:sm_90a --input arg3=%t.npy --random=3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=persistent --device=sim:sm_90a --input arg3=%t.npy --random=4 --verify --schedules %if long %{3%} %else %{2%} | FileCheck %s
// RUN: attn-run %s --function=clusters --device=sim:sm_90a --input arg3=%t.npy --random=5 --verify --schedules %if long %{3%} %else %{2%} | FileCheck %s
// RUN: attn-run %s --function=splits --device=sim:sm_90a --input arg3=%t.npy --random=6 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=packed --device=sim:sm_90a --input arg3=%t.npy --random=7 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=wide --device=sim:sm_90a --random=8 --trials 4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=chosen --device=sim:sm_90a --shape N=230 --random=9 --trials 4 --verify 2>%t.err | FileCheck %s
// The chosen schedule is one of wgmma: no warning.
// RUN: count 0 < %t.err
// CHECK: verify: PASS

!q = tensor<6x4x200x64xf16>
!k = tensor<6x2x300x64xf16>
!lse = tensor<6x4x200xf32>
!n = tensor<6xi32>

func.func @plain(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 0>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

// Three warpgroups that take turns at softmax; rows end, too.
func.func @causal(%q: !q, %k: !k, %v: !k, %n: !n, %m: tensor<6xi64>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n, query %m : tensor<6xi64>) score_mod soft_cap(20.0) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 192, tile_n = 64, stages = 2, warps = 12, turns = "softmax">}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @window(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod sliding_window(40, 3)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 80, stages = 3, warps = 4>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @persistent(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 3, output_tile = true>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

// Each CTA clears its own copy of what both of them bring.
func.func @clusters(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 64, stages = 2, warps = 4, cluster_m = 2, persistent_ctas = 4>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @splits(%q: !q, %k: !k, %v: !k, %n: !n) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n)
      {schedule = #attn.schedule<kind = "split_kv", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, splits = 3>}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @packed(%q: tensor<6x4x40x64xbf16>, %k: tensor<6x2x300x64xbf16>, %v: tensor<6x2x300x32xbf16>, %n: !n) -> (tensor<6x4x40x32xbf16>, tensor<6x4x40xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : !n) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, pack_gqa = true>}
      : tensor<6x4x40x64xbf16>, tensor<6x2x300x64xbf16>, tensor<6x2x300x32xbf16> -> tensor<6x4x40x32xbf16>, tensor<6x4x40xf32>
  return %o, %lse : tensor<6x4x40x32xbf16>, tensor<6x4x40xf32>
}

func.func @wide(%q: tensor<3x1x70x256xbf16>, %k: tensor<3x1x90x256xbf16>, %v: tensor<3x1x90x256xbf16>, %n: tensor<3xi64>) -> tensor<3x1x70x256xbf16> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<3xi64>)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 32, stages = 2, warps = 8>}
      : tensor<3x1x70x256xbf16>, tensor<3x1x90x256xbf16>, tensor<3x1x90x256xbf16> -> tensor<3x1x70x256xbf16>
  return %o : tensor<3x1x70x256xbf16>
}

func.func @chosen(%q: tensor<2x2x150x128xbf16>, %k: tensor<2x1x?x128xbf16>, %v: tensor<2x1x?x128xbf16>, %n: tensor<2xi32>) -> (tensor<2x2x150x128xbf16>, tensor<2x2x150xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<2xi32>) mask_mod causal(bottom_right)
      : tensor<2x2x150x128xbf16>, tensor<2x1x?x128xbf16>, tensor<2x1x?x128xbf16> -> tensor<2x2x150x128xbf16>, tensor<2x2x150xf32>
  return %o, %lse : tensor<2x2x150x128xbf16>, tensor<2x2x150xf32>
}
