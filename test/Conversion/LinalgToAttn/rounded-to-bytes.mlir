// What a graph rounds to 8 bits and widens again is not read past: of a query it
// stays in front, of scores it is no part of a score_mod. Weights are rounded by
// kernels as they need it, whatever the graph says.

// RUN: attn-opt %s --attn-raise --split-input-file --verify-diagnostics | FileCheck %s
// RUN: awk '/^\/\/ -----/ {exit} {print}' %s > %t.mlir
// RUN: attn-run %t.mlir --raise --function=score --random=1 --verify | FileCheck %s --check-prefix=PASSES
// RUN: attn-run %t.mlir --raise --function=score --random=2 --device=sim:sm_80 --allow-tf32 --verify | FileCheck %s --check-prefix=PASSES
// PASSES: verify: PASS

// CHECK-LABEL: @score
// CHECK: linalg.generic
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK-NOT: arith.truncf
// CHECK: attn.attention
// CHECK-NOT: prob_mod
// CHECK: return
func.func @score(%q: tensor<1x4x16x32xf32>, %k: tensor<1x4x24x32xf32>, %v: tensor<1x4x24x32xf32>) -> tensor<1x4x16x32xf32> {
  %qs = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<1x4x16x32xf32> into tensor<4x16x32xf32>
  %ks = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
  %vs = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
  %e0 = tensor.empty() : tensor<4x16x32xf32>
  %qq = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%qs : tensor<4x16x32xf32>) outs(%e0 : tensor<4x16x32xf32>) {
  ^bb0(%x: f32, %u: f32):
    %w = arith.truncf %x : f32 to f8E4M3FN
    %p = arith.extf %w : f8E4M3FN to f32
    linalg.yield %p : f32
  } -> tensor<4x16x32xf32>
  %z = arith.constant 0.0 : f32
  %kt0 = tensor.empty() : tensor<4x32x24xf32>
  %kt = linalg.transpose ins(%ks : tensor<4x24x32xf32>) outs(%kt0 : tensor<4x32x24xf32>) permutation = [0, 2, 1]
  %s0 = tensor.empty() : tensor<4x16x24xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %s = linalg.batch_matmul ins(%qq, %kt : tensor<4x16x32xf32>, tensor<4x32x24xf32>) outs(%s1 : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %p0 = tensor.empty() : tensor<4x16x24xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x16x24xf32>) outs(%p0 : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %pp = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%p : tensor<4x16x24xf32>) outs(%p0 : tensor<4x16x24xf32>) {
  ^bb0(%x: f32, %u: f32):
    %w = arith.truncf %x : f32 to f8E4M3FN
    %y = arith.extf %w : f8E4M3FN to f32
    linalg.yield %y : f32
  } -> tensor<4x16x24xf32>
  %o1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %o = linalg.batch_matmul ins(%pp, %vs : tensor<4x16x24xf32>, tensor<4x24x32xf32>) outs(%o1 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %x = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [1, 4, 16, 32] : tensor<4x16x32xf32> into tensor<1x4x16x32xf32>
  return %x : tensor<1x4x16x32xf32>
}

// -----

// expected-error @+1 {{found no attention}}
func.func @scores(%q: tensor<1x4x16x32xf32>, %k: tensor<1x4x24x32xf32>, %v: tensor<1x4x24x32xf32>) -> tensor<1x4x16x32xf32> {
  %qs = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<1x4x16x32xf32> into tensor<4x16x32xf32>
  %ks = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
  %vs = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
  %e0 = tensor.empty() : tensor<4x16x32xf32>
  %z = arith.constant 0.0 : f32
  %kt0 = tensor.empty() : tensor<4x32x24xf32>
  %kt = linalg.transpose ins(%ks : tensor<4x24x32xf32>) outs(%kt0 : tensor<4x32x24xf32>) permutation = [0, 2, 1]
  %s0 = tensor.empty() : tensor<4x16x24xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %s = linalg.batch_matmul ins(%qs, %kt : tensor<4x16x32xf32>, tensor<4x32x24xf32>) outs(%s1 : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %p0 = tensor.empty() : tensor<4x16x24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%s : tensor<4x16x24xf32>) outs(%p0 : tensor<4x16x24xf32>) {
  ^bb0(%x: f32, %u: f32):
    // expected-note @+1 {{expected the score to be computed from positions and tensors, could not compute arith.truncf per element}}
    %w = arith.truncf %x : f32 to f8E4M3FN
    %y = arith.extf %w : f8E4M3FN to f32
    linalg.yield %y : f32
  } -> tensor<4x16x24xf32>
  %p = linalg.softmax dimension(2) ins(%r : tensor<4x16x24xf32>) outs(%p0 : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %o1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  // expected-note @+1 {{nearest miss: this contraction as weights times values}}
  %o = linalg.batch_matmul ins(%p, %vs : tensor<4x16x24xf32>, tensor<4x24x32xf32>) outs(%o1 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %x = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [1, 4, 16, 32] : tensor<4x16x32xf32> into tensor<1x4x16x32xf32>
  return %x : tensor<1x4x16x32xf32>
}
