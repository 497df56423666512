// Sequences behind each other in kernels of wgmma and tcgen05: TMA brings whole tiles of them, the rows of the next one too, which masks hide,
// the consumers clear and nobody stores. NaN in K and V of one sequence reaches no other. Sequences of no rows, of a tile and a row beside
// it; queries behind each other over keys of batches and of pages; packed heads, one loop and two.
// RUN: %python %S/Inputs/ragged.py %t
// RUN: attn-run %s --function=varlen --device=sim:sm_90a --input arg0=%t/q.npy --input arg1=%t/k.npy --input arg2=%t/v.npy --input arg3=%t/n.npy --output=%t/wgmma.npy --schedules 3
// RUN: %python %S/Inputs/ragged.py %t wgmma.npy | FileCheck %s --check-prefix=NAN
// RUN: attn-run %s --function=varlen_tensor --device=sim:sm_100a --input arg0=%t/q.npy --input arg1=%t/k.npy --input arg2=%t/v.npy --input arg3=%t/n.npy --output=%t/tcgen05.npy --schedules 2
// RUN: %python %S/Inputs/ragged.py %t tcgen05.npy | FileCheck %s --check-prefix=NAN
// RUN: attn-run %s --function=packed_heads --device=sim:sm_90a --random=1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=rows_of_batches --device=sim:sm_90a --random=2 --verify | FileCheck %s
// RUN: attn-run %s --function=chunks --shape query_rows=150,P=31,T=9 --device=sim:sm_90a --random=3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=chunks_tensor --shape query_rows=150,P=31,T=9 --device=sim:sm_100a --random=4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function=padded_queries --shape key_rows=150 --device=sim:sm_90a --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=padded_queries_tensor --shape key_rows=150 --device=sim:sm_100a --random=6 --verify | FileCheck %s
// CHECK: verify: PASS
// NAN: PASS

!t = tensor<420x2x64xf16>
!b = tensor<5x2x200x64xf16>
!o = tensor<6xi32>

func.func @varlen(%qp: !t, %kp: !t, %vp: !t, %o: !o) -> !t {
  %q = attn.ragged %qp[%o] : !t[!o] -> !b
  %k = attn.ragged %kp[%o] : !t[!o] -> !b
  %v = attn.ragged %vp[%o] : !t[!o] -> !b
  %n = attn.sequence_lengths %o : !o -> tensor<5xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %n : tensor<5xi32>)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 0>}
      : !b, !b, !b -> !b
  %e = tensor.empty() : !t
  %p = attn.pack %r[%o] into %e : !b[!o] into !t
  return %p : !t
}

func.func @varlen_tensor(%qp: !t, %kp: !t, %vp: !t, %o: !o) -> !t {
  %q = attn.ragged %qp[%o] : !t[!o] -> !b
  %k = attn.ragged %kp[%o] : !t[!o] -> !b
  %v = attn.ragged %vp[%o] : !t[!o] -> !b
  %n = attn.sequence_lengths %o : !o -> tensor<5xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %n : tensor<5xi32>)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 0>}
      : !b, !b, !b -> !b
  %e = tensor.empty() : !t
  %p = attn.pack %r[%o] into %e : !b[!o] into !t
  return %p : !t
}

func.func @packed_heads(%qp: tensor<230x4x64xbf16>, %kp: tensor<230x1x64xbf16>, %vp: tensor<230x1x64xbf16>, %o: !o) -> tensor<230x4x64xbf16> {
  %q = attn.ragged %qp[%o] : tensor<230x4x64xbf16>[!o] -> tensor<5x4x90x64xbf16>
  %k = attn.ragged %kp[%o] : tensor<230x1x64xbf16>[!o] -> tensor<5x1x90x64xbf16>
  %v = attn.ragged %vp[%o] : tensor<230x1x64xbf16>[!o] -> tensor<5x1x90x64xbf16>
  %n = attn.sequence_lengths %o : !o -> tensor<5xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %n : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, pack_gqa = true>}
      : tensor<5x4x90x64xbf16>, tensor<5x1x90x64xbf16>, tensor<5x1x90x64xbf16> -> tensor<5x4x90x64xbf16>
  %e = tensor.empty() : tensor<230x4x64xbf16>
  %p = attn.pack %r[%o] into %e : tensor<5x4x90x64xbf16>[!o] into tensor<230x4x64xbf16>
  return %p : tensor<230x4x64xbf16>
}

// Keys of all batches have their own lengths.
func.func @rows_of_batches(%qp: tensor<230x2x64xbf16>, %k: tensor<5x2x100x64xbf16>, %v: tensor<5x2x100x64xbf16>, %o: !o, %n: tensor<5xi32>) -> tensor<230x2x64xbf16> {
  %q = attn.ragged %qp[%o] : tensor<230x2x64xbf16>[!o] -> tensor<5x2x90x64xbf16>
  %m = attn.sequence_lengths %o : !o -> tensor<5xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod sliding_window(30, 5)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 80, stages = 2, warps = 4>}
      : tensor<5x2x90x64xbf16>, tensor<5x2x100x64xbf16>, tensor<5x2x100x64xbf16> -> tensor<5x2x90x64xbf16>
  %e = tensor.empty() : tensor<230x2x64xbf16>
  %p = attn.pack %r[%o] into %e : tensor<5x2x90x64xbf16>[!o] into tensor<230x2x64xbf16>
  return %p : tensor<230x2x64xbf16>
}

func.func @chunks(%qp: tensor<?x4x64xbf16>, %kp: tensor<?x2x16x64xbf16>, %vp: tensor<?x2x16x64xbf16>, %t: tensor<5x?xi32>, %n: tensor<5xi32>, %qo: !o) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xbf16>[!o] -> tensor<5x4x128x64xbf16>
  %k = attn.paged %kp[%t] : tensor<?x2x16x64xbf16>[tensor<5x?xi32>] -> tensor<5x2x?x64xbf16>
  %v = attn.paged %vp[%t] : tensor<?x2x16x64xbf16>[tensor<5x?xi32>] -> tensor<5x2x?x64xbf16>
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "wgmma", tile_m = 64, tile_n = 64, stages = 2, warps = 4>}
      : tensor<5x4x128x64xbf16>, tensor<5x2x?x64xbf16>, tensor<5x2x?x64xbf16> -> tensor<5x4x128x64xbf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xbf16>
  %e = tensor.empty(%rows) : tensor<?x4x64xbf16>
  %p = attn.pack %o[%qo] into %e : tensor<5x4x128x64xbf16>[!o] into tensor<?x4x64xbf16>
  return %p : tensor<?x4x64xbf16>
}

func.func @chunks_tensor(%qp: tensor<?x4x64xbf16>, %kp: tensor<?x2x16x64xbf16>, %vp: tensor<?x2x16x64xbf16>, %t: tensor<5x?xi32>, %n: tensor<5xi32>, %qo: !o) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xbf16>[!o] -> tensor<5x4x128x64xbf16>
  %k = attn.paged %kp[%t] : tensor<?x2x16x64xbf16>[tensor<5x?xi32>] -> tensor<5x2x?x64xbf16>
  %v = attn.paged %vp[%t] : tensor<?x2x16x64xbf16>[tensor<5x?xi32>] -> tensor<5x2x?x64xbf16>
  %m = attn.sequence_lengths %qo : !o -> tensor<5xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<5xi32>, query %m : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4>}
      : tensor<5x4x128x64xbf16>, tensor<5x2x?x64xbf16>, tensor<5x2x?x64xbf16> -> tensor<5x4x128x64xbf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xbf16>
  %e = tensor.empty(%rows) : tensor<?x4x64xbf16>
  %p = attn.pack %o[%qo] into %e : tensor<5x4x128x64xbf16>[!o] into tensor<?x4x64xbf16>
  return %p : tensor<?x4x64xbf16>
}

// Persistent CTAs, whose producer looks up where each sequence of keys begins.
func.func @padded_queries(%q: tensor<3x4x70x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x64xf16>, %ko: tensor<4xi32>) -> tensor<3x4x70x64xf16> {
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<4xi32>] -> tensor<3x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xf16>[tensor<4xi32>] -> tensor<3x2x?x64xf16>
  %n = attn.sequence_lengths %ko : tensor<4xi32> -> tensor<3xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<3xi32>) {schedule = #attn.schedule<mma = "wgmma", persistent_ctas = 3>}
      : tensor<3x4x70x64xf16>, tensor<3x2x?x64xf16>, tensor<3x2x?x64xf16> -> tensor<3x4x70x64xf16>
  return %o : tensor<3x4x70x64xf16>
}

func.func @padded_queries_tensor(%q: tensor<3x4x70x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x64xf16>, %ko: tensor<4xi32>) -> tensor<3x4x70x64xf16> {
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<4xi32>] -> tensor<3x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xf16>[tensor<4xi32>] -> tensor<3x2x?x64xf16>
  %n = attn.sequence_lengths %ko : tensor<4xi32> -> tensor<3xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<3xi32>) {schedule = #attn.schedule<mma = "tcgen05", persistent_ctas = 3>}
      : tensor<3x4x70x64xf16>, tensor<3x2x?x64xf16>, tensor<3x2x?x64xf16> -> tensor<3x4x70x64xf16>
  return %o : tensor<3x4x70x64xf16>
}
