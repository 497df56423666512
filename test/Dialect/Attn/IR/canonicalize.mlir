// RUN: attn-opt %s --canonicalize | FileCheck %s

!t = tensor<1x2x8x16xf32>

// CHECK-LABEL: @scale_of_query
// CHECK: attn.attention %arg0, %arg1, %arg2 scale(5.000000e-01)
func.func @scale_of_query(%q: !t, %k: !t, %v: !t) -> !t {
  %c = arith.constant dense<2.0> : !t
  %qs = arith.mulf %q, %c : !t
  %o = attn.attention %qs, %k, %v scale(0.25) : !t, !t, !t -> !t
  return %o : !t
}

// The scale of the op is 1/sqrt(16) where none is given.
// CHECK-LABEL: @scale_of_key
// CHECK: attn.attention %arg0, %arg1, %arg2 scale(7.500000e-01)
func.func @scale_of_key(%q: !t, %k: !t, %v: !t) -> !t {
  %c = arith.constant dense<3.0> : !t
  %ks = arith.mulf %c, %k : !t
  %o = attn.attention %q, %ks, %v : !t, !t, !t -> !t
  return %o : !t
}

// CHECK-LABEL: @scale_in_score_mod
// CHECK: attn.attention %arg0, %arg1, %arg2 scale(1.250000e-01) : tensor
func.func @scale_in_score_mod(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.attention %q, %k, %v scale(0.25)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %c = arith.constant 0.5 : f32
        %r = arith.mulf %s, %c : f32
        attn.yield %r : f32
      } : !t, !t, !t -> !t
  return %o : !t
}

// The bias is added before: a factor after it is not the scale.
// CHECK-LABEL: @scale_after_bias
// CHECK: attn.attention %arg0, %arg1, %arg2 bias(%arg3 : {{.*}}) scale(2.500000e-01) score_mod (
func.func @scale_after_bias(%q: !t, %k: !t, %v: !t, %bias: tensor<1x1x8x8xf32>) -> !t {
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x1x8x8xf32>) scale(0.25)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %c = arith.constant 0.5 : f32
        %r = arith.mulf %s, %c : f32
        attn.yield %r : f32
      } : !t, !t, !t -> !t
  return %o : !t
}

// CHECK-LABEL: @nothing_left
// CHECK: attn.attention %arg0, %arg1, %arg2 scale(2.500000e-01) : {{.*}} -> tensor<1x2x8x16xf32>{{$}}
func.func @nothing_left(%q: !t, %k: !t, %v: !t) -> !t {
  %zero = arith.constant dense<0.0> : tensor<1x1x8x8xf32>
  %o, %lse = attn.attention %q, %k, %v bias(%zero : tensor<1x1x8x8xf32>) scale(0.25)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        attn.yield %s : f32
      }
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %true = arith.constant true
        attn.yield %true : i1
      } : !t, !t, !t -> !t, tensor<1x2x8xf32>
  return %o : !t
}

// Names are found wherever folding put the constants.
// CHECK-LABEL: @names
// CHECK: score_mod soft_cap(3.000000e+01) mask_mod sliding_window(4, 4)
// CHECK: mask_mod sliding_window(3, 0)
func.func @names(%q: !t, %k: !t, %v: !t) -> (!t, !t) {
  %o = attn.attention %q, %k, %v score_mod soft_cap(30.0)
      mask_mod sliding_window(4, 4) : !t, !t, !t -> !t
  %p = attn.attention %q, %k, %v mask_mod sliding_window(3, 0) : !t, !t, !t -> !t
  return %o, %p : !t, !t
}

// A scale is finite: an infinite factor stays in the region.
// CHECK-LABEL: @infinite
// CHECK: arith.mulf
// CHECK-NOT: scale(
func.func @infinite(%q: !t, %k: !t, %v: !t) -> !t {
  %infinity = arith.constant 0x7F800000 : f32
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %t = arith.mulf %s, %infinity : f32
        attn.yield %t : f32
      } : !t, !t, !t -> !t
  return %o : !t
}

// Keys and values that are made wider for few rows of 16 bits, or of a cache, are
// read as they are.
// CHECK-LABEL: @bytes
// CHECK-NOT: attn.dequantize
// CHECK: attn.attention %arg0, %arg1, %arg2 descale(%arg3, %arg4 : tensor<1xf32>, tensor<1x2xf32>)
// CHECK-SAME: tensor<1x2x8x16xf16>, tensor<1x2x8x16xf8E4M3FN>, tensor<1x2x8x16xf8E4M3FN> -> tensor<1x2x8x16xf16>
func.func @bytes(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf8E4M3FN>, %v: tensor<1x2x8x16xf8E4M3FN>,
                 %dk: tensor<1xf32>, %dv: tensor<1x2xf32>) -> tensor<1x2x8x16xf16> {
  %wk = attn.dequantize %k descale(%dk : tensor<1xf32>) : tensor<1x2x8x16xf8E4M3FN> -> tensor<1x2x8x16xf16>
  %wv = attn.dequantize %v descale(%dv : tensor<1x2xf32>) : tensor<1x2x8x16xf8E4M3FN> -> tensor<1x2x8x16xf16>
  %o = attn.attention %q, %wk, %wv : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return %o : tensor<1x2x8x16xf16>
}

// Not the query, whose products would round weights to 8 bits; not values of
// another type, nor those with descales of fewer heads.
// CHECK-LABEL: @few_bytes
// CHECK-COUNT-3: attn.dequantize
// CHECK: attn.attention %0, %1, %2 :
func.func @few_bytes(%q: tensor<1x2x8x16xf8E4M3FN>, %k: tensor<1x2x8x16xf8E4M3FN>, %v: tensor<1x2x8x16xf8E4M3FN>,
                     %dk: tensor<1xf32>, %dv: tensor<1x1xf32>) -> tensor<1x2x8x16xf16> {
  %wq = attn.dequantize %q : tensor<1x2x8x16xf8E4M3FN> -> tensor<1x2x8x16xf16>
  %wk = attn.dequantize %k descale(%dk : tensor<1xf32>) : tensor<1x2x8x16xf8E4M3FN> -> tensor<1x2x8x16xf16>
  %wv = attn.dequantize %v descale(%dv : tensor<1x1xf32>) : tensor<1x2x8x16xf8E4M3FN> -> tensor<1x2x8x16xf16>
  %o = attn.attention %wq, %wk, %wv : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return %o : tensor<1x2x8x16xf16>
}

// CHECK-LABEL: @cache_of_bytes
// CHECK-NOT: attn.dequantize
// CHECK: attn.attention %arg0, %arg1, %arg1 lengths
func.func @cache_of_bytes(%q: tensor<1x2x?x16xf16>, %k: tensor<1x2x80x16xi8>, %n: tensor<1xi32>) -> tensor<1x2x?x16xf16> {
  %w = attn.dequantize %k : tensor<1x2x80x16xi8> -> tensor<1x2x80x16xf16>
  %o = attn.attention %q, %w, %w lengths(key %n : tensor<1xi32>) : tensor<1x2x?x16xf16>, tensor<1x2x80x16xf16>, tensor<1x2x80x16xf16> -> tensor<1x2x?x16xf16>
  return %o : tensor<1x2x?x16xf16>
}

// Each of many rows would make them wider again.
// CHECK-LABEL: @many_rows
// CHECK: attn.dequantize
func.func @many_rows(%q: tensor<1x2x80x16xf16>, %k: tensor<1x2x80x16xi8>) -> tensor<1x2x80x16xf16> {
  %w = attn.dequantize %k : tensor<1x2x80x16xi8> -> tensor<1x2x80x16xf16>
  %o = attn.attention %q, %w, %w : tensor<1x2x80x16xf16>, tensor<1x2x80x16xf16>, tensor<1x2x80x16xf16> -> tensor<1x2x80x16xf16>
  return %o : tensor<1x2x80x16xf16>
}
