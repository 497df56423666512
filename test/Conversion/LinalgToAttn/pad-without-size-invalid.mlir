// A static padding that says "dynamic" has no operand: MLIR verifies it, and its
// elements are not known.

// RUN: attn-opt %s --attn-raise --verify-diagnostics

// expected-error @+1 {{found no attention}}
func.func @padded(%q: tensor<4x16x32xf32>, %kt: tensor<4x32x23xf32>, %v: tensor<4x24x32xf32>) -> tensor<4x16x32xf32> {
  %z = arith.constant 0.0 : f32
  %s0 = tensor.empty() : tensor<4x16x23xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<4x16x23xf32>) -> tensor<4x16x23xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<4x16x32xf32>, tensor<4x32x23xf32>) outs(%s1 : tensor<4x16x23xf32>) -> tensor<4x16x23xf32>
  // expected-note @+1 {{the match broke here}}
  %x = tensor.pad %s low[0, -9223372036854775808, 1] high[0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %z : f32
  } : tensor<4x16x23xf32> to tensor<4x16x24xf32>
  %p0 = tensor.empty() : tensor<4x16x24xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x16x24xf32>) outs(%p0 : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %e0 = tensor.empty() : tensor<4x16x32xf32>
  %o1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  // expected-note @+1 {{nearest miss}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x16x24xf32>, tensor<4x24x32xf32>) outs(%o1 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  return %o : tensor<4x16x32xf32>
}
