// BLOOM attention, ALiBi as input, added by baddbmm: B=2, H=4, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: alibi
//   %arg2: layer.query_key_value.weight
//   %arg3: layer.query_key_value.bias
//   %arg4: layer.dense.weight
//   %arg5: layer.dense.bias

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> ()>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1) -> (d1)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @bloom(%arg0: tensor<2x40x256xf32>, %arg1: tensor<8x1x40xf32>, %arg2: tensor<768x256xf32>, %arg3: tensor<768xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256xf32>) -> tensor<2x40x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 1.250000e-01 : f32
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %44 = linalg.index 0 : index
      %45 = arith.index_cast %44 : index to i64
      linalg.yield %45 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_4 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %2 = tensor.empty() : tensor<1x1x40x40xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %expanded : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%2 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_27: i64, %out: i1):
      %44 = arith.cmpi sle, %in, %in_27 : i64
      linalg.yield %44 : i1
    } -> tensor<1x1x40x40xi1>
    %4 = tensor.empty() : tensor<2x1x40x40xi1>
    %collapsed = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<1x1x40x40xi1> into tensor<1x40x40xi1>
    %5 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x40x40xi1>) outs(%4 : tensor<2x1x40x40xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x40x40xi1>
    %6 = tensor.empty() : tensor<2x1x40x40xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map5, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %cst_2, %cst_1 : tensor<2x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%6 : tensor<2x1x40x40xf32>) {
    ^bb0(%in: i1, %in_27: f32, %in_28: f32, %out: f32):
      %44 = arith.select %in, %in_27, %in_28 : f32
      linalg.yield %44 : f32
    } -> tensor<2x1x40x40xf32>
    %collapsed_5 = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf32> into tensor<80x256xf32>
    %8 = tensor.empty() : tensor<256x768xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<768x256xf32>) outs(%8 : tensor<256x768xf32>) permutation = [1, 0] 
    %9 = tensor.empty() : tensor<80x768xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<80x768xf32>) -> tensor<80x768xf32>
    %11 = linalg.matmul ins(%collapsed_5, %transposed : tensor<80x256xf32>, tensor<256x768xf32>) outs(%10 : tensor<80x768xf32>) -> tensor<80x768xf32>
    %12 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%11, %arg3 : tensor<80x768xf32>, tensor<768xf32>) outs(%9 : tensor<80x768xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %44 = arith.addf %in, %in_27 : f32
      linalg.yield %44 : f32
    } -> tensor<80x768xf32>
    %expanded_6 = tensor.expand_shape %12 [[0, 1], [2, 3, 4]] output_shape [2, 40, 4, 3, 64] : tensor<80x768xf32> into tensor<2x40x4x3x64xf32>
    %extracted_slice = tensor.extract_slice %expanded_6[0, 0, 0, 0, 0] [2, 40, 4, 1, 64] [1, 1, 1, 1, 1] : tensor<2x40x4x3x64xf32> to tensor<2x40x4x1x64xf32>
    %collapsed_7 = tensor.collapse_shape %extracted_slice [[0], [1], [2, 3], [4]] : tensor<2x40x4x1x64xf32> into tensor<2x40x4x64xf32>
    %13 = tensor.empty() : tensor<2x4x40x64xf32>
    %transposed_8 = linalg.transpose ins(%collapsed_7 : tensor<2x40x4x64xf32>) outs(%13 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_9 = tensor.extract_slice %expanded_6[0, 0, 0, 1, 0] [2, 40, 4, 1, 64] [1, 1, 1, 1, 1] : tensor<2x40x4x3x64xf32> to tensor<2x40x4x1x64xf32>
    %collapsed_10 = tensor.collapse_shape %extracted_slice_9 [[0], [1], [2, 3], [4]] : tensor<2x40x4x1x64xf32> into tensor<2x40x4x64xf32>
    %transposed_11 = linalg.transpose ins(%collapsed_10 : tensor<2x40x4x64xf32>) outs(%13 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_12 = tensor.extract_slice %expanded_6[0, 0, 0, 2, 0] [2, 40, 4, 1, 64] [1, 1, 1, 1, 1] : tensor<2x40x4x3x64xf32> to tensor<2x40x4x1x64xf32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_12 [[0], [1], [2, 3], [4]] : tensor<2x40x4x1x64xf32> into tensor<2x40x4x64xf32>
    %transposed_14 = linalg.transpose ins(%collapsed_13 : tensor<2x40x4x64xf32>) outs(%13 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_15 = tensor.collapse_shape %transposed_8 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %collapsed_16 = tensor.collapse_shape %transposed_11 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %14 = tensor.empty() : tensor<8x64x40xf32>
    %transposed_17 = linalg.transpose ins(%collapsed_16 : tensor<8x40x64xf32>) outs(%14 : tensor<8x64x40xf32>) permutation = [0, 2, 1] 
    %collapsed_18 = tensor.collapse_shape %transposed_14 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %15 = tensor.empty() : tensor<8x40x40xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %17 = linalg.batch_matmul ins(%collapsed_15, %transposed_17 : tensor<8x40x64xf32>, tensor<8x64x40xf32>) outs(%16 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %18 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<8x40x40xf32>) outs(%15 : tensor<8x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.mulf %in, %cst_3 : f32
      linalg.yield %44 : f32
    } -> tensor<8x40x40xf32>
    %19 = linalg.generic {indexing_maps = [#map9, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %18 : tensor<8x1x40xf32>, tensor<8x40x40xf32>) outs(%15 : tensor<8x40x40xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %44 = arith.addf %in, %in_27 : f32
      linalg.yield %44 : f32
    } -> tensor<8x40x40xf32>
    %expanded_19 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [2, 4, 40, 40] : tensor<8x40x40xf32> into tensor<2x4x40x40xf32>
    %20 = tensor.empty() : tensor<2x4x40x40xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19, %7 : tensor<2x4x40x40xf32>, tensor<2x1x40x40xf32>) outs(%20 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %44 = arith.addf %in, %in_27 : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x40x40xf32>
    %22 = tensor.empty() : tensor<2x4x40xi64>
    %23 = linalg.fill ins(%c0_i64 : i64) outs(%22 : tensor<2x4x40xi64>) -> tensor<2x4x40xi64>
    %24 = tensor.empty() : tensor<2x4x40xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%24 : tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %26:2 = linalg.generic {indexing_maps = [#map3, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%21 : tensor<2x4x40x40xf32>) outs(%25, %23 : tensor<2x4x40xf32>, tensor<2x4x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_27: i64):
      %44 = linalg.index 3 : index
      %45 = arith.index_cast %44 : index to i64
      %46 = arith.maximumf %in, %out : f32
      %47 = arith.cmpf ogt, %in, %out : f32
      %48 = arith.select %47, %45, %out_27 : i64
      linalg.yield %46, %48 : f32, i64
    } -> (tensor<2x4x40xf32>, tensor<2x4x40xi64>)
    %expanded_20 = tensor.expand_shape %26#0 [[0], [1], [2, 3]] output_shape [2, 4, 40, 1] : tensor<2x4x40xf32> into tensor<2x4x40x1xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %expanded_20 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%20 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %44 = arith.subf %in, %in_27 : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x40x40xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%27 : tensor<2x4x40x40xf32>) outs(%20 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.exp %in : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x40x40xf32>
    %29 = tensor.empty() : tensor<2x4x40x1xf32>
    %30 = linalg.fill ins(%cst : f32) outs(%29 : tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<2x4x40x40xf32>) outs(%30 : tensor<2x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.addf %in, %out : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x40x1xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %31 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%20 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %44 = arith.divf %in, %in_27 : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x40x40xf32>
    %collapsed_21 = tensor.collapse_shape %32 [[0, 1], [2], [3]] : tensor<2x4x40x40xf32> into tensor<8x40x40xf32>
    %33 = tensor.empty() : tensor<8x40x64xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %35 = linalg.batch_matmul ins(%collapsed_21, %collapsed_18 : tensor<8x40x40xf32>, tensor<8x40x64xf32>) outs(%34 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %expanded_22 = tensor.expand_shape %35 [[0, 1], [2], [3]] output_shape [2, 4, 40, 64] : tensor<8x40x64xf32> into tensor<2x4x40x64xf32>
    %36 = tensor.empty() : tensor<2x40x4x64xf32>
    %transposed_23 = linalg.transpose ins(%expanded_22 : tensor<2x4x40x64xf32>) outs(%36 : tensor<2x40x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_24 = tensor.collapse_shape %transposed_23 [[0, 1], [2, 3]] : tensor<2x40x4x64xf32> into tensor<80x256xf32>
    %37 = tensor.empty() : tensor<256x256xf32>
    %transposed_25 = linalg.transpose ins(%arg4 : tensor<256x256xf32>) outs(%37 : tensor<256x256xf32>) permutation = [1, 0] 
    %38 = tensor.empty() : tensor<80x256xf32>
    %39 = linalg.fill ins(%cst : f32) outs(%38 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %40 = linalg.matmul ins(%collapsed_24, %transposed_25 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%39 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %41 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%40, %arg5 : tensor<80x256xf32>, tensor<256xf32>) outs(%38 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %44 = arith.addf %in, %in_27 : f32
      linalg.yield %44 : f32
    } -> tensor<80x256xf32>
    %expanded_26 = tensor.expand_shape %41 [[0, 1], [2]] output_shape [2, 40, 256] : tensor<80x256xf32> into tensor<2x40x256xf32>
    %42 = tensor.empty() : tensor<2x40x256xf32>
    %43 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_26 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%42 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %44 = arith.addf %in, %in_27 : f32
      linalg.yield %44 : f32
    } -> tensor<2x40x256xf32>
    return %43 : tensor<2x40x256xf32>
  }
}

