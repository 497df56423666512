// RUN: attn-opt %s --attn-lower-tosa | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-lower-tosa --mlir-print-ir-after=canonicalize -o /dev/null 2>&1 | FileCheck %s --check-prefix=RUNS

// CHECK-LABEL: func.func @sum
// CHECK-NOT: tosa
// CHECK: linalg.generic
// CHECK: arith.addf
// RUNS: IR Dump After
// RUNS: @sum
func.func @sum(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = tosa.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Without TOSA ops nothing runs.
// RUNS-NOT: @other
// CHECK-LABEL: func.func @other
func.func @other(%x: f32) -> f32 {
  return %x : f32
}
