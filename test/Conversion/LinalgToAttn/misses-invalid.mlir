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

// A sink for each row, where an attention has one for each head.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: @sink_of_rows
// CHECK-NOT: attn.attention
func.func @sink_of_rows(%q: tensor<10x16xf32>, %kt: tensor<16x20xf32>, %v: tensor<20x8xf32>, %sink: tensor<10xf32>) -> tensor<10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<10x20xf32>
  %er = tensor.empty() : tensor<10xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %s = linalg.matmul ins(%q, %kt : tensor<10x16xf32>, tensor<16x20xf32>) outs(%s0 : tensor<10x20xf32>) -> tensor<10x20xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<10x20xf32>) outs(%es : tensor<10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<10x20xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%er : tensor<10xf32>) -> tensor<10xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<10x20xf32>) outs(%r0 : tensor<10xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %acc, %x : f32
    linalg.yield %y : f32
  } -> tensor<10xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %sum, %sink : tensor<10x20xf32>, tensor<10xf32>, tensor<10xf32>) outs(%es : tensor<10x20xf32>) {
  ^bb0(%x: f32, %total: f32, %logit: f32, %out: f32):
    %own = math.exp %logit : f32
    %all = arith.addf %total, %own : f32
    %y = arith.divf %x, %all : f32
    linalg.yield %y : f32
  } -> tensor<10x20xf32>
  %eo = tensor.empty() : tensor<10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<10x8xf32>) -> tensor<10x8xf32>
  // expected-remark@below {{not captured as an attention}}
  // expected-note@below {{expected a sink for each query head, got one that depends on more than the head}}
  %o = linalg.matmul ins(%p, %v : tensor<10x20xf32>, tensor<20x8xf32>) outs(%o0 : tensor<10x8xf32>) -> tensor<10x8xf32>
  return %o : tensor<10x8xf32>
}
