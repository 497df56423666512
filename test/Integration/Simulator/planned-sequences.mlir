// Splits of sequences behind each other that persistent CTAs share out (balance = "plan"): packed keys and values, a cache in pages, chunks of prompts beside
// single tokens, more row tiles than one, packed heads, slices of V, a bound of the rows, the LSE and a sink; of each family, whose producers read the list, too; sm_90a starts one kernel after another.
// RUN: attn-run %s --function packed --device=sim:sm_80 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function pages --device=sim:sm_80 --shape "query_rows=150,P=60,T=40,offsets=7" --random 2 --verify | FileCheck %s
// RUN: attn-run %s --function pages --device=sim:sm_90a --shape "query_rows=40,P=60,T=12,offsets=41;query_rows=1,P=1,T=1,offsets=2" --random 3 --verify | FileCheck %s
// RUN: attn-run %s --function bounded --device=sim:sm_80 --random 4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function wgmma --device=sim:sm_90a --random 5 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function tcgen05 --device=sim:sm_100a --random 6 --verify | FileCheck %s
// RUN: attn-run %s --function pages_by_tma --device=sim:sm_90a --shape "query_rows=150,P=60,T=40,offsets=7;query_rows=1,P=1,T=1,offsets=2" --random 7 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

!t = tensor<230x4x64xbf16>
!k = tensor<900x2x64xbf16>
!o = tensor<6xi32>

func.func @packed(%qp: !t, %kp: !k, %vp: !k, %qo: !o, %ko: !o, %sink: tensor<4xbf16>) -> (!t, tensor<4x230xf32>) {
  %q = attn.ragged %qp[%qo] : !t[!o] -> tensor<5x4x230x64xbf16>
  %k = attn.ragged %kp[%ko] : !k[!o] -> tensor<5x2x900x64xbf16>
  %v = attn.ragged %vp[%ko] : !k[!o] -> tensor<5x2x900x64xbf16>
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %n = attn.sequence_lengths %ko : !o -> tensor<5xi32>
  %r, %l = attn.attention %q, %k, %v sink(%sink : tensor<4xbf16>) lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 64, balance = "plan", persistent_ctas = 7, tile_m = 32, tile_n = 32, pack_gqa = true>}
      : tensor<5x4x230x64xbf16>, tensor<5x2x900x64xbf16>, tensor<5x2x900x64xbf16> -> tensor<5x4x230x64xbf16>, tensor<5x4x230xf32>
  %e = tensor.empty() : !t
  %f = tensor.empty() : tensor<4x230xf32>
  %p = attn.pack %r[%qo] into %e : tensor<5x4x230x64xbf16>[!o] into !t
  %pl = attn.pack %l[%qo] into %f : tensor<5x4x230xf32>[!o] into tensor<4x230xf32>
  return %p, %pl : !t, tensor<4x230xf32>
}

func.func @wgmma(%qp: !t, %kp: !k, %vp: !k, %qo: !o, %ko: !o, %sink: tensor<4xbf16>) -> (!t, tensor<4x230xf32>) {
  %q = attn.ragged %qp[%qo] : !t[!o] -> tensor<5x4x230x64xbf16>
  %k = attn.ragged %kp[%ko] : !k[!o] -> tensor<5x2x900x64xbf16>
  %v = attn.ragged %vp[%ko] : !k[!o] -> tensor<5x2x900x64xbf16>
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %n = attn.sequence_lengths %ko : !o -> tensor<5xi32>
  %r, %l = attn.attention %q, %k, %v sink(%sink : tensor<4xbf16>) lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128, balance = "plan", persistent_ctas = 5, mma = "wgmma">}
      : tensor<5x4x230x64xbf16>, tensor<5x2x900x64xbf16>, tensor<5x2x900x64xbf16> -> tensor<5x4x230x64xbf16>, tensor<5x4x230xf32>
  %e = tensor.empty() : !t
  %f = tensor.empty() : tensor<4x230xf32>
  %p = attn.pack %r[%qo] into %e : tensor<5x4x230x64xbf16>[!o] into !t
  %pl = attn.pack %l[%qo] into %f : tensor<5x4x230xf32>[!o] into tensor<4x230xf32>
  return %p, %pl : !t, tensor<4x230xf32>
}

func.func @tcgen05(%qp: !t, %kp: !k, %vp: !k, %qo: !o, %ko: !o, %sink: tensor<4xbf16>) -> (!t, tensor<4x230xf32>) {
  %q = attn.ragged %qp[%qo] : !t[!o] -> tensor<5x4x230x64xbf16>
  %k = attn.ragged %kp[%ko] : !k[!o] -> tensor<5x2x900x64xbf16>
  %v = attn.ragged %vp[%ko] : !k[!o] -> tensor<5x2x900x64xbf16>
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %n = attn.sequence_lengths %ko : !o -> tensor<5xi32>
  %r, %l = attn.attention %q, %k, %v sink(%sink : tensor<4xbf16>) lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128, balance = "plan", persistent_ctas = 5, mma = "tcgen05">}
      : tensor<5x4x230x64xbf16>, tensor<5x2x900x64xbf16>, tensor<5x2x900x64xbf16> -> tensor<5x4x230x64xbf16>, tensor<5x4x230xf32>
  %e = tensor.empty() : !t
  %f = tensor.empty() : tensor<4x230xf32>
  %p = attn.pack %r[%qo] into %e : tensor<5x4x230x64xbf16>[!o] into !t
  %pl = attn.pack %l[%qo] into %f : tensor<5x4x230xf32>[!o] into tensor<4x230xf32>
  return %p, %pl : !t, tensor<4x230xf32>
}

func.func @pages_by_tma(%qp: tensor<?x4x64xbf16>, %kp: tensor<?x2x16x64xbf16>, %vp: tensor<?x2x16x64xbf16>, %table: tensor<?x?xi32>, %offsets: tensor<?xi32>, %n: tensor<?xi32>) -> tensor<?x4x64xbf16> {
  %q = attn.ragged %qp[%offsets] : tensor<?x4x64xbf16>[tensor<?xi32>] -> tensor<?x4x?x64xbf16>
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xbf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xbf16>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xbf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xbf16>
  %m = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128, balance = "plan", persistent_ctas = 6, mma = "wgmma">}
      : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xbf16>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xbf16>
  %e = tensor.empty(%rows) : tensor<?x4x64xbf16>
  %p = attn.pack %r[%offsets] into %e : tensor<?x4x?x64xbf16>[tensor<?xi32>] into tensor<?x4x64xbf16>
  return %p : tensor<?x4x64xbf16>
}

!pool = tensor<?x2x16x64xf16>
func.func @pages(%qp: tensor<?x4x64xf16>, %kp: !pool, %vp: !pool, %table: tensor<?x?xi32>, %offsets: tensor<?xi32>, %n: tensor<?xi32>) -> tensor<?x4x64xf16> {
  %q = attn.ragged %qp[%offsets] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.paged %kp[%table] : !pool[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : !pool[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %m = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128, balance = "plan", persistent_ctas = 11, tile_n = 32>}
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %e = tensor.empty(%rows) : tensor<?x4x64xf16>
  %p = attn.pack %r[%offsets] into %e : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}

func.func @bounded(%qp: tensor<90x2x64xf16>, %k: tensor<4x1x150x64xf16>, %v: tensor<4x1x150x80xf16>, %offsets: tensor<5xi32>, %n: tensor<4xi64>) -> tensor<90x2x80xf16> {
  %q = attn.ragged %qp[%offsets] : tensor<90x2x64xf16>[tensor<5xi32>] -> tensor<4x2x40x64xf16>
  %m = attn.sequence_lengths %offsets : tensor<5xi32> -> tensor<4xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<4xi64>, query %m : tensor<4xi32>)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 32, balance = "plan", persistent_ctas = 5, tile_m = 16, tile_n = 16, tile_dv = 64>}
      : tensor<4x2x40x64xf16>, tensor<4x1x150x64xf16>, tensor<4x1x150x80xf16> -> tensor<4x2x40x80xf16>
  %e = tensor.empty() : tensor<90x2x80xf16>
  %p = attn.pack %r[%offsets] into %e : tensor<4x2x40x80xf16>[tensor<5xi32>] into tensor<90x2x80xf16>
  return %p : tensor<90x2x80xf16>
}
