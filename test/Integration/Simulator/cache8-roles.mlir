// Caches of 8 bits beside a query of 16 in kernels of wgmma and tcgen05, whose producer widens the tiles: in pages whose rows that nobody has are
// NaN, packed behind each other, in splits of the keys; f8E4M3FN, f8E5M2 and i8; one to three warpgroups, persistent CTAs, head dims that are padded.
// RUN: attn-run %s --function=paged --device=sim:sm_90a --random=1 --verify --report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: attn-run %s --function=persistent --device=sim:sm_90a --random=2 --verify | FileCheck %s
// RUN: attn-run %s --function=wide --device=sim:sm_90a --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=split --device=sim:sm_90a --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=ragged --device=sim:sm_90a --random=5 --verify | FileCheck %s
// RUN: attn-run %s --function=tensor_memory --device=sim:sm_100a --random=6 --verify | FileCheck %s
// RUN: attn-run %s --function=paged_tensor_memory --device=sim:sm_100a --random=7 --verify | FileCheck %s
// CHECK: verify: PASS
// REPORT: "bank_conflicts": 0,

func.func @paged(%q: tensor<2x4x150x64xf16>, %kp: tensor<29x2x16x64xf8E5M2>, %vp: tensor<29x2x16x64xf8E5M2>, %t: tensor<2x13xi32>, %n: tensor<2xi32>, %dk: tensor<1xf32>, %dv: tensor<1xf32>) -> tensor<2x4x150x64xf16> {
  %k = attn.paged %kp[%t] : tensor<29x2x16x64xf8E5M2>[tensor<2x13xi32>] -> tensor<2x2x208x64xf8E5M2>
  %v = attn.paged %vp[%t] : tensor<29x2x16x64xf8E5M2>[tensor<2x13xi32>] -> tensor<2x2x208x64xf8E5M2>
  %o = attn.attention %q, %k, %v descale(%dk, %dv : tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<2xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<mma = "wgmma", tile_m = 128, tile_n = 80, stages = 2, warps = 8>}
      : tensor<2x4x150x64xf16>, tensor<2x2x208x64xf8E5M2>, tensor<2x2x208x64xf8E5M2> -> tensor<2x4x150x64xf16>
  return %o : tensor<2x4x150x64xf16>
}

// Three warpgroups.
func.func @persistent(%q: tensor<3x2x150x96xf16>, %k: tensor<3x2x130x96xi8>, %v: tensor<3x2x130x80xi8>, %dk: tensor<3x2xf32>, %dv: tensor<3x2xf32>) -> (tensor<3x2x150x80xf16>, tensor<3x2x150xf32>) {
  %o, %lse = attn.attention %q, %k, %v descale(%dk, %dv : tensor<3x2xf32>, tensor<3x2xf32>) {schedule = #attn.schedule<mma = "wgmma", tile_m = 192, tile_n = 64, warps = 12, stages = 4, persistent_ctas = 2>}
    : tensor<3x2x150x96xf16>, tensor<3x2x130x96xi8>, tensor<3x2x130x80xi8> -> tensor<3x2x150x80xf16>, tensor<3x2x150xf32>
  return %o, %lse : tensor<3x2x150x80xf16>, tensor<3x2x150xf32>
}

// The most columns.
func.func @wide(%q: tensor<1x1x64x256xf16>, %k: tensor<1x1x70x256xf8E4M3FN>, %v: tensor<1x1x70x256xf8E4M3FN>, %dk: tensor<1xf32>) -> tensor<1x1x64x256xf16> {
  %o = attn.attention %q, %k, %v descale(%dk, %dk : tensor<1xf32>, tensor<1xf32>) {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
    : tensor<1x1x64x256xf16>, tensor<1x1x70x256xf8E4M3FN>, tensor<1x1x70x256xf8E4M3FN> -> tensor<1x1x64x256xf16>
  return %o : tensor<1x1x64x256xf16>
}

func.func @split(%q: tensor<1x4x64x64xbf16>, %k: tensor<1x1x500x64xf8E4M3FN>, %v: tensor<1x1x500x64xf8E4M3FN>, %dk: tensor<1xf32>) -> tensor<1x4x64x64xbf16> {
  %o = attn.attention %q, %k, %v descale(%dk, %dk : tensor<1xf32>, tensor<1xf32>) {schedule = #attn.schedule<kind = "split_kv", mma = "wgmma", splits = 3, tile_m = 128, tile_n = 80, warps = 8, stages = 2>}
    : tensor<1x4x64x64xbf16>, tensor<1x1x500x64xf8E4M3FN>, tensor<1x1x500x64xf8E4M3FN> -> tensor<1x4x64x64xbf16>
  return %o : tensor<1x4x64x64xbf16>
}

func.func @ragged(%qp: tensor<230x4x64xbf16>, %kp: tensor<230x2x64xf8E4M3FN>, %vp: tensor<230x2x64xf8E4M3FN>, %o: tensor<6xi32>, %dk: tensor<1xf32>) -> tensor<230x4x64xbf16> {
  %q = attn.ragged %qp[%o] : tensor<230x4x64xbf16>[tensor<6xi32>] -> tensor<5x4x90x64xbf16>
  %k = attn.ragged %kp[%o] : tensor<230x2x64xf8E4M3FN>[tensor<6xi32>] -> tensor<5x2x90x64xf8E4M3FN>
  %v = attn.ragged %vp[%o] : tensor<230x2x64xf8E4M3FN>[tensor<6xi32>] -> tensor<5x2x90x64xf8E4M3FN>
  %n = attn.sequence_lengths %o : tensor<6xi32> -> tensor<5xi32>
  %r = attn.attention %q, %k, %v descale(%dk, %dk : tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<5xi32>, query %n : tensor<5xi32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8>}
      : tensor<5x4x90x64xbf16>, tensor<5x2x90x64xf8E4M3FN>, tensor<5x2x90x64xf8E4M3FN> -> tensor<5x4x90x64xbf16>
  %e = tensor.empty() : tensor<230x4x64xbf16>
  %p = attn.pack %r[%o] into %e : tensor<5x4x90x64xbf16>[tensor<6xi32>] into tensor<230x4x64xbf16>
  return %p : tensor<230x4x64xbf16>
}

func.func @tensor_memory(%q: tensor<1x2x130x64xbf16>, %k: tensor<1x2x200x64xi8>, %v: tensor<1x2x200x64xi8>, %dk: tensor<1xf32>) -> tensor<1x2x130x64xbf16> {
  %o = attn.attention %q, %k, %v descale(%dk, %dk : tensor<1xf32>, tensor<1xf32>) {schedule = #attn.schedule<mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4>}
      : tensor<1x2x130x64xbf16>, tensor<1x2x200x64xi8>, tensor<1x2x200x64xi8> -> tensor<1x2x130x64xbf16>
  return %o : tensor<1x2x130x64xbf16>
}

func.func @paged_tensor_memory(%q: tensor<2x4x150x64xbf16>, %kp: tensor<29x2x16x64xf8E4M3FN>, %vp: tensor<29x2x16x64xf8E4M3FN>, %t: tensor<2x13xi32>, %n: tensor<2xi32>, %dk: tensor<2x2xf32>, %dv: tensor<2x2xf32>) -> tensor<2x4x150x64xbf16> {
  %k = attn.paged %kp[%t] : tensor<29x2x16x64xf8E4M3FN>[tensor<2x13xi32>] -> tensor<2x2x208x64xf8E4M3FN>
  %v = attn.paged %vp[%t] : tensor<29x2x16x64xf8E4M3FN>[tensor<2x13xi32>] -> tensor<2x2x208x64xf8E4M3FN>
  %o = attn.attention %q, %k, %v descale(%dk, %dv : tensor<2x2xf32>, tensor<2x2xf32>) lengths(key %n : tensor<2xi32>) mask_mod sliding_window(50, 0)
      {schedule = #attn.schedule<mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2, warps = 8>}
      : tensor<2x4x150x64xbf16>, tensor<2x2x208x64xf8E4M3FN>, tensor<2x2x208x64xf8E4M3FN> -> tensor<2x4x150x64xbf16>
  return %o : tensor<2x4x150x64xbf16>
}
