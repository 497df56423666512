// Keys and values of i8 beside a query of 16 bits: what a cache holds. In pages whose rows that nobody has are -128, or behind each other;
// descales of a tensor, or of each batch and key head; splits of the keys; heads packed; a window; f16 and bf16.
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape B=4,T=10,P=41 --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=odd --shape B=2,P=100,T=24,Pv=13,Tv=6 --random=4 --verify | FileCheck %s %}
// RUN: attn-run %s --function=odd --shape B=2,P=100,T=24,Pv=13,Tv=6 --device=sim:sm_80 --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=split --shape B=3,N=300 --device=sim:sm_80 --random=7 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=split --shape B=3,N=300 --device=sim:sm_90a --random=8 --verify | FileCheck %s %}
// RUN: attn-run %s --function=wide --random=9 --verify | FileCheck %s
// RUN: attn-run %s --function=double --random=10 --verify | FileCheck %s
// CHECK: verify: PASS

// One token, G = 4; descales of heads.
func.func @decode(%q: tensor<?x8x1x64xbf16>, %kp: tensor<?x2x16x64xi8>, %vp: tensor<?x2x16x64xi8>, %table: tensor<?x?xi32>, %n: tensor<?xi32>,
                  %dk: tensor<?x2xf32>, %dv: tensor<?x2xf32>) -> (tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>) {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xi8>[tensor<?x?xi32>] -> tensor<?x2x?x64xi8>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xi8>[tensor<?x?xi32>] -> tensor<?x2x?x64xi8>
  %o, %lse = attn.attention %q, %k, %v descale(%dk, %dv : tensor<?x2xf32>, tensor<?x2xf32>) lengths(key %n : tensor<?xi32>)
      : tensor<?x8x1x64xbf16>, tensor<?x2x?x64xi8>, tensor<?x2x?x64xi8> -> tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>
  return %o, %lse : tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>
}

// Pages of 3 and of 12 rows, in tables of their own; head dims that are padded; no descale.
func.func @odd(%q: tensor<?x2x5x48xf16>, %kp: tensor<?x1x3x48xi8>, %vp: tensor<?x1x12x80xi8>, %t: tensor<?x?xi64>, %u: tensor<?x?xi32>, %n: tensor<?xi64>)
    -> tensor<?x2x5x80xf16> {
  %k = attn.paged %kp[%t] : tensor<?x1x3x48xi8>[tensor<?x?xi64>] -> tensor<?x1x?x48xi8>
  %v = attn.paged %vp[%u] : tensor<?x1x12x80xi8>[tensor<?x?xi32>] -> tensor<?x1x?x80xi8>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>) mask_mod sliding_window(40, 0)
      : tensor<?x2x5x48xf16>, tensor<?x1x?x48xi8>, tensor<?x1x?x80xi8> -> tensor<?x2x5x80xf16>
  return %o : tensor<?x2x5x80xf16>
}

// Behind each other, in two splits of keys; tiles of several warps.
func.func @split(%q: tensor<?x4x20x128xf16>, %k: tensor<?x4x?x128xi8>, %v: tensor<?x4x?x128xi8>, %n: tensor<?xi32>)
    -> tensor<?x4x20x128xf16> {
  %dk = arith.constant dense<0.02> : tensor<1xf32>
  %dv = arith.constant dense<-0.03> : tensor<1xf32>
  %o = attn.attention %q, %k, %v descale(%dk, %dv : tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<?xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", splits = 2, tile_m = 32, tile_n = 48, warps = 2>}
      : tensor<?x4x20x128xf16>, tensor<?x4x?x128xi8>, tensor<?x4x?x128xi8> -> tensor<?x4x20x128xf16>
  return %o : tensor<?x4x20x128xf16>
}

// A query of f32, on a CPU.
func.func @wide(%q: tensor<1x2x9x32xf32>, %k: tensor<1x2x70x32xi8>, %v: tensor<1x2x70x32xi8>) -> tensor<1x2x9x32xf32> {
  %dk = arith.constant dense<0.02> : tensor<1xf32>
  %dv = arith.constant dense<0.01> : tensor<1xf32>
  %o = attn.attention %q, %k, %v descale(%dk, %dv : tensor<1xf32>, tensor<1xf32>)
      : tensor<1x2x9x32xf32>, tensor<1x2x70x32xi8>, tensor<1x2x70x32xi8> -> tensor<1x2x9x32xf32>
  return %o : tensor<1x2x9x32xf32>
}

// A query of f64.
func.func @double(%q: tensor<1x2x9x32xf64>, %k: tensor<1x2x70x32xi8>, %v: tensor<1x2x70x32xi8>, %dk: tensor<1xf32>, %dv: tensor<1xf32>) -> tensor<1x2x9x32xf64> {
  %o = attn.attention %q, %k, %v descale(%dk, %dv : tensor<1xf32>, tensor<1xf32>)
      : tensor<1x2x9x32xf64>, tensor<1x2x70x32xi8>, tensor<1x2x70x32xi8> -> tensor<1x2x9x32xf64>
  return %o : tensor<1x2x9x32xf64>
}
