// Splits of a number of keys (split_keys): packed heads, causal masks and windows whose first keys nobody sees, masks of two
// ranges, lengths, pages, slices of V, sizes shorter than a split and none at all; sinks count once.
// RUN: attn-run %s --function decode --device=sim:sm_80 --shape "B=2,M=1,N=300;B=1,M=3,N=5;B=1,M=1,N=64;B=1,M=2,N=0" --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function decode --device=sim:sm_90a --shape "B=2,M=1,N=300;B=1,M=3,N=5" --random 2 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function window --device=sim:sm_80 --shape "B=2,M=70,N=300;B=1,M=200,N=30" --random 3 --verify | FileCheck %s %}
// RUN: attn-run %s --function window --device=sim:sm_90a --shape "B=2,M=70,N=300" --random 4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function ranges --device=sim:sm_80 --shape "B=2,M=20,N=300" --random 5 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function paged --device=sim:sm_80 --shape "B=4,T=10,P=41" --random 6 --verify | FileCheck %s %}
// RUN: attn-run %s --function paged --device=sim:sm_90a --shape "B=4,T=10,P=41" --random 7 --verify | FileCheck %s
// RUN: attn-run %s --function slices --device=sim:sm_80 --shape "B=1,M=9,N=150" --random 9 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// The grid has CTAs for the splits of the longest sequence.
// RUN: sed "/^func.func @[wrps]/,/^}/d" %s > %t.mlir
// RUN: attn-opt %t.mlir --target=sm_80 --emit=manifest -o - | FileCheck %s --check-prefix=MANIFEST
// MANIFEST: "dim(query, 0) * max(ceildiv(dim(key, 2), 64), 1)"
// MANIFEST: "split_keys": 64

!q = tensor<?x8x?x64xf16>
!k = tensor<?x2x?x64xf16>
!lse = tensor<?x8x?xf32>
func.func @decode(%q: !q, %k: !k, %v: !k, %sink: tensor<8xf32>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<8xf32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 64, tile_m = 16, tile_n = 32, pack_gqa = true, mma = "mma_sync">}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @window(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v score_mod soft_cap(20.0) mask_mod sliding_window(100, 0)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 128>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

// The first keys and the last ones: the positions are those of the walk over both.
func.func @ranges(%q: !q, %k: !k, %v: !k) -> !q {
  %c4 = arith.constant 4 : index
  %c60 = arith.constant 60 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %k, %c2 : !k
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %begin = arith.subi %n, %c60 : index
        %first = arith.cmpi slt, %j, %c4 : index
        %last = arith.cmpi sge, %j, %begin : index
        %r = arith.ori %first, %last : i1
        attn.yield %r : i1
      }
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 64, tile_n = 32>} : !q, !k, !k -> !q
  return %o : !q
}

func.func @paged(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x8x1x64xf16>, tensor<?x8x1xf32>) {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 64>}
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
  return %o, %lse : tensor<?x8x1x64xf16>, tensor<?x8x1xf32>
}

func.func @slices(%q: tensor<?x2x?x96xf16>, %k: tensor<?x1x?x96xf16>, %v: tensor<?x1x?x80xf16>) -> (tensor<?x2x?x80xf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 48, tile_dv = 64, tile_n = 16>}
      : tensor<?x2x?x96xf16>, tensor<?x1x?x96xf16>, tensor<?x1x?x80xf16> -> tensor<?x2x?x80xf16>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x80xf16>, tensor<?x2x?xf32>
}
