// RUN: attn-opt %s --attn-raise --split-input-file --verify-diagnostics

// The nearest miss is the product whose weights are a softmax behind an op
// that is not followed, and that op; not the projection before it.

#row = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>
// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @gathered(%x: tensor<10x16xf32>, %w: tensor<16x16xf32>, %k: tensor<16x20xf32>, %v: tensor<6x8xf32>, %at: tensor<6x1xi64>) -> tensor<10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %eq = tensor.empty() : tensor<10x16xf32>
  %q0 = linalg.fill ins(%zero : f32) outs(%eq : tensor<10x16xf32>) -> tensor<10x16xf32>
  %q = linalg.matmul ins(%x, %w : tensor<10x16xf32>, tensor<16x16xf32>) outs(%q0 : tensor<10x16xf32>) -> tensor<10x16xf32>
  %es = tensor.empty() : tensor<10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %s = linalg.matmul ins(%q, %k : tensor<10x16xf32>, tensor<16x20xf32>) outs(%s0 : tensor<10x20xf32>) -> tensor<10x20xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<10x20xf32>) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  // expected-note@below {{the match broke here: expected the weights to be a softmax, got one behind tensor.gather, whose elements are not followed}}
  %g = tensor.gather %p[%at] gather_dims([1]) unique : (tensor<10x20xf32>, tensor<6x1xi64>) -> tensor<6x10xf32>
  %et = tensor.empty() : tensor<10x6xf32>
  %t = linalg.transpose ins(%g : tensor<6x10xf32>) outs(%et : tensor<10x6xf32>) permutation = [1, 0]
  %eo = tensor.empty() : tensor<10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<10x8xf32>) -> tensor<10x8xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  %o = linalg.matmul ins(%t, %v : tensor<10x6xf32>, tensor<6x8xf32>) outs(%o0 : tensor<10x8xf32>) -> tensor<10x8xf32>
  return %o : tensor<10x8xf32>
}

// -----

// A norm sums what a gate computes, and a projection follows: beside an attention
// nothing is said of it.

#row = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>
func.func @norm_of_gate(%q: tensor<10x16xf32>, %k: tensor<16x20xf32>, %v: tensor<20x16xf32>, %w: tensor<16x16xf32>) -> tensor<10x16xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %s = linalg.matmul ins(%q, %k : tensor<10x16xf32>, tensor<16x20xf32>) outs(%s0 : tensor<10x20xf32>) -> tensor<10x20xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<10x20xf32>) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %eo = tensor.empty() : tensor<10x16xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<10x16xf32>) -> tensor<10x16xf32>
  %o = linalg.matmul ins(%p, %v : tensor<10x20xf32>, tensor<20x16xf32>) outs(%o0 : tensor<10x16xf32>) -> tensor<10x16xf32>
  %gate = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%o : tensor<10x16xf32>) outs(%eo : tensor<10x16xf32>) {
  ^bb0(%x: f32, %out: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %x : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %y = arith.divf %x, %d : f32
    linalg.yield %y : f32
  } -> tensor<10x16xf32>
  %er = tensor.empty() : tensor<10xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%er : tensor<10xf32>) -> tensor<10xf32>
  %sum = linalg.reduce {arith.addf} ins(%gate : tensor<10x16xf32>) outs(%r0 : tensor<10xf32>) dimensions = [1]
  %norm = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%gate, %sum : tensor<10x16xf32>, tensor<10xf32>) outs(%eo : tensor<10x16xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %y = arith.subf %x, %m : f32
    linalg.yield %y : f32
  } -> tensor<10x16xf32>
  %f = linalg.matmul ins(%norm, %w : tensor<10x16xf32>, tensor<16x16xf32>) outs(%o0 : tensor<10x16xf32>) -> tensor<10x16xf32>
  return %f : tensor<10x16xf32>
}
