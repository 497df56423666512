// Results that alias an argument, a constant or each other are copies that the
// caller owns, and inputs stay as they were: --benchmark calls again.

// RUN: attn-run %s --random 1 --verify --benchmark --repeat 2 | FileCheck %s
// CHECK: verify: PASS
// CHECK: time:

func.func @alias(%x: tensor<4xf32>, %y: tensor<2xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) {
  %constant = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %changed = tensor.insert_slice %y into %x[1] [2] [1]
      : tensor<2xf32> into tensor<4xf32>
  return %x, %x, %constant, %changed
      : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
}
