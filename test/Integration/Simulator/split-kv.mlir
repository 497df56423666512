// Ranges of the keys in CTAs of their own, whose states one kernel combines: few rows over many keys, packed heads, masks and what
// they read, sinks, dropout, slices of V, splits that see no key; scores whose maximum leaves an LSE no room for a logarithm.
// RUN: attn-run %s --function decode --device=sim:sm_80 --shape "B=2,M=1,N=300;B=1,M=3,N=5;B=1,M=1,N=1;B=1,M=2,N=0" --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function decode --device=sim:sm_90a --shape "B=2,M=1,N=300;B=1,M=3,N=5" --random 2 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function window --device=sim:sm_80 --shape "B=2,M=70,N=300;B=1,M=200,N=30" --random 3 --verify | FileCheck %s %}
// RUN: attn-run %s --function window --device=sim:sm_90a --shape "B=2,M=70,N=300;B=1,M=200,N=30" --random 4 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function lengths --device=sim:sm_80 --shape "B=3,M=2,N=200" --random 5 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function lengths --device=sim:sm_90a --shape "B=3,M=2,N=200" --random 6 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function huge --device=sim:sm_80 --shape "B=1,M=40,N=190" --random 7 --verify | FileCheck %s %}
// RUN: attn-run %s --function huge --device=sim:sm_90a --shape "B=1,M=40,N=190" --random 8 --verify | FileCheck %s
// RUN: attn-run %s --function slices --device=sim:sm_80 --shape "B=1,M=9,N=150" --random 9 --verify | FileCheck %s
// RUN: attn-run %s --function dropped --device=sim:sm_80 --shape "B=1,M=20,N=150" --random 10 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// Two kernels; the grid's z counts splits of each batch, of which there are no more than tiles of keys.
// RUN: sed "/^func.func @[wlhs]/,/^}/d" %s | sed "/^func.func @dropped/,/^}/d" > %t.mlir
// RUN: attn-opt %t.mlir --target=sm_80 --emit=manifest -o - | FileCheck %s --check-prefix=MANIFEST
// MANIFEST: "entry": "decode"
// MANIFEST: "dim(query, 0) * max(min(ceildiv(dim(key, 2), 32), 4), 1)"
// MANIFEST: "entry": "decode_combine"
// MANIFEST: "workspace": "partial_output"
// MANIFEST: "workspace": "partial_max"
// MANIFEST: "workspace": "partial_sum"

!q = tensor<?x8x?x64xf16>
!k = tensor<?x2x?x64xf16>
!lse = tensor<?x8x?xf32>
func.func @decode(%q: !q, %k: !k, %v: !k, %sink: tensor<8xf32>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<8xf32>) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<kind = "split_kv", splits = 4, tile_m = 16, tile_n = 32, pack_gqa = true, mma = "mma_sync">}
      : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @window(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v score_mod soft_cap(20.0) mask_mod sliding_window(100, 0)
      {schedule = #attn.schedule<kind = "split_kv", splits = 3>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

// What a prologue finds in data is divided too.
func.func @lengths(%q: !q, %k: !k, %v: !k, %lengths: tensor<?xi32>) -> !q {
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %length = tensor.extract %lengths[%b] : tensor<?xi32>
        %n = arith.index_cast %length : i32 to index
        %r = arith.cmpi slt, %j, %n : index
        attn.yield %r : i1
      }
      {schedule = #attn.schedule<kind = "split_kv", splits = 2>} : !q, !k, !k -> !q
  return %o : !q
}

// A mask of finite values hides all keys of rows whose padding is false: their maximum is -1e9.
func.func @huge(%q: !q, %k: !k, %v: !k) -> !q {
  %hidden = arith.constant -1.0e+9 : f32
  %zero = arith.constant 0.0 : f32
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %rest = arith.remui %i, %c3 : index
        %is_hidden = arith.cmpi eq, %rest, %c0 : index
        %added = arith.select %is_hidden, %hidden, %zero : f32
        %r = arith.addf %s, %added : f32
        attn.yield %r : f32
      }
      {schedule = #attn.schedule<kind = "split_kv", splits = 8, tile_n = 16>} : !q, !k, !k -> !q
  return %o : !q
}

func.func @slices(%q: tensor<?x2x?x96xf16>, %k: tensor<?x1x?x96xf16>, %v: tensor<?x1x?x80xf16>) -> (tensor<?x2x?x80xf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<kind = "split_kv", splits = 5, tile_dv = 64, tile_n = 16>}
      : tensor<?x2x?x96xf16>, tensor<?x1x?x96xf16>, tensor<?x1x?x80xf16> -> tensor<?x2x?x80xf16>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x80xf16>, tensor<?x2x?xf32>
}

func.func @dropped(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> !q {
  %s = tensor.extract %seed[] : tensor<i64>
  %o = attn.attention %q, %k, %v dropout(%s, %s) rate(0.3)
      {schedule = #attn.schedule<kind = "split_kv", splits = 2>} : !q, !k, !k -> !q
  return %o : !q
}
