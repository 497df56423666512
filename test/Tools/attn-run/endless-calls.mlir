// A function that calls itself without end ends in a message.
// RUN: not attn-run %s --random=1 2>&1 | FileCheck %s
// CHECK: attn-run: error: expected to run within the stack of {{[0-9]+}} MiB, got no end of it: a function that calls itself without end

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = arith.addf %y, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
