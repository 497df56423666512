// Functions of an output in the kernels that store it, against float64: a gate, the mix of heads with the identity; packed heads, slices of Dv, a
// ragged Dv, a persistent grid, splits, the small cache, sequences behind each other, a finite mask's repair.

// RUN: attn-run %s --function gate --shape 'M=70,N=133; M=1,N=40' --random 1 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function gate --shape 'M=130,N=133' --random 2 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function gate --shape 'M=130,N=133' --random 3 --device=sim:sm_100a --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function mix --shape 'M=33' --random 4 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %s --function mix --shape 'M=130' --random 5 --device=sim:sm_90a --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<splits = 3>}/' %s > %t.splits.mlir
// RUN: attn-run %t.splits.mlir --function gate --shape M=3,N=533 --random 6 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.splits.mlir --function twice --shape M=2,N=533 --random 7 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<kind = "small_cache">}/' %s > %t.small.mlir
// RUN: attn-run %t.small.mlir --function gate --shape M=40,N=133 --random 8 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<pack_gqa = true>}/' %s > %t.packed.mlir
// RUN: attn-run %t.packed.mlir --function gate --shape M=5,N=133 --random 9 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<persistent_ctas = 3>}/' %s > %t.persistent.mlir
// RUN: attn-run %t.persistent.mlir --function gate --shape M=260,N=133 --random 10 --device=sim:sm_90a --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<tile_dv = 32>}/' %s > %t.slices.mlir
// RUN: attn-run %t.slices.mlir --function gate --shape M=70,N=70 --random 11 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function ragged --shape offsets=5,query_rows=90,key_rows=90 --random 12 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function padded --shape M=40,N=70 --random 13 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function twice --shape M=40,N=70 --random 14 --device=sim:sm_90a --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<tile_dv = 64>}/' %s > %t.last.mlir
// RUN: attn-run %t.last.mlir --function last_slice --random 15 --device=sim:sm_80 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

!q = tensor<2x4x?x64xf16>
!k = tensor<2x2x?x64xf16>
!v = tensor<2x2x?x56xf16>
!o = tensor<2x4x?x56xf32>
!y = tensor<2x4x?x56xf16>
!l = tensor<2x4x?xf32>

func.func @gate(%q: !q, %k: !k, %v: !v, %g: !y) -> (!y, !l) {
  %o, %l = attn.attention %q, %k, %v mask_mod causal(bottom_right) {chosen} : !q, !k, !v -> !o, !l
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f32
    %raw = tensor.extract %g[%b, %h, %i, %c] : !y
    %w = arith.extf %raw : f16 to f32
    %n = arith.negf %w : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %r = arith.divf %x, %d : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y, %l : !y, !l
}

func.func @mix(%q: !q, %k: !k, %v: !v, %shares: tensor<4xf32>) -> !y {
  %o = attn.attention %q, %k, %v {chosen} : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f32
    %c2 = arith.constant 2 : index
    %s = tensor.extract %shares[%h] : tensor<4xf32>
    %t = arith.subf %one, %s : f32
    %head = arith.divui %h, %c2 : index
    %own = tensor.extract %v[%b, %head, %i, %c] : !v
    %w = arith.extf %own : f16 to f32
    %a = arith.mulf %t, %x : f32
    %z = arith.mulf %s, %w : f32
    %r = arith.addf %a, %z : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}

func.func @twice(%q: !q, %k: !k, %v: !v, %factors: tensor<4xf32>) -> !y {
  %o = attn.attention %q, %k, %v {chosen} : !q, !k, !v -> !o
  %p = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %f = tensor.extract %factors[%h] : tensor<4xf32>
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : !o -> !o
  %y = attn.output_mod %p (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %j = arith.index_cast %c : index to i32
    %f = arith.sitofp %j : i32 to f32
    %r = arith.addf %x, %f : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}

// Sequences behind each other, written where the offsets say.
func.func @ragged(%q: tensor<?x4x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>, %offsets: tensor<?xi32>,
                  %factors: tensor<4xf32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %rq = attn.ragged %q[%offsets] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %rk = attn.ragged %k[%offsets] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %rv = attn.ragged %v[%offsets] : tensor<?x2x64xf16>[tensor<?xi32>] -> tensor<?x2x?x64xf16>
  %n = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %rq, %rk, %rv lengths(key %n : tensor<?xi32>, query %n : tensor<?xi32>)
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf32>
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %f = tensor.extract %factors[%h] : tensor<4xf32>
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : tensor<?x4x?x64xf32> -> tensor<?x4x?x64xf16>
  %rows = tensor.dim %q, %c0 : tensor<?x4x64xf16>
  %empty = tensor.empty(%rows) : tensor<?x4x64xf16>
  %p = attn.pack %y[%offsets] into %empty : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}

// Left padding as a finite mask, which hides the first rows whole.
func.func @padded(%q: !q, %k: !k, %v: !v, %g: !y) -> !y {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %lowest = arith.constant -3.4028234663852886E+38 : f32
    %zero = arith.constant 0.0 : f32
    %c7 = arith.constant 7 : index
    %late = arith.cmpi uge, %j, %c7 : index
    %causal = arith.cmpi ule, %j, %i : index
    %seen = arith.andi %late, %causal : i1
    %m = arith.select %seen, %zero, %lowest : f32
    %r = arith.addf %s, %m : f32
    attn.yield %r : f32
  } : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %raw = tensor.extract %g[%b, %h, %i, %c] : !y
    %w = arith.extf %raw : f16 to f32
    %r = arith.mulf %x, %w : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}

// The last slice is wider than what is left of V, and the capture ends with it.
func.func @last_slice(%q: tensor<1x2x64x80xf16>, %k: tensor<1x2x20x80xf16>, %v: tensor<1x2x20x80xf16>, %g: tensor<1x2x64x80xf32>) -> tensor<1x2x64x80xf16> {
  %o = attn.attention %q, %k, %v {chosen} : tensor<1x2x64x80xf16>, tensor<1x2x20x80xf16>, tensor<1x2x20x80xf16> -> tensor<1x2x64x80xf32>
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %e = tensor.extract %g[%b, %h, %i, %c] : tensor<1x2x64x80xf32>
    %r = arith.mulf %x, %e : f32
    attn.yield %r : f32
  } : tensor<1x2x64x80xf32> -> tensor<1x2x64x80xf16>
  return %y : tensor<1x2x64x80xf16>
}
