// Positions that no product with a size has room for are read as data. Without one, a sum of the position alone.
// RUN: attn-opt %s --attn-raise | FileCheck %s
// RUN: attn-run %s --random=1 --verify | FileCheck %s --check-prefix=PASSES
// PASSES: verify: PASS

#row = affine_map<(b, h, i, j) -> (i)>
#column = affine_map<(b, h, i, j) -> (j)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#loops = ["parallel", "parallel", "parallel", "parallel"]

// CHECK-LABEL: func @huge
// CHECK: attn.attention
// CHECK: tensor.extract %{{.*}} : tensor<8xi64>
func.func @huge(%q: tensor<1x2x8x32xf32>, %k: tensor<1x2x8x32xf32>, %v: tensor<1x2x8x32xf32>) -> tensor<1x2x8x32xf32> {
  %rows = arith.constant dense<[0, 1, 9223372036854775807, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %columns = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant -1.0e9 : f32
  %e = tensor.empty() : tensor<1x2x8x8xf32>
  %bias = linalg.generic {indexing_maps = [#row, #column, #all], iterator_types = #loops} ins(%rows, %columns : tensor<8xi64>, tensor<8xi64>) outs(%e : tensor<1x2x8x8xf32>) {
  ^bb0(%i: i64, %j: i64, %o: f32):
    %c = arith.cmpi sle, %j, %i : i64
    %r = arith.select %c, %zero, %hidden : f32
    linalg.yield %r : f32
  } -> tensor<1x2x8x8xf32>
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x2x8x8xf32>) : tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32> -> tensor<1x2x8x32xf32>
  return %o : tensor<1x2x8x32xf32>
}
