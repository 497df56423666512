// Gradients by pairs of CTAs that multiply together (cta_group::2), against float64: odd numbers of tiles, tiles that are cut off, groups of heads, a
// score_mod, halves of 32, 64 and 96 columns, one and two warpgroups; the same bits under another schedule of the warps.

// RUN: sed "s/TYPE/f16/g; s/DIMS/64/g; s/DIMV/64/g; s/KEYROWS/64/g; s/ROWS/128/g; s/KEYS/256/g" %s > %t.64.mlir
// RUN: sed "s/TYPE/bf16/g; s/DIMS/128/g; s/DIMV/128/g; s/KEYROWS/128/g; s/ROWS/128/g; s/KEYS/128/g" %s > %t.128.mlir
// RUN: sed "s/TYPE/bf16/g; s/DIMS/192/g; s/DIMV/128/g; s/KEYROWS/64/g; s/ROWS/64/g; s/KEYS/128/g; /^func.func @wide/,$d" %s > %t.192.mlir
// RUN: attn-run %t.64.mlir --function=plain --device=sim:sm_100a --random 1 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %t.128.mlir --function=plain --device=sim:sm_100a --random 2 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %t.192.mlir --function=plain --device=sim:sm_100a --random 3 --verify | FileCheck %s
// RUN: attn-run %t.64.mlir --function=capped --device=sim:sm_100a --random 4 --verify | FileCheck %s
// RUN: attn-run %t.64.mlir --function=wide --device=sim:sm_100a --random 5 --verify | FileCheck %s
// RUN: attn-run %t.128.mlir --function=wide --device=sim:sm_100a --random 6 --verify | FileCheck %s
// The same CTAs in clusters of four, which share tiles by multicast and multiply each for itself.
// RUN: sed "s/cluster_n = 2, cta_pair = true/cluster_n = 4/" %t.64.mlir > %t.cluster.mlir
// RUN: attn-run %t.cluster.mlir --function=plain --device=sim:sm_100a --random 10 --verify | FileCheck %s
// RUN: attn-run %t.cluster.mlir --function=wide --device=sim:sm_100a --random 11 --verify | FileCheck %s

// Numbers of rows and keys that come with the launch, and may be 0.
// RUN: sed "s/x300x/x?x/g; s/x333x/x?x/g; /^func.func @capped/,/^}/d; /^func.func @wide/,/^}/d; /^func.func @documents/,/^}/d" %t.64.mlir > %t.dynamic.mlir
// RUN: attn-run %t.dynamic.mlir --function=plain --device=sim:sm_100a --shape M=200,N=130 --random 7 --verify | FileCheck %s
// RUN: attn-run %t.dynamic.mlir --function=plain --device=sim:sm_100a --shape M=0,N=130 --random 8 --verify | FileCheck %s
// RUN: attn-run %t.dynamic.mlir --function=plain --device=sim:sm_100a --shape M=130,N=0 --random 9 --verify | FileCheck %s

// dV in a kernel of its own, whose consumers wait for the sum in each step, if there is one.
// RUN: sed "s/TYPE/f16/g; s/DIMS/256/g; s/DIMV/256/g; s/ROWS/64/g; /^func.func @capped/,\$d" %s > %t.256.mlir
// RUN: attn-run %t.256.mlir --function=plain --device=sim:sm_100a --random 19 --verify | FileCheck %s
// RUN: sed "s/x300x/x?x/g; s/x333x/x?x/g" %t.256.mlir > %t.dynamic256.mlir
// RUN: attn-run %t.dynamic256.mlir --function=plain --device=sim:sm_100a --shape M=0,N=130 --random 20 --verify | FileCheck %s
// RUN: attn-opt %t.256.mlir --target=sm_100a --emit=ptx -o %t.256 && FileCheck %s --check-prefix=APART < %t.256.ptx
// APART: .entry plain_dv(
// APART: tcgen05.mma.cta_group::2.kind::f16

// Masks, under which both CTAs stream what one of them sees: causal, of lengths that come with the launch too, and documents, whose tiles are listed.
// RUN: attn-run %t.64.mlir --function=causal --device=sim:sm_100a --random 12 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %t.128.mlir --function=causal --device=sim:sm_100a --random 13 --verify | FileCheck %s
// RUN: attn-run %t.dynamic.mlir --function=causal --device=sim:sm_100a --shape M=200,N=130 --random 14 --verify | FileCheck %s
// RUN: attn-run %t.dynamic.mlir --function=causal --device=sim:sm_100a --shape M=130,N=400 --random 15 --verify | FileCheck %s
// RUN: attn-run %t.64.mlir --function=documents --device=sim:sm_100a --random 16 --verify | FileCheck %s
// RUN: attn-run %t.cluster.mlir --function=causal --device=sim:sm_100a --random 17 --verify | FileCheck %s
// RUN: sed "s/tile_m = 128, cluster_n = 2, cta_pair = true/tile_m = 128/; s/, cta_pair = true//" %t.64.mlir > %t.hopper.mlir
// RUN: attn-run %t.hopper.mlir --function=causal --device=sim:sm_90a --random 18 --verify | FileCheck %s
// CHECK: verify: PASS

// RUN: attn-opt %t.192.mlir --target=sm_100a --emit=ptx -o %t.192 && FileCheck %s --check-prefix=PAIRS < %t.192.ptx
// PAIRS: .entry plain_attention_dq(
// PAIRS: tcgen05.mma.cta_group::2.kind::f16
// PAIRS: .entry plain_attention_dkv(
// PAIRS: tcgen05.mma.cta_group::2.kind::f16
// PAIRS: .entry capped_attention_dkv(
// PAIRS: tcgen05.mma.cta_group::2.kind::f16
// RUN: attn-opt %t.64.mlir --target=sm_100a --emit=ptx -o %t.64 && FileCheck %s --check-prefix=WIDE < %t.64.ptx
// WIDE: .entry wide_attention_dq(
// WIDE: tcgen05.mma.cta_group::2.kind::f16
// WIDE: .entry wide_attention_dkv(
// WIDE: tcgen05.mma.cta_group::2.kind::f16

!q = tensor<1x2x300xDIMSxTYPE>
!k = tensor<1x1x333xDIMSxTYPE>
!v = tensor<1x1x333xDIMVxTYPE>
!o = tensor<1x2x300xDIMVxTYPE>
!lse = tensor<1x2x300xf32>
func.func @plain(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %do: !o, %dlse: !lse) -> (!q, !k, !v) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !lse) d_output(%do : !o) d_lse(%dlse : !lse)
      {schedule = #attn.schedule<tile_m = 128, cluster_n = 2, cta_pair = true>,
       key_schedule = #attn.schedule<tile_m = ROWS, tile_n = 128, cluster_n = 2, cta_pair = true>} : !q, !k, !v -> !q, !k, !v
  return %d#0, %d#1, %d#2 : !q, !k, !v
}

func.func @capped(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %do: !o) -> (!q, !k, !v) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !lse) d_output(%do : !o) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %c = arith.constant 2.0 : f32
    %x = arith.divf %s, %c : f32
    %t = math.tanh %x : f32
    %r = arith.mulf %t, %c : f32
    attn.yield %r : f32
  } {key_schedule = #attn.schedule<tile_m = 32, tile_n = 128, cluster_n = 2, cta_pair = true>} : !q, !k, !v -> !q, !k, !v
  return %d#0, %d#1, %d#2 : !q, !k, !v
}

func.func @wide(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %do: !o) -> (!q, !k, !v) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !lse) d_output(%do : !o)
      {schedule = #attn.schedule<tile_m = 256, tile_n = 64, cluster_n = 2, cta_pair = true>,
       key_schedule = #attn.schedule<tile_m = KEYROWS, tile_n = KEYS, cluster_n = 2, cta_pair = true>} : !q, !k, !v -> !q, !k, !v
  return %d#0, %d#1, %d#2 : !q, !k, !v
}

func.func @causal(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %do: !o) -> (!q, !k, !v) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !lse) d_output(%do : !o) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<tile_m = 128, cluster_n = 2, cta_pair = true>,
       key_schedule = #attn.schedule<tile_m = ROWS, tile_n = 128, cluster_n = 2, cta_pair = true>} : !q, !k, !v -> !q, !k, !v
  return %d#0, %d#1, %d#2 : !q, !k, !v
}

func.func @documents(%q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse, %do: !o) -> (!q, !k, !v) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !lse) d_output(%do : !o) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %length = arith.constant 90 : index
    %row = arith.divui %i, %length : index
    %key = arith.divui %j, %length : index
    %same = arith.cmpi eq, %row, %key : index
    attn.yield %same : i1
  } {schedule = #attn.schedule<tile_m = 128, cluster_n = 2, cta_pair = true>,
       key_schedule = #attn.schedule<tile_m = 64, tile_n = 128, cluster_n = 2, cta_pair = true>} : !q, !k, !v -> !q, !k, !v
  return %d#0, %d#1, %d#2 : !q, !k, !v
}
