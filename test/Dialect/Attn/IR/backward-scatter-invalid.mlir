// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// backward_scatter_c1
func.func @f(%s: tensor<1x1x8x6xf32>, %t: tensor<4xf32>, %z: index) {
  // expected-error @+1 {{expected 4 offsets (b, h, i, j), got 3}}
  %r = attn.backward_scatter %s offsets(%z, %z, %z) into %t {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    attn.yield %h : index
  } : tensor<1x1x8x6xf32> into tensor<4xf32>
  return
}

// -----

// backward_scatter_c2
func.func @f(%s: tensor<1x1x8x6xf32>, %t: tensor<4xf64>, %z: index) {
  // expected-error @+1 {{expected scores and into of one element type, got}}
  %r = attn.backward_scatter %s offsets(%z, %z, %z, %z) into %t {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    attn.yield %h : index
  } : tensor<1x1x8x6xf32> into tensor<4xf64>
  return
}

// -----

// backward_scatter_c3
func.func @f(%s: tensor<1x1x8x6xf32>, %t: tensor<4x5xf32>, %z: index) {
  // expected-error @+1 {{expected a region for each of the 2 indices of into, got 1}}
  %r = attn.backward_scatter %s offsets(%z, %z, %z, %z) into %t {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    attn.yield %h : index
  } : tensor<1x1x8x6xf32> into tensor<4x5xf32>
  return
}

// -----

// backward_scatter_c4
func.func @f(%s: tensor<1x1x8x6xf32>, %t: tensor<4xf32>, %z: index) {
  // expected-error @+1 {{expected regions that take (b, h, i, j) and yield an index}}
  %r = attn.backward_scatter %s offsets(%z, %z, %z, %z) into %t {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %h : index
  } : tensor<1x1x8x6xf32> into tensor<4xf32>
  return
}
