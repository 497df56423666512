// RUN: attn-opt %s --attn-promote-to-f64 --split-input-file | FileCheck %s

// Signatures, values and constants change; constants keep their values.

// CHECK-LABEL: func @constants(%arg0: tensor<2xf64>, %arg1: tensor<2xi32>) -> tensor<2xf64>
// CHECK: arith.constant 0xFFF0000000000000 : f64
// CHECK: arith.constant -3.4028234663852886E+38 : f64
// CHECK: arith.constant 0.10000000149011612 : f64
// CHECK: arith.constant dense<[0.0999755859375, 2.000000e+00]> : tensor<2xf64>
// CHECK: arith.constant dense<7> : tensor<2xi32>
// CHECK: return %arg0 : tensor<2xf64>
func.func @constants(%x: tensor<2xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %inf = arith.constant 0xFF800000 : f32
  %min = arith.constant -3.40282347E+38 : f32
  %tenth = arith.constant 0.1 : f32
  %half = arith.constant dense<[0.1, 2.0]> : tensor<2xf16>
  %seven = arith.constant dense<7> : tensor<2xi32>
  return %x : tensor<2xf32>
}

// -----

// Conversions between floats go away, also in regions.

// CHECK-LABEL: func @conversions(%arg0: tensor<2xf64>, %arg1: tensor<2xf64>) -> tensor<2xf64>
// CHECK: ^bb0(%[[A:.+]]: f64, %[[B:.+]]: f64):
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[A]], %[[A]] : f64
// CHECK-NEXT: linalg.yield %[[SUM]] : f64
func.func @conversions(%x: tensor<2xbf16>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<2xbf16>) outs(%y : tensor<2xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %a = arith.extf %in : bf16 to f32
    %b = arith.addf %a, %a : f32
    %c = arith.truncf %b : f32 to bf16
    %d = arith.extf %c : bf16 to f32
    linalg.yield %d : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Resources become constants.

// CHECK-LABEL: func @resource() -> tensor<2xf64>
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>
func.func @resource() -> tensor<2xf32> {
  %0 = arith.constant dense_resource<values> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      values: "0x040000000000803F00000040"
    }
  }
#-}
