// Keys and values in pages of a pool, at random places: attn-run writes NaN to rows that nobody has, and what is no page to entries
// behind the lengths. Pages smaller and larger than a tile, of K and V apart; splits; a window; without lengths; 64-bit entries.
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=41 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape B=4,T=10,P=41 --device=sim:sm_90a --random=3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=odd --shape B=2,P=100,T=24,Pv=13,Tv=6 --random=4 --verify | FileCheck %s %}
// RUN: attn-run %s --function=odd --shape B=2,P=100,T=24,Pv=13,Tv=6 --device=sim:sm_80 --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=whole --device=sim:sm_90a --random=6 --verify 2>/dev/null | FileCheck %s
// RUN: not attn-run %s --function=decode --shape B=4,T=10,P=0 --random=1 --verify 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: attn-run %s --function=decode --shape B=4,T=10,P=0 --random=1
// CHECK: verify: PASS
// ENTRY: paged.mlir:[[#@LINE+5]]:8: error: 'attn.paged' op expected entries that are one of the 0 pages of the pool, got 0 of batch

// One token, G = 4.
func.func @decode(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x8x1x64xf16>, tensor<?x8x1xf32>) {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
  return %o, %lse : tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
}

// Pages of 3 and of 12 rows, in tables of their own.
func.func @odd(%q: tensor<?x2x5x32xbf16>, %kp: tensor<?x1x3x32xbf16>, %vp: tensor<?x1x12x64xbf16>, %t: tensor<?x?xi64>, %u: tensor<?x?xi32>, %n: tensor<?xi64>)
    -> tensor<?x2x5x64xbf16> {
  %k = attn.paged %kp[%t] : tensor<?x1x3x32xbf16>[tensor<?x?xi64>] -> tensor<?x1x?x32xbf16>
  %v = attn.paged %vp[%u] : tensor<?x1x12x64xbf16>[tensor<?x?xi32>] -> tensor<?x1x?x64xbf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>) mask_mod sliding_window(40, 0)
      : tensor<?x2x5x32xbf16>, tensor<?x1x?x32xbf16>, tensor<?x1x?x64xbf16> -> tensor<?x2x5x64xbf16>
  return %o : tensor<?x2x5x64xbf16>
}

// All keys exist, and a page is larger than a tile: prefill.
func.func @whole(%q: tensor<2x2x40x64xf16>, %kp: tensor<7x1x48x64xf16>, %vp: tensor<7x1x48x64xf16>, %t: tensor<2x2xi32>) -> tensor<2x2x40x64xf16> {
  %k = attn.paged %kp[%t] : tensor<7x1x48x64xf16>[tensor<2x2xi32>] -> tensor<2x1x96x64xf16>
  %v = attn.paged %vp[%t] : tensor<7x1x48x64xf16>[tensor<2x2xi32>] -> tensor<2x1x96x64xf16>
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right) {schedule = #attn.schedule<tile_n = 32>}
      : tensor<2x2x40x64xf16>, tensor<2x1x96x64xf16>, tensor<2x1x96x64xf16> -> tensor<2x2x40x64xf16>
  return %o : tensor<2x2x40x64xf16>
}
