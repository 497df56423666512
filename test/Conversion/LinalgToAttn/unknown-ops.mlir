// What an op computes of which nothing is known, here the high word of a product, is in scope in its graph alone: a score or a
// mask made of it is not captured.

// RUN: attn-opt %s --convert-attn-to-linalg --attn-raise=allow-none 2>&1 | FileCheck %s
// CHECK-LABEL: func.func @random_mask
// CHECK-NOT: attn.attention
// CHECK-LABEL: func.func @random_weights
// CHECK-NOT: attn.attention

func.func @random_mask(%q: tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  %factor = arith.constant 1664525 : i32
  %half = arith.constant 5000 : i32
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %k = arith.index_cast %j : index to i32
        %low, %high = arith.mului_extended %k, %factor : i32
        %seen = arith.cmpi ult, %high, %half : i32
        attn.yield %seen : i1
      } : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32> -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

func.func @random_weights(%q: tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  %factor = arith.constant 1664525 : i32
  %half = arith.constant 5000 : i32
  %zero = arith.constant 0.0 : f32
  %o = attn.attention %q, %q, %q normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %k = arith.index_cast %j : index to i32
        %low, %high = arith.mului_extended %k, %factor : i32
        %seen = arith.cmpi ult, %high, %half : i32
        %r = arith.select %seen, %s, %zero : f32
        attn.yield %r : f32
      } : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32> -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}
