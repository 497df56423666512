// Masks that search, in attentions that the reference computes as they are written: in a branch, and with a prob_mod.
// RUN: attn-run %s --function=branch --random=1 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=branch --device=sim:sm_80 --random=2 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=weights --random=3 --verify | FileCheck %s %}
// RUN: attn-run %s --function=weights --device=sim:sm_80 --random=4 --verify | FileCheck %s
// CHECK: verify: PASS

!q = tensor<1x2x9x32xf16>

func.func @branch(%q: !q, %k: !q, %v: !q) -> !q {
  %n = arith.constant 4 : index
  %offsets = arith.constant dense<[0, 3, 9]> : tensor<3xi32>
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %q, %c2 : !q
  %test = arith.cmpi slt, %rows, %n : index
  %o = scf.if %test -> !q {
    scf.yield %q : !q
  } else {
    %x = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %row = attn.segment %offsets at %i : tensor<3xi32>
      %key = attn.segment %offsets at %j : tensor<3xi32>
      %shown = arith.cmpi eq, %row, %key : index
      attn.yield %shown : i1
    } : !q, !q, !q -> !q
    scf.yield %x : !q
  }
  return %o : !q
}

func.func @weights(%q: !q, %k: !q, %v: !q) -> !q {
  %offsets = arith.constant dense<[0, 3, 9]> : tensor<3xi32>
  %o = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %row = attn.segment %offsets at %i : tensor<3xi32>
    %key = attn.segment %offsets at %j : tensor<3xi32>
    %shown = arith.cmpi eq, %row, %key : index
    attn.yield %shown : i1
  } prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
    %r = arith.mulf %p, %p : f32
    attn.yield %r : f32
  } : !q, !q, !q -> !q
  return %o : !q
}
