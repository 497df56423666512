// Pages by a table of all batches behind each other: of both kinds of copies, splits, a plan, packed queries, and pages of two sizes. Rows that nobody
// has are NaN, and entries behind a length no pages.
// RUN: attn-run %s --function=decode --shape B=4,offsets=5,entries=23,P=30 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=decode --shape B=4,offsets=5,entries=23,P=30 --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=decode --shape B=4,offsets=5,entries=0,P=30 --device=sim:sm_80 --random=2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=decode --shape B=4,offsets=5,entries=0,P=30 --random=2 --verify | FileCheck %s %}
// RUN: attn-run %s --function=split --shape B=3,offsets=4,entries=40,P=41 --device=sim:sm_80 --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=plan --shape B=3,offsets=4,entries=40,P=41 --device=sim:sm_80 --random=4 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=plan --shape B=3,offsets=4,entries=40,P=41 --device=sim:sm_90a --random=5 --verify | FileCheck %s %}
// RUN: attn-run %s --function=tma --shape B=3,offsets=4,entries=19,P=20 --device=sim:sm_90a --random=6 --verify | FileCheck %s
// RUN: attn-run %s --function=tensor --shape B=3,offsets=4,entries=19,P=20 --device=sim:sm_100a --random=7 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=odd --shape B=2,offsets=3,entries=60,P=61,value_entries=15,Pv=16 --random=8 --verify | FileCheck %s %}
// RUN: attn-run %s --function=odd --shape B=2,offsets=3,entries=60,P=61,value_entries=15,Pv=16 --device=sim:sm_80 --random=9 --verify | FileCheck %s
// RUN: attn-run %s --function=prefill --shape query_rows=50,offsets=4,entries=25,P=26 --random=10 --verify | FileCheck %s
// RUN: attn-run %s --function=prefill --shape query_rows=50,offsets=4,entries=25,P=26 --device=sim:sm_80 --random=11 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=prefill --shape query_rows=50,offsets=4,entries=25,P=26 --device=sim:sm_90a --random=12 --verify | FileCheck %s %}
// CHECK: verify: PASS

// One token, G = 4.
func.func @decode(%q: tensor<?x8x1x64xbf16>, %kp: tensor<?x2x16x64xbf16>, %vp: tensor<?x2x16x64xbf16>, %indices: tensor<?xi32>, %indptr: tensor<?xi64>,
                  %n: tensor<?xi32>) -> (tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>) {
  %k = attn.paged %kp[%indices, %indptr] : tensor<?x2x16x64xbf16>[tensor<?xi32>, tensor<?xi64>] -> tensor<?x2x?x64xbf16>
  %v = attn.paged %vp[%indices, %indptr] : tensor<?x2x16x64xbf16>[tensor<?xi32>, tensor<?xi64>] -> tensor<?x2x?x64xbf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      : tensor<?x8x1x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>
  return %o, %lse : tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>
}

// Splits of the keys.
func.func @split(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %indices: tensor<?xi32>, %indptr: tensor<?xi32>,
                 %n: tensor<?xi32>) -> tensor<?x8x1x64xf16> {
  %k = attn.paged %kp[%indices, %indptr] : tensor<?x2x16x64xf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%indices, %indptr] : tensor<?x2x16x64xf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) mask_mod sliding_window(90, 0)
      {schedule = #attn.schedule<kind = "split_kv", splits = 3>}
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>
  return %o : tensor<?x8x1x64xf16>
}

// Splits of a size, shared out on the device.
func.func @plan(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %indices: tensor<?xi32>, %indptr: tensor<?xi32>,
                %n: tensor<?xi32>) -> tensor<?x8x1x64xf16> {
  %k = attn.paged %kp[%indices, %indptr] : tensor<?x2x16x64xf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%indices, %indptr] : tensor<?x2x16x64xf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128, balance = "plan", tile_n = 64>}
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>
  return %o : tensor<?x8x1x64xf16>
}

// A page is a box.
func.func @tma(%q: tensor<?x4x70x64xbf16>, %kp: tensor<?x2x16x64xbf16>, %vp: tensor<?x2x16x64xbf16>, %indices: tensor<?xi32>, %indptr: tensor<?xi32>,
               %n: tensor<?xi32>) -> (tensor<?x4x70x64xbf16>, tensor<?x4x70xf32>) {
  %k = attn.paged %kp[%indices, %indptr] : tensor<?x2x16x64xbf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xbf16>
  %v = attn.paged %vp[%indices, %indptr] : tensor<?x2x16x64xbf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xbf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, persistent_ctas = 3>}
      : tensor<?x4x70x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x70x64xbf16>, tensor<?x4x70xf32>
  return %o, %lse : tensor<?x4x70x64xbf16>, tensor<?x4x70xf32>
}
func.func @tensor(%q: tensor<?x4x70x64xbf16>, %kp: tensor<?x2x16x64xbf16>, %vp: tensor<?x2x16x64xbf16>, %indices: tensor<?xi32>, %indptr: tensor<?xi32>,
                  %n: tensor<?xi32>) -> tensor<?x4x70x64xbf16> {
  %k = attn.paged %kp[%indices, %indptr] : tensor<?x2x16x64xbf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xbf16>
  %v = attn.paged %vp[%indices, %indptr] : tensor<?x2x16x64xbf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xbf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<mma = "tcgen05">}
      : tensor<?x4x70x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x70x64xbf16>
  return %o : tensor<?x4x70x64xbf16>
}

// Pages of 3 and of 12 rows, in tables of their own; keys and values of 8 bits.
func.func @odd(%q: tensor<?x2x5x48xf16>, %kp: tensor<?x1x3x48xi8>, %vp: tensor<?x1x12x80xi8>, %t: tensor<?xi64>, %to: tensor<?xi32>, %u: tensor<?xi32>,
               %uo: tensor<?xi64>, %n: tensor<?xi64>) -> tensor<?x2x5x80xf16> {
  %k = attn.paged %kp[%t, %to] : tensor<?x1x3x48xi8>[tensor<?xi64>, tensor<?xi32>] -> tensor<?x1x?x48xi8>
  %v = attn.paged %vp[%u, %uo] : tensor<?x1x12x80xi8>[tensor<?xi32>, tensor<?xi64>] -> tensor<?x1x?x80xi8>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>) mask_mod causal(bottom_right)
      : tensor<?x2x5x48xf16>, tensor<?x1x?x48xi8>, tensor<?x1x?x80xi8> -> tensor<?x2x5x80xf16>
  return %o : tensor<?x2x5x80xf16>
}

// Rows of sequences behind each other, too.
func.func @prefill(%qp: tensor<?x4x64xf16>, %qo: tensor<?xi32>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %indices: tensor<?xi32>,
                   %indptr: tensor<?xi32>, %n: tensor<?xi32>) -> tensor<?x4x64xf16> {
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.paged %kp[%indices, %indptr] : tensor<?x2x16x64xf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%indices, %indptr] : tensor<?x2x16x64xf16>[tensor<?xi32>, tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %empty = tensor.empty(%rows) : tensor<?x4x64xf16>
  %p = attn.pack %o[%qo] into %empty : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}
