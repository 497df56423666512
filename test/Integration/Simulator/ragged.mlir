// Sequences behind each other: packed query and output, keys packed too or in pages. attn-run draws offsets, among them those of empty
// sequences. Sizes that are no multiples of tiles; groups of heads; causal and windows by sequence; LSE [Hq, rows]; a bound M, or all rows.
// RUN: attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_80 --random=2 --verify 2>/dev/null | FileCheck %s
// RUN: attn-run %s --function=varlen --shape offsets=6,query_rows=230,key_rows=310 --device=sim:sm_90a --random=3 --verify 2>/dev/null | FileCheck %s
// RUN: attn-run %s --function=self --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=self --device=sim:sm_80 --random=5 --verify 2>/dev/null | FileCheck %s
// RUN: attn-run %s --function=self --device=sim:sm_90a --random=6 --verify 2>/dev/null | FileCheck %s
// RUN: attn-run %s --function=chunks --shape B=5,query_rows=150,P=31,T=9 --random=7 --verify | FileCheck %s
// RUN: attn-run %s --function=chunks --shape B=5,query_rows=150,P=31,T=9 --device=sim:sm_80 --random=8 --verify 2>/dev/null | FileCheck %s
// RUN: attn-run %s --function=chunks --shape B=5,query_rows=150,P=31,T=9 --device=sim:sm_90a --random=9 --verify 2>/dev/null | FileCheck %s
// RUN: %if long %{ attn-run %s --function=verify_tokens --shape B=7,query_rows=20,P=31,T=9 --device=sim:sm_90a --random=10 --verify | FileCheck %s %}
// RUN: attn-run %s --function=verify_tokens --shape B=7,query_rows=20,P=31,T=9 --device=sim:sm_80 --random=11 --verify | FileCheck %s
// CHECK: verify: PASS

// G = 4; offsets of their own for the keys, which may be fewer than rows.
func.func @varlen(%qp: tensor<?x8x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x32xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi64>)
    -> (tensor<?x8x32xf16>, tensor<8x?xf32>) {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x8x64xf16>[tensor<?xi32>] -> tensor<?x8x?x64xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<?xi64>] -> tensor<?x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x32xf16>[tensor<?xi64>] -> tensor<?x2x?x32xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %n = attn.sequence_lengths %ko : tensor<?xi64> -> tensor<?xi64>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16> -> tensor<?x8x?x32xf16>, tensor<?x8x?xf32>
  %rows = tensor.dim %qp, %c0 : tensor<?x8x64xf16>
  %eo = tensor.empty(%rows) : tensor<?x8x32xf16>
  %el = tensor.empty(%rows) : tensor<8x?xf32>
  %po = attn.pack %o[%qo] into %eo : tensor<?x8x?x32xf16>[tensor<?xi32>] into tensor<?x8x32xf16>
  %pl = attn.pack %lse[%qo] into %el : tensor<?x8x?xf32>[tensor<?xi32>] into tensor<8x?xf32>
  return %po, %pl : tensor<?x8x32xf16>, tensor<8x?xf32>
}

// The offsets of both, static sizes, a bound of the rows of a sequence that is no multiple of the tile, a window.
func.func @self(%qp: tensor<200x2x32xbf16>, %kp: tensor<200x1x32xbf16>, %vp: tensor<200x1x32xbf16>, %o: tensor<5xi32>) -> tensor<200x2x32xbf16> {
  %q = attn.ragged %qp[%o] : tensor<200x2x32xbf16>[tensor<5xi32>] -> tensor<4x2x90x32xbf16>
  %k = attn.ragged %kp[%o] : tensor<200x1x32xbf16>[tensor<5xi32>] -> tensor<4x1x90x32xbf16>
  %v = attn.ragged %vp[%o] : tensor<200x1x32xbf16>[tensor<5xi32>] -> tensor<4x1x90x32xbf16>
  %n = attn.sequence_lengths %o : tensor<5xi32> -> tensor<4xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<4xi32>, query %n : tensor<4xi32>) mask_mod sliding_window(20, 3)
      : tensor<4x2x90x32xbf16>, tensor<4x1x90x32xbf16>, tensor<4x1x90x32xbf16> -> tensor<4x2x90x32xbf16>
  %e = tensor.empty() : tensor<200x2x32xbf16>
  %p = attn.pack %r[%o] into %e : tensor<4x2x90x32xbf16>[tensor<5xi32>] into tensor<200x2x32xbf16>
  return %p : tensor<200x2x32xbf16>
}

// Chunks of prompts over a paged cache.
func.func @chunks(%qp: tensor<?x4x64xbf16>, %kp: tensor<?x2x16x64xbf16>, %vp: tensor<?x2x16x64xbf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %qo: tensor<?xi32>)
    -> (tensor<?x4x64xbf16>, tensor<4x?xf32>) {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xbf16>[tensor<?xi32>] -> tensor<?x4x128x64xbf16>
  %k = attn.paged %kp[%t] : tensor<?x2x16x64xbf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xbf16>
  %v = attn.paged %vp[%t] : tensor<?x2x16x64xbf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xbf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x4x128x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x128x64xbf16>, tensor<?x4x128xf32>
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xbf16>
  %eo = tensor.empty(%rows) : tensor<?x4x64xbf16>
  %el = tensor.empty(%rows) : tensor<4x?xf32>
  %po = attn.pack %o[%qo] into %eo : tensor<?x4x128x64xbf16>[tensor<?xi32>] into tensor<?x4x64xbf16>
  %pl = attn.pack %lse[%qo] into %el : tensor<?x4x128xf32>[tensor<?xi32>] into tensor<4x?xf32>
  return %po, %pl : tensor<?x4x64xbf16>, tensor<4x?xf32>
}

// Up to 4 guessed tokens of each sequence; heads packed, G = 4.
func.func @verify_tokens(%qp: tensor<?x8x64xf16>, %kp: tensor<?x2x5x64xf16>, %vp: tensor<?x2x5x64xf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %qo: tensor<?xi32>)
    -> tensor<?x8x64xf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x8x64xf16>[tensor<?xi32>] -> tensor<?x8x4x64xf16>
  %k = attn.paged %kp[%t] : tensor<?x2x5x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%t] : tensor<?x2x5x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) mask_mod causal(bottom_right) {schedule = #attn.schedule<pack_gqa = true>}
      : tensor<?x8x4x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x4x64xf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x8x64xf16>
  %eo = tensor.empty(%rows) : tensor<?x8x64xf16>
  %po = attn.pack %o[%qo] into %eo : tensor<?x8x4x64xf16>[tensor<?xi32>] into tensor<?x8x64xf16>
  return %po : tensor<?x8x64xf16>
}
