// Weights that are scaled to the range of 8 bits, and rounded: the factor is one of the output, which what stands behind takes off again. A bound that no
// weight reaches is none. Another function of them is no attention of 8-bit queries.
// RUN: attn-opt %s --attn-raise | FileCheck %s
// RUN: attn-run %s --raise --device=sim:sm_90a --random=1 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --raise --device=sim:sm_100a --random=2 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --raise --random=3 --verify | FileCheck %s --check-prefix=PASS
// RUN: sed '/minimumf/d; s/%r = arith.truncf %hi/%r = arith.truncf %y/' %s | attn-opt --attn-raise | FileCheck %s
// RUN: sed 's/= arith.minimumf %y, %c/= arith.mulf %y, %x/' %s > %t.square.mlir
// RUN: not attn-opt %t.square.mlir --target=sm_90a --emit=ptx -o %t 2>&1 | FileCheck %s --check-prefix=SQUARE
// CHECK: %[[FACTOR:.*]] = arith.constant 4.480000e+02 : f32
// CHECK: %[[O:.*]] = attn.attention
// CHECK-NOT: prob_mod
// CHECK: -> tensor<2x4x16x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[O]] :
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// PASS: verify: PASS
// SQUARE: error: found no attention
// SQUARE: expected weights of 8-bit queries to be those of a softmax, times a constant at most, got another function of them

#id = affine_map<(b, h, j, d) -> (b, h, j, d)>
#one = affine_map<(b, h, j, d) -> ()>
#qk_q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#qk_k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#qk_s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#pv_p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#pv_v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#pv_o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
#p4 = ["parallel", "parallel", "parallel", "parallel"]
func.func @f(%q8: tensor<2x4x16x32xf8E4M3FN>, %k8: tensor<2x4x24x32xf8E4M3FN>, %v8: tensor<2x4x24x32xf8E4M3FN>, %sq: tensor<f32>, %sk: tensor<f32>, %sv: tensor<f32>) -> tensor<2x4x16x32xf32> {
  %z = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x4x16x24xf32>
  %zs = linalg.fill ins(%z : f32) outs(%es : tensor<2x4x16x24xf32>) -> tensor<2x4x16x24xf32>
  %s0 = linalg.generic {indexing_maps = [#qk_q, #qk_k, #qk_s], iterator_types = ["parallel","parallel","parallel","parallel","reduction"]} ins(%q8, %k8 : tensor<2x4x16x32xf8E4M3FN>, tensor<2x4x24x32xf8E4M3FN>) outs(%zs : tensor<2x4x16x24xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %a: f32):
    %xw = arith.extf %x : f8E4M3FN to f32
    %yw = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %xw, %yw : f32
    %r = arith.addf %a, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x4x16x24xf32>
  %s1 = linalg.generic {indexing_maps = [#id, #one, #one, #id], iterator_types = #p4} ins(%s0, %sq, %sk : tensor<2x4x16x24xf32>, tensor<f32>, tensor<f32>) outs(%es : tensor<2x4x16x24xf32>) {
  ^bb0(%x: f32, %u: f32, %w: f32, %o: f32):
    %c = arith.constant 0.17677669 : f32
    %t = arith.mulf %x, %u : f32
    %t2 = arith.mulf %t, %w : f32
    %p = arith.mulf %t2, %c : f32
    linalg.yield %p : f32
  } -> tensor<2x4x16x24xf32>
  %p = linalg.softmax dimension(3) ins(%s1 : tensor<2x4x16x24xf32>) outs(%es : tensor<2x4x16x24xf32>) -> tensor<2x4x16x24xf32>
  %ep = tensor.empty() : tensor<2x4x16x24xf8E4M3FN>
  %p8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = #p4} ins(%p : tensor<2x4x16x24xf32>) outs(%ep : tensor<2x4x16x24xf8E4M3FN>) {
  ^bb0(%x: f32, %o: f8E4M3FN):
    %c = arith.constant 448.0 : f32
    %y = arith.mulf %x, %c : f32
    %hi = arith.minimumf %y, %c : f32
    %r = arith.truncf %hi : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<2x4x16x24xf8E4M3FN>
  %eo = tensor.empty() : tensor<2x4x16x32xf32>
  %zo = linalg.fill ins(%z : f32) outs(%eo : tensor<2x4x16x32xf32>) -> tensor<2x4x16x32xf32>
  %o0 = linalg.generic {indexing_maps = [#pv_p, #pv_v, #pv_o], iterator_types = ["parallel","parallel","parallel","parallel","reduction"]} ins(%p8, %v8 : tensor<2x4x16x24xf8E4M3FN>, tensor<2x4x24x32xf8E4M3FN>) outs(%zo : tensor<2x4x16x32xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %a: f32):
    %xw = arith.extf %x : f8E4M3FN to f32
    %yw = arith.extf %y : f8E4M3FN to f32
    %t = arith.mulf %xw, %yw : f32
    %r = arith.addf %a, %t : f32
    linalg.yield %r : f32
  } -> tensor<2x4x16x32xf32>
  %o1 = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = #p4} ins(%o0, %sv : tensor<2x4x16x32xf32>, tensor<f32>) outs(%eo : tensor<2x4x16x32xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %c = arith.constant 0.00223214286 : f32
    %t = arith.mulf %x, %s : f32
    %r = arith.mulf %t, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x4x16x32xf32>
  return %o1 : tensor<2x4x16x32xf32>
}
