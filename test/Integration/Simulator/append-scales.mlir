// Rows quantised by scales of their own, which are stored beside them: alone, and in front of an attention that reads them as factors of scores and weights, in
// one program; dims that are no multiples of a warp, rows of 16 and 32 bits, slots of -1. attn-run expects the bits of what is stored.

// RUN: attn-run %s --function append --shape Pnew=5,tokens=13 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function append --shape 'Pnew=5,tokens=13; Pnew=1,tokens=0' --random 2 --device=sim:sm_89 --verify | FileCheck %s
// RUN: attn-run %s --function rows --shape Pnew=3,tokens=7 --random 3 --verify | FileCheck %s
// RUN: attn-run %s --function rows --shape Pnew=3,tokens=7 --random 4 --device=sim:sm_90a --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function decode --shape B=2,M=2,Bnew=2,Mnew=2,P=7,T=3 --random 5 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function decode --shape B=2,M=2,Bnew=2,Mnew=2,P=7,T=3 --random 6 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %s --function decode --shape B=3,M=70,Bnew=3,Mnew=1,P=31,T=9 --random 7 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %s --function decode --shape B=2,M=1,Bnew=2,Mnew=3,P=17,T=8 --random 8 --device=sim:sm_100a --verify | FileCheck %s
// RUN: attn-run %s --function turned --shape B=2,M=2,Bnew=2,Mnew=2,P=7,T=3 --random 9 --verify | FileCheck %s
// RUN: attn-run %s --function turned --shape B=2,M=2,Bnew=2,Mnew=2,P=7,T=3 --random 10 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function turned --shape B=3,M=70,Bnew=3,Mnew=1,P=31,T=9 --random 11 --device=sim:sm_90a --verify | FileCheck %s %}
// CHECK: verify: PASS
// CHECK-NOT: FAIL

func.func @append(%k: tensor<?x2x64xbf16>, %v: tensor<?x2x40xbf16>, %kp: tensor<?x2x16x64xf8E4M3FN>, %vp: tensor<?x2x16x40xi8>, %ks: tensor<?x2x16xf32>, %vs: tensor<?x2x16xf32>, %slots: tensor<?xi32>)
    -> (tensor<?x2x16x64xf8E4M3FN>, tensor<?x2x16x40xi8>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) {
  %0:4 = attn.append %k, %v into %kp, %vp slots(%slots : tensor<?xi32>) scales(%ks, %vs : tensor<?x2x16xf32>, tensor<?x2x16xf32>)
      : tensor<?x2x64xbf16>, tensor<?x2x40xbf16> into tensor<?x2x16x64xf8E4M3FN>, tensor<?x2x16x40xi8>
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x2x16x64xf8E4M3FN>, tensor<?x2x16x40xi8>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
}

func.func @rows(%k: tensor<?x2x64xf32>, %v: tensor<?x2x40xf32>, %kp: tensor<?x2x16x64xf8E5M2>, %vp: tensor<?x2x16x40xi8>, %ks: tensor<?x2x16xf32>, %vs: tensor<?x2x16xf32>, %slots: tensor<?xi32>)
    -> (tensor<?x2x16x64xf8E5M2>, tensor<?x2x16x40xi8>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) {
  %0:4 = attn.append %k, %v into %kp, %vp slots(%slots : tensor<?xi32>) scales(%ks, %vs : tensor<?x2x16xf32>, tensor<?x2x16xf32>)
      : tensor<?x2x64xf32>, tensor<?x2x40xf32> into tensor<?x2x16x64xf8E5M2>, tensor<?x2x16x40xi8>
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x2x16x64xf8E5M2>, tensor<?x2x16x40xi8>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
}

!q = tensor<?x4x?x64xbf16>
!new = tensor<?x2x?x64xbf16>
!pool = tensor<?x2x16x64xi8>
!scales = tensor<?x2x16xf32>
!rows = tensor<?x2x?x64xi8>
func.func @decode(%q: !q, %k: !new, %v: !new, %kp: !pool, %vp: !pool, %ks: !scales, %vs: !scales, %table: tensor<?x?xi32>, %slots: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (!q, !pool, !pool, !scales, !scales) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %0:4 = attn.append %k, %v into %kp, %vp slots(%slots : tensor<?x?xi32>) scales(%ks, %vs : !scales, !scales) : !new, !new into !pool, !pool
  %kr = attn.paged %0#0[%table] : !pool[tensor<?x?xi32>] -> !rows
  %vr = attn.paged %0#1[%table] : !pool[tensor<?x?xi32>] -> !rows
  %o = attn.attention %q, %kr, %vr lengths(key %n : tensor<?xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %group = arith.divui %h, %c2 : index
        %column = arith.divui %j, %c16 : index
        %row = arith.remui %j, %c16 : index
        %last = tensor.extract %n[%b] : tensor<?xi32>
        %end = arith.index_cast %last : i32 to index
        %exists = arith.cmpi slt, %j, %end : index
        %entry = tensor.extract %table[%b, %column] : tensor<?x?xi32>
        %page = arith.index_cast %entry : i32 to index
        %zero = arith.constant 0 : index
        %at = arith.select %exists, %page, %zero : index
        %f = tensor.extract %0#2[%at, %group, %row] : !scales
        %r = arith.mulf %s, %f : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right) prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %group = arith.divui %h, %c2 : index
        %column = arith.divui %j, %c16 : index
        %row = arith.remui %j, %c16 : index
        %last = tensor.extract %n[%b] : tensor<?xi32>
        %end = arith.index_cast %last : i32 to index
        %exists = arith.cmpi slt, %j, %end : index
        %entry = tensor.extract %table[%b, %column] : tensor<?x?xi32>
        %page = arith.index_cast %entry : i32 to index
        %zero = arith.constant 0 : index
        %at = arith.select %exists, %page, %zero : index
        %f = tensor.extract %0#3[%at, %group, %row] : !scales
        %r = arith.mulf %p, %f : f32
        attn.yield %r : f32
      } : !q, !rows, !rows -> !q
  return %o, %0#0, %0#1, %0#2, %0#3 : !q, !pool, !pool, !scales, !scales
}

// A row's scale follows from what is appended: normalised, turned and rounded.
func.func @turned(%q: !q, %k: !new, %v: !new, %kp: !pool, %vp: !pool, %ks: !scales, %vs: !scales, %table: tensor<?x?xi32>, %slots: tensor<?x?xi32>, %n: tensor<?xi32>,
    %cos: tensor<9x24xf32>, %sin: tensor<9x24xf32>, %positions: tensor<?x?xi32>, %weight: tensor<64xf32>)
    -> (!q, !pool, !pool, !scales, !scales) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %normed = attn.qk_norm %k weight(%weight : tensor<64xf32>) epsilon(1.0e-5) : !new
  %kt = attn.rotary %normed, %cos, %sin halves positions(%positions : tensor<?x?xi32>) columns [0, 48] : !new, tensor<9x24xf32>
  %0:4 = attn.append %kt, %v into %kp, %vp slots(%slots : tensor<?x?xi32>) scales(%ks, %vs : !scales, !scales) : !new, !new into !pool, !pool
  %kr = attn.paged %0#0[%table] : !pool[tensor<?x?xi32>] -> !rows
  %vr = attn.paged %0#1[%table] : !pool[tensor<?x?xi32>] -> !rows
  %o = attn.attention %q, %kr, %vr lengths(key %n : tensor<?xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %group = arith.divui %h, %c2 : index
        %column = arith.divui %j, %c16 : index
        %row = arith.remui %j, %c16 : index
        %last = tensor.extract %n[%b] : tensor<?xi32>
        %end = arith.index_cast %last : i32 to index
        %exists = arith.cmpi slt, %j, %end : index
        %entry = tensor.extract %table[%b, %column] : tensor<?x?xi32>
        %page = arith.index_cast %entry : i32 to index
        %zero = arith.constant 0 : index
        %at = arith.select %exists, %page, %zero : index
        %f = tensor.extract %0#2[%at, %group, %row] : !scales
        %r = arith.mulf %s, %f : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right) prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %group = arith.divui %h, %c2 : index
        %column = arith.divui %j, %c16 : index
        %row = arith.remui %j, %c16 : index
        %last = tensor.extract %n[%b] : tensor<?xi32>
        %end = arith.index_cast %last : i32 to index
        %exists = arith.cmpi slt, %j, %end : index
        %entry = tensor.extract %table[%b, %column] : tensor<?x?xi32>
        %page = arith.index_cast %entry : i32 to index
        %zero = arith.constant 0 : index
        %at = arith.select %exists, %page, %zero : index
        %f = tensor.extract %0#3[%at, %group, %row] : !scales
        %r = arith.mulf %p, %f : f32
        attn.yield %r : f32
      } : !q, !rows, !rows -> !q
  return %o, %0#0, %0#1, %0#2, %0#3 : !q, !pool, !pool, !scales, !scales
}
