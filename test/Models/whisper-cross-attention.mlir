// Whisper decoder cross-attention, scale folded into Q: B=1, H=4, M=24, N=100, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: encoder_states
//   %arg2: layer.k_proj.weight
//   %arg3: layer.v_proj.weight
//   %arg4: layer.v_proj.bias
//   %arg5: layer.q_proj.weight
//   %arg6: layer.q_proj.bias
//   %arg7: layer.out_proj.weight
//   %arg8: layer.out_proj.bias

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @whisper_cross_attention(%arg0: tensor<1x24x256xf32>, %arg1: tensor<1x100x256xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256xf32>, %arg5: tensor<256x256xf32>, %arg6: tensor<256xf32>, %arg7: tensor<256x256xf32>, %arg8: tensor<256xf32>) -> tensor<1x24x256xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.250000e-01 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<1x24x256xf32> into tensor<24x256xf32>
    %0 = tensor.empty() : tensor<256x256xf32>
    %transposed = linalg.transpose ins(%arg5 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<24x256xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<24x256xf32>) -> tensor<24x256xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<24x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<24x256xf32>) -> tensor<24x256xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg6 : tensor<24x256xf32>, tensor<256xf32>) outs(%1 : tensor<24x256xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.addf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<24x256xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2]] output_shape [1, 24, 256] : tensor<24x256xf32> into tensor<1x24x256xf32>
    %5 = tensor.empty() : tensor<1x24x256xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x24x256xf32>) outs(%5 : tensor<1x24x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.mulf %in, %cst_1 : f32
      linalg.yield %36 : f32
    } -> tensor<1x24x256xf32>
    %expanded_2 = tensor.expand_shape %6 [[0], [1], [2, 3]] output_shape [1, 24, 4, 64] : tensor<1x24x256xf32> into tensor<1x24x4x64xf32>
    %7 = tensor.empty() : tensor<1x4x24x64xf32>
    %transposed_3 = linalg.transpose ins(%expanded_2 : tensor<1x24x4x64xf32>) outs(%7 : tensor<1x4x24x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_4 = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %collapsed_5 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<1x100x256xf32> into tensor<100x256xf32>
    %8 = tensor.empty() : tensor<100x256xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<100x256xf32>) -> tensor<100x256xf32>
    %10 = linalg.matmul ins(%collapsed_5, %transposed_4 : tensor<100x256xf32>, tensor<256x256xf32>) outs(%9 : tensor<100x256xf32>) -> tensor<100x256xf32>
    %expanded_6 = tensor.expand_shape %10 [[0, 1], [2, 3]] output_shape [1, 100, 4, 64] : tensor<100x256xf32> into tensor<1x100x4x64xf32>
    %transposed_7 = linalg.transpose ins(%arg3 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %11 = linalg.matmul ins(%collapsed_5, %transposed_7 : tensor<100x256xf32>, tensor<256x256xf32>) outs(%9 : tensor<100x256xf32>) -> tensor<100x256xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%11, %arg4 : tensor<100x256xf32>, tensor<256xf32>) outs(%8 : tensor<100x256xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.addf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<100x256xf32>
    %expanded_8 = tensor.expand_shape %12 [[0, 1], [2, 3]] output_shape [1, 100, 4, 64] : tensor<100x256xf32> into tensor<1x100x4x64xf32>
    %13 = tensor.empty() : tensor<1x4x100x64xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<1x100x4x64xf32>) outs(%13 : tensor<1x4x100x64xf32>) permutation = [0, 2, 1, 3] 
    %14 = tensor.empty() : tensor<1x4x64x100xf32>
    %transposed_10 = linalg.transpose ins(%expanded_6 : tensor<1x100x4x64xf32>) outs(%14 : tensor<1x4x64x100xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_11 = tensor.collapse_shape %transposed_3 [[0, 1], [2], [3]] : tensor<1x4x24x64xf32> into tensor<4x24x64xf32>
    %collapsed_12 = tensor.collapse_shape %transposed_10 [[0, 1], [2], [3]] : tensor<1x4x64x100xf32> into tensor<4x64x100xf32>
    %15 = tensor.empty() : tensor<4x24x100xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<4x24x100xf32>) -> tensor<4x24x100xf32>
    %17 = linalg.batch_matmul ins(%collapsed_11, %collapsed_12 : tensor<4x24x64xf32>, tensor<4x64x100xf32>) outs(%16 : tensor<4x24x100xf32>) -> tensor<4x24x100xf32>
    %expanded_13 = tensor.expand_shape %17 [[0, 1], [2], [3]] output_shape [1, 4, 24, 100] : tensor<4x24x100xf32> into tensor<1x4x24x100xf32>
    %18 = tensor.empty() : tensor<1x4x24xi64>
    %19 = linalg.fill ins(%c0_i64 : i64) outs(%18 : tensor<1x4x24xi64>) -> tensor<1x4x24xi64>
    %20 = tensor.empty() : tensor<1x4x24xf32>
    %21 = linalg.fill ins(%cst_0 : f32) outs(%20 : tensor<1x4x24xf32>) -> tensor<1x4x24xf32>
    %22:2 = linalg.generic {indexing_maps = [#map3, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_13 : tensor<1x4x24x100xf32>) outs(%21, %19 : tensor<1x4x24xf32>, tensor<1x4x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_22: i64):
      %36 = linalg.index 3 : index
      %37 = arith.index_cast %36 : index to i64
      %38 = arith.maximumf %in, %out : f32
      %39 = arith.cmpf ogt, %in, %out : f32
      %40 = arith.select %39, %37, %out_22 : i64
      linalg.yield %38, %40 : f32, i64
    } -> (tensor<1x4x24xf32>, tensor<1x4x24xi64>)
    %expanded_14 = tensor.expand_shape %22#0 [[0], [1], [2, 3]] output_shape [1, 4, 24, 1] : tensor<1x4x24xf32> into tensor<1x4x24x1xf32>
    %23 = tensor.empty() : tensor<1x4x24x100xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_13, %expanded_14 : tensor<1x4x24x100xf32>, tensor<1x4x24x1xf32>) outs(%23 : tensor<1x4x24x100xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.subf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<1x4x24x100xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24 : tensor<1x4x24x100xf32>) outs(%23 : tensor<1x4x24x100xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.exp %in : f32
      linalg.yield %36 : f32
    } -> tensor<1x4x24x100xf32>
    %26 = tensor.empty() : tensor<1x4x24x1xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<1x4x24x1xf32>) -> tensor<1x4x24x1xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<1x4x24x100xf32>) outs(%27 : tensor<1x4x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %in, %out : f32
      linalg.yield %36 : f32
    } -> tensor<1x4x24x1xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %28 : tensor<1x4x24x100xf32>, tensor<1x4x24x1xf32>) outs(%23 : tensor<1x4x24x100xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.divf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<1x4x24x100xf32>
    %collapsed_15 = tensor.collapse_shape %29 [[0, 1], [2], [3]] : tensor<1x4x24x100xf32> into tensor<4x24x100xf32>
    %collapsed_16 = tensor.collapse_shape %transposed_9 [[0, 1], [2], [3]] : tensor<1x4x100x64xf32> into tensor<4x100x64xf32>
    %30 = tensor.empty() : tensor<4x24x64xf32>
    %31 = linalg.fill ins(%cst : f32) outs(%30 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %32 = linalg.batch_matmul ins(%collapsed_15, %collapsed_16 : tensor<4x24x100xf32>, tensor<4x100x64xf32>) outs(%31 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %expanded_17 = tensor.expand_shape %32 [[0, 1], [2], [3]] output_shape [1, 4, 24, 64] : tensor<4x24x64xf32> into tensor<1x4x24x64xf32>
    %33 = tensor.empty() : tensor<1x24x4x64xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<1x4x24x64xf32>) outs(%33 : tensor<1x24x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_19 = tensor.collapse_shape %transposed_18 [[0, 1], [2, 3]] : tensor<1x24x4x64xf32> into tensor<24x256xf32>
    %transposed_20 = linalg.transpose ins(%arg7 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %34 = linalg.matmul ins(%collapsed_19, %transposed_20 : tensor<24x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<24x256xf32>) -> tensor<24x256xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%34, %arg8 : tensor<24x256xf32>, tensor<256xf32>) outs(%1 : tensor<24x256xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.addf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<24x256xf32>
    %expanded_21 = tensor.expand_shape %35 [[0, 1], [2]] output_shape [1, 24, 256] : tensor<24x256xf32> into tensor<1x24x256xf32>
    return %expanded_21 : tensor<1x24x256xf32>
  }
}

