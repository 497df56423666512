// What follows an attention, captured: a sigmoid gate in the model's layout, of [B, M, H D]; factors of heads. Near misses stay as they are.
// RUN: attn-opt %s --attn-raise-outputs --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-raise-outputs=bytes --split-input-file | FileCheck %s --check-prefix=BYTES

!q = tensor<2x4x20x16xf16>

// CHECK-LABEL: @gate
// CHECK: %[[O:.*]] = attn.attention %arg0, %arg1, %arg2 : {{.*}} -> tensor<2x4x20x16xf32>
// CHECK: %[[Y:.*]] = attn.output_mod %[[O]] (%[[X:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[C:.*]]: index) {
// CHECK: tensor.extract %arg3[%[[B]], %[[I]], %{{.*}}] : tensor<2x20x64xf16>
// CHECK: math.exp
// CHECK: attn.yield
// CHECK: } : tensor<2x4x20x16xf32> -> tensor<2x4x20x16xf16>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[Y]] {{.*}} permutation = [0, 2, 1, 3]
// CHECK: tensor.collapse_shape %[[T]] {{\[\[0\], \[1\], \[2, 3\]\]}}
// CHECK-NOT: linalg.generic
// CHECK: return
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @gate(%q: !q, %k: !q, %v: !q, %g: tensor<2x20x64xf16>) -> tensor<2x20x64xf16> {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e4 = tensor.empty() : tensor<2x20x4x16xf16>
  %t = linalg.transpose ins(%o : !q) outs(%e4 : tensor<2x20x4x16xf16>) permutation = [0, 2, 1, 3]
  %f = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<2x20x4x16xf16> into tensor<2x20x64xf16>
  %e = tensor.empty() : tensor<2x20x64xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g : tensor<2x20x64xf16>) outs(%e : tensor<2x20x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %one = arith.constant 1.0 : f16
    %n = arith.negf %in : f16
    %x = math.exp %n : f16
    %d = arith.addf %x, %one : f16
    %r = arith.divf %one, %d : f16
    linalg.yield %r : f16
  } -> tensor<2x20x64xf16>
  %y = linalg.mul ins(%f, %s : tensor<2x20x64xf16>, tensor<2x20x64xf16>) outs(%e : tensor<2x20x64xf16>) -> tensor<2x20x64xf16>
  return %y : tensor<2x20x64xf16>
}

// -----

!q = tensor<2x4x20x16xf16>

// CHECK-LABEL: @heads
// CHECK: attn.output_mod {{.*}}%[[H:[a-z0-9]*]]: index, %{{.*}}: index, %{{.*}}: index) {
// CHECK: tensor.extract %arg3[%[[H]]]
// CHECK-NOT: linalg.generic
// CHECK: return
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#head = affine_map<(d0, d1, d2, d3) -> (d1)>
func.func @heads(%q: !q, %k: !q, %v: !q, %f: tensor<4xf16>) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e = tensor.empty() : !q
  %y = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o, %f : !q, tensor<4xf16>) outs(%e : !q) {
  ^bb0(%in: f16, %w: f16, %out: f16):
    %r = arith.mulf %in, %w : f16
    linalg.yield %r : f16
  } -> !q
  return %y : !q
}

// -----

!q = tensor<2x4x20x16xf16>

// The output is used twice.
// CHECK-LABEL: @twice
// CHECK-NOT: attn.output_mod
// CHECK: linalg.mul
func.func @twice(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e = tensor.empty() : !q
  %y = linalg.mul ins(%o, %o : !q, !q) outs(%e : !q) -> !q
  return %y : !q
}

// -----

!q = tensor<2x4x20x16xf16>

// Heads are mixed.
// CHECK-LABEL: @mixed
// CHECK-NOT: attn.output_mod
// CHECK: linalg.generic
#in = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
func.func @mixed(%q: !q, %k: !q, %v: !q, %w: tensor<4x4xf16>, %init: !q) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %y = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%o, %w : !q, tensor<4x4xf16>) outs(%init : !q) {
  ^bb0(%in: f16, %f: f16, %out: f16):
    %p = arith.mulf %in, %f : f16
    %r = arith.addf %p, %out : f16
    linalg.yield %r : f16
  } -> !q
  return %y : !q
}

// -----

!q = tensor<2x4x20x16xf16>

// A view alone is no function.
// CHECK-LABEL: @moved
// CHECK: attn.attention {{.*}} -> tensor<2x4x20x16xf16>
// CHECK-NOT: attn.output_mod
// CHECK: return
func.func @moved(%q: !q, %k: !q, %v: !q) -> tensor<2x20x4x16xf16> {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e = tensor.empty() : tensor<2x20x4x16xf16>
  %t = linalg.transpose ins(%o : !q) outs(%e : tensor<2x20x4x16xf16>) permutation = [0, 2, 1, 3]
  return %t : tensor<2x20x4x16xf16>
}

// -----

// A residual sum stays the graph's, also behind a gate.
// CHECK-LABEL: func @residual
// CHECK: %[[O:.*]] = attn.attention
// CHECK: linalg.add ins(%[[O]], %{{.*}}
// CHECK: attn.output_mod
// CHECK: linalg.add
func.func @residual(%q: tensor<1x2x16x32xf16>, %gate: tensor<1x2x16x32xf16>) -> tensor<1x2x16x32xf16> {
  %e = tensor.empty() : tensor<1x2x16x32xf16>
  %o = attn.attention %q, %q, %q : tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16> -> tensor<1x2x16x32xf16>
  %x = linalg.add ins(%o, %q : tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16>) outs(%e : tensor<1x2x16x32xf16>) -> tensor<1x2x16x32xf16>
  %p = attn.attention %x, %q, %q : tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16> -> tensor<1x2x16x32xf16>
  %g = linalg.mul ins(%p, %gate : tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16>) outs(%e : tensor<1x2x16x32xf16>) -> tensor<1x2x16x32xf16>
  %y = linalg.add ins(%g, %x : tensor<1x2x16x32xf16>, tensor<1x2x16x32xf16>) outs(%e : tensor<1x2x16x32xf16>) -> tensor<1x2x16x32xf16>
  return %y : tensor<1x2x16x32xf16>
}

// -----

// An output that is scaled, clamped and rounded to 8 bits, as torch writes it.
// CHECK-LABEL: @quantised
// CHECK: %[[O:.*]] = attn.attention %arg0, %arg1, %arg2 : {{.*}} -> tensor<2x4x20x16xf32>
// CHECK: attn.output_mod %[[O]]
// CHECK: tensor.extract %arg3[] : tensor<f32>
// CHECK: arith.divf
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK-NOT: truncf
// CHECK: } : tensor<2x4x20x16xf32> -> tensor<2x4x20x16xf8E4M3FN>
// CHECK-NOT: linalg.generic
// CHECK: return
!q = tensor<2x4x20x16xf16>
!y = tensor<2x4x20x16xf8E4M3FN>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#one = affine_map<(d0, d1, d2, d3) -> ()>
func.func @quantised(%q: !q, %k: !q, %v: !q, %s: tensor<f32>) -> !y {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e = tensor.empty() : !q
  %e8 = tensor.empty() : !y
  %low = arith.constant -448.0 : f16
  %high = arith.constant 448.0 : f16
  %x = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o, %s : !q, tensor<f32>) outs(%e : !q) {
  ^bb0(%in: f16, %scale: f32, %out: f16):
    %f = arith.truncf %scale : f32 to f16
    %d = arith.divf %in, %f : f16
    %m = arith.maximumf %d, %low : f16
    %c = arith.minimumf %m, %high : f16
    linalg.yield %c : f16
  } -> !q
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : !q) outs(%e8 : !y) {
  ^bb0(%in: f16, %out: f8E4M3FN):
    %r = arith.truncf %in : f16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> !y
  return %y : !y
}

// -----

// Without a clamp a number that is too large becomes NaN, and with one beyond
// the range, too; a rounding on the way changes what follows it.
// CHECK-LABEL: @too_large
// CHECK: attn.attention {{.*}} -> tensor<2x4x20x16xf16>
// CHECK-NOT: attn.output_mod
// CHECK-COUNT-2: arith.truncf
// CHECK: return
!q = tensor<2x4x20x16xf16>
!y = tensor<2x4x20x16xf8E4M3FN>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @too_large(%q: !q, %k: !q, %v: !q) -> (!y, !y) {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %p = attn.attention %q, %k, %k : !q, !q, !q -> !q
  %e8 = tensor.empty() : !y
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : !q) outs(%e8 : !y) {
  ^bb0(%in: f16, %out: f8E4M3FN):
    %r = arith.truncf %in : f16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> !y
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p : !q) outs(%e8 : !y) {
  ^bb0(%in: f16, %out: f8E4M3FN):
    %low = arith.constant -448.0 : f16
    %high = arith.constant 500.0 : f16
    %m = arith.maximumf %in, %low : f16
    %c = arith.minimumf %m, %high : f16
    %r = arith.truncf %c : f16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> !y
  return %y, %z : !y, !y
}

// -----

// CHECK-LABEL: @rounded
// CHECK: attn.attention {{.*}} -> tensor<2x4x20x16xf16>
// CHECK-NOT: attn.output_mod
// CHECK: arith.truncf
// CHECK: arith.extf
// CHECK: return
!q = tensor<2x4x20x16xf16>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @rounded(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e = tensor.empty() : !q
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : !q) outs(%e : !q) {
  ^bb0(%in: f16, %out: f16):
    %r = arith.truncf %in : f16 to f8E4M3FN
    %w = arith.extf %r : f8E4M3FN to f16
    %t = arith.addf %w, %w : f16
    linalg.yield %t : f16
  } -> !q
  return %y : !q
}

// -----

// A bound behind the clamp may be beyond the range again.
// CHECK-LABEL: @beyond
// CHECK: attn.attention {{.*}} -> tensor<2x4x20x16xf16>
// CHECK-NOT: attn.output_mod
// CHECK: arith.truncf
// CHECK: return
!q = tensor<2x4x20x16xf16>
!y = tensor<2x4x20x16xf8E4M3FN>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @beyond(%q: !q, %k: !q, %v: !q) -> !y {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e8 = tensor.empty() : !y
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : !q) outs(%e8 : !y) {
  ^bb0(%in: f16, %out: f8E4M3FN):
    %low = arith.constant -448.0 : f16
    %high = arith.constant 448.0 : f16
    %more = arith.constant 1000.0 : f16
    %m = arith.maximumf %in, %low : f16
    %c = arith.minimumf %m, %high : f16
    %b = arith.maximumf %c, %more : f16
    %r = arith.truncf %b : f16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> !y
  return %y : !y
}

// -----

!q = tensor<2x4x20x16xf16>

// Delayed scaling: the largest magnitude of the output, of a row in the kernel and of all rows behind it, and the output in 8 bits times another scale.
// What is computed of the maximum follows.
// BYTES-LABEL: @delayed
// BYTES: %[[O:.*]] = attn.attention %arg0, %arg1, %arg2 : {{.*}} -> tensor<2x4x20x16xf32>
// BYTES: %[[SAME:.*]], %[[ROWS:.*]] = attn.output_mod %[[O]]
// BYTES: } : tensor<2x4x20x16xf32> -> tensor<2x4x20x16xf32>, tensor<2x4x20xf32>
// BYTES: %[[Y:.*]] = attn.output_mod %[[SAME]]
// BYTES: tensor.extract %arg3
// BYTES: } : tensor<2x4x20x16xf32> -> tensor<2x4x20x16xf8E4M3FN>
// BYTES: %[[AMAX:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "reduction", "reduction"]} ins(%[[ROWS]] : tensor<2x4x20xf32>)
// BYTES: arith.truncf
// BYTES: arith.maximumf
// BYTES: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[AMAX]]
// BYTES: %[[LAST:.*]] = scf.if %arg4
// BYTES-NEXT: scf.yield %[[NEXT]]
// BYTES: return %{{.*}}, %[[LAST]]
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#one = affine_map<(d0, d1, d2, d3) -> ()>
#number = affine_map<() -> ()>
func.func @delayed(%q: !q, %k: !q, %v: !q, %scale: tensor<f32>, %done: i1) -> (tensor<2x20x4x16xf8E4M3FN>, tensor<f16>) {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %te = tensor.empty() : tensor<2x20x4x16xf16>
  %t = linalg.transpose ins(%o : !q) outs(%te : tensor<2x20x4x16xf16>) permutation = [0, 2, 1, 3]
  %a = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t : tensor<2x20x4x16xf16>) outs(%te : tensor<2x20x4x16xf16>) {
  ^bb0(%in: f16, %out: f16):
    %r = math.absf %in : f16
    linalg.yield %r : f16
  } -> tensor<2x20x4x16xf16>
  %least = arith.constant 0xFC00 : f16
  %ne = tensor.empty() : tensor<f16>
  %init = linalg.fill ins(%least : f16) outs(%ne : tensor<f16>) -> tensor<f16>
  %amax = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a : tensor<2x20x4x16xf16>) outs(%init : tensor<f16>) {
  ^bb0(%in: f16, %out: f16):
    %r = arith.maximumf %in, %out : f16
    linalg.yield %r : f16
  } -> tensor<f16>
  %next = linalg.generic {indexing_maps = [#number, #number], iterator_types = []} ins(%amax : tensor<f16>) outs(%ne : tensor<f16>) {
  ^bb0(%in: f16, %out: f16):
    %most = arith.constant 448.0 : f16
    %r = arith.divf %most, %in : f16
    linalg.yield %r : f16
  } -> tensor<f16>
  %last = scf.if %done -> tensor<f16> {
    scf.yield %next : tensor<f16>
  } else {
    scf.yield %ne : tensor<f16>
  }
  %e8 = tensor.empty() : tensor<2x20x4x16xf8E4M3FN>
  %y = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t, %scale : tensor<2x20x4x16xf16>, tensor<f32>) outs(%e8 : tensor<2x20x4x16xf8E4M3FN>) {
  ^bb0(%in: f16, %s: f32, %out: f8E4M3FN):
    %high = arith.constant 448.0 : f32
    %low = arith.constant -448.0 : f32
    %w = arith.extf %in : f16 to f32
    %p = arith.mulf %w, %s : f32
    %c = arith.minimumf %p, %high : f32
    %d = arith.maximumf %c, %low : f32
    %r = arith.truncf %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<2x20x4x16xf8E4M3FN>
  return %y, %last : tensor<2x20x4x16xf8E4M3FN>, tensor<f16>
}

// -----

!q = tensor<2x4x20x16xf32>

// Of each head, of what a gate gives: the same op has both. A scale that follows from it is the graph's.
// CHECK-LABEL: @current
// CHECK: %[[Y:.*]], %[[ROWS:.*]] = attn.output_mod
// CHECK: tensor.extract %arg3
// CHECK: } : tensor<2x4x20x16xf32> -> tensor<2x4x20x16xf32>, tensor<2x4x20xf32>
// CHECK: %[[AMAX:.*]] = linalg.generic {indexing_maps = [#[[ROW:.*]], #{{.*}}], iterator_types = ["reduction", "parallel", "reduction"]} ins(%[[ROWS]]
// CHECK: linalg.generic {{.*}} ins(%[[Y]], %[[AMAX]]
// CHECK: return
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#head = affine_map<(d0, d1, d2, d3) -> (d1)>
func.func @current(%q: !q, %k: !q, %v: !q, %f: tensor<4xf32>) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e = tensor.empty() : !q
  %g = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o, %f : !q, tensor<4xf32>) outs(%e : !q) {
  ^bb0(%in: f32, %w: f32, %out: f32):
    %r = arith.mulf %in, %w : f32
    linalg.yield %r : f32
  } -> !q
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%he : tensor<4xf32>) -> tensor<4xf32>
  %amax = linalg.generic {indexing_maps = [#all, #head], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
      ins(%g : !q) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = math.absf %in : f32
    %r = arith.maximumf %out, %m : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%g, %amax : !q, tensor<4xf32>) outs(%e : !q) {
  ^bb0(%in: f32, %w: f32, %out: f32):
    %r = arith.divf %in, %w : f32
    linalg.yield %r : f32
  } -> !q
  return %y : !q
}

// -----

!q = tensor<2x4x20x16xf32>

// Maxima without magnitudes, of part of a row's columns in a view, or that let NaN go, are the graph's.
// CHECK-LABEL: @near
// CHECK-NOT: attn.output_mod
// CHECK: return
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#column = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
func.func @near(%q: !q, %k: !q, %v: !q, %init: tensor<2x4x20xf32>, %more: tensor<2x4x16xf32>) -> (tensor<2x4x20xf32>, tensor<2x4x16xf32>, tensor<2x4x20xf32>) {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %a = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%o : !q) outs(%init : tensor<2x4x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.maximumf %out, %in : f32
    linalg.yield %r : f32
  } -> tensor<2x4x20xf32>
  %b = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%o : !q) outs(%more : tensor<2x4x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = math.absf %in : f32
    %r = arith.maximumf %out, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x4x16xf32>
  %c = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%o : !q) outs(%init : tensor<2x4x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = math.absf %in : f32
    %r = arith.maxnumf %out, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x4x20xf32>
  return %a, %b, %c : tensor<2x4x20xf32>, tensor<2x4x16xf32>, tensor<2x4x20xf32>
}
