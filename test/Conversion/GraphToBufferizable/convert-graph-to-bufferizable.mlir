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
