// What the interpreter does not know is compiled for the reference; bits of a float have none.
// RUN: not attn-run %s --verify 2>&1 | FileCheck %s
// CHECK: error: 'arith.bitcast' op reads the bits of a float: cannot compute this module in f64

func.func @f(%o: tensor<2x4x20x32xf32>) -> tensor<2x4x20x32xf32> {
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %w = arith.bitcast %x : f32 to i32
    %r = arith.bitcast %w : i32 to f32
    attn.yield %r : f32
  } : tensor<2x4x20x32xf32> -> tensor<2x4x20x32xf32>
  return %y : tensor<2x4x20x32xf32>
}
