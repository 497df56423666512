// Conformer self-attention, relative shift by pad, view and slice: B=2, H=2, M=N=24, D=32.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: relative_position_embeddings
//   %arg2: layer.pos_bias_u
//   %arg3: layer.pos_bias_v
//   %arg4: layer.linear_q.weight
//   %arg5: layer.linear_q.bias
//   %arg6: layer.linear_k.weight
//   %arg7: layer.linear_k.bias
//   %arg8: layer.linear_v.weight
//   %arg9: layer.linear_v.bias
//   %arg10: layer.linear_out.weight
//   %arg11: layer.linear_out.bias
//   %arg12: layer.linear_pos.weight

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (0, d1, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @conformer(%arg0: tensor<2x24x64xf32>, %arg1: tensor<1x47x64xf32>, %arg2: tensor<2x32xf32>, %arg3: tensor<2x32xf32>, %arg4: tensor<64x64xf32>, %arg5: tensor<64xf32>, %arg6: tensor<64x64xf32>, %arg7: tensor<64xf32>, %arg8: tensor<64x64xf32>, %arg9: tensor<64xf32>, %arg10: tensor<64x64xf32>, %arg11: tensor<64xf32>, %arg12: tensor<64x64xf32>) -> tensor<2x24x64xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.17677669529663689 : f64
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x24x64xf32> into tensor<48x64xf32>
    %0 = tensor.empty() : tensor<64x64xf32>
    %transposed = linalg.transpose ins(%arg4 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<48x64xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg5 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.addf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<48x64xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %5 = tensor.empty() : tensor<2x2x24x32xf32>
    %transposed_2 = linalg.transpose ins(%expanded : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %transposed_3 = linalg.transpose ins(%arg6 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%collapsed, %transposed_3 : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %arg7 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.addf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<48x64xf32>
    %expanded_4 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %transposed_5 = linalg.transpose ins(%arg8 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed, %transposed_5 : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %arg9 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.addf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<48x64xf32>
    %expanded_6 = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %transposed_8 = linalg.transpose ins(%arg12 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %collapsed_9 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<1x47x64xf32> into tensor<47x64xf32>
    %10 = tensor.empty() : tensor<47x64xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<47x64xf32>) -> tensor<47x64xf32>
    %12 = linalg.matmul ins(%collapsed_9, %transposed_8 : tensor<47x64xf32>, tensor<64x64xf32>) outs(%11 : tensor<47x64xf32>) -> tensor<47x64xf32>
    %expanded_10 = tensor.expand_shape %12 [[0, 1], [2, 3]] output_shape [1, 47, 2, 32] : tensor<47x64xf32> into tensor<1x47x2x32xf32>
    %13 = tensor.empty() : tensor<1x2x32x47xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<1x47x2x32xf32>) outs(%13 : tensor<1x2x32x47xf32>) permutation = [0, 2, 3, 1] 
    %expanded_12 = tensor.expand_shape %arg3 [[0, 1], [2, 3]] output_shape [1, 2, 1, 32] : tensor<2x32xf32> into tensor<1x2x1x32xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_2, %expanded_12 : tensor<2x2x24x32xf32>, tensor<1x2x1x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.addf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<2x2x24x32xf32>
    %collapsed_13 = tensor.collapse_shape %14 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %15 = tensor.empty() : tensor<2x2x32x47xf32>
    %collapsed_14 = tensor.collapse_shape %transposed_11 [[0, 1], [2], [3]] : tensor<1x2x32x47xf32> into tensor<2x32x47xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_14 : tensor<2x32x47xf32>) outs(%15 : tensor<2x2x32x47xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x32x47xf32>
    %collapsed_15 = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<2x2x32x47xf32> into tensor<4x32x47xf32>
    %17 = tensor.empty() : tensor<4x24x47xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<4x24x47xf32>) -> tensor<4x24x47xf32>
    %19 = linalg.batch_matmul ins(%collapsed_13, %collapsed_15 : tensor<4x24x32xf32>, tensor<4x32x47xf32>) outs(%18 : tensor<4x24x47xf32>) -> tensor<4x24x47xf32>
    %expanded_16 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [2, 2, 24, 47] : tensor<4x24x47xf32> into tensor<2x2x24x47xf32>
    %padded = tensor.pad %expanded_16 low[0, 0, 0, 1] high[0, 0, 0, 0] {
    ^bb0(%arg13: index, %arg14: index, %arg15: index, %arg16: index):
      tensor.yield %cst : f32
    } : tensor<2x2x24x47xf32> to tensor<2x2x24x48xf32>
    %collapsed_17 = tensor.collapse_shape %padded [[0], [1], [2, 3]] : tensor<2x2x24x48xf32> into tensor<2x2x1152xf32>
    %expanded_18 = tensor.expand_shape %collapsed_17 [[0], [1], [2, 3]] output_shape [2, 2, 48, 24] : tensor<2x2x1152xf32> into tensor<2x2x48x24xf32>
    %extracted_slice = tensor.extract_slice %expanded_18[0, 0, 1, 0] [2, 2, 47, 24] [1, 1, 1, 1] : tensor<2x2x48x24xf32> to tensor<2x2x47x24xf32>
    %collapsed_19 = tensor.collapse_shape %extracted_slice [[0], [1], [2, 3]] : tensor<2x2x47x24xf32> into tensor<2x2x1128xf32>
    %expanded_20 = tensor.expand_shape %collapsed_19 [[0], [1], [2, 3]] output_shape [2, 2, 24, 47] : tensor<2x2x1128xf32> into tensor<2x2x24x47xf32>
    %extracted_slice_21 = tensor.extract_slice %expanded_20[0, 0, 0, 0] [2, 2, 24, 24] [1, 1, 1, 1] : tensor<2x2x24x47xf32> to tensor<2x2x24x24xf32>
    %20 = tensor.empty() : tensor<2x2x24x24xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21 : tensor<2x2x24x24xf32>) outs(%20 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %46 = arith.truncf %cst_1 : f64 to f32
      %47 = arith.mulf %in, %46 : f32
      linalg.yield %47 : f32
    } -> tensor<2x2x24x24xf32>
    %expanded_22 = tensor.expand_shape %arg2 [[0, 1], [2, 3]] output_shape [1, 2, 1, 32] : tensor<2x32xf32> into tensor<1x2x1x32xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_2, %expanded_22 : tensor<2x2x24x32xf32>, tensor<1x2x1x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.addf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<2x2x24x32xf32>
    %23 = tensor.empty() : tensor<2x2x32x24xf32>
    %transposed_23 = linalg.transpose ins(%expanded_4 : tensor<2x24x2x32xf32>) outs(%23 : tensor<2x2x32x24xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_24 = tensor.collapse_shape %22 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %collapsed_25 = tensor.collapse_shape %transposed_23 [[0, 1], [2], [3]] : tensor<2x2x32x24xf32> into tensor<4x32x24xf32>
    %24 = tensor.empty() : tensor<4x24x24xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %26 = linalg.batch_matmul ins(%collapsed_24, %collapsed_25 : tensor<4x24x32xf32>, tensor<4x32x24xf32>) outs(%25 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %expanded_26 = tensor.expand_shape %26 [[0, 1], [2], [3]] output_shape [2, 2, 24, 24] : tensor<4x24x24xf32> into tensor<2x2x24x24xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_26 : tensor<2x2x24x24xf32>) outs(%20 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %46 = arith.truncf %cst_1 : f64 to f32
      %47 = arith.mulf %in, %46 : f32
      linalg.yield %47 : f32
    } -> tensor<2x2x24x24xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%27, %21 : tensor<2x2x24x24xf32>, tensor<2x2x24x24xf32>) outs(%20 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.addf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<2x2x24x24xf32>
    %29 = tensor.empty() : tensor<2x2x24xi64>
    %30 = linalg.fill ins(%c0_i64 : i64) outs(%29 : tensor<2x2x24xi64>) -> tensor<2x2x24xi64>
    %31 = tensor.empty() : tensor<2x2x24xf32>
    %32 = linalg.fill ins(%cst_0 : f32) outs(%31 : tensor<2x2x24xf32>) -> tensor<2x2x24xf32>
    %33:2 = linalg.generic {indexing_maps = [#map2, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<2x2x24x24xf32>) outs(%32, %30 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_35: i64):
      %46 = linalg.index 3 : index
      %47 = arith.index_cast %46 : index to i64
      %48 = arith.maximumf %in, %out : f32
      %49 = arith.cmpf ogt, %in, %out : f32
      %50 = arith.select %49, %47, %out_35 : i64
      linalg.yield %48, %50 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_27 = tensor.expand_shape %33#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %34 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %expanded_27 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%20 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.subf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<2x2x24x24xf32>
    %35 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34 : tensor<2x2x24x24xf32>) outs(%20 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %46 = math.exp %in : f32
      linalg.yield %46 : f32
    } -> tensor<2x2x24x24xf32>
    %36 = tensor.empty() : tensor<2x2x24x1xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<2x2x24x1xf32>) -> tensor<2x2x24x1xf32>
    %38 = linalg.generic {indexing_maps = [#map2, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%35 : tensor<2x2x24x24xf32>) outs(%37 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %46 = arith.addf %in, %out : f32
      linalg.yield %46 : f32
    } -> tensor<2x2x24x1xf32>
    %39 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %38 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%20 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.divf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<2x2x24x24xf32>
    %collapsed_28 = tensor.collapse_shape %39 [[0, 1], [2], [3]] : tensor<2x2x24x24xf32> into tensor<4x24x24xf32>
    %collapsed_29 = tensor.collapse_shape %transposed_7 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %40 = tensor.empty() : tensor<4x24x32xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %42 = linalg.batch_matmul ins(%collapsed_28, %collapsed_29 : tensor<4x24x24xf32>, tensor<4x24x32xf32>) outs(%41 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_30 = tensor.expand_shape %42 [[0, 1], [2], [3]] output_shape [2, 2, 24, 32] : tensor<4x24x32xf32> into tensor<2x2x24x32xf32>
    %43 = tensor.empty() : tensor<2x24x2x32xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<2x2x24x32xf32>) outs(%43 : tensor<2x24x2x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_32 = tensor.collapse_shape %transposed_31 [[0, 1], [2, 3]] : tensor<2x24x2x32xf32> into tensor<48x64xf32>
    %transposed_33 = linalg.transpose ins(%arg10 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %44 = linalg.matmul ins(%collapsed_32, %transposed_33 : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%44, %arg11 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %46 = arith.addf %in, %in_35 : f32
      linalg.yield %46 : f32
    } -> tensor<48x64xf32>
    %expanded_34 = tensor.expand_shape %45 [[0, 1], [2]] output_shape [2, 24, 64] : tensor<48x64xf32> into tensor<2x24x64xf32>
    return %expanded_34 : tensor<2x24x64xf32>
  }
}

