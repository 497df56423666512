// A slice of a longer tensor as the bias (MPT: position_bias[:, :, k:]): it is
// read where it begins.

// RUN: attn-opt %s --attn-to-tensor | FileCheck %s
// RUN: attn-run %s --device=cpu --verify
// RUN: attn-run %s --device=sim:sm_80 --allow-tf32 --verify

// CHECK: %[[SLICE:.*]] = tensor.extract_slice {{.*}}[0, 0, 0, 96] [1, 2, 1, 32]
// CHECK: attn.attention {{.*}} bias(%[[SLICE]] : tensor<1x2x1x32xf32>)


#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#mapr = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#mapb = affine_map<(d0, d1, d2, d3) -> (0, d1, 0, d3)>
func.func @f(%q: tensor<1x2x16x64xf32>, %k: tensor<1x2x64x32xf32>, %v: tensor<1x2x32x64xf32>, %b: tensor<1x2x1x128xf32>) -> tensor<1x2x16x64xf32> {
  %c0 = arith.constant 0.0 : f32
  %ni = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<1x2x16x32xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<1x2x16x32xf32>) -> tensor<1x2x16x32xf32>
  %qc = tensor.collapse_shape %q [[0,1],[2],[3]] : tensor<1x2x16x64xf32> into tensor<2x16x64xf32>
  %kc = tensor.collapse_shape %k [[0,1],[2],[3]] : tensor<1x2x64x32xf32> into tensor<2x64x32xf32>
  %vc = tensor.collapse_shape %v [[0,1],[2],[3]] : tensor<1x2x32x64xf32> into tensor<2x32x64xf32>
  %zc = tensor.collapse_shape %z [[0,1],[2],[3]] : tensor<1x2x16x32xf32> into tensor<2x16x32xf32>
  %sc = linalg.batch_matmul ins(%qc, %kc : tensor<2x16x64xf32>, tensor<2x64x32xf32>) outs(%zc : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  %s = tensor.expand_shape %sc [[0,1],[2],[3]] output_shape [1,2,16,32] : tensor<2x16x32xf32> into tensor<1x2x16x32xf32>
  %sl = tensor.extract_slice %b[0, 0, 0, 96] [1, 2, 1, 32] [1, 1, 1, 1] : tensor<1x2x1x128xf32> to tensor<1x2x1x32xf32>
  %sb = linalg.generic {indexing_maps = [#map, #mapb, #map], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%s, %sl : tensor<1x2x16x32xf32>, tensor<1x2x1x32xf32>) outs(%e : tensor<1x2x16x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %scale : f32
    %a = arith.addf %m, %y : f32
    linalg.yield %a : f32
  } -> tensor<1x2x16x32xf32>
  %p = linalg.softmax dimension(3) ins(%sb : tensor<1x2x16x32xf32>) outs(%e : tensor<1x2x16x32xf32>) -> tensor<1x2x16x32xf32>
  %pc = tensor.collapse_shape %p [[0,1],[2],[3]] : tensor<1x2x16x32xf32> into tensor<2x16x32xf32>
  %oe = tensor.empty() : tensor<2x16x64xf32>
  %oz = linalg.fill ins(%c0 : f32) outs(%oe : tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
  %oc = linalg.batch_matmul ins(%pc, %vc : tensor<2x16x32xf32>, tensor<2x32x64xf32>) outs(%oz : tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
  %o = tensor.expand_shape %oc [[0,1],[2],[3]] output_shape [1,2,16,64] : tensor<2x16x64xf32> into tensor<1x2x16x64xf32>
  return %o : tensor<1x2x16x64xf32>
}
