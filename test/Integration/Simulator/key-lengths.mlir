// Lengths of keys and of rows in kernels: attn-run writes NaN where a key does not exist, and every result is written. One token
// with splits of the keys, prefill with causal by sequence, slices of Dv.
// RUN: attn-run %s --function=decode --shape N=150 --device=sim:sm_80 --random=3 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape N=150 --device=sim:sm_90a --random=4 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=causal --device=sim:sm_80 --random=3 --verify | FileCheck %s %}
// RUN: attn-run %s --function=causal --device=sim:sm_90a --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=slices --device=sim:sm_80 --random=5 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @decode(%q: tensor<5x8x1x64xf16>, %k: tensor<5x2x?x64xf16>, %v: tensor<5x2x?x64xf16>, %n: tensor<5xi32>) -> (tensor<5x8x1x64xf16>, tensor<5x8x1xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>)
      {schedule = #attn.schedule<kind = "split_kv", splits = 3, tile_n = 32>}
      : tensor<5x8x1x64xf16>, tensor<5x2x?x64xf16>, tensor<5x2x?x64xf16> -> tensor<5x8x1x64xf16>, tensor<5x8x1xf32>
  return %o, %lse : tensor<5x8x1x64xf16>, tensor<5x8x1xf32>
}

func.func @causal(%q: tensor<4x4x40x64xbf16>, %k: tensor<4x2x100x64xbf16>, %v: tensor<4x2x100x64xbf16>, %n: tensor<4xi32>, %m: tensor<4xi64>) -> (tensor<4x4x40x64xbf16>, tensor<4x4x40xf32>) {
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<4xi32>, query %m : tensor<4xi64>) mask_mod causal(bottom_right)
      : tensor<4x4x40x64xbf16>, tensor<4x2x100x64xbf16>, tensor<4x2x100x64xbf16> -> tensor<4x4x40x64xbf16>, tensor<4x4x40xf32>
  return %o, %lse : tensor<4x4x40x64xbf16>, tensor<4x4x40xf32>
}

func.func @slices(%q: tensor<3x1x16x64xf16>, %k: tensor<3x1x50x64xf16>, %v: tensor<3x1x50x64xf16>, %n: tensor<3xi32>) -> tensor<3x1x16x64xf16> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<3xi32>) {schedule = #attn.schedule<kind = "large_cache", tile_m = 16, tile_n = 32, tile_dv = 32>}
      : tensor<3x1x16x64xf16>, tensor<3x1x50x64xf16>, tensor<3x1x50x64xf16> -> tensor<3x1x16x64xf16>
  return %o : tensor<3x1x16x64xf16>
}
