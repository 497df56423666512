// The largest magnitude of each row of an output, against float64, beside the output in 8 bits whose next scale it gives: tensor cores of each family,
// heads in one tile, a ragged Dv whose columns past the end are no zeros, a persistent grid, splits, the small cache, sequences behind each other, rows
// without keys, a NaN.

// RUN: attn-run %s --function scaled --shape 'M=70,N=133; M=1,N=40' --random 1 --device=sim:sm_89 --verify | FileCheck %s
// RUN: attn-run %s --function scaled --shape 'M=130,N=133' --random 2 --device=sim:sm_90a --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function scaled --shape 'M=130,N=133' --random 3 --device=sim:sm_100a --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function float8 --shape 'M=130,N=133' --random 4 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: attn-run %s --function float8 --shape 'M=130,N=133' --random 5 --device=sim:sm_100a --verify | FileCheck %s
// RUN: attn-run %s --function shifted --shape 'M=40,N=70' --random 6 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function shifted --shape 'M=130,N=70' --random 7 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: attn-run %s --function twice --shape 'M=40,N=70' --random 8 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<splits = 3>}/' %s > %t.splits.mlir
// RUN: attn-run %t.splits.mlir --function scaled --shape M=3,N=533 --random 9 --device=sim:sm_89 --verify | FileCheck %s
// RUN: attn-run %t.splits.mlir --function shifted --shape M=2,N=533 --random 10 --device=sim:sm_90a --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<kind = "small_cache">}/' %s > %t.small.mlir
// RUN: attn-run %t.small.mlir --function shifted --shape M=40,N=133 --random 11 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<pack_gqa = true>}/' %s > %t.packed.mlir
// RUN: attn-run %t.packed.mlir --function shifted --shape M=5,N=133 --random 12 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<persistent_ctas = 3>}/' %s > %t.persistent.mlir
// RUN: attn-run %t.persistent.mlir --function shifted --shape M=260,N=133 --random 13 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %s --function packed --shape offsets=5,query_rows=90,key_rows=90 --random 14 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<splits = 2>}/' %s > %t.splits.mlir
// RUN: attn-run %t.splits.mlir --function packed --shape offsets=5,query_rows=20,key_rows=290 --random 15 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function special --shape M=40,N=70 --random 16 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %s --function special --shape M=40,N=70 --random 17 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %t.splits.mlir --function special --shape M=4,N=300 --random 18 --device=sim:sm_80 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

!q = tensor<2x4x?x64xf16>
!k = tensor<2x2x?x64xf16>
!v = tensor<2x2x?x56xf16>
!o = tensor<2x4x?x56xf32>
!y = tensor<2x4x?x56xf16>
!l = tensor<2x4x?xf32>

// Of the output before its scale; rows at the start see no key.
func.func @scaled(%q: !q, %k: !k, %v: !v, %scale: tensor<1xf32>) -> (tensor<2x4x?x56xf8E4M3FN>, !l, !l) {
  %o, %l = attn.attention %q, %k, %v mask_mod causal(bottom_right) {chosen} : !q, !k, !v -> !o, !l
  %same, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !o -> !o, !l
  %y = attn.output_mod %same (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %c0 = arith.constant 0 : index
    %s = tensor.extract %scale[%c0] : tensor<1xf32>
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  } : !o -> tensor<2x4x?x56xf8E4M3FN>
  return %y, %l, %amax : tensor<2x4x?x56xf8E4M3FN>, !l, !l
}

!q8 = tensor<1x2x?x64xf8E4M3FN>
!o8 = tensor<1x2x?x64xf32>

// Query, key, value and output of 8 bits; the result has no LSE.
func.func @float8(%q: !q8, %k: !q8, %v: !q8, %d: tensor<1xf32>) -> (tensor<1x2x?xf32>, !q8) {
  %o = attn.attention %q, %k, %v descale(%d, %d, %d : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) : !q8, !q8, !q8 -> !o8
  %same, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !o8 -> !o8, tensor<1x2x?xf32>
  %y = attn.output_mod %same (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %s = arith.constant 16.0 : f32
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  } : !o8 -> !q8
  return %amax, %y : tensor<1x2x?xf32>, !q8
}

// What follows the last column would be of 0: 20, more than most rows have.
func.func @shifted(%q: !q, %k: !k, %v: !v) -> (!y, !l) {
  %o = attn.attention %q, %k, %v {chosen} : !q, !k, !v -> !o
  %y, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f32
    %least = arith.constant 0.05 : f32
    %c55 = arith.constant 55 : index
    %square = arith.mulf %x, %x : f32
    %sum = arith.addf %square, %least : f32
    %inverse = arith.divf %one, %sum : f32
    %isLast = arith.cmpi eq, %c, %c55 : index
    %r = arith.select %isLast, %inverse, %x : f32
    attn.yield %r : f32
  } : !o -> !y, !l
  return %y, %amax : !y, !l
}

// A NaN, or an infinity, in one column of every third row.
func.func @special(%q: !q, %k: !k, %v: !v) -> (!y, !l) {
  %o = attn.attention %q, %k, %v {chosen} : !q, !k, !v -> !o
  %y, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %nan = arith.constant 0x7FC00000 : f32
    %inf = arith.constant 0xFF800000 : f32
    %c3 = arith.constant 3 : index
    %c17 = arith.constant 17 : index
    %c40 = arith.constant 40 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %third = arith.remui %i, %c3 : index
    %is0 = arith.cmpi eq, %third, %c0 : index
    %is1 = arith.cmpi eq, %third, %c1 : index
    %at17 = arith.cmpi eq, %c, %c17 : index
    %at40 = arith.cmpi eq, %c, %c40 : index
    %hasNan = arith.andi %is0, %at17 : i1
    %hasInf = arith.andi %is1, %at40 : i1
    %s = arith.select %hasNan, %nan, %x : f32
    %r = arith.select %hasInf, %inf, %s : f32
    attn.yield %r : f32
  } : !o -> !y, !l
  return %y, %amax : !y, !l
}

// Each has its own.
func.func @twice(%q: !q, %k: !k, %v: !v) -> (!l, !y, !l) {
  %o = attn.attention %q, %k, %v {chosen} : !q, !k, !v -> !o
  %half, %first = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %s = arith.constant 0.5 : f32
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  } : !o -> !o, !l
  %y, %second = attn.output_mod %half (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %s = arith.constant -3.0 : f32
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  } : !o -> !y, !l
  return %second, %y, %first : !l, !y, !l
}

!pq = tensor<?x4x64xf16>
!pk = tensor<?x2x64xf16>
!pl = tensor<4x?xf32>
!rq = tensor<?x4x?x64xf16>
!rk = tensor<?x2x?x64xf16>
!ro = tensor<?x4x?x64xf32>
!rl = tensor<?x4x?xf32>

func.func @packed(%q: !pq, %k: !pk, %v: !pk, %offsets: tensor<?xi32>) -> (!pq, !pl) {
  %c0 = arith.constant 0 : index
  %rq = attn.ragged %q[%offsets] : !pq[tensor<?xi32>] -> !rq
  %rk = attn.ragged %k[%offsets] : !pk[tensor<?xi32>] -> !rk
  %rv = attn.ragged %v[%offsets] : !pk[tensor<?xi32>] -> !rk
  %n = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %rq, %rk, %rv lengths(key %n : tensor<?xi32>, query %n : tensor<?xi32>) {chosen} : !rq, !rk, !rk -> !ro
  %y, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !ro -> !rq, !rl
  %rows = tensor.dim %q, %c0 : !pq
  %empty = tensor.empty(%rows) : !pq
  %p = attn.pack %y[%offsets] into %empty : !rq[tensor<?xi32>] into !pq
  %emptyRows = tensor.empty(%rows) : !pl
  %l = attn.pack %amax[%offsets] into %emptyRows : !rl[tensor<?xi32>] into !pl
  return %p, %l : !pq, !pl
}
