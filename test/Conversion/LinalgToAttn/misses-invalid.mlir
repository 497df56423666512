// RUN: attn-opt %s --attn-raise --verify-diagnostics | FileCheck %s

// One attention is captured; one is not, and a remark says why.



// CHECK-LABEL: @captured
// CHECK: attn.attention
func.func @captured(%q: tensor<10x16xf32>, %kt: tensor<16x20xf32>, %v: tensor<20x8xf32>) -> tensor<10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %s = linalg.matmul ins(%q, %kt : tensor<10x16xf32>, tensor<16x20xf32>) outs(%s0 : tensor<10x20xf32>) -> tensor<10x20xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<10x20xf32>) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %eo = tensor.empty() : tensor<10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<10x8xf32>) -> tensor<10x8xf32>
  %o = linalg.matmul ins(%p, %v : tensor<10x20xf32>, tensor<20x8xf32>) outs(%o0 : tensor<10x8xf32>) -> tensor<10x8xf32>
  return %o : tensor<10x8xf32>
}

// CHECK-LABEL: @dynamic_head_dimension
// CHECK: linalg.softmax
func.func @dynamic_head_dimension(%q: tensor<10x?xf32>, %kt: tensor<?x20xf32>, %v: tensor<20x8xf32>) -> tensor<10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %s = linalg.matmul ins(%q, %kt : tensor<10x?xf32>, tensor<?x20xf32>) outs(%s0 : tensor<10x20xf32>) -> tensor<10x20xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<10x20xf32>) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %eo = tensor.empty() : tensor<10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<10x8xf32>) -> tensor<10x8xf32>
  // expected-remark@below {{not captured as an attention}}
  // expected-note@below {{expected the head dimension D to be static, got a dynamic size}}
  %o = linalg.matmul ins(%p, %v : tensor<10x20xf32>, tensor<20x8xf32>) outs(%o0 : tensor<10x8xf32>) -> tensor<10x8xf32>
  return %o : tensor<10x8xf32>
}
