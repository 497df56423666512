// RUN: attn-opt %s --attn-raise --split-input-file | FileCheck %s

// CHECK-LABEL: @boolean_mask
// CHECK-NOT: tosa.exp
// CHECK: attn.attention %{{.*}} scale(2.500000e-01) mask_mod (%[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[J:[a-z0-9]*]]: index)
// CHECK-NEXT: tensor.extract %arg3[%[[B]], %c0{{.*}}, %[[J]]] : tensor<6x1x20xi1>
// CHECK: tensor<6x1x10x16xf32>, tensor<6x1x20x16xf32>, tensor<6x1x20x8xf32> -> tensor<6x1x10x8xf32>
func.func @boolean_mask(%q: tensor<6x10x16xf32>, %k: tensor<6x20x16xf32>, %v: tensor<6x20x8xf32>, %keep: tensor<6x1x20xi1>) -> tensor<6x10x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inf = "tosa.const"() <{values = dense<0xFF800000> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %scale = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %qs = tosa.mul %q, %scale, %shift : (tensor<6x10x16xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<6x10x16xf32>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<6x20x16xf32>) -> tensor<6x16x20xf32>
  %s = tosa.matmul %qs, %kt, %zp, %zp : (tensor<6x10x16xf32>, tensor<6x16x20xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<6x10x20xf32>
  %x = tosa.select %keep, %s, %inf : (tensor<6x1x20xi1>, tensor<6x10x20xf32>, tensor<1x1x1xf32>) -> tensor<6x10x20xf32>
  %m = tosa.reduce_max %x {axis = 2 : i32} : (tensor<6x10x20xf32>) -> tensor<6x10x1xf32>
  %d = tosa.sub %x, %m : (tensor<6x10x20xf32>, tensor<6x10x1xf32>) -> tensor<6x10x20xf32>
  %e = tosa.exp %d : (tensor<6x10x20xf32>) -> tensor<6x10x20xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<6x10x20xf32>) -> tensor<6x10x1xf32>
  %r = tosa.reciprocal %l : (tensor<6x10x1xf32>) -> tensor<6x10x1xf32>
  %p = tosa.mul %e, %r, %shift : (tensor<6x10x20xf32>, tensor<6x10x1xf32>, tensor<1xi8>) -> tensor<6x10x20xf32>
  %o = tosa.matmul %p, %v, %zp, %zp : (tensor<6x10x20xf32>, tensor<6x20x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<6x10x8xf32>
  return %o : tensor<6x10x8xf32>
}

// -----

// A scale of each head behind the softmax.

// CHECK-LABEL: @head_scale
// CHECK: attn.attention %{{.*}} scale(1.000000e+00) prob_mod (%[[P:.*]]: f32, %[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index)
// CHECK: %[[F:.*]] = tensor.extract %arg3[%[[B]],
// CHECK: arith.mulf %[[P]], %[[F]]
func.func @head_scale(%q: tensor<6x10x16xf32>, %k: tensor<6x20x16xf32>, %v: tensor<6x20x8xf32>, %factors: tensor<6x1x1xf32>) -> tensor<6x10x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<6x20x16xf32>) -> tensor<6x16x20xf32>
  %s = tosa.matmul %q, %kt, %zp, %zp : (tensor<6x10x16xf32>, tensor<6x16x20xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<6x10x20xf32>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<6x10x20xf32>) -> tensor<6x10x1xf32>
  %d = tosa.sub %s, %m : (tensor<6x10x20xf32>, tensor<6x10x1xf32>) -> tensor<6x10x20xf32>
  %e = tosa.exp %d : (tensor<6x10x20xf32>) -> tensor<6x10x20xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<6x10x20xf32>) -> tensor<6x10x1xf32>
  %r = tosa.reciprocal %l : (tensor<6x10x1xf32>) -> tensor<6x10x1xf32>
  %p = tosa.mul %e, %r, %shift : (tensor<6x10x20xf32>, tensor<6x10x1xf32>, tensor<1xi8>) -> tensor<6x10x20xf32>
  %w = tosa.mul %p, %factors, %shift : (tensor<6x10x20xf32>, tensor<6x1x1xf32>, tensor<1xi8>) -> tensor<6x10x20xf32>
  %o = tosa.matmul %w, %v, %zp, %zp : (tensor<6x10x20xf32>, tensor<6x20x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<6x10x8xf32>
  return %o : tensor<6x10x8xf32>
}

// -----

// Linear layers written as 1x1 convolutions, as TFLite exports them.

// CHECK-LABEL: @convolution
// CHECK: attn.attention %{{.*}} scale(1.000000e+00) : tensor<1x1x10x16xf32>, tensor<1x1x20x16xf32>, tensor<1x1x20x8xf32>
func.func @convolution(%q: tensor<10x1x1x16xf32>, %k: tensor<20x1x1x16xf32>, %v: tensor<1x20x8xf32>) -> tensor<1x10x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %shape = tosa.const_shape {values = dense<[1, 10, 20]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %c = tosa.conv2d %q, %k, %zp, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<10x1x1x16xf32>, tensor<20x1x1x16xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<10x1x1x20xf32>
  %s = tosa.reshape %c, %shape : (tensor<10x1x1x20xf32>, !tosa.shape<3>) -> tensor<1x10x20xf32>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<1x10x20xf32>) -> tensor<1x10x1xf32>
  %d = tosa.sub %s, %m : (tensor<1x10x20xf32>, tensor<1x10x1xf32>) -> tensor<1x10x20xf32>
  %e = tosa.exp %d : (tensor<1x10x20xf32>) -> tensor<1x10x20xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x10x20xf32>) -> tensor<1x10x1xf32>
  %r = tosa.reciprocal %l : (tensor<1x10x1xf32>) -> tensor<1x10x1xf32>
  %p = tosa.mul %e, %r, %shift : (tensor<1x10x20xf32>, tensor<1x10x1xf32>, tensor<1xi8>) -> tensor<1x10x20xf32>
  %o = tosa.matmul %p, %v, %zp, %zp : (tensor<1x10x20xf32>, tensor<1x20x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
  return %o : tensor<1x10x8xf32>
}
