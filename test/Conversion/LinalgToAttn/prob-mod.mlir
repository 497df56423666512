// Weights that are a function of a softmax: scales of heads, mixes with the identity, a floor, differences.
// RUN: attn-opt %s --attn-raise | FileCheck %s
// RUN: attn-run %s --function head_scale --device=cpu --random 1 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function mix --device=sim:sm_80 --allow-tf32 --random 2 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function mix --device=cpu --random 3 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function floor --device=cpu --random 4 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function difference --device=cpu --random 5 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function difference --device=sim:sm_90a --allow-tf32 --random 6 --verify | FileCheck %s --check-prefix=PASS
// PASS: verify: PASS

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#h = affine_map<(b, h, i, j) -> (h)>

!q = tensor<1x4x24x16xf32>
!s = tensor<1x4x24x24xf32>


// CHECK-LABEL: @head_scale
// CHECK: attn.attention
// CHECK-SAME: prob_mod (%[[P:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index) {
// CHECK: %[[F:.*]] = tensor.extract %{{.*}}[%[[H]]]
// CHECK: arith.mulf
func.func @head_scale(%q: !q, %k: !q, %v: !q, %factors: tensor<4xf32>) -> !q {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : !s
  %init = linalg.fill ins(%zero : f32) outs(%es : !s) -> !s
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : !q, !q) outs(%init : !s) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !s
  %probs = linalg.softmax dimension(3) ins(%s : !s) outs(%es : !s) -> !s
  %w = linalg.generic {indexing_maps = [#id, #h, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%probs, %factors : !s, tensor<4xf32>) outs(%es : !s) {
  ^bb0(%x: f32, %f: f32, %out: f32):
    %y = arith.mulf %x, %f : f32
    linalg.yield %y : f32
  } -> !s
  %eo = tensor.empty() : !q
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !q) -> !q
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : !s, !q) outs(%o0 : !q) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !q
  return %o : !q
}

// The identity is 0 for what a causal mask hides, which stays a mask.
// CHECK-LABEL: @mix
// CHECK: attn.attention {{.*}} mask_mod causal(top_left) prob_mod
// CHECK: arith.cmpi eq
func.func @mix(%q: !q, %k: !q, %v: !q, %shares: tensor<4xf32>) -> !q {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %quarter = arith.constant 0.25 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : !s
  %init = linalg.fill ins(%zero : f32) outs(%es : !s) -> !s
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : !q, !q) outs(%init : !s) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !s
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : !s) outs(%es : !s) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %visible = arith.cmpi sle, %j, %i : index
    %scaled = arith.mulf %x, %quarter : f32
    %y = arith.select %visible, %scaled, %lowest : f32
    linalg.yield %y : f32
  } -> !s
  %probs = linalg.softmax dimension(3) ins(%masked : !s) outs(%es : !s) -> !s
  %w = linalg.generic {indexing_maps = [#id, #h, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%probs, %shares : !s, tensor<4xf32>) outs(%es : !s) {
  ^bb0(%x: f32, %share: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %is = arith.cmpi eq, %i, %j : index
    %eye = arith.uitofp %is : i1 to f32
    %rest = arith.subf %one, %share : f32
    %a = arith.mulf %rest, %x : f32
    %b = arith.mulf %share, %eye : f32
    %y = arith.addf %a, %b : f32
    linalg.yield %y : f32
  } -> !s
  %eo = tensor.empty() : !q
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !q) -> !q
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : !s, !q) outs(%o0 : !q) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !q
  return %o : !q
}

// A floor is there for hidden keys, too: the mask stays in the scores.
// CHECK-LABEL: @floor
// CHECK: attn.attention {{.*}} score_mod
// CHECK-NOT: mask_mod
// CHECK: prob_mod
// CHECK: arith.maximumf
// CHECK: return
func.func @floor(%q: !q, %k: !q, %v: !q) -> !q {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0.01 : f32
  %quarter = arith.constant 0.25 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : !s
  %init = linalg.fill ins(%zero : f32) outs(%es : !s) -> !s
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : !q, !q) outs(%init : !s) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !s
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : !s) outs(%es : !s) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %visible = arith.cmpi sle, %j, %i : index
    %scaled = arith.mulf %x, %quarter : f32
    %y = arith.select %visible, %scaled, %lowest : f32
    linalg.yield %y : f32
  } -> !s
  %probs = linalg.softmax dimension(3) ins(%masked : !s) outs(%es : !s) -> !s
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%probs : !s) outs(%es : !s) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.maximumf %x, %least : f32
    linalg.yield %y : f32
  } -> !s
  %eo = tensor.empty() : !q
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !q) -> !q
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : !s, !q) outs(%o0 : !q) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !q
  return %o : !q
}

// Differential attention: softmax(q1 k1) - lambda softmax(q2 k2), one attention for each.
// CHECK-LABEL: @difference
// CHECK: %[[A:.*]] = attn.attention %arg0, %arg1, %arg4 scale(1.000000e+00) : {{.*}} -> tensor<1x4x24x16xf32>
// CHECK: %[[B:.*]] = attn.attention %arg2, %arg3, %arg4 scale(1.000000e+00) prob_mod
// CHECK: arith.mulf
// CHECK: linalg.add ins(%[[A]], %[[B]]
func.func @difference(%q1: !q, %k1: !q, %q2: !q, %k2: !q, %v: !q, %lambda: tensor<4xf32>) -> !q {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : !s
  %init = linalg.fill ins(%zero : f32) outs(%es : !s) -> !s
  %s1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q1, %k1 : !q, !q) outs(%init : !s) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !s
  %s2 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q2, %k2 : !q, !q) outs(%init : !s) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !s
  %p1 = linalg.softmax dimension(3) ins(%s1 : !s) outs(%es : !s) -> !s
  %p2 = linalg.softmax dimension(3) ins(%s2 : !s) outs(%es : !s) -> !s
  %w = linalg.generic {indexing_maps = [#id, #id, #h, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p1, %p2, %lambda : !s, !s, tensor<4xf32>) outs(%es : !s) {
  ^bb0(%x: f32, %y: f32, %l: f32, %out: f32):
    %ly = arith.mulf %l, %y : f32
    %d = arith.subf %x, %ly : f32
    linalg.yield %d : f32
  } -> !s
  %eo = tensor.empty() : !q
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !q) -> !q
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : !s, !q) outs(%o0 : !q) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> !q
  return %o : !q
}
