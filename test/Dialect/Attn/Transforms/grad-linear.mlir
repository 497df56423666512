// The gradients of a linear attention are linear attentions: of query the same way, of key and value the other way.
// RUN: split-file %s %t
// RUN: attn-opt %t/plain.mlir --attn-grad | FileCheck %s
// RUN: attn-opt %t/grouped.mlir --attn-grad | FileCheck %s --check-prefix=GROUPED
// RUN: not attn-opt %t/plain.mlir --attn-grad=lse-gradient=true 2>&1 | FileCheck %s --check-prefix=LSE
// CHECK: func.func @f_grad(%[[Q:.*]]: tensor<1x2x4x8xf32>, %[[K:.*]]: tensor<1x2x4x8xf32>, %[[V:.*]]: tensor<1x2x4x8xf32>, %[[DO:.*]]: tensor<1x2x4x8xf32>) ->
// CHECK: %[[DQ:.*]] = attn.linear_attention %[[DO]], %[[V]], %[[K]] scale(2.500000e-01)
// CHECK: %[[DK:.*]] = attn.linear_attention %[[V]], %[[DO]], %[[Q]] reverse scale(2.500000e-01)
// CHECK: %[[DV:.*]] = attn.linear_attention %[[K]], %[[Q]], %[[DO]] reverse scale(2.500000e-01)
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
// LSE: error: 'attn.linear_attention' op expected no option lse-gradient with a linear attention, which has no LSE

// A group's gradients are summed up in f32; the state's gradient is what leaves the first position.
// GROUPED: func.func @f_grad(%[[Q:[^:]*]]: tensor<1x4x4x8xf16>, %[[K:[^:]*]]: tensor<1x2x4x8xf16>, %[[S:[^:]*]]: tensor<1x4x8x8xf32>, %[[DO:[^:]*]]: tensor<1x4x4x8xf16>) ->
// GROUPED: linalg.transpose ins(%[[S]]
// GROUPED: attn.linear_attention %[[DO]], %[[K]], %[[K]] state({{.*}}) {{.*}} -> tensor<1x4x4x8xf16>
// GROUPED: attn.linear_attention %{{.*}}, %[[DO]], %[[Q]] reverse {{.*}} -> tensor<1x4x4x8xf32>
// GROUPED: attn.linear_attention %{{.*}}, %[[Q]], %[[DO]] reverse {{.*}} -> tensor<1x4x4x8xf32>, tensor<1x4x8x8xf32>

// What crosses every 64th position is known by the states of both ways.
// RUN: attn-opt %t/slope.mlir --attn-grad | FileCheck %s --check-prefix=SLOPE
// SLOPE: attn.linear_attention %{{.*}} -> tensor<1x2x130x8xf32> states tensor<1x2x3x8x8xf32>
// SLOPE: attn.linear_attention %{{.*}} reverse {{.*}} -> tensor<1x2x130x8xf32> states tensor<1x2x3x8x8xf32>
// SLOPE: attn.linear_attention %{{.*}} reverse {{.*}} -> tensor<1x2x130x8xf16>{{$}}

// An argument of 8 bits that nothing reads has a gradient of 16.
// RUN: attn-opt %t/unread.mlir --attn-grad | FileCheck %s --check-prefix=UNREAD
// UNREAD: func.func @f_grad({{.*}}) -> (tensor<1x2x4x8xf32>, tensor<3xbf16>)
// UNREAD: linalg.fill {{.*}} -> tensor<3xbf16>

//--- unread.mlir
func.func @f(%q: tensor<1x2x4x8xf32>, %unread: tensor<3xf8E4M3FN>) -> tensor<1x2x4x8xf32> {
  %o = attn.linear_attention %q, %q, %q scale(0.25) : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

//--- plain.mlir
!q = tensor<1x2x4x8xf32>
func.func @f(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.linear_attention %q, %k, %v scale(0.25) : !q, !q, !q -> !q
  return %o : !q
}

//--- grouped.mlir
!q = tensor<1x4x4x8xf16>
!k = tensor<1x2x4x8xf16>
!s = tensor<1x4x8x8xf32>
func.func @f(%q: !q, %k: !k, %s: !s) -> !q {
  %o = attn.linear_attention %q, %k, %k state(%s : !s) : !q, !k, !k -> !q
  return %o : !q
}

//--- slope.mlir
!q = tensor<1x2x130x8xf16>
func.func @f(%q: !q, %k: !q, %v: !q, %s: tensor<2xf32>) -> !q {
  %o = attn.linear_attention %q, %k, %v slope(%s : tensor<2xf32>) : !q, !q, !q -> !q
  return %o : !q
}
