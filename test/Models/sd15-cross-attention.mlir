// Stable Diffusion 1.5 UNet cross-attention: B=2, H=8, M=64, N=77, D=40.
// Exported by export.py with diffusers 0.42.1, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: encoder_hidden_states
//   %arg2: to_q.weight
//   %arg3: to_k.weight
//   %arg4: to_v.weight
//   %arg5: to_out.0.weight
//   %arg6: to_out.0.bias

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @sd15_cross_attention(%arg0: tensor<2x64x320xf32>, %arg1: tensor<2x77x768xf32>, %arg2: tensor<320x320xf32>, %arg3: tensor<320x768xf32>, %arg4: tensor<320x768xf32>, %arg5: tensor<320x320xf32>, %arg6: tensor<320xf32>) -> tensor<2x64x320xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.15811388300841897 : f64
    %0 = tensor.empty() : tensor<320x320xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<320x320xf32>) outs(%0 : tensor<320x320xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x64x320xf32> into tensor<128x320xf32>
    %1 = tensor.empty() : tensor<128x320xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<128x320xf32>, tensor<320x320xf32>) outs(%2 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %4 = tensor.empty() : tensor<768x320xf32>
    %transposed_2 = linalg.transpose ins(%arg3 : tensor<320x768xf32>) outs(%4 : tensor<768x320xf32>) permutation = [1, 0] 
    %collapsed_3 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<2x77x768xf32> into tensor<154x768xf32>
    %5 = tensor.empty() : tensor<154x320xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %7 = linalg.matmul ins(%collapsed_3, %transposed_2 : tensor<154x768xf32>, tensor<768x320xf32>) outs(%6 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %transposed_4 = linalg.transpose ins(%arg4 : tensor<320x768xf32>) outs(%4 : tensor<768x320xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed_3, %transposed_4 : tensor<154x768xf32>, tensor<768x320xf32>) outs(%6 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2, 3]] output_shape [2, 64, 8, 40] : tensor<128x320xf32> into tensor<2x64x8x40xf32>
    %9 = tensor.empty() : tensor<2x8x64x40xf32>
    %transposed_5 = linalg.transpose ins(%expanded : tensor<2x64x8x40xf32>) outs(%9 : tensor<2x8x64x40xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0, 1], [2], [3]] : tensor<2x8x64x40xf32> into tensor<16x64x40xf32>
    %expanded_7 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [2, 77, 8, 40] : tensor<154x320xf32> into tensor<2x77x8x40xf32>
    %10 = tensor.empty() : tensor<2x8x77x40xf32>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x77x8x40xf32>) outs(%10 : tensor<2x8x77x40xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_9 = tensor.collapse_shape %transposed_8 [[0, 1], [2], [3]] : tensor<2x8x77x40xf32> into tensor<16x77x40xf32>
    %expanded_10 = tensor.expand_shape %8 [[0, 1], [2, 3]] output_shape [2, 77, 8, 40] : tensor<154x320xf32> into tensor<2x77x8x40xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x77x8x40xf32>) outs(%10 : tensor<2x8x77x40xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_12 = tensor.collapse_shape %transposed_11 [[0, 1], [2], [3]] : tensor<2x8x77x40xf32> into tensor<16x77x40xf32>
    %11 = tensor.empty() : tensor<16x40x77xf32>
    %transposed_13 = linalg.transpose ins(%collapsed_9 : tensor<16x77x40xf32>) outs(%11 : tensor<16x40x77xf32>) permutation = [0, 2, 1] 
    %12 = tensor.empty() : tensor<16x64x77xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<16x64x77xf32>) -> tensor<16x64x77xf32>
    %14 = linalg.batch_matmul ins(%collapsed_6, %transposed_13 : tensor<16x64x40xf32>, tensor<16x40x77xf32>) outs(%13 : tensor<16x64x77xf32>) -> tensor<16x64x77xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<16x64x77xf32>) outs(%12 : tensor<16x64x77xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.truncf %cst_1 : f64 to f32
      %34 = arith.mulf %in, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<16x64x77xf32>
    %16 = tensor.empty() : tensor<16x64xi64>
    %17 = linalg.fill ins(%c0_i64 : i64) outs(%16 : tensor<16x64xi64>) -> tensor<16x64xi64>
    %18 = tensor.empty() : tensor<16x64xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<16x64xf32>) -> tensor<16x64xf32>
    %20:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<16x64x77xf32>) outs(%19, %17 : tensor<16x64xf32>, tensor<16x64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_20: i64):
      %33 = linalg.index 2 : index
      %34 = arith.index_cast %33 : index to i64
      %35 = arith.maximumf %in, %out : f32
      %36 = arith.cmpf ogt, %in, %out : f32
      %37 = arith.select %36, %34, %out_20 : i64
      linalg.yield %35, %37 : f32, i64
    } -> (tensor<16x64xf32>, tensor<16x64xi64>)
    %expanded_14 = tensor.expand_shape %20#0 [[0], [1, 2]] output_shape [16, 64, 1] : tensor<16x64xf32> into tensor<16x64x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %expanded_14 : tensor<16x64x77xf32>, tensor<16x64x1xf32>) outs(%12 : tensor<16x64x77xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.subf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<16x64x77xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<16x64x77xf32>) outs(%12 : tensor<16x64x77xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = math.exp %in : f32
      linalg.yield %33 : f32
    } -> tensor<16x64x77xf32>
    %23 = tensor.empty() : tensor<16x64x1xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<16x64x1xf32>) -> tensor<16x64x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%22 : tensor<16x64x77xf32>) outs(%24 : tensor<16x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<16x64x1xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %25 : tensor<16x64x77xf32>, tensor<16x64x1xf32>) outs(%12 : tensor<16x64x77xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.divf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<16x64x77xf32>
    %27 = tensor.empty() : tensor<16x64x40xf32>
    %28 = linalg.fill ins(%cst : f32) outs(%27 : tensor<16x64x40xf32>) -> tensor<16x64x40xf32>
    %29 = linalg.batch_matmul ins(%26, %collapsed_12 : tensor<16x64x77xf32>, tensor<16x77x40xf32>) outs(%28 : tensor<16x64x40xf32>) -> tensor<16x64x40xf32>
    %expanded_15 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 8, 64, 40] : tensor<16x64x40xf32> into tensor<2x8x64x40xf32>
    %30 = tensor.empty() : tensor<2x64x8x40xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<2x8x64x40xf32>) outs(%30 : tensor<2x64x8x40xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_17 = tensor.collapse_shape %transposed_16 [[0, 1], [2, 3]] : tensor<2x64x8x40xf32> into tensor<128x320xf32>
    %transposed_18 = linalg.transpose ins(%arg5 : tensor<320x320xf32>) outs(%0 : tensor<320x320xf32>) permutation = [1, 0] 
    %31 = linalg.matmul ins(%collapsed_17, %transposed_18 : tensor<128x320xf32>, tensor<320x320xf32>) outs(%2 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%31, %arg6 : tensor<128x320xf32>, tensor<320xf32>) outs(%1 : tensor<128x320xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.addf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<128x320xf32>
    %expanded_19 = tensor.expand_shape %32 [[0, 1], [2]] output_shape [2, 64, 320] : tensor<128x320xf32> into tensor<2x64x320xf32>
    return %expanded_19 : tensor<2x64x320xf32>
  }
}

