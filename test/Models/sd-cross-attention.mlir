// Stable Diffusion 2 UNet cross-attention: B=2, H=5, M=64, N=77, D=64.
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
  func.func @sd_cross_attention(%arg0: tensor<2x64x320xf32>, %arg1: tensor<2x77x1024xf32>, %arg2: tensor<320x320xf32>, %arg3: tensor<320x1024xf32>, %arg4: tensor<320x1024xf32>, %arg5: tensor<320x320xf32>, %arg6: tensor<320xf32>) -> tensor<2x64x320xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.250000e-01 : f32
    %0 = tensor.empty() : tensor<320x320xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<320x320xf32>) outs(%0 : tensor<320x320xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x64x320xf32> into tensor<128x320xf32>
    %1 = tensor.empty() : tensor<128x320xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<128x320xf32>, tensor<320x320xf32>) outs(%2 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %4 = tensor.empty() : tensor<1024x320xf32>
    %transposed_2 = linalg.transpose ins(%arg3 : tensor<320x1024xf32>) outs(%4 : tensor<1024x320xf32>) permutation = [1, 0] 
    %collapsed_3 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<2x77x1024xf32> into tensor<154x1024xf32>
    %5 = tensor.empty() : tensor<154x320xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %7 = linalg.matmul ins(%collapsed_3, %transposed_2 : tensor<154x1024xf32>, tensor<1024x320xf32>) outs(%6 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %transposed_4 = linalg.transpose ins(%arg4 : tensor<320x1024xf32>) outs(%4 : tensor<1024x320xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed_3, %transposed_4 : tensor<154x1024xf32>, tensor<1024x320xf32>) outs(%6 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2, 3]] output_shape [2, 64, 5, 64] : tensor<128x320xf32> into tensor<2x64x5x64xf32>
    %9 = tensor.empty() : tensor<2x5x64x64xf32>
    %transposed_5 = linalg.transpose ins(%expanded : tensor<2x64x5x64xf32>) outs(%9 : tensor<2x5x64x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0, 1], [2], [3]] : tensor<2x5x64x64xf32> into tensor<10x64x64xf32>
    %expanded_7 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [2, 77, 5, 64] : tensor<154x320xf32> into tensor<2x77x5x64xf32>
    %10 = tensor.empty() : tensor<2x5x77x64xf32>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x77x5x64xf32>) outs(%10 : tensor<2x5x77x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_9 = tensor.collapse_shape %transposed_8 [[0, 1], [2], [3]] : tensor<2x5x77x64xf32> into tensor<10x77x64xf32>
    %expanded_10 = tensor.expand_shape %8 [[0, 1], [2, 3]] output_shape [2, 77, 5, 64] : tensor<154x320xf32> into tensor<2x77x5x64xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x77x5x64xf32>) outs(%10 : tensor<2x5x77x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_12 = tensor.collapse_shape %transposed_11 [[0, 1], [2], [3]] : tensor<2x5x77x64xf32> into tensor<10x77x64xf32>
    %11 = tensor.empty() : tensor<10x64x77xf32>
    %transposed_13 = linalg.transpose ins(%collapsed_9 : tensor<10x77x64xf32>) outs(%11 : tensor<10x64x77xf32>) permutation = [0, 2, 1] 
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<10x64x77xf32>) -> tensor<10x64x77xf32>
    %13 = linalg.batch_matmul ins(%collapsed_6, %transposed_13 : tensor<10x64x64xf32>, tensor<10x64x77xf32>) outs(%12 : tensor<10x64x77xf32>) -> tensor<10x64x77xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<10x64x77xf32>) outs(%11 : tensor<10x64x77xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.mulf %in, %cst_1 : f32
      linalg.yield %32 : f32
    } -> tensor<10x64x77xf32>
    %15 = tensor.empty() : tensor<10x64xi64>
    %16 = linalg.fill ins(%c0_i64 : i64) outs(%15 : tensor<10x64xi64>) -> tensor<10x64xi64>
    %17 = tensor.empty() : tensor<10x64xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<10x64xf32>) -> tensor<10x64xf32>
    %19:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<10x64x77xf32>) outs(%18, %16 : tensor<10x64xf32>, tensor<10x64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_20: i64):
      %32 = linalg.index 2 : index
      %33 = arith.index_cast %32 : index to i64
      %34 = arith.maximumf %in, %out : f32
      %35 = arith.cmpf ogt, %in, %out : f32
      %36 = arith.select %35, %33, %out_20 : i64
      linalg.yield %34, %36 : f32, i64
    } -> (tensor<10x64xf32>, tensor<10x64xi64>)
    %expanded_14 = tensor.expand_shape %19#0 [[0], [1, 2]] output_shape [10, 64, 1] : tensor<10x64xf32> into tensor<10x64x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %expanded_14 : tensor<10x64x77xf32>, tensor<10x64x1xf32>) outs(%11 : tensor<10x64x77xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %32 = arith.subf %in, %in_20 : f32
      linalg.yield %32 : f32
    } -> tensor<10x64x77xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<10x64x77xf32>) outs(%11 : tensor<10x64x77xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = math.exp %in : f32
      linalg.yield %32 : f32
    } -> tensor<10x64x77xf32>
    %22 = tensor.empty() : tensor<10x64x1xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<10x64x1xf32>) -> tensor<10x64x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%21 : tensor<10x64x77xf32>) outs(%23 : tensor<10x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %in, %out : f32
      linalg.yield %32 : f32
    } -> tensor<10x64x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %24 : tensor<10x64x77xf32>, tensor<10x64x1xf32>) outs(%11 : tensor<10x64x77xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %32 = arith.divf %in, %in_20 : f32
      linalg.yield %32 : f32
    } -> tensor<10x64x77xf32>
    %26 = tensor.empty() : tensor<10x64x64xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<10x64x64xf32>) -> tensor<10x64x64xf32>
    %28 = linalg.batch_matmul ins(%25, %collapsed_12 : tensor<10x64x77xf32>, tensor<10x77x64xf32>) outs(%27 : tensor<10x64x64xf32>) -> tensor<10x64x64xf32>
    %expanded_15 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [2, 5, 64, 64] : tensor<10x64x64xf32> into tensor<2x5x64x64xf32>
    %29 = tensor.empty() : tensor<2x64x5x64xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<2x5x64x64xf32>) outs(%29 : tensor<2x64x5x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_17 = tensor.collapse_shape %transposed_16 [[0, 1], [2, 3]] : tensor<2x64x5x64xf32> into tensor<128x320xf32>
    %transposed_18 = linalg.transpose ins(%arg5 : tensor<320x320xf32>) outs(%0 : tensor<320x320xf32>) permutation = [1, 0] 
    %30 = linalg.matmul ins(%collapsed_17, %transposed_18 : tensor<128x320xf32>, tensor<320x320xf32>) outs(%2 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%30, %arg6 : tensor<128x320xf32>, tensor<320xf32>) outs(%1 : tensor<128x320xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %32 = arith.addf %in, %in_20 : f32
      linalg.yield %32 : f32
    } -> tensor<128x320xf32>
    %expanded_19 = tensor.expand_shape %31 [[0, 1], [2]] output_shape [2, 64, 320] : tensor<128x320xf32> into tensor<2x64x320xf32>
    return %expanded_19 : tensor<2x64x320xf32>
  }
}

