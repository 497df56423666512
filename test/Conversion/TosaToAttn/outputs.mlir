// What TOSA graphs of delayed scaling do behind an attention: the largest magnitude
// of the output, one dimension at a time, and the output in 8 bits.
// RUN: attn-opt %s --split-input-file --attn-raise --canonicalize --attn-raise-outputs | FileCheck %s

// CHECK-LABEL: @amax
// CHECK: %[[OUTPUT:.*]] = attn.attention {{.*}} -> tensor<4x1x64x64xf32>
// CHECK: %[[SAME:.*]], %[[AMAX:.*]] = attn.output_mod %[[OUTPUT]]
// CHECK: attn.output_mod %[[SAME]]
// CHECK: arith.mulf
// CHECK: arith.minimumf
// CHECK: arith.maximumf
// CHECK: tensor<4x1x64x64xf32> -> tensor<4x1x64x64xf8E4M3FN>
// CHECK: linalg.generic {{.*}} ins(%[[AMAX]] : tensor<4x1x64xf32>) outs({{.*}} : tensor<4x1x64xf16>)
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape
// CHECK: %[[ROWS:.*]] = tensor.expand_shape %[[FLAT]] {{.*}} into tensor<4x64x1xf16>
// CHECK-NOT: tosa.abs
// CHECK: tosa.reduce_max %[[ROWS]] {axis = 1 : i32}
// CHECK: tosa.reduce_max {{.*}} {axis = 0 : i32}
func.func @amax(%q: tensor<4x64x64xf16>, %k: tensor<4x96x64xf16>, %v: tensor<4x96x64xf16>, %factor: tensor<1x1x1xf16>) -> (tensor<4x64x64xf8E4M3FN>, tensor<1x1x1xf16>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<4x96x64xf16>) -> tensor<4x64x96xf16>
  %s = tosa.matmul %q, %kt, %zp, %zp : (tensor<4x64x64xf16>, tensor<4x64x96xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<4x64x96xf16>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<4x64x96xf16>) -> tensor<4x64x1xf16>
  %d = tosa.sub %s, %m : (tensor<4x64x96xf16>, tensor<4x64x1xf16>) -> tensor<4x64x96xf16>
  %e = tosa.exp %d : (tensor<4x64x96xf16>) -> tensor<4x64x96xf16>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<4x64x96xf16>) -> tensor<4x64x1xf16>
  %r = tosa.reciprocal %l : (tensor<4x64x1xf16>) -> tensor<4x64x1xf16>
  %p = tosa.mul %e, %r, %shift : (tensor<4x64x96xf16>, tensor<4x64x1xf16>, tensor<1xi8>) -> tensor<4x64x96xf16>
  %o = tosa.matmul %p, %v, %zp, %zp : (tensor<4x64x96xf16>, tensor<4x96x64xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<4x64x64xf16>
  %abs = tosa.abs %o : (tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  %a2 = tosa.reduce_max %abs {axis = 2 : i32} : (tensor<4x64x64xf16>) -> tensor<4x64x1xf16>
  %a1 = tosa.reduce_max %a2 {axis = 1 : i32} : (tensor<4x64x1xf16>) -> tensor<4x1x1xf16>
  %a0 = tosa.reduce_max %a1 {axis = 0 : i32} : (tensor<4x1x1xf16>) -> tensor<1x1x1xf16>
  %scaled = tosa.mul %o, %factor, %shift : (tensor<4x64x64xf16>, tensor<1x1x1xf16>, tensor<1xi8>) -> tensor<4x64x64xf16>
  %clamped = tosa.clamp %scaled {min_val = -448.0 : f16, max_val = 448.0 : f16} : (tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  %small = tosa.cast %clamped : (tensor<4x64x64xf16>) -> tensor<4x64x64xf8E4M3FN>
  return %small, %a0 : tensor<4x64x64xf8E4M3FN>, tensor<1x1x1xf16>
}

// -----

// Of f32, through a reshape to heads, without an output of 8 bits.

// CHECK-LABEL: @heads
// CHECK: %{{.*}}, %[[AMAX:.*]] = attn.output_mod
// CHECK-NOT: linalg.generic
// CHECK: tensor.collapse_shape %[[AMAX]] {{.*}} : tensor<4x1x8xf32> into tensor<32xf32>
// CHECK-NOT: tosa.abs
func.func @heads(%q: tensor<4x8x16xf32>, %k: tensor<4x8x16xf32>, %v: tensor<4x8x16xf32>) -> (tensor<2x2x8x16xf32>, tensor<2x2x8x1xf32>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<4x8x16xf32>) -> tensor<4x16x8xf32>
  %s = tosa.matmul %q, %kt, %zp, %zp : (tensor<4x8x16xf32>, tensor<4x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x8x8xf32>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<4x8x8xf32>) -> tensor<4x8x1xf32>
  %d = tosa.sub %s, %m : (tensor<4x8x8xf32>, tensor<4x8x1xf32>) -> tensor<4x8x8xf32>
  %e = tosa.exp %d : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<4x8x8xf32>) -> tensor<4x8x1xf32>
  %r = tosa.reciprocal %l : (tensor<4x8x1xf32>) -> tensor<4x8x1xf32>
  %p = tosa.mul %e, %r, %shift : (tensor<4x8x8xf32>, tensor<4x8x1xf32>, tensor<1xi8>) -> tensor<4x8x8xf32>
  %o = tosa.matmul %p, %v, %zp, %zp : (tensor<4x8x8xf32>, tensor<4x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x8x16xf32>
  %shape = tosa.const_shape {values = dense<[2, 2, 8, 16]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %h = tosa.reshape %o, %shape : (tensor<4x8x16xf32>, !tosa.shape<4>) -> tensor<2x2x8x16xf32>
  %abs = tosa.abs %h : (tensor<2x2x8x16xf32>) -> tensor<2x2x8x16xf32>
  %max = tosa.reduce_max %abs {axis = 3 : i32} : (tensor<2x2x8x16xf32>) -> tensor<2x2x8x1xf32>
  return %h, %max : tensor<2x2x8x16xf32>, tensor<2x2x8x1xf32>
}

// -----

// Maxima of columns, maxima that let a NaN go, and magnitudes that are results, too, are the graph's.

// CHECK-LABEL: @near
// CHECK-NOT: attn.output_mod
// CHECK: return
func.func @near(%q: tensor<4x8x16xf32>, %k: tensor<4x8x16xf32>, %v: tensor<4x8x16xf32>) -> (tensor<2x2x1x16xf32>, tensor<2x2x8x1xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x1xf32>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<4x8x16xf32>) -> tensor<4x16x8xf32>
  %s = tosa.matmul %q, %kt, %zp, %zp : (tensor<4x8x16xf32>, tensor<4x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x8x8xf32>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<4x8x8xf32>) -> tensor<4x8x1xf32>
  %d = tosa.sub %s, %m : (tensor<4x8x8xf32>, tensor<4x8x1xf32>) -> tensor<4x8x8xf32>
  %e = tosa.exp %d : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<4x8x8xf32>) -> tensor<4x8x1xf32>
  %r = tosa.reciprocal %l : (tensor<4x8x1xf32>) -> tensor<4x8x1xf32>
  %p = tosa.mul %e, %r, %shift : (tensor<4x8x8xf32>, tensor<4x8x1xf32>, tensor<1xi8>) -> tensor<4x8x8xf32>
  %o = tosa.matmul %p, %v, %zp, %zp : (tensor<4x8x8xf32>, tensor<4x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x8x16xf32>
  %shape = tosa.const_shape {values = dense<[2, 2, 8, 16]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %h = tosa.reshape %o, %shape : (tensor<4x8x16xf32>, !tosa.shape<4>) -> tensor<2x2x8x16xf32>
  %abs = tosa.abs %h : (tensor<2x2x8x16xf32>) -> tensor<2x2x8x16xf32>
  %columns = tosa.reduce_max %abs {axis = 2 : i32} : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x16xf32>
  %again = tosa.abs %h : (tensor<2x2x8x16xf32>) -> tensor<2x2x8x16xf32>
  %numbers = tosa.reduce_max %again {axis = 3 : i32, nan_mode = IGNORE} : (tensor<2x2x8x16xf32>) -> tensor<2x2x8x1xf32>
  %kept = tosa.abs %h : (tensor<2x2x8x16xf32>) -> tensor<2x2x8x16xf32>
  %max = tosa.reduce_max %kept {axis = 3 : i32} : (tensor<2x2x8x16xf32>) -> tensor<2x2x8x1xf32>
  return %columns, %numbers, %kept, %max : tensor<2x2x1x16xf32>, tensor<2x2x8x1xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x1xf32>
}
