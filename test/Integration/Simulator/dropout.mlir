// Dropout forward: large and small cache, ragged sizes, grouped and packed heads of 2 and of 16 (whose tiles have 4 rows of a
// head), persistent CTAs, clusters, tiles of many sizes, key tiles out of order, all on one mask: that of the CPU and of
// float64, since one element kept or dropped otherwise breaks the error rule.
// RUN: attn-run %s --function plain --device=cpu --shape B=1,M=70,N=130 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function plain --device=sim:sm_80 --shape B=1,M=70,N=130 --random 1 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function plain --device=sim:sm_90a --shape B=1,M=70,N=130 --random 1 --verify --schedules 2 | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function plain --device=sim:sm_90a --shape B=2,M=150,N=300 --random 2 --verify | FileCheck %s %}
// RUN: attn-run %s --function tiles --device=sim:sm_80 --shape B=1,M=70,N=130 --random 3 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function tiles --device=sim:sm_90a --shape B=1,M=70,N=130 --random 3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function packed --device=sim:sm_80 --shape B=2,M=40,N=100 --random 4 --verify | FileCheck %s %}
// RUN: attn-run %s --function packed --device=sim:sm_90a --shape B=2,M=40,N=100 --random 5 --verify | FileCheck %s
// RUN: attn-run %s --function packed16 --device=sim:sm_80 --shape B=1,M=21,N=70 --random 6 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function packed16 --device=sim:sm_90a --shape B=1,M=21,N=70 --random 7 --verify | FileCheck %s %}
// RUN: attn-run %s --function persistent --device=sim:sm_90a --shape B=1,M=200,N=100 --random 8 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function clusters --device=sim:sm_90a --shape B=1,M=256,N=100 --random 9 --verify --schedules 2 | FileCheck %s
// RUN: attn-run %s --function window --device=sim:sm_80 --shape B=1,M=200,N=230 --random 10 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function window --device=sim:sm_90a --shape B=1,M=200,N=230 --random 11 --verify | FileCheck %s %}
// RUN: attn-run %s --function small --device=sim:sm_80 --shape B=1,M=70,N=100 --random 12 --verify | FileCheck %s
// The same by wgmma, whose softmax overlaps the products of the tile before.
// RUN: sed 's/tile_n = 32>/tile_n = 32, mma = "wgmma">/; s/(bottom_right) : !q/(bottom_right) {schedule = #attn.schedule<mma = "wgmma">} : !q/; s/pack_gqa = true/&, mma = "wgmma"/' %s > %t.mlir
// RUN: %if long %{ attn-run %t.mlir --function plain --device=sim:sm_90a --shape B=1,M=70,N=300 --random 13 --verify --schedules 2 | FileCheck %s %}
// RUN: attn-run %t.mlir --function window --device=sim:sm_90a --shape B=1,M=200,N=230 --random 14 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function packed --device=sim:sm_90a --shape B=2,M=40,N=100 --random 15 --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function packed16 --device=sim:sm_90a --shape B=1,M=21,N=70 --random 16 --verify | FileCheck %s
// CHECK: verify: PASS

!q = tensor<?x4x?x64xbf16>
!k = tensor<?x2x?x64xbf16>
!lse = tensor<?x4x?xf32>
func.func @plain(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>, %offset: tensor<i64>) -> (!q, !lse) {
  %base = arith.constant 8198552921648689607 : i64
  %own = tensor.extract %seed[] : tensor<i64>
  %s = arith.subi %own, %base : i64
  %t = tensor.extract %offset[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %v dropout(%s, %t) rate(0.3) mask_mod causal(bottom_right) : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @tiles(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> (!q, !lse) {
  %s = tensor.extract %seed[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %v dropout(%s, %s) rate(0.5)
      {schedule = #attn.schedule<tile_m = 64, tile_n = 48, warps = 4>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @packed(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> (!q, !lse) {
  %s = tensor.extract %seed[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %v dropout(%s, %s) rate(0.3) mask_mod causal(bottom_right)
      {schedule = #attn.schedule<pack_gqa = true>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

!q16 = tensor<?x32x?x64xbf16>
func.func @packed16(%q: !q16, %k: !k, %v: !k, %seed: tensor<i64>) -> !q16 {
  %s = tensor.extract %seed[] : tensor<i64>
  %o = attn.attention %q, %k, %v dropout(%s, %s) rate(0.3)
      {schedule = #attn.schedule<pack_gqa = true, tile_m = 64, warps = 4>} : !q16, !k, !k -> !q16
  return %o : !q16
}

func.func @persistent(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> !q {
  %s = tensor.extract %seed[] : tensor<i64>
  %o = attn.attention %q, %k, %v dropout(%s, %s) rate(0.3) score_mod soft_cap(20.0)
      {schedule = #attn.schedule<mma = "wgmma", persistent_ctas = 2>} : !q, !k, !k -> !q
  return %o : !q
}

func.func @clusters(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> !q {
  %s = tensor.extract %seed[] : tensor<i64>
  %o = attn.attention %q, %k, %v dropout(%s, %s) rate(0.3)
      {schedule = #attn.schedule<mma = "wgmma", cluster_m = 2>} : !q, !k, !k -> !q
  return %o : !q
}

// Some keys at the start and a window: the walk skips what is between.
func.func @window(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> !q {
  %s = tensor.extract %seed[] : tensor<i64>
  %o = attn.attention %q, %k, %v dropout(%s, %s) rate(0.3)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %first = arith.constant 3 : index
        %width = arith.constant 20 : index
        %end = arith.addi %j, %width : index
        %inWindow = arith.cmpi sle, %i, %end : index
        %isFirst = arith.cmpi slt, %j, %first : index
        %near = arith.ori %inWindow, %isFirst : i1
        %past = arith.cmpi sle, %j, %i : index
        %visible = arith.andi %near, %past : i1
        attn.yield %visible : i1
      } {schedule = #attn.schedule<tile_n = 32>} : !q, !k, !k -> !q
  return %o : !q
}

func.func @small(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> (!q, !lse) {
  %s = tensor.extract %seed[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %v dropout(%s, %s) rate(0.3) mask_mod sliding_window(20, 0)
      {schedule = #attn.schedule<kind = "small_cache", tile_m = 32, tile_n = 32, chunk_rows = 64>} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}
