// BERT self-attention, additive key mask as input: B=2, H=4, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: attention_mask
//   %arg2: layer.self.query.weight
//   %arg3: layer.self.query.bias
//   %arg4: layer.self.key.weight
//   %arg5: layer.self.key.bias
//   %arg6: layer.self.value.weight
//   %arg7: layer.self.value.bias
//   %arg8: layer.output.dense.weight
//   %arg9: layer.output.dense.bias
//   %arg10: layer.output.LayerNorm.weight
//   %arg11: layer.output.LayerNorm.bias

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @bert(%arg0: tensor<2x40x256xf32>, %arg1: tensor<2x1x1x40xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256x256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256x256xf32>, %arg9: tensor<256xf32>, %arg10: tensor<256xf32>, %arg11: tensor<256xf32>) -> tensor<2x40x256xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 9.9999999999999998E-13 : f64
    %cst_2 = arith.constant 1.250000e-01 : f32
    %cst_3 = arith.constant 2.560000e+02 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf32> into tensor<80x256xf32>
    %0 = tensor.empty() : tensor<256x256xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<80x256xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg3 : tensor<80x256xf32>, tensor<256xf32>) outs(%1 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.addf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<80x256xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %5 = tensor.empty() : tensor<2x4x40x64xf32>
    %transposed_4 = linalg.transpose ins(%expanded : tensor<2x40x4x64xf32>) outs(%5 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_5 = linalg.transpose ins(%arg4 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%collapsed, %transposed_5 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %arg5 : tensor<80x256xf32>, tensor<256xf32>) outs(%1 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.addf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<80x256xf32>
    %expanded_6 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_7 = linalg.transpose ins(%arg6 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %arg7 : tensor<80x256xf32>, tensor<256xf32>) outs(%1 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.addf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<80x256xf32>
    %expanded_8 = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x40x4x64xf32>) outs(%5 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %10 = tensor.empty() : tensor<2x4x64x40xf32>
    %transposed_10 = linalg.transpose ins(%expanded_6 : tensor<2x40x4x64xf32>) outs(%10 : tensor<2x4x64x40xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_11 = tensor.collapse_shape %transposed_4 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %collapsed_12 = tensor.collapse_shape %transposed_10 [[0, 1], [2], [3]] : tensor<2x4x64x40xf32> into tensor<8x64x40xf32>
    %11 = tensor.empty() : tensor<8x40x40xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %13 = linalg.batch_matmul ins(%collapsed_11, %collapsed_12 : tensor<8x40x64xf32>, tensor<8x64x40xf32>) outs(%12 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %expanded_13 = tensor.expand_shape %13 [[0, 1], [2], [3]] output_shape [2, 4, 40, 40] : tensor<8x40x40xf32> into tensor<2x4x40x40xf32>
    %14 = tensor.empty() : tensor<2x4x40x40xf32>
    %15 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_13 : tensor<2x4x40x40xf32>) outs(%14 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.mulf %in, %cst_2 : f32
      linalg.yield %51 : f32
    } -> tensor<2x4x40x40xf32>
    %16 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %arg1 : tensor<2x4x40x40xf32>, tensor<2x1x1x40xf32>) outs(%14 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.addf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x4x40x40xf32>
    %17 = tensor.empty() : tensor<2x4x40xi64>
    %18 = linalg.fill ins(%c0_i64 : i64) outs(%17 : tensor<2x4x40xi64>) -> tensor<2x4x40xi64>
    %19 = tensor.empty() : tensor<2x4x40xf32>
    %20 = linalg.fill ins(%cst_0 : f32) outs(%19 : tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %21:2 = linalg.generic {indexing_maps = [#map2, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%16 : tensor<2x4x40x40xf32>) outs(%20, %18 : tensor<2x4x40xf32>, tensor<2x4x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_24: i64):
      %51 = linalg.index 3 : index
      %52 = arith.index_cast %51 : index to i64
      %53 = arith.maximumf %in, %out : f32
      %54 = arith.cmpf ogt, %in, %out : f32
      %55 = arith.select %54, %52, %out_24 : i64
      linalg.yield %53, %55 : f32, i64
    } -> (tensor<2x4x40xf32>, tensor<2x4x40xi64>)
    %expanded_14 = tensor.expand_shape %21#0 [[0], [1], [2, 3]] output_shape [2, 4, 40, 1] : tensor<2x4x40xf32> into tensor<2x4x40x1xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %expanded_14 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%14 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.subf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x4x40x40xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<2x4x40x40xf32>) outs(%14 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = math.exp %in : f32
      linalg.yield %51 : f32
    } -> tensor<2x4x40x40xf32>
    %24 = tensor.empty() : tensor<2x4x40x1xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<2x4x40x40xf32>) outs(%25 : tensor<2x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %in, %out : f32
      linalg.yield %51 : f32
    } -> tensor<2x4x40x1xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %26 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%14 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.divf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x4x40x40xf32>
    %collapsed_15 = tensor.collapse_shape %27 [[0, 1], [2], [3]] : tensor<2x4x40x40xf32> into tensor<8x40x40xf32>
    %collapsed_16 = tensor.collapse_shape %transposed_9 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %28 = tensor.empty() : tensor<8x40x64xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %30 = linalg.batch_matmul ins(%collapsed_15, %collapsed_16 : tensor<8x40x40xf32>, tensor<8x40x64xf32>) outs(%29 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %expanded_17 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [2, 4, 40, 64] : tensor<8x40x64xf32> into tensor<2x4x40x64xf32>
    %31 = tensor.empty() : tensor<2x40x4x64xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<2x4x40x64xf32>) outs(%31 : tensor<2x40x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_19 = tensor.collapse_shape %transposed_18 [[0, 1], [2, 3]] : tensor<2x40x4x64xf32> into tensor<80x256xf32>
    %transposed_20 = linalg.transpose ins(%arg8 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %32 = linalg.matmul ins(%collapsed_19, %transposed_20 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%32, %arg9 : tensor<80x256xf32>, tensor<256xf32>) outs(%1 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.addf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<80x256xf32>
    %expanded_21 = tensor.expand_shape %33 [[0, 1], [2]] output_shape [2, 40, 256] : tensor<80x256xf32> into tensor<2x40x256xf32>
    %34 = tensor.empty() : tensor<2x40x256xf32>
    %35 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_21, %arg0 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.addf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x256xf32>
    %36 = tensor.empty() : tensor<2x40x1xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %38 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%35 : tensor<2x40x256xf32>) outs(%37 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %in, %out : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x1xf32>
    %39 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<2x40x1xf32>) outs(%36 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.divf %in, %cst_3 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x1xf32>
    %collapsed_22 = tensor.collapse_shape %39 [[0], [1, 2]] : tensor<2x40x1xf32> into tensor<2x40xf32>
    %40 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_22 : tensor<2x40xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x256xf32>
    %41 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %40 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.subf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x256xf32>
    %42 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41, %41 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.mulf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x256xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%42 : tensor<2x40x256xf32>) outs(%37 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %in, %out : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x1xf32>
    %44 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : tensor<2x40x1xf32>) outs(%36 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.divf %in, %cst_3 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x1xf32>
    %45 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44 : tensor<2x40x1xf32>) outs(%36 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.truncf %cst_1 : f64 to f32
      %52 = arith.addf %in, %51 : f32
      linalg.yield %52 : f32
    } -> tensor<2x40x1xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<2x40x1xf32>) outs(%36 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = math.rsqrt %in : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x1xf32>
    %collapsed_23 = tensor.collapse_shape %46 [[0], [1, 2]] : tensor<2x40x1xf32> into tensor<2x40xf32>
    %47 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_23 : tensor<2x40xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x256xf32>
    %48 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41, %47 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.mulf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x256xf32>
    %49 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %arg10 : tensor<2x40x256xf32>, tensor<256xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.mulf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x256xf32>
    %50 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49, %arg11 : tensor<2x40x256xf32>, tensor<256xf32>) outs(%34 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %51 = arith.addf %in, %in_24 : f32
      linalg.yield %51 : f32
    } -> tensor<2x40x256xf32>
    return %50 : tensor<2x40x256xf32>
  }
}

