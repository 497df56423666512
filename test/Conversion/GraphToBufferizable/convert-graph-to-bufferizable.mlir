// RUN: attn-opt %s --convert-graph-to-bufferizable | FileCheck %s

// CHECK-LABEL: func @concat(
// CHECK-SAME: %arg0: tensor<2xf32> {bufferization.writable = false}
// CHECK-SAME: %arg2: f32)
// CHECK-SAME: attributes {llvm.emit_c_interface}
// CHECK-NOT: tensor.concat
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0] [2] [1]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[2] [3] [1]
func.func @concat(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: f32)
    -> tensor<5xf32> {
  %0 = tensor.concat dim(0) %a, %b
      : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.divf
func.func @softmax(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<2x4xf32>)
      outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func @expand
// CHECK: tensor.expand_shape
// CHECK: %[[SHAPE:.+]] = tensor.from_elements %arg1, %arg2 : tensor<2xindex>
// CHECK: tensor.reshape %arg0(%[[SHAPE]]) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
func.func @expand(%a: tensor<?xf32>, %m: index, %n: index)
    -> (tensor<?x4xf32>, tensor<?x?xf32>) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [%m, 4]
      : tensor<?xf32> into tensor<?x4xf32>
  %1 = tensor.expand_shape %a [[0, 1]] output_shape [%m, %n]
      : tensor<?xf32> into tensor<?x?xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x?xf32>
}

// Private functions are not called from outside.

// CHECK-LABEL: func private @helper(%arg0: tensor<2xf32>) -> tensor<2xf32> {
func.func private @helper(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

// Two sizes are 1: which one a slice drops is told by strides later.

// CHECK-LABEL: func @strides
// CHECK: tensor.extract_slice %arg0[%arg2, 0, 0] [1, 1, %arg3] [1, 1, 2] : tensor<9x1x8xf32> to tensor<1x?xf32>
// CHECK: tensor.insert_slice %{{.+}} into %arg1[0, %arg2, 0] [1, 1, %arg3] [1, 1, %arg3] : tensor<1x?xf32> into tensor<1x9x8xf32>
func.func @strides(%a: tensor<9x1x8xf32>, %b: tensor<1x9x8xf32>, %i: index, %n: index)
    -> tensor<1x9x8xf32> {
  %0 = tensor.extract_slice %a[%i, 0, 0] [1, 1, %n] [7, 1, 2]
      : tensor<9x1x8xf32> to tensor<1x?xf32>
  %1 = tensor.insert_slice %0 into %b[0, %i, 0] [1, 1, %n] [1, %n, %n]
      : tensor<1x?xf32> into tensor<1x9x8xf32>
  return %1 : tensor<1x9x8xf32>
}
