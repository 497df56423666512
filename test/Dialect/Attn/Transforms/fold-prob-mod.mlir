// Maps of probabilities that are linear become functions of the output; others stay.
// RUN: attn-opt %s --attn-fold-prob-mod --split-input-file | FileCheck %s
// RUN: sed '/^\/\/ -----/,$d' %s > %t.mlir
// RUN: attn-run %t.mlir --random 1 --verify
// RUN: attn-run %t.mlir --random 2 --device=sim:sm_80 --verify
// RUN: attn-run %t.mlir --random 3 --device=sim:sm_90a --verify

!q = tensor<2x4x21x16xf16>
!k = tensor<2x2x17x16xf16>

// (1 - s) P + s I, under a mask that hides parts of it, with fewer keys than rows.
// CHECK-LABEL: @mix
// CHECK: %[[N:.*]] = arith.constant 17 : index
// CHECK: %[[O:.*]], %{{.*}} = attn.attention %arg0, %arg1, %arg2 mask_mod
// CHECK: -> tensor<2x4x21x16xf32>
// CHECK: attn.output_mod %[[O]] (%[[X:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[C:.*]]: index) {
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[I]], %[[N]]
// CHECK: arith.cmpi ne, %[[I]]
// CHECK: tensor.extract %arg2[%[[B]], %{{.*}}, %{{.*}}, %[[C]]]
// CHECK: %[[V:.*]] = arith.select
// CHECK: arith.mulf %{{.*}}, %[[X]]
// CHECK: } : tensor<2x4x21x16xf32> -> tensor<2x4x21x16xf16>
func.func @mix(%q: !q, %k: !k, %v: !k, %shares: tensor<4xf32>) -> (!q, tensor<2x4x21xf32>) {
  %o, %l = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %c3 = arith.constant 3 : index
      %m = arith.cmpi ne, %j, %c3 : index
      attn.yield %m : i1
    } prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      %s = tensor.extract %shares[%h] : tensor<4xf32>
      %t = arith.subf %one, %s : f32
      %c = arith.cmpi ne, %j, %i : index
      %d = arith.select %c, %zero, %s : f32
      %tp = arith.mulf %t, %p : f32
      %r = arith.addf %tp, %d : f32
      attn.yield %r : f32
    } : !q, !k, !k -> !q, tensor<2x4x21xf32>
  return %o, %l : !q, tensor<2x4x21xf32>
}

// -----

!q = tensor<2x4x8x16xf16>

// A bias may hide what no mask does: only a factor is folded.
// CHECK-LABEL: @factor
// CHECK: attn.attention {{.*}} bias(
// CHECK-NOT: prob_mod
// CHECK: attn.output_mod
func.func @factor(%q: !q, %bias: tensor<1x1x8x8xf16>) -> !q {
  %o = attn.attention %q, %q, %q bias(%bias : tensor<1x1x8x8xf16>) prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
      %f = arith.constant 0.5 : f32
      %r = arith.divf %p, %f : f32
      attn.yield %r : f32
    } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<2x4x8x16xf16>

// CHECK-LABEL: @biased_mix
// CHECK: prob_mod
// CHECK-NOT: attn.output_mod
func.func @biased_mix(%q: !q, %bias: tensor<1x1x8x8xf16>) -> !q {
  %o = attn.attention %q, %q, %q bias(%bias : tensor<1x1x8x8xf16>) prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
      %half = arith.constant 0.5 : f32
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpi eq, %j, %i : index
      %d = arith.select %c, %half, %zero : f32
      %r = arith.addf %p, %d : f32
      attn.yield %r : f32
    } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<2x4x8x16xf16>

// Squares, floors, factors of keys, and what is added to each weight.
// CHECK-LABEL: @others
// CHECK-COUNT-4: prob_mod
// CHECK-NOT: attn.output_mod
func.func @others(%q: !q, %f: tensor<8xf32>) -> (!q, !q, !q, !q) {
  %o0 = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
      %r = arith.mulf %p, %p : f32
      attn.yield %r : f32
    } : !q, !q, !q -> !q
  %o1 = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
      %zero = arith.constant 0.0 : f32
      %r = arith.maximumf %p, %zero : f32
      attn.yield %r : f32
    } : !q, !q, !q -> !q
  %o2 = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
      %e = tensor.extract %f[%j] : tensor<8xf32>
      %r = arith.mulf %p, %e : f32
      attn.yield %r : f32
    } : !q, !q, !q -> !q
  %o3 = attn.attention %q, %q, %q prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
      %e = tensor.extract %f[%i] : tensor<8xf32>
      %r = arith.addf %p, %e : f32
      attn.yield %r : f32
    } : !q, !q, !q -> !q
  return %o0, %o1, %o2, %o3 : !q, !q, !q, !q
}
