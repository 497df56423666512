// Functions of an output on the CPU against float64: a gate, scales of heads, the mix of heads with the identity, of a grouped head of V, behind
// softmax with lengths, a sink and a window, behind sums, alone and one behind another; ragged and empty sizes, rows without keys.

// RUN: sed s/TYPE/f32/g %s > %t.f32.mlir
// RUN: sed s/TYPE/f16/g %s > %t.f16.mlir
// RUN: sed s/TYPE/bf16/g %s > %t.bf16.mlir
// RUN: attn-run %t.f32.mlir --function gate --shape 'B=2,M=65,N=130,arg3=2x4x65x24; B=1,M=3,N=0,arg3=1x4x3x24; B=0,M=3,N=4,arg3=0x4x3x24' --random 1 --verify
// RUN: %if long %{ attn-run %t.bf16.mlir --function gate --shape B=1,M=130,N=70,arg3=1x4x130x24 --random 2 --verify %}
// RUN: attn-run %t.f16.mlir --function mix --shape 'B=1,M=70; B=2,M=1' --random 3 --verify
// RUN: attn-run %t.f16.mlir --function lengths --shape B=3,M=20,N=50 --random 4 --verify
// RUN: attn-run %t.f32.mlir --function sums --shape B=1,M=33,N=70 --random 5 --verify
// RUN: attn-run %t.bf16.mlir --function saved --shape B=2,M=33,N=40 --random 6 --verify
// RUN: attn-run %t.f16.mlir --function alone --shape B=2,M=70 --random 7 --verify
// RUN: attn-run %t.f32.mlir --function twice --shape B=2,M=33,N=40 --random 8 --verify
// RUN: sed 's/ : !q, !k, !v -> !o/ {schedule = #attn.schedule<kind = "small_cache", tile_m = 20, tile_n = 24, tile_d = 16, tile_dv = 16>}&/' %s > %t.small.mlir
// RUN: sed s/TYPE/f32/g %t.small.mlir > %t.small.f32.mlir
// RUN: attn-run %t.small.f32.mlir --function gate --shape B=1,M=70,N=70,arg3=1x4x70x24 --random 9 --verify

// It is applied to the tiles: no output in f32 is left.
// RUN: attn-opt %t.bf16.mlir --attn-select-schedule=target=cpu --attn-convert-to-online --attn-tile --attn-fuse-outputs | FileCheck %s
// CHECK-LABEL: @gate
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[M:.*]]) = {{.*}} -> (tensor<?x4x?x24xbf16>, tensor<?x4x?xf32>) {
// CHECK: %[[TILE:.*]], %{{.*}} = attn.normalize {{.*}} -> tensor<1x1x?x24xf32>, tensor<1x1x?xf32>
// CHECK: %[[CHANGED:.*]] = attn.output_mod %[[TILE]] offsets(%[[B]], %[[H]], %[[M]], %{{.*}}) {{.*}} {
// CHECK: tensor.parallel_insert_slice %[[CHANGED]]
// CHECK-NOT: attn.output_mod
// CHECK-LABEL: @mix
// CHECK-LABEL: @saved
// CHECK: scf.forall
// CHECK: scf.forall
// CHECK: attn.output_mod %{{.*}} offsets(

!q = tensor<?x4x?x32xTYPE>
!k = tensor<?x2x?x32xTYPE>
!v = tensor<?x2x?x24xTYPE>
!o = tensor<?x4x?x24xf32>
!y = tensor<?x4x?x24xTYPE>

// The gate is computed behind the attention.
func.func @gate(%q: !q, %k: !k, %v: !v, %g: !o) -> (!y, tensor<?x4x?xf32>) {
  %o, %l = attn.attention %q, %k, %v mask_mod causal(bottom_right) : !q, !k, !v -> !o, tensor<?x4x?xf32>
  %n = linalg.negf ins(%g : !o) outs(%g : !o) -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f32
    %w = tensor.extract %n[%b, %h, %i, %c] : !o
    %e = math.exp %w : f32
    %d = arith.addf %e, %one : f32
    %r = arith.divf %x, %d : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y, %l : !y, tensor<?x4x?xf32>
}

// (1 - s) O + s V, with s of each head: M = N.
func.func @mix(%q: tensor<?x4x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x24xf16>, %shares: tensor<4xf32>) -> tensor<?x4x?x24xf16> {
  %o = attn.attention %q, %k, %v : tensor<?x4x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x24xf16> -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %one = arith.constant 1.0 : f32
    %c2 = arith.constant 2 : index
    %s = tensor.extract %shares[%h] : tensor<4xf32>
    %t = arith.subf %one, %s : f32
    %head = arith.divui %h, %c2 : index
    %own = tensor.extract %v[%b, %head, %i, %c] : tensor<?x2x?x24xf16>
    %w = arith.extf %own : f16 to f32
    %a = arith.mulf %t, %x : f32
    %z = arith.mulf %s, %w : f32
    %r = arith.addf %a, %z : f32
    attn.yield %r : f32
  } : !o -> tensor<?x4x?x24xf16>
  return %y : tensor<?x4x?x24xf16>
}

// What is added shows in rows that do not exist, too.
func.func @lengths(%q: !q, %k: !k, %v: !v, %n: tensor<?xi32>, %m: tensor<?xi32>, %sink: tensor<4xf32>) -> !y {
  %o = attn.attention %q, %k, %v sink(%sink : tensor<4xf32>) lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>)
      mask_mod sliding_window(8, 3) : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %j = arith.index_cast %c : index to i32
    %f = arith.sitofp %j : i32 to f32
    %r = arith.addf %x, %f : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}

func.func @sums(%q: !q, %k: !k, %v: !v, %factors: tensor<4x24xf32>) -> !y {
  %o = attn.attention %q, %k, %v normalization(#attn.sum<1.0>) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %s, %zero : f32
    attn.yield %r : f32
  } : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %f = tensor.extract %factors[%h, %c] : tensor<4x24xf32>
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}

// The output is used, too.
func.func @saved(%q: !q, %k: !k, %v: !v) -> (!o, !y) {
  %o = attn.attention %q, %k, %v : !q, !k, !v -> !o
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.mulf %x, %x : f32
    attn.yield %r : f32
  } : !o -> !y
  return %o, %y : !o, !y
}

func.func @alone(%o: !y) -> !y {
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %r = math.absf %x : f32
    attn.yield %r : f32
  } : !y -> !y
  return %y : !y
}

func.func @twice(%q: !q, %k: !k, %v: !v, %factors: tensor<4xf32>) -> !y {
  %o = attn.attention %q, %k, %v : !q, !k, !v -> !o
  %p = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %f = tensor.extract %factors[%h] : tensor<4xf32>
    %r = arith.mulf %x, %f : f32
    attn.yield %r : f32
  } : !o -> !o
  %y = attn.output_mod %p (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.addf %x, %x : f32
    attn.yield %r : f32
  } : !o -> !y
  return %y : !y
}
