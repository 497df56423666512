// RUN: attn-opt %s --attn-split-finite-masks --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-split-finite-masks --attn-split-finite-masks --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-split-finite-masks=schedule=kind=small_cache --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: not attn-opt %s --attn-split-finite-masks=schedule=tile=4 --split-input-file 2>&1 | FileCheck %s --check-prefix=FIELD
// SMALL-NOT: attn.repair
// FIELD: error: option schedule: {{.*}}tile

!q = tensor<1x2x96x64xf16>
!lse = tensor<1x2x96xf32>

// Causal and padding, added as the lowest number: what is left has no score_mod.
// CHECK-LABEL: func @added
// CHECK: %[[O:.*]], %[[L:.*]] = attn.attention %arg0, %arg0, %arg0 mask_mod (%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK-NEXT: %[[CAUSAL:.*]] = arith.cmpi sle, %[[J]], %[[I]]
// CHECK-NEXT: %[[SEEN:.*]] = tensor.extract %arg1[%[[B]], %[[J]]]
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[CAUSAL]], %[[SEEN]]
// CHECK-NEXT: attn.yield %[[BOTH]]
// CHECK-NEXT: } : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
// CHECK: %[[W:.*]], %[[WL:.*]] = attn.attention %arg0, %arg0, %arg0 score_mod
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: %[[R:.*]], %{{.*}} = attn.repair %[[O]], %[[L]] by %[[W]], %[[WL]] below(-8.5{{.*}}E+37)
// CHECK: return %[[R]]
func.func @added(%q: !q, %pad: tensor<1x96xi1>) -> !q {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -3.40282347e+38 : f32
  %o = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %seen = tensor.extract %pad[%b, %j] : tensor<1x96xi1>
        %both = arith.andi %causal, %seen : i1
        %m = arith.select %both, %zero, %lowest : f32
        %r = arith.addf %s, %m : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x2x96x64xf16>
!lse = tensor<1x2x96xf32>

// In place of the score, under a summand that stays, the other way round, and with an LSE.
// CHECK-LABEL: func @chosen
// CHECK: %[[O:.*]], %[[L:.*]] = attn.attention %arg0, %arg0, %arg0 score_mod (%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index) {
// CHECK: arith.addf %[[S]],
// CHECK: } mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK: %[[HIDDEN:.*]] = arith.cmpi sgt, %[[J]], %[[I]]
// CHECK: %[[VISIBLE:.*]] = arith.xori %[[HIDDEN]], %true
// CHECK: attn.yield %[[VISIBLE]]
// CHECK: %[[W:.*]], %[[WL:.*]] = attn.attention
// CHECK: %[[R:.*]], %[[RL:.*]] = attn.repair %[[O]], %[[L]] by %[[W]], %[[WL]] below(-8.5{{.*}}E+37)
// CHECK: return %[[R]], %[[RL]]
func.func @chosen(%q: !q) -> (!q, !lse) {
  %value = arith.constant -3.40282347e+38 : f32
  %o, %lse = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %hidden = arith.cmpi sgt, %j, %i : index
        %m = arith.select %hidden, %value, %s : f32
        %hi = arith.index_cast %h : index to i32
        %hf = arith.sitofp %hi : i32 to f32
        %r = arith.addf %m, %hf : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q, !lse
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<1x2x96x64xf16>

// Rows whose LSE is above half of the value have no weight for hidden pairs.
// CHECK-LABEL: func @thousands
// CHECK: attn.repair {{.*}} below(-5.000000e+03)
func.func @thousands(%q: !q) -> !q {
  %value = arith.constant -1.0e+4 : f32
  %o = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %r = arith.select %causal, %s, %value : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x2x96x64xf16>

// Two masks added, one of them of two parts.
// CHECK-LABEL: func @two
// CHECK: mask_mod
// CHECK: %[[A:.*]] = arith.andi
// CHECK: %[[ALL:.*]] = arith.andi
// CHECK: attn.yield %[[ALL]] : i1
// CHECK: attn.repair
func.func @two(%q: !q) -> !q {
  %c4 = arith.constant 4 : index
  %c90 = arith.constant 90 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -3.40282347e+38 : f32
  %o = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %m = arith.select %causal, %zero, %lowest : f32
        %far = arith.cmpi ult, %j, %c4 : index
        %n = arith.select %far, %lowest, %zero : f32
        %end = arith.cmpi ult, %j, %c90 : index
        %p = arith.select %end, %zero, %lowest : f32
        %np = arith.addf %n, %p : f32
        %t = arith.addf %m, %s : f32
        %r = arith.addf %np, %t : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x2x96x64xf16>

// A summand of visible pairs: ALiBi, a bias.
// CHECK-LABEL: func @summand
// CHECK: attn.attention %arg0, %arg0, %arg0 score_mod (%[[S:.*]]: f32, {{.*}}, %[[J:.*]]: index) {
// CHECK-NEXT: %[[JI:.*]] = arith.index_cast %[[J]]
// CHECK-NEXT: %[[JF:.*]] = arith.sitofp %[[JI]]
// CHECK-NEXT: %[[R:.*]] = arith.addf %[[S]], %[[JF]]
// CHECK-NEXT: attn.yield %[[R]]
// CHECK-NEXT: } mask_mod
// CHECK: attn.repair
func.func @summand(%q: !q) -> !q {
  %lowest = arith.constant -3.40282347e+38 : f32
  %o = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %hidden = arith.cmpi sgt, %j, %i : index
        %ji = arith.index_cast %j : index to i32
        %jf = arith.sitofp %ji : i32 to f32
        %t = arith.select %hidden, %lowest, %jf : f32
        %r = arith.addf %s, %t : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x2x96x64xf16>

// The sink has the weight of a row that sees no key.
// CHECK-LABEL: func @sink
// CHECK: attn.attention {{.*}} sink(%arg1 : tensor<2xf32>) mask_mod
// CHECK-NOT: attn.attention
// CHECK-NOT: attn.repair
func.func @sink(%q: !q, %sink: tensor<2xf32>) -> !q {
  %value = arith.constant -3.40282347e+38 : f32
  %o = attn.attention %q, %q, %q sink(%sink : tensor<2xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %r = arith.select %causal, %s, %value : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x2x96x64xf16>

// A summand that scores may make up for, a choice by the score, a small value, a value that a summand changes.
// CHECK-LABEL: func @others
// CHECK-NOT: attn.repair
// CHECK: return
func.func @others(%q: !q) -> (!q, !q, !q, !q) {
  %zero = arith.constant 0.0 : f32
  %thousands = arith.constant -1.0e+4 : f32
  %tens = arith.constant -50.0 : f32
  %o = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %m = arith.select %causal, %zero, %thousands : f32
        %r = arith.addf %s, %m : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  %p = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %is = arith.cmpf ogt, %s, %zero : f32
        %r = arith.select %is, %s, %thousands : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  %u = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %r = arith.select %causal, %s, %tens : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  %v = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %m = arith.select %causal, %s, %thousands : f32
        %ji = arith.index_cast %j : index to i32
        %jf = arith.sitofp %ji : i32 to f32
        %r = arith.addf %m, %jf : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o, %p, %u, %v : !q, !q, !q, !q
}

// -----

!q = tensor<1x2x96x64xf16>
!lse = tensor<1x2x96xf32>

// A mask_mod that is there must hold too.
// CHECK-LABEL: func @beside
// CHECK: attn.attention {{.*}} mask_mod (%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK: %[[CAUSAL:.*]] = arith.cmpi sle, %[[J]], %[[I]]
// CHECK: %[[SEEN:.*]] = tensor.extract %arg1[%[[B]], %[[J]]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[CAUSAL]], %[[SEEN]]
// CHECK: attn.yield %[[BOTH]]
// CHECK: attn.attention {{.*}} score_mod
// CHECK: } mask_mod causal(top_left)
// CHECK: attn.repair
// CHECK: attn.attention_backward
// CHECK: } mask_mod
// CHECK: %[[CAUSAL:.*]] = arith.cmpi sle
// CHECK: %[[EITHER:.*]] = arith.ori
// CHECK: %[[ALL:.*]] = arith.andi %[[CAUSAL]], %[[EITHER]]
// CHECK: attn.yield %[[ALL]]
func.func @beside(%q: !q, %pad: tensor<1x96xi1>) -> (!q, !q, !q) {
  %lowest = arith.constant -3.40282347e+38 : f32
  %o, %lse = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %seen = tensor.extract %pad[%b, %j] : tensor<1x96xi1>
        %r = arith.select %seen, %s, %lowest : f32
        attn.yield %r : f32
      } mask_mod causal(top_left) : !q, !q, !q -> !q, !lse
  %d:3 = attn.attention_backward %q, %q, %q output(%o : !q) lse(%lse : !lse) d_output(%q : !q)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %seen = tensor.extract %pad[%b, %j] : tensor<1x96xi1>
        %r = arith.select %seen, %s, %lowest : f32
        attn.yield %r : f32
      } mask_mod causal(top_left) : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}

// -----

!few = tensor<1x2x31x64xf16>
!k = tensor<1x2x96x64xf16>

// CHECK-LABEL: func @few
// CHECK-NOT: attn.repair
func.func @few(%q: !few, %k: !k) -> !few {
  %lowest = arith.constant -3.40282347e+38 : f32
  %o = attn.attention %q, %k, %k
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %r = arith.select %causal, %s, %lowest : f32
        attn.yield %r : f32
      } : !few, !k, !k -> !few
  return %o : !few
}

// -----

!q = tensor<1x4x96x64xf16>
!k = tensor<1x2x96x64xf16>
!lse = tensor<1x4x96xf32>

// A backward keeps its scores, and all pairs of rows that may have seen no key; the
// heads agree on these where no score is as low as the mask.
// CHECK-LABEL: func @backward
// CHECK: attn.attention_backward
// CHECK: arith.select
// CHECK: arith.addf
// CHECK: } mask_mod (%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK: %[[SEEN:.*]] = tensor.extract %arg1[%[[B]], %[[J]]]
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[LSE:.*]] = tensor.extract %arg5[%[[B]], %[[C0]], %[[I]]]
// CHECK: %[[BOUND:.*]] = arith.constant -8.5{{.*}}E+37 : f32
// CHECK: %[[BLIND:.*]] = arith.cmpf ule, %[[LSE]], %[[BOUND]]
// CHECK: %[[EITHER:.*]] = arith.ori %[[SEEN]], %[[BLIND]]
// CHECK: attn.yield %[[EITHER]]
// CHECK-NOT: attn.attention_backward
func.func @backward(%q: !q, %pad: tensor<1x96xi1>, %k: !k, %o: !q, %do: !q, %lse: !lse) -> (!q, !k, !k) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -3.40282347e+38 : f32
  %d:3 = attn.attention_backward %q, %k, %k output(%o : !q) lse(%lse : !lse) d_output(%do : !q)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %seen = tensor.extract %pad[%b, %j] : tensor<1x96xi1>
        %m = arith.select %seen, %zero, %lowest : f32
        %r = arith.addf %s, %m : f32
        attn.yield %r : f32
      } : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}

// -----

!q = tensor<1x4x96x64xf16>
!lse = tensor<1x4x96xf32>

// Of a value that scores may reach, each head has its own rows.
// CHECK-LABEL: func @backward_of_thousands
// CHECK: } mask_mod (%[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %{{.*}}: index) {
// CHECK: %[[LSE:.*]] = tensor.extract %arg2[%[[B]], %[[H]], %[[I]]]
// CHECK: %[[BOUND:.*]] = arith.constant -5.000000e+03 : f32
// CHECK: arith.cmpf ule, %[[LSE]], %[[BOUND]]
func.func @backward_of_thousands(%q: !q, %do: !q, %lse: !lse) -> (!q, !q, !q) {
  %value = arith.constant -1.0e+4 : f32
  %d:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : !lse) d_output(%do : !q)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %r = arith.select %causal, %s, %value : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}
