// What follows a gradient is a part of the kernel that stores it: behind the factor of its sums, with its rows and columns as places; its largest magnitudes
// are an operand of the name of the gradient.
// RUN: attn-opt %s --attn-tile-backward --attn-fuse-outputs --convert-attn-to-tile | FileCheck %s

!q = tensor<1x4x?x64xf16>
!k = tensor<1x2x?x64xf16>
!l = tensor<1x4x?xf32>

// CHECK: attn_launch.operand output "d_query" vector(2) result(0) dims ["B", "Hq", "M", "D"] : <1x4x?x64xf16>
// CHECK: attn_launch.operand output "d_key" vector(2) result(1) dims ["B", "Hkv", "N", "D"] : <1x2x?x64xf8E5M2>
// CHECK: attn_launch.operand output "amax_d_query" result(3) dims ["B", "Hq", "M"] : <1x4x?xf32>
// CHECK: attn_launch.operand output "amax_d_key" result(4) dims ["B", "Hkv", "N"] : <1x2x?xf32>
// CHECK: attn_launch.operand output "amax_d_key1" result(5) dims ["B", "Hkv", "N"] : <1x2x?xf32>

// A tensor that is read at the key and its head has these, not the query's.
// CHECK-DAG: expected dimension 0 of capture0, which is read at each position, to be at least Hkv
// CHECK-DAG: expected dimension 1 of capture0, which is read at each position, to be at least N

// CHECK-LABEL: attn_tile.kernel @f_dq
// CHECK: attn_tile.row_all_reduce maximum
// CHECK-LABEL: attn_tile.kernel @f_dkv
// CHECK: attn_tile.extract
// CHECK: attn_tile.row_all_reduce maximum
func.func @f(%q: !q, %k: !k, %o: !q, %lse: !l, %do: !q, %scales: tensor<?x?xf32>) -> (!q, tensor<1x2x?x64xf8E5M2>, !k, !l, tensor<1x2x?xf32>, tensor<1x2x?xf32>) {
  %g:3 = attn.attention_backward %q, %k, %k output(%o : !q) lse(%lse : !l) d_output(%do : !q) : !q, !k, !k -> !q, tensor<1x2x?x64xf32>, !k
  %dq, %aq = attn.output_mod %g#0 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !q -> !q, !l
  %dk, %ak = attn.output_mod %g#1 (%x: f32, %b: index, %h: index, %j: index, %c: index) {
    attn.yield %x : f32
  } : tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
  %dk8, %scaled = attn.output_mod %dk (%x: f32, %b: index, %h: index, %j: index, %c: index) {
    %s = tensor.extract %scales[%h, %j] : tensor<?x?xf32>
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  } : tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf8E5M2>, tensor<1x2x?xf32>
  return %dq, %dk8, %g#2, %aq, %ak, %scaled : !q, tensor<1x2x?x64xf8E5M2>, !k, !l, tensor<1x2x?xf32>, tensor<1x2x?xf32>
}
