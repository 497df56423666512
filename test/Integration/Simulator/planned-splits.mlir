// Splits that persistent CTAs share out by a plan of the lengths (balance = "plan"): one token and some, pages, a window, slices of V,
// more rows than a tile has, more CTAs than splits and fewer, 64-bit lengths, one kernel after another on sm_90a.
// RUN: attn-run %s --function decode --device=sim:sm_80 --shape "B=5,T=10,P=51" --random 1 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function decode --device=sim:sm_90a --shape "B=5,T=10,P=51;B=1,T=1,P=1;B=40,T=2,P=80" --random 2 --verify | FileCheck %s %}
// RUN: attn-run %s --function rows --device=sim:sm_80 --shape "B=3,M=70,N=200;B=1,M=1,N=0" --random 3 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function rows --device=sim:sm_90a --shape "B=3,M=5,N=130" --random 4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function slices --device=sim:sm_80 --random 5 --verify | FileCheck %s
// RUN: attn-run %s --function wgmma --device=sim:sm_90a --shape "B=3,M=70,N=200;B=1,M=1,N=0" --random 6 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function tcgen05 --device=sim:sm_100a --shape "B=3,M=70,N=200;B=1,M=1,N=0" --random 7 --verify | FileCheck %s %}
// RUN: attn-run %s --function float8 --device=sim:sm_90a --random 8 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// The grid has the CTAs that run at once, and no more than there may be splits; the list follows from shapes.
// RUN: sed "/^func.func @[rstwf]/,/^}/d" %s > %t.mlir
// RUN: attn-opt %t.mlir --target=sm_90a --emit=manifest -o - | FileCheck %s --check-prefix=MANIFEST
// MANIFEST: "name": "worklist",
// MANIFEST: "entry": "decode_plan",
// MANIFEST: "ceildiv(dim(query, 0), 4)"
// MANIFEST: "entry": "decode",
// MANIFEST-NEXT: "after": "programmatic",
// MANIFEST: "min({{.*}}, 7)"
// MANIFEST: "entry": "decode_combine",

func.func @decode(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x8x1x64xf16>, tensor<?x8x1xf32>) {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 32, balance = "plan", persistent_ctas = 7, tile_n = 16>}
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
  return %o, %lse : tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
}

!q = tensor<?x8x?x64xbf16>
!k = tensor<?x2x?x64xbf16>
func.func @rows(%q: !q, %k: !k, %v: !k, %n: tensor<?xi64>, %sink: tensor<8xf32>) -> (!q, tensor<?x8x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<8xf32>) lengths(key %n : tensor<?xi64>) mask_mod sliding_window(90, 0)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 64, balance = "plan", persistent_ctas = 3, tile_m = 32, tile_n = 32, warps = 2>}
      : !q, !k, !k -> !q, tensor<?x8x?xf32>
  return %o, %lse : !q, tensor<?x8x?xf32>
}

func.func @wgmma(%q: !q, %k: !k, %v: !k, %n: tensor<?xi64>, %sink: tensor<8xf32>) -> (!q, tensor<?x8x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<8xf32>) lengths(key %n : tensor<?xi64>) mask_mod sliding_window(90, 0)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 64, balance = "plan", persistent_ctas = 3, mma = "wgmma">}
      : !q, !k, !k -> !q, tensor<?x8x?xf32>
  return %o, %lse : !q, tensor<?x8x?xf32>
}

func.func @tcgen05(%q: !q, %k: !k, %v: !k, %n: tensor<?xi64>, %sink: tensor<8xf32>) -> (!q, tensor<?x8x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<8xf32>) lengths(key %n : tensor<?xi64>) mask_mod sliding_window(90, 0)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128, balance = "plan", persistent_ctas = 3, mma = "tcgen05">}
      : !q, !k, !k -> !q, tensor<?x8x?xf32>
  return %o, %lse : !q, tensor<?x8x?xf32>
}

!f = tensor<3x4x70x64xf8E4M3FN>
!g = tensor<3x2x300x64xf8E4M3FN>
func.func @float8(%q: !f, %k: !g, %v: !g, %n: tensor<3xi64>, %d: tensor<1xf32>) -> tensor<3x4x70x64xbf16> {
  %o = attn.attention %q, %k, %v descale(%d, %d, %d : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) lengths(key %n : tensor<3xi64>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128, balance = "plan", persistent_ctas = 4, mma = "wgmma">}
      : !f, !g, !g -> tensor<3x4x70x64xbf16>
  return %o : tensor<3x4x70x64xbf16>
}

func.func @slices(%q: tensor<4x1x16x64xf16>, %k: tensor<4x1x150x64xf16>, %v: tensor<4x1x150x80xf16>, %n: tensor<4xi32>) -> tensor<4x1x16x80xf16> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<4xi32>)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 32, balance = "plan", persistent_ctas = 5, tile_m = 16, tile_n = 16, tile_dv = 64>}
      : tensor<4x1x16x64xf16>, tensor<4x1x150x64xf16>, tensor<4x1x150x80xf16> -> tensor<4x1x16x80xf16>
  return %o : tensor<4x1x16x80xf16>
}
