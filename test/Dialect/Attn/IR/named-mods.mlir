// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!t = tensor<1x2x8x16xf32>

// CHECK-LABEL: @names
func.func @names(%q: tensor<1x2x8x16xf32>, %d: tensor<1x2x8x16xf64>) {
  // CHECK: mask_mod causal(top_left) :
  // GENERIC: "arith.cmpi"(%{{.*}}, %{{.*}}) <{predicate = 3 : i64}> : (index, index) -> i1
  %0 = attn.attention %q, %q, %q mask_mod causal(top_left) : !t, !t, !t -> !t
  // CHECK: mask_mod causal(bottom_right) :
  // GENERIC: "attn.length"() <{sequence = 0 : i32}>
  %1 = attn.attention %q, %q, %q mask_mod causal(bottom_right) : !t, !t, !t -> !t
  // CHECK: mask_mod sliding_window(4, 0) :
  %2 = attn.attention %q, %q, %q mask_mod sliding_window(4, 0) : !t, !t, !t -> !t
  // CHECK: mask_mod sliding_window(-1, 3) :
  %3 = attn.attention %q, %q, %q mask_mod sliding_window(-1, 3) : !t, !t, !t -> !t
  // CHECK: mask_mod sliding_window(5, -1) :
  %4 = attn.attention %q, %q, %q mask_mod sliding_window(5, -1) : !t, !t, !t -> !t
  // CHECK: score_mod soft_cap(3.000000e+01) mask_mod causal(top_left) :
  // GENERIC: "math.tanh"
  %5 = attn.attention %q, %q, %q score_mod soft_cap(30.0) mask_mod causal(top_left) : !t, !t, !t -> !t
  // CHECK: score_mod soft_cap(2.000000e+00 : f64) :
  %6 = attn.attention %d, %d, %d score_mod soft_cap(2.0 : f64) : tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64> -> tensor<1x2x8x16xf64>
  return
}

// A region that means the same, but is written otherwise, has no name.
// CHECK-LABEL: @no_name
// CHECK: mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK-NEXT: arith.cmpi sge, %[[I]], %[[J]]
func.func @no_name(%q: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
  %0 = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %visible = arith.cmpi sge, %i, %j : index
        attn.yield %visible : i1
      } : !t, !t, !t -> !t
  return %0 : tensor<1x2x8x16xf32>
}

// What soft_cap would not take has no name.
// CHECK-LABEL: func @cap
// CHECK-NOT: soft_cap
func.func @cap(%q: !t) -> !t {
  %0 = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %c = arith.constant -2.0 : f32
    %1 = arith.divf %s, %c : f32
    %2 = math.tanh %1 : f32
    %3 = arith.mulf %2, %c : f32
    attn.yield %3 : f32
  } : !t, !t, !t -> !t
  return %0 : !t
}
