// RUN: attn-opt %s --attn-promote-to-f64 --split-input-file --verify-diagnostics

func.func @bitcast(%x: f32) -> i32 {
  // expected-error @below {{'arith.bitcast' op reads the bits of a float: cannot compute this module in f64}}
  %0 = arith.bitcast %x : f32 to i32
  return %0 : i32
}

// -----

func.func @missing_resource() -> tensor<2xf32> {
  // expected-error @below {{'arith.constant' op expected data of type 'tensor<2xf32>' for resource absent}}
  %0 = arith.constant dense_resource<absent> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
