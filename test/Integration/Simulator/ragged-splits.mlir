// Splits of the keys of sequences behind each other: states lie as the rows of the query do, rows that no sequence has are neither combined nor
// written. Of each family; a number of keys a split and a number of splits; packed heads, sinks, the LSE; a cache in pages of 8 bits with descales of
// each batch and head, of which the cost model splits the keys where rows are few.
// RUN: attn-run %s --function=numbers --device=sim:sm_80 --random=1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=keys --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: attn-run %s --function=wgmma --device=sim:sm_90a --random=3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=tcgen05 --device=sim:sm_100a --random=4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=tokens --device=sim:sm_90a --shape query_rows=15,P=131,T=25 --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=dynamic --device=sim:sm_80 --shape offsets=5,Hq=4,query_rows=90,key_rows=255,Hkv=2 --random=6 --trials 2 --verify | FileCheck %s
// RUN: sed "/^func.func @[nkw]/,/^}/d; /^func.func @tc/,/^}/d" %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-select-schedule=target=sm_90a | FileCheck %s --check-prefix=CHOSEN
// CHECK: verify: PASS

!t = tensor<230x4x64xbf16>
!k = tensor<900x2x64xbf16>
!o = tensor<6xi32>
!q = tensor<5x4x64x64xbf16>
!b = tensor<5x2x300x64xbf16>

func.func @numbers(%qp: !t, %kp: !k, %vp: !k, %qo: !o, %ko: !o, %sink: tensor<4xbf16>) -> (!t, tensor<4x230xf32>) {
  %q = attn.ragged %qp[%qo] : !t[!o] -> !q
  %k = attn.ragged %kp[%ko] : !k[!o] -> !b
  %v = attn.ragged %vp[%ko] : !k[!o] -> !b
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %n = attn.sequence_lengths %ko : !o -> tensor<5xi32>
  %r, %l = attn.attention %q, %k, %v sink(%sink : tensor<4xbf16>) lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", splits = 3>} : !q, !b, !b -> !q, tensor<5x4x64xf32>
  %e = tensor.empty() : !t
  %f = tensor.empty() : tensor<4x230xf32>
  %p = attn.pack %r[%qo] into %e : !q[!o] into !t
  %pl = attn.pack %l[%qo] into %f : tensor<5x4x64xf32>[!o] into tensor<4x230xf32>
  return %p, %pl : !t, tensor<4x230xf32>
}

func.func @keys(%qp: !t, %kp: !k, %vp: !k, %qo: !o, %ko: !o) -> !t {
  %q = attn.ragged %qp[%qo] : !t[!o] -> !q
  %k = attn.ragged %kp[%ko] : !k[!o] -> !b
  %v = attn.ragged %vp[%ko] : !k[!o] -> !b
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %n = attn.sequence_lengths %ko : !o -> tensor<5xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod sliding_window(70, 3)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 64, pack_gqa = true, tile_m = 32, tile_n = 32>} : !q, !b, !b -> !q
  %e = tensor.empty() : !t
  %p = attn.pack %r[%qo] into %e : !q[!o] into !t
  return %p : !t
}

func.func @wgmma(%qp: !t, %kp: !k, %vp: !k, %qo: !o, %ko: !o) -> !t {
  %q = attn.ragged %qp[%qo] : !t[!o] -> !q
  %k = attn.ragged %kp[%ko] : !k[!o] -> !b
  %v = attn.ragged %vp[%ko] : !k[!o] -> !b
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %n = attn.sequence_lengths %ko : !o -> tensor<5xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>)
      {schedule = #attn.schedule<kind = "split_kv", splits = 2, mma = "wgmma", tile_m = 128, warps = 8>} : !q, !b, !b -> !q
  %e = tensor.empty() : !t
  %p = attn.pack %r[%qo] into %e : !q[!o] into !t
  return %p : !t
}

func.func @tcgen05(%qp: !t, %kp: !k, %vp: !k, %qo: !o, %ko: !o) -> !t {
  %q = attn.ragged %qp[%qo] : !t[!o] -> !q
  %k = attn.ragged %kp[%ko] : !k[!o] -> !b
  %v = attn.ragged %vp[%ko] : !k[!o] -> !b
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %n = attn.sequence_lengths %ko : !o -> tensor<5xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>)
      {schedule = #attn.schedule<kind = "split_kv", splits = 2, mma = "tcgen05", tile_m = 128, warps = 4>} : !q, !b, !b -> !q
  %e = tensor.empty() : !t
  %p = attn.pack %r[%qo] into %e : !q[!o] into !t
  return %p : !t
}

// CHOSEN: func.func @tokens
// CHOSEN: kind = "split_kv"
func.func @tokens(%qp: tensor<?x8x128xbf16>, %kp: tensor<?x2x16x128xf8E4M3FN>, %vp: tensor<?x2x16x128xf8E4M3FN>, %t: tensor<5x?xi32>, %n: tensor<5xi32>, %qo: !o, %dk: tensor<5x2xf32>, %dv: tensor<5x2xf32>) -> tensor<?x8x128xbf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x8x128xbf16>[!o] -> tensor<5x8x4x128xbf16>
  %k = attn.paged %kp[%t] : tensor<?x2x16x128xf8E4M3FN>[tensor<5x?xi32>] -> tensor<5x2x?x128xf8E4M3FN>
  %v = attn.paged %vp[%t] : tensor<?x2x16x128xf8E4M3FN>[tensor<5x?xi32>] -> tensor<5x2x?x128xf8E4M3FN>
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %o = attn.attention %q, %k, %v descale(%dk, %dv : tensor<5x2xf32>, tensor<5x2xf32>) lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod causal(bottom_right)
      : tensor<5x8x4x128xbf16>, tensor<5x2x?x128xf8E4M3FN>, tensor<5x2x?x128xf8E4M3FN> -> tensor<5x8x4x128xbf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x8x128xbf16>
  %e = tensor.empty(%rows) : tensor<?x8x128xbf16>
  %p = attn.pack %o[%qo] into %e : tensor<5x8x4x128xbf16>[!o] into tensor<?x8x128xbf16>
  return %p : tensor<?x8x128xbf16>
}

// CHOSEN: func.func @dynamic
// CHOSEN: kind = "split_kv"
func.func @dynamic(%qp: tensor<?x?x16xf16>, %kp: tensor<?x?x16xf16>, %vp: tensor<?x?x24xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi64>) -> tensor<?x?x24xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = attn.ragged %qp[%qo] : tensor<?x?x16xf16>[tensor<?xi32>] -> tensor<?x?x64x16xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x?x16xf16>[tensor<?xi64>] -> tensor<?x?x?x16xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x?x24xf16>[tensor<?xi64>] -> tensor<?x?x?x24xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %n = attn.sequence_lengths %ko : tensor<?xi64> -> tensor<?xi64>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>, query %m : tensor<?xi32>)
      : tensor<?x?x64x16xf16>, tensor<?x?x?x16xf16>, tensor<?x?x?x24xf16> -> tensor<?x?x64x24xf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x?x16xf16>
  %heads = tensor.dim %qp, %c1 : tensor<?x?x16xf16>
  %e = tensor.empty(%rows, %heads) : tensor<?x?x24xf16>
  %p = attn.pack %o[%qo] into %e : tensor<?x?x64x24xf16>[tensor<?xi32>] into tensor<?x?x24xf16>
  return %p : tensor<?x?x24xf16>
}
