// Swin window self-attention, bias from a table by computed index: B=4, H=2, 7 x 7 positions, D=32.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.q_proj.weight
//   %arg2: layer.q_proj.bias
//   %arg3: layer.k_proj.weight
//   %arg4: layer.k_proj.bias
//   %arg5: layer.v_proj.weight
//   %arg6: layer.v_proj.bias
//   %arg7: layer.o_proj.weight
//   %arg8: layer.o_proj.bias
//   %arg9: layer.relative_position_bias.relative_position_bias_table

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map8 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @swin(%arg0: tensor<4x49x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64xf32>, %arg9: tensor<169x2xf32>) -> tensor<4x49x64xf32> {
    %c13_i64 = arith.constant 13 : i64
    %c6_i64 = arith.constant 6 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c169_i64 = arith.constant 169 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.17677669529663689 : f64
    %0 = tensor.empty() : tensor<7xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<7xi64>) {
    ^bb0(%out: i64):
      %68 = linalg.index 0 : index
      %69 = arith.index_cast %68 : index to i64
      linalg.yield %69 : i64
    } -> tensor<7xi64>
    %2 = tensor.empty() : tensor<7x7xi64>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<7xi64>) outs(%2 : tensor<7x7xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<7x7xi64>
    %4 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<7xi64>) outs(%2 : tensor<7x7xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<7x7xi64>
    %concat = tensor.concat dim(0) %3, %4 : (tensor<7x7xi64>, tensor<7x7xi64>) -> tensor<14x7xi64>
    %expanded = tensor.expand_shape %concat [[0, 1], [2]] output_shape [2, 7, 7] : tensor<14x7xi64> into tensor<2x7x7xi64>
    %collapsed = tensor.collapse_shape %expanded [[0], [1, 2]] : tensor<2x7x7xi64> into tensor<2x49xi64>
    %expanded_2 = tensor.expand_shape %collapsed [[0], [1, 2]] output_shape [2, 49, 1] : tensor<2x49xi64> into tensor<2x49x1xi64>
    %expanded_3 = tensor.expand_shape %collapsed [[0], [1, 2]] output_shape [2, 1, 49] : tensor<2x49xi64> into tensor<2x1x49xi64>
    %5 = tensor.empty() : tensor<2x49x49xi64>
    %6 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_2, %expanded_3 : tensor<2x49x1xi64>, tensor<2x1x49xi64>) outs(%5 : tensor<2x49x49xi64>) {
    ^bb0(%in: i64, %in_41: i64, %out: i64):
      %68 = arith.subi %in, %in_41 : i64
      linalg.yield %68 : i64
    } -> tensor<2x49x49xi64>
    %7 = tensor.empty() : tensor<49x49x2xi64>
    %transposed = linalg.transpose ins(%6 : tensor<2x49x49xi64>) outs(%7 : tensor<49x49x2xi64>) permutation = [1, 2, 0] 
    %extracted_slice = tensor.extract_slice %transposed[0, 0, 0] [49, 49, 1] [1, 1, 1] : tensor<49x49x2xi64> to tensor<49x49x1xi64>
    %collapsed_4 = tensor.collapse_shape %extracted_slice [[0], [1, 2]] : tensor<49x49x1xi64> into tensor<49x49xi64>
    %8 = tensor.empty() : tensor<49x49xi64>
    %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_4 : tensor<49x49xi64>) outs(%8 : tensor<49x49xi64>) {
    ^bb0(%in: i64, %out: i64):
      %68 = arith.addi %in, %c6_i64 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49xi64>
    %10 = tensor.empty() : tensor<2xi64>
    %11 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%10 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %68 = linalg.index 0 : index
      %69 = arith.index_cast %68 : index to i64
      linalg.yield %69 : i64
    } -> tensor<2xi64>
    %expanded_5 = tensor.expand_shape %11 [[0, 1, 2]] output_shape [1, 1, 2] : tensor<2xi64> into tensor<1x1x2xi64>
    %12 = tensor.empty() : tensor<1x1x2xi1>
    %13 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_5 : tensor<1x1x2xi64>) outs(%12 : tensor<1x1x2xi1>) {
    ^bb0(%in: i64, %out: i1):
      %68 = arith.cmpi eq, %in, %c0_i64 : i64
      linalg.yield %68 : i1
    } -> tensor<1x1x2xi1>
    %14 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<49x49xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<49x49x2xi64>
    %15 = linalg.generic {indexing_maps = [#map8, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %14, %transposed : tensor<1x1x2xi1>, tensor<49x49x2xi64>, tensor<49x49x2xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i1, %in_41: i64, %in_42: i64, %out: i64):
      %68 = arith.select %in, %in_41, %in_42 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49x2xi64>
    %extracted_slice_6 = tensor.extract_slice %15[0, 0, 0] [49, 49, 1] [1, 1, 1] : tensor<49x49x2xi64> to tensor<49x49x1xi64>
    %collapsed_7 = tensor.collapse_shape %extracted_slice_6 [[0], [1, 2]] : tensor<49x49x1xi64> into tensor<49x49xi64>
    %16 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_7 : tensor<49x49xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<49x49x2xi64>
    %17 = linalg.generic {indexing_maps = [#map8, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %16, %15 : tensor<1x1x2xi1>, tensor<49x49x2xi64>, tensor<49x49x2xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i1, %in_41: i64, %in_42: i64, %out: i64):
      %68 = arith.select %in, %in_41, %in_42 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49x2xi64>
    %extracted_slice_8 = tensor.extract_slice %17[0, 0, 1] [49, 49, 1] [1, 1, 1] : tensor<49x49x2xi64> to tensor<49x49x1xi64>
    %collapsed_9 = tensor.collapse_shape %extracted_slice_8 [[0], [1, 2]] : tensor<49x49x1xi64> into tensor<49x49xi64>
    %18 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_9 : tensor<49x49xi64>) outs(%8 : tensor<49x49xi64>) {
    ^bb0(%in: i64, %out: i64):
      %68 = arith.addi %in, %c6_i64 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49xi64>
    %19 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_5 : tensor<1x1x2xi64>) outs(%12 : tensor<1x1x2xi1>) {
    ^bb0(%in: i64, %out: i1):
      %68 = arith.cmpi eq, %in, %c1_i64 : i64
      linalg.yield %68 : i1
    } -> tensor<1x1x2xi1>
    %20 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<49x49xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<49x49x2xi64>
    %21 = linalg.generic {indexing_maps = [#map8, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %20, %17 : tensor<1x1x2xi1>, tensor<49x49x2xi64>, tensor<49x49x2xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i1, %in_41: i64, %in_42: i64, %out: i64):
      %68 = arith.select %in, %in_41, %in_42 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49x2xi64>
    %extracted_slice_10 = tensor.extract_slice %21[0, 0, 1] [49, 49, 1] [1, 1, 1] : tensor<49x49x2xi64> to tensor<49x49x1xi64>
    %collapsed_11 = tensor.collapse_shape %extracted_slice_10 [[0], [1, 2]] : tensor<49x49x1xi64> into tensor<49x49xi64>
    %22 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_11 : tensor<49x49xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<49x49x2xi64>
    %23 = linalg.generic {indexing_maps = [#map8, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %22, %21 : tensor<1x1x2xi1>, tensor<49x49x2xi64>, tensor<49x49x2xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i1, %in_41: i64, %in_42: i64, %out: i64):
      %68 = arith.select %in, %in_41, %in_42 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49x2xi64>
    %extracted_slice_12 = tensor.extract_slice %23[0, 0, 0] [49, 49, 1] [1, 1, 1] : tensor<49x49x2xi64> to tensor<49x49x1xi64>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_12 [[0], [1, 2]] : tensor<49x49x1xi64> into tensor<49x49xi64>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_13 : tensor<49x49xi64>) outs(%8 : tensor<49x49xi64>) {
    ^bb0(%in: i64, %out: i64):
      %68 = arith.muli %in, %c13_i64 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49xi64>
    %25 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<49x49xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<49x49x2xi64>
    %26 = linalg.generic {indexing_maps = [#map8, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %25, %23 : tensor<1x1x2xi1>, tensor<49x49x2xi64>, tensor<49x49x2xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i1, %in_41: i64, %in_42: i64, %out: i64):
      %68 = arith.select %in, %in_41, %in_42 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49x2xi64>
    %extracted_slice_14 = tensor.extract_slice %26[0, 0, 0] [49, 49, 1] [1, 1, 1] : tensor<49x49x2xi64> to tensor<49x49x1xi64>
    %collapsed_15 = tensor.collapse_shape %extracted_slice_14 [[0], [1, 2]] : tensor<49x49x1xi64> into tensor<49x49xi64>
    %27 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_15 : tensor<49x49xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<49x49x2xi64>
    %28 = linalg.generic {indexing_maps = [#map8, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %27, %26 : tensor<1x1x2xi1>, tensor<49x49x2xi64>, tensor<49x49x2xi64>) outs(%7 : tensor<49x49x2xi64>) {
    ^bb0(%in: i1, %in_41: i64, %in_42: i64, %out: i64):
      %68 = arith.select %in, %in_41, %in_42 : i64
      linalg.yield %68 : i64
    } -> tensor<49x49x2xi64>
    %29 = linalg.fill ins(%c0_i64 : i64) outs(%8 : tensor<49x49xi64>) -> tensor<49x49xi64>
    %30 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%28 : tensor<49x49x2xi64>) outs(%29 : tensor<49x49xi64>) {
    ^bb0(%in: i64, %out: i64):
      %68 = arith.addi %in, %out : i64
      linalg.yield %68 : i64
    } -> tensor<49x49xi64>
    %collapsed_16 = tensor.collapse_shape %30 [[0, 1]] : tensor<49x49xi64> into tensor<2401xi64>
    %collapsed_17 = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<4x49x64xf32> into tensor<196x64xf32>
    %31 = tensor.empty() : tensor<64x64xf32>
    %transposed_18 = linalg.transpose ins(%arg1 : tensor<64x64xf32>) outs(%31 : tensor<64x64xf32>) permutation = [1, 0] 
    %32 = tensor.empty() : tensor<196x64xf32>
    %33 = linalg.fill ins(%cst : f32) outs(%32 : tensor<196x64xf32>) -> tensor<196x64xf32>
    %34 = linalg.matmul ins(%collapsed_17, %transposed_18 : tensor<196x64xf32>, tensor<64x64xf32>) outs(%33 : tensor<196x64xf32>) -> tensor<196x64xf32>
    %35 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%34, %arg2 : tensor<196x64xf32>, tensor<64xf32>) outs(%32 : tensor<196x64xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %68 = arith.addf %in, %in_41 : f32
      linalg.yield %68 : f32
    } -> tensor<196x64xf32>
    %expanded_19 = tensor.expand_shape %35 [[0, 1], [2, 3]] output_shape [4, 49, 2, 32] : tensor<196x64xf32> into tensor<4x49x2x32xf32>
    %36 = tensor.empty() : tensor<4x2x49x32xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<4x49x2x32xf32>) outs(%36 : tensor<4x2x49x32xf32>) permutation = [0, 2, 1, 3] 
    %transposed_21 = linalg.transpose ins(%arg3 : tensor<64x64xf32>) outs(%31 : tensor<64x64xf32>) permutation = [1, 0] 
    %37 = linalg.matmul ins(%collapsed_17, %transposed_21 : tensor<196x64xf32>, tensor<64x64xf32>) outs(%33 : tensor<196x64xf32>) -> tensor<196x64xf32>
    %38 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%37, %arg4 : tensor<196x64xf32>, tensor<64xf32>) outs(%32 : tensor<196x64xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %68 = arith.addf %in, %in_41 : f32
      linalg.yield %68 : f32
    } -> tensor<196x64xf32>
    %expanded_22 = tensor.expand_shape %38 [[0, 1], [2, 3]] output_shape [4, 49, 2, 32] : tensor<196x64xf32> into tensor<4x49x2x32xf32>
    %transposed_23 = linalg.transpose ins(%arg5 : tensor<64x64xf32>) outs(%31 : tensor<64x64xf32>) permutation = [1, 0] 
    %39 = linalg.matmul ins(%collapsed_17, %transposed_23 : tensor<196x64xf32>, tensor<64x64xf32>) outs(%33 : tensor<196x64xf32>) -> tensor<196x64xf32>
    %40 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%39, %arg6 : tensor<196x64xf32>, tensor<64xf32>) outs(%32 : tensor<196x64xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %68 = arith.addf %in, %in_41 : f32
      linalg.yield %68 : f32
    } -> tensor<196x64xf32>
    %expanded_24 = tensor.expand_shape %40 [[0, 1], [2, 3]] output_shape [4, 49, 2, 32] : tensor<196x64xf32> into tensor<4x49x2x32xf32>
    %transposed_25 = linalg.transpose ins(%expanded_24 : tensor<4x49x2x32xf32>) outs(%36 : tensor<4x2x49x32xf32>) permutation = [0, 2, 1, 3] 
    %41 = tensor.empty() : tensor<2401x2xf32>
    %42 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_16 : tensor<2401xi64>) outs(%41 : tensor<2401x2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %68 = arith.cmpi slt, %in, %c0_i64 : i64
      %69 = arith.addi %in, %c169_i64 : i64
      %70 = arith.select %68, %69, %in : i64
      %71 = arith.index_cast %70 : i64 to index
      %72 = linalg.index 1 : index
      %extracted = tensor.extract %arg9[%71, %72] : tensor<169x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<2401x2xf32>
    %expanded_26 = tensor.expand_shape %42 [[0, 1], [2]] output_shape [49, 49, 2] : tensor<2401x2xf32> into tensor<49x49x2xf32>
    %43 = tensor.empty() : tensor<2x49x49xf32>
    %transposed_27 = linalg.transpose ins(%expanded_26 : tensor<49x49x2xf32>) outs(%43 : tensor<2x49x49xf32>) permutation = [2, 0, 1] 
    %expanded_28 = tensor.expand_shape %transposed_27 [[0, 1], [2], [3]] output_shape [1, 2, 49, 49] : tensor<2x49x49xf32> into tensor<1x2x49x49xf32>
    %44 = tensor.empty() : tensor<4x2x32x49xf32>
    %transposed_29 = linalg.transpose ins(%expanded_22 : tensor<4x49x2x32xf32>) outs(%44 : tensor<4x2x32x49xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_30 = tensor.collapse_shape %transposed_20 [[0, 1], [2], [3]] : tensor<4x2x49x32xf32> into tensor<8x49x32xf32>
    %collapsed_31 = tensor.collapse_shape %transposed_29 [[0, 1], [2], [3]] : tensor<4x2x32x49xf32> into tensor<8x32x49xf32>
    %45 = tensor.empty() : tensor<8x49x49xf32>
    %46 = linalg.fill ins(%cst : f32) outs(%45 : tensor<8x49x49xf32>) -> tensor<8x49x49xf32>
    %47 = linalg.batch_matmul ins(%collapsed_30, %collapsed_31 : tensor<8x49x32xf32>, tensor<8x32x49xf32>) outs(%46 : tensor<8x49x49xf32>) -> tensor<8x49x49xf32>
    %expanded_32 = tensor.expand_shape %47 [[0, 1], [2], [3]] output_shape [4, 2, 49, 49] : tensor<8x49x49xf32> into tensor<4x2x49x49xf32>
    %48 = tensor.empty() : tensor<4x2x49x49xf32>
    %49 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_32 : tensor<4x2x49x49xf32>) outs(%48 : tensor<4x2x49x49xf32>) {
    ^bb0(%in: f32, %out: f32):
      %68 = arith.truncf %cst_1 : f64 to f32
      %69 = arith.mulf %in, %68 : f32
      linalg.yield %69 : f32
    } -> tensor<4x2x49x49xf32>
    %50 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49, %expanded_28 : tensor<4x2x49x49xf32>, tensor<1x2x49x49xf32>) outs(%48 : tensor<4x2x49x49xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %68 = arith.addf %in, %in_41 : f32
      linalg.yield %68 : f32
    } -> tensor<4x2x49x49xf32>
    %51 = tensor.empty() : tensor<4x2x49xi64>
    %52 = linalg.fill ins(%c0_i64 : i64) outs(%51 : tensor<4x2x49xi64>) -> tensor<4x2x49xi64>
    %53 = tensor.empty() : tensor<4x2x49xf32>
    %54 = linalg.fill ins(%cst_0 : f32) outs(%53 : tensor<4x2x49xf32>) -> tensor<4x2x49xf32>
    %55:2 = linalg.generic {indexing_maps = [#map9, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%50 : tensor<4x2x49x49xf32>) outs(%54, %52 : tensor<4x2x49xf32>, tensor<4x2x49xi64>) {
    ^bb0(%in: f32, %out: f32, %out_41: i64):
      %68 = linalg.index 3 : index
      %69 = arith.index_cast %68 : index to i64
      %70 = arith.maximumf %in, %out : f32
      %71 = arith.cmpf ogt, %in, %out : f32
      %72 = arith.select %71, %69, %out_41 : i64
      linalg.yield %70, %72 : f32, i64
    } -> (tensor<4x2x49xf32>, tensor<4x2x49xi64>)
    %expanded_33 = tensor.expand_shape %55#0 [[0], [1], [2, 3]] output_shape [4, 2, 49, 1] : tensor<4x2x49xf32> into tensor<4x2x49x1xf32>
    %56 = linalg.generic {indexing_maps = [#map9, #map12, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %expanded_33 : tensor<4x2x49x49xf32>, tensor<4x2x49x1xf32>) outs(%48 : tensor<4x2x49x49xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %68 = arith.subf %in, %in_41 : f32
      linalg.yield %68 : f32
    } -> tensor<4x2x49x49xf32>
    %57 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56 : tensor<4x2x49x49xf32>) outs(%48 : tensor<4x2x49x49xf32>) {
    ^bb0(%in: f32, %out: f32):
      %68 = math.exp %in : f32
      linalg.yield %68 : f32
    } -> tensor<4x2x49x49xf32>
    %58 = tensor.empty() : tensor<4x2x49x1xf32>
    %59 = linalg.fill ins(%cst : f32) outs(%58 : tensor<4x2x49x1xf32>) -> tensor<4x2x49x1xf32>
    %60 = linalg.generic {indexing_maps = [#map9, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%57 : tensor<4x2x49x49xf32>) outs(%59 : tensor<4x2x49x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %68 = arith.addf %in, %out : f32
      linalg.yield %68 : f32
    } -> tensor<4x2x49x1xf32>
    %61 = linalg.generic {indexing_maps = [#map9, #map12, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57, %60 : tensor<4x2x49x49xf32>, tensor<4x2x49x1xf32>) outs(%48 : tensor<4x2x49x49xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %68 = arith.divf %in, %in_41 : f32
      linalg.yield %68 : f32
    } -> tensor<4x2x49x49xf32>
    %collapsed_34 = tensor.collapse_shape %61 [[0, 1], [2], [3]] : tensor<4x2x49x49xf32> into tensor<8x49x49xf32>
    %collapsed_35 = tensor.collapse_shape %transposed_25 [[0, 1], [2], [3]] : tensor<4x2x49x32xf32> into tensor<8x49x32xf32>
    %62 = tensor.empty() : tensor<8x49x32xf32>
    %63 = linalg.fill ins(%cst : f32) outs(%62 : tensor<8x49x32xf32>) -> tensor<8x49x32xf32>
    %64 = linalg.batch_matmul ins(%collapsed_34, %collapsed_35 : tensor<8x49x49xf32>, tensor<8x49x32xf32>) outs(%63 : tensor<8x49x32xf32>) -> tensor<8x49x32xf32>
    %expanded_36 = tensor.expand_shape %64 [[0, 1], [2], [3]] output_shape [4, 2, 49, 32] : tensor<8x49x32xf32> into tensor<4x2x49x32xf32>
    %65 = tensor.empty() : tensor<4x49x2x32xf32>
    %transposed_37 = linalg.transpose ins(%expanded_36 : tensor<4x2x49x32xf32>) outs(%65 : tensor<4x49x2x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_38 = tensor.collapse_shape %transposed_37 [[0, 1], [2, 3]] : tensor<4x49x2x32xf32> into tensor<196x64xf32>
    %transposed_39 = linalg.transpose ins(%arg7 : tensor<64x64xf32>) outs(%31 : tensor<64x64xf32>) permutation = [1, 0] 
    %66 = linalg.matmul ins(%collapsed_38, %transposed_39 : tensor<196x64xf32>, tensor<64x64xf32>) outs(%33 : tensor<196x64xf32>) -> tensor<196x64xf32>
    %67 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%66, %arg8 : tensor<196x64xf32>, tensor<64xf32>) outs(%32 : tensor<196x64xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %68 = arith.addf %in, %in_41 : f32
      linalg.yield %68 : f32
    } -> tensor<196x64xf32>
    %expanded_40 = tensor.expand_shape %67 [[0, 1], [2]] output_shape [4, 49, 64] : tensor<196x64xf32> into tensor<4x49x64xf32>
    return %expanded_40 : tensor<4x49x64xf32>
  }
}

