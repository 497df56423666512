// An attention with a prob_mod is one for its LSEs, of a few columns, and one without normalization; its gradients are those of the two.
// RUN: split-file %s %t
// RUN: attn-opt %t/two.mlir --attn-decompose-prob-mod | FileCheck %s
// RUN: attn-opt %t/two.mlir --attn-decompose-prob-mod | FileCheck %s --check-prefix=NARROW
// RUN: attn-opt %t/shifted.mlir --attn-decompose-prob-mod | FileCheck %s --check-prefix=SHIFT
// RUN: attn-opt %t/empty.mlir --attn-decompose-prob-mod | FileCheck %s --check-prefix=KEYLESS
// RUN: attn-opt %t/pages.mlir --attn-decompose-prob-mod | FileCheck %s --check-prefix=PAGES
// RUN: attn-opt %t/two.mlir --attn-grad=recompute=true | FileCheck %s --check-prefix=GRAD
// RUN: not attn-opt %t/two.mlir --attn-convert-to-online 2>&1 | FileCheck %s --check-prefix=ONLINE
// RUN: not attn-opt %t/two.mlir --attn-verify-normal-form=form=tensor 2>&1 | FileCheck %s --check-prefix=ONLINE
// RUN: attn-opt %t/factor.mlir --attn-decompose-prob-mod | FileCheck %s --check-prefix=FACTOR
// RUN: attn-opt %t/factor.mlir --attn-decompose-prob-mod --attn-convert-to-online | FileCheck %s --check-prefix=STEP
// RUN: not attn-opt %t/bits.mlir --attn-grad=recompute=true 2>&1 | FileCheck %s --check-prefix=BITS

// The LSE that the function returns is that of the softmax.
// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[Q:.*]]: tensor<1x4x?x64xf16>, %[[K:.*]]: tensor<1x2x?x64xf16>, %[[V:[^:]*]]: tensor<1x2x?x64xf16>
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[K]][0, 0, 0, 0] [1, 2, %{{.*}}, 16] [1, 1, 1, 1]
// CHECK: %{{.*}}, %[[LSE:.*]] = attn.attention %[[Q]], %[[K]], %[[SLICE]] sink(%{{.*}}) mask_mod causal(bottom_right) : {{.*}} -> tensor<1x4x?x16xf16>, tensor<1x4x?xf32>
// CHECK: %[[O:.*]] = attn.attention %[[Q]], %[[K]], %[[V]] dropout(%{{.*}}) rate(2.500000e-01) normalization(#attn.none) score_mod (%[[S:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %{{.*}}: index) {
// CHECK: %[[L:.*]] = tensor.extract %[[LSE]][%[[B]], %[[H]], %[[I]]]
// CHECK: %[[X:.*]] = arith.subf %[[S]], %[[L]]
// CHECK: %[[P:.*]] = math.exp %[[X]]
// CHECK: %[[F:.*]] = tensor.extract %{{.*}}[%[[H]]]
// CHECK: %[[W:.*]] = arith.maximumf %[[F]], %[[P]]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[L]]
// CHECK: %[[R:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[W]]
// CHECK: attn.yield %[[R]]
// CHECK: mask_mod causal(bottom_right)
// CHECK: return %[[O]], %[[LSE]]

// Values that have no more columns than that are taken as they are.
// NARROW-LABEL: func.func @narrow
// NARROW-SAME: (%[[Q:.*]]: tensor<1x2x4x8xf32>)
// NARROW-NOT: extract_slice
// NARROW: attn.attention %[[Q]], %[[Q]], %[[Q]] :

// A view has no columns of its own.
// PAGES: %[[K:.*]] = attn.paged
// PAGES: %{{.*}}, %{{.*}} = attn.attention %{{.*}}, %[[K]], %arg3 :

// A score_mod may be a finite mask that hides a row whole: its scores are shifted by their LSE, whose rounding the next LSE is.
// SHIFT-LABEL: func.func @shifted
// SHIFT: %{{.*}}, %[[LSE:.*]] = attn.attention
// SHIFT: %{{.*}}, %[[LEFT:.*]] = attn.attention
// SHIFT: %[[OWN:.*]] = tensor.extract %[[LSE]]
// SHIFT: %[[SHIFT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[OWN]]
// SHIFT: %[[SCORE:.*]] = arith.subf %{{.*}}, %[[SHIFT]]
// SHIFT: attn.yield %[[SCORE]]
// SHIFT: normalization(#attn.none)
// SHIFT: tensor.extract %[[LSE]]
// SHIFT: tensor.extract %[[LEFT]]
// SHIFT: return %{{.*}}, %[[LSE]]

// GRAD-LABEL: func.func @two_grad
// GRAD: %{{.*}}, %[[LSE:.*]] = attn.attention %{{.*}} sink
// GRAD: %dQuery, %dKey, %dValue, %[[W:.*]]:2 = attn.attention_backward {{.*}} captures(%{{.*}}, %[[LSE]] : tensor<4xf32>, tensor<1x4x?xf32>) dropout({{.*}} normalization(#attn.none)
// GRAD: -> tensor<1x4x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf16> d_captures(tensor<4xf32>, tensor<1x4x?xf32>)
// GRAD: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<1x4x?x16xf16>
// GRAD: attn.attention_backward {{.*}} output(%[[ZERO]] : {{.*}}) lse(%[[LSE]] : {{.*}}) d_output(%[[ZERO]] : {{.*}}) d_lse(%[[W]]#1 : {{.*}}) sink(

// ONLINE: error: 'attn.attention' op expected no prob_mod but a factor behind --attn-decompose-prob-mod

// BITS: error: 'arith.bitcast' op cannot be differentiated: expected a float op of arith or math on scalars where the result depends on the score

//--- two.mlir
!q = tensor<1x4x?x64xf16>
!k = tensor<1x2x?x64xf16>
!l = tensor<1x4x?xf32>
func.func @two(%q: !q, %k: !k, %v: !k, %sink: tensor<4xf32>, %factors: tensor<4xf32>, %seed: i64) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %v sink(%sink : tensor<4xf32>) dropout(%seed, %seed) rate(0.25)
      mask_mod causal(bottom_right)
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %f = tensor.extract %factors[%h] : tensor<4xf32>
        %r = arith.maximumf %f, %p : f32
        attn.yield %r : f32
      } : !q, !k, !k -> !q, !l
  return %o, %lse : !q, !l
}
func.func @narrow(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %o = attn.attention %q, %q, %q
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %p, %p : f32
        attn.yield %r : f32
      } : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

//--- shifted.mlir
!q = tensor<1x2x4x8xf32>
func.func @shifted(%q: !q) -> (!q, tensor<1x2x4xf32>) {
  %o, %lse = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.addf %s, %s : f32
        attn.yield %r : f32
      }
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %p, %p : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q, tensor<1x2x4xf32>
  return %o, %lse : !q, tensor<1x2x4xf32>
}

//--- bits.mlir
!q = tensor<1x2x4x8xf32>
func.func @bits(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = arith.bitcast %p : f32 to i32
        %r = arith.bitcast %x : i32 to f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %o : !q
}

//--- pages.mlir
!q = tensor<1x2x1x64xf16>
!pool = tensor<?x2x16x64xf16>
!rows = tensor<1x2x?x64xf16>
func.func @pages(%q: !q, %pool: !pool, %table: tensor<1x?xi32>, %v: !rows) -> !q {
  %k = attn.paged %pool[%table] : !pool[tensor<1x?xi32>] -> !rows
  %o = attn.attention %q, %k, %v
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %p, %p : f32
        attn.yield %r : f32
      } : !q, !rows, !rows -> !q
  return %o : !q
}

//--- factor.mlir

// A factor of the weights stays, whatever it is a function of, for the step, but for small caches. Its sum is that of the weights before.
!q = tensor<1x2x4x8xf32>
// FACTOR-LABEL: func.func @factor
// FACTOR: attn.attention {{.*}} prob_mod
// FACTOR-NOT: attn.attention
// STEP-LABEL: func.func @factor
// STEP: attn.online_attention {{.*}} prob_mod (%[[P:.*]]: f32, %[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index) {
// STEP: %[[N:.*]] = {{.*}}4 : index
// STEP: %[[W:.*]] = tensor.extract %{{.*}}[%[[B]], %[[J]]]
// STEP: attn.yield
// STEP: outs(
func.func @factor(%q: !q, %w: tensor<1x4xf32>) -> (!q, tensor<1x2x4xf32>) {
  %o, %lse = attn.attention %q, %q, %q
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %n = attn.length key
        %x = tensor.extract %w[%b, %j] : tensor<1x4xf32>
        %y = arith.divf %p, %x : f32
        %z = arith.addf %p, %y : f32
        %zero = arith.constant 0.0 : f32
        %isLast = arith.cmpi eq, %j, %n : index
        %r = arith.select %isLast, %zero, %z : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q, tensor<1x2x4xf32>
  return %o, %lse : !q, tensor<1x2x4xf32>
}
// FACTOR-LABEL: func.func @small_cache
// FACTOR-COUNT-2: attn.attention
func.func @small_cache(%q: !q, %w: tensor<1x4xf32>) -> !q {
  %o = attn.attention %q, %q, %q
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %w[%b, %j] : tensor<1x4xf32>
        %r = arith.mulf %p, %x : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<kind = "small_cache">} : !q, !q, !q -> !q
  return %o : !q
}
// What is added is no factor, nor is what chooses by p.
// FACTOR-LABEL: func.func @others
// FACTOR-COUNT-4: attn.attention
func.func @others(%q: !q) -> (!q, !q) {
  %a = attn.attention %q, %q, %q
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %c = arith.constant 0.5 : f32
        %r = arith.addf %p, %c : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  %b = attn.attention %q, %q, %q
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %c = arith.constant 0.5 : f32
        %zero = arith.constant 0.0 : f32
        %isLarge = arith.cmpf ogt, %p, %c : f32
        %r = arith.select %isLarge, %p, %zero : f32
        attn.yield %r : f32
      } : !q, !q, !q -> !q
  return %a, %b : !q, !q
}

//--- empty.mlir

// Of no keys there is no slice.
// KEYLESS-LABEL: func @no_keys
// KEYLESS: attn.attention %arg0, %arg1, %arg2 :
func.func @no_keys(%q: tensor<1x1x64x96xf32>, %k: tensor<1x1x0x96xf32>, %v: tensor<1x1x0x96xf32>) -> tensor<1x1x64x96xf32> {
  %o = attn.attention %q, %k, %v prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
    %r = arith.mulf %p, %p : f32
    attn.yield %r : f32
  } : tensor<1x1x64x96xf32>, tensor<1x1x0x96xf32>, tensor<1x1x0x96xf32> -> tensor<1x1x64x96xf32>
  return %o : tensor<1x1x64x96xf32>
}
