// The query heads of a group in one tile: few query positions fill it. Masks, scores and LSE are those of each head.
// RUN: attn-run %s --function few --device=sim:sm_80 --shape B=2,M=5,N=200 --random 1 --verify --schedules 3 | FileCheck %s
// RUN: %if long %{ attn-run %s --function few --device=sim:sm_90a --shape B=2,M=5,N=200 --random 1 --verify --schedules 3 | FileCheck %s %}
// RUN: attn-run %s --function one --device=sim:sm_90a --shape B=2,M=1,N=200 --random 1 --verify --schedules 3 | FileCheck %s
// RUN: attn-run %s --function many --device=sim:sm_80 --shape B=1,M=150,N=100 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function many --device=sim:sm_90a --shape B=1,M=150,N=100 --random 1 --verify --schedules 2 | FileCheck %s %}
// RUN: attn-run %s --function pairs --device=sim:sm_90a --shape B=1,M=150,N=200 --random 1 --verify --schedules 2 | FileCheck %s
// Heads that see different keys are not packed.
// RUN: attn-run %s --function heads --device=sim:sm_80 --shape B=1,M=40,N=400 --random 1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function heads --device=sim:sm_90a --shape B=1,M=40,N=400 --random 1 --verify | FileCheck %s %}
// A table of visible tiles.
// RUN: %if long %{ attn-run %s --function table --device=sim:sm_80 --random 1 --verify | FileCheck %s %}
// RUN: attn-run %s --function table --device=sim:sm_90a --random 1 --verify | FileCheck %s
// CHECK: verify: PASS

// The grid counts groups of heads, and the query's box has rows of all heads of one.
// RUN: sed "/^func.func @[fomht]/,/^}/d" %s > %t.mlir
// RUN: attn-opt %t.mlir --target=sm_90a --emit=manifest -o - | FileCheck %s --check-prefix=MANIFEST
// MANIFEST: "ceildiv(dim(query, 2), 64)"
// MANIFEST-NEXT: 2,
// MANIFEST: "box": [
// MANIFEST-NEXT: 64,
// MANIFEST-NEXT: 64,
// MANIFEST-NEXT: 2,
// MANIFEST-NEXT: 1
!q = tensor<?x8x?x64xf16>
!k = tensor<?x2x?x64xf16>
!lse = tensor<?x8x?xf32>
func.func @few(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %hi = arith.index_cast %h : index to i32
        %hf = arith.sitofp %hi : i32 to f32
        %r = arith.addf %s, %hf : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right)
      {schedule = #attn.schedule<pack_gqa = true>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @one(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      {schedule = #attn.schedule<mma = "wgmma", pack_gqa = true, tile_m = 64, warps = 4, persistent_ctas = 2>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @many(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v mask_mod sliding_window(30, 2)
      {schedule = #attn.schedule<pack_gqa = true, tile_m = 128>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

// 64 rows of each of two heads: a warpgroup's rows are one head's.
func.func @pairs(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>)
    -> tensor<?x4x?x64xbf16> {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<mma = "wgmma", pack_gqa = true, tile_m = 128, tile_n = 64, warps = 8>}
      : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}

func.func @heads(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c40 = arith.constant 40 : index
        %w = arith.muli %h, %c40 : index
        %end = arith.addi %i, %w : index
        %p = arith.cmpi sle, %j, %end : index
        attn.yield %p : i1
      } : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

// Butterfly: i xor j is a power of two at most, in blocks of 16.
func.func @table(%q: tensor<1x8x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x256x64xf16> {
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c16 = arith.constant 16 : index
        %p = arith.divui %i, %c16 : index
        %r = arith.divui %j, %c16 : index
        %x = arith.xori %p, %r : index
        %y = arith.subi %x, %c1 : index
        %z = arith.andi %x, %y : index
        %e = arith.cmpi eq, %z, %c0 : index
        attn.yield %e : i1
      }
      {schedule = #attn.schedule<pack_gqa = true, tile_n = 64>}
      : tensor<1x8x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x8x256x64xf16>
  return %o : tensor<1x8x256x64xf16>
}
