// GPT-2 causal self-attention: B=2, H=4, M=N=48, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.c_attn.weight
//   %arg2: layer.c_attn.bias
//   %arg3: layer.c_proj.weight
//   %arg4: layer.c_proj.bias

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> ()>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1) -> (d1)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @gpt2(%arg0: tensor<2x48x256xf32>, %arg1: tensor<256x768xf32>, %arg2: tensor<768xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256xf32>) -> tensor<2x48x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 1.250000e-01 : f32
    %0 = tensor.empty() : tensor<48xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<48xi64>) {
    ^bb0(%out: i64):
      %39 = linalg.index 0 : index
      %40 = arith.index_cast %39 : index to i64
      linalg.yield %40 : i64
    } -> tensor<48xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 48, 1] : tensor<48xi64> into tensor<1x1x48x1xi64>
    %expanded_4 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 48] : tensor<48xi64> into tensor<1x1x1x48xi64>
    %2 = tensor.empty() : tensor<1x1x48x48xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %expanded : tensor<1x1x1x48xi64>, tensor<1x1x48x1xi64>) outs(%2 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i64, %in_24: i64, %out: i1):
      %39 = arith.cmpi sle, %in, %in_24 : i64
      linalg.yield %39 : i1
    } -> tensor<1x1x48x48xi1>
    %4 = tensor.empty() : tensor<2x1x48x48xi1>
    %collapsed = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<1x1x48x48xi1> into tensor<1x48x48xi1>
    %5 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x48x48xi1>) outs(%4 : tensor<2x1x48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x48x48xi1>
    %6 = tensor.empty() : tensor<2x1x48x48xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map5, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %cst_2, %cst_1 : tensor<2x1x48x48xi1>, tensor<f32>, tensor<f32>) outs(%6 : tensor<2x1x48x48xf32>) {
    ^bb0(%in: i1, %in_24: f32, %in_25: f32, %out: f32):
      %39 = arith.select %in, %in_24, %in_25 : f32
      linalg.yield %39 : f32
    } -> tensor<2x1x48x48xf32>
    %collapsed_5 = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x48x256xf32> into tensor<96x256xf32>
    %8 = tensor.empty() : tensor<96x768xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<96x768xf32>) -> tensor<96x768xf32>
    %10 = linalg.matmul ins(%collapsed_5, %arg1 : tensor<96x256xf32>, tensor<256x768xf32>) outs(%9 : tensor<96x768xf32>) -> tensor<96x768xf32>
    %11 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%10, %arg2 : tensor<96x768xf32>, tensor<768xf32>) outs(%8 : tensor<96x768xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %39 = arith.addf %in, %in_24 : f32
      linalg.yield %39 : f32
    } -> tensor<96x768xf32>
    %expanded_6 = tensor.expand_shape %11 [[0, 1], [2]] output_shape [2, 48, 768] : tensor<96x768xf32> into tensor<2x48x768xf32>
    %extracted_slice = tensor.extract_slice %expanded_6[0, 0, 0] [2, 48, 256] [1, 1, 1] : tensor<2x48x768xf32> to tensor<2x48x256xf32>
    %extracted_slice_7 = tensor.extract_slice %expanded_6[0, 0, 256] [2, 48, 256] [1, 1, 1] : tensor<2x48x768xf32> to tensor<2x48x256xf32>
    %extracted_slice_8 = tensor.extract_slice %expanded_6[0, 0, 512] [2, 48, 256] [1, 1, 1] : tensor<2x48x768xf32> to tensor<2x48x256xf32>
    %expanded_9 = tensor.expand_shape %extracted_slice_7 [[0], [1], [2, 3]] output_shape [2, 48, 4, 64] : tensor<2x48x256xf32> into tensor<2x48x4x64xf32>
    %expanded_10 = tensor.expand_shape %extracted_slice_8 [[0], [1], [2, 3]] output_shape [2, 48, 4, 64] : tensor<2x48x256xf32> into tensor<2x48x4x64xf32>
    %12 = tensor.empty() : tensor<2x4x48x64xf32>
    %transposed = linalg.transpose ins(%expanded_10 : tensor<2x48x4x64xf32>) outs(%12 : tensor<2x4x48x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_11 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [2, 48, 4, 64] : tensor<2x48x256xf32> into tensor<2x48x4x64xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x48x4x64xf32>) outs(%12 : tensor<2x4x48x64xf32>) permutation = [0, 2, 1, 3] 
    %13 = tensor.empty() : tensor<2x4x64x48xf32>
    %transposed_13 = linalg.transpose ins(%expanded_9 : tensor<2x48x4x64xf32>) outs(%13 : tensor<2x4x64x48xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_14 = tensor.collapse_shape %transposed_12 [[0, 1], [2], [3]] : tensor<2x4x48x64xf32> into tensor<8x48x64xf32>
    %collapsed_15 = tensor.collapse_shape %transposed_13 [[0, 1], [2], [3]] : tensor<2x4x64x48xf32> into tensor<8x64x48xf32>
    %14 = tensor.empty() : tensor<8x48x48xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %16 = linalg.batch_matmul ins(%collapsed_14, %collapsed_15 : tensor<8x48x64xf32>, tensor<8x64x48xf32>) outs(%15 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %expanded_16 = tensor.expand_shape %16 [[0, 1], [2], [3]] output_shape [2, 4, 48, 48] : tensor<8x48x48xf32> into tensor<2x4x48x48xf32>
    %17 = tensor.empty() : tensor<2x4x48x48xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<2x4x48x48xf32>) outs(%17 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %39 = arith.mulf %in, %cst_3 : f32
      linalg.yield %39 : f32
    } -> tensor<2x4x48x48xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %7 : tensor<2x4x48x48xf32>, tensor<2x1x48x48xf32>) outs(%17 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %39 = arith.addf %in, %in_24 : f32
      linalg.yield %39 : f32
    } -> tensor<2x4x48x48xf32>
    %20 = tensor.empty() : tensor<2x4x48xi64>
    %21 = linalg.fill ins(%c0_i64 : i64) outs(%20 : tensor<2x4x48xi64>) -> tensor<2x4x48xi64>
    %22 = tensor.empty() : tensor<2x4x48xf32>
    %23 = linalg.fill ins(%cst_0 : f32) outs(%22 : tensor<2x4x48xf32>) -> tensor<2x4x48xf32>
    %24:2 = linalg.generic {indexing_maps = [#map3, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%19 : tensor<2x4x48x48xf32>) outs(%23, %21 : tensor<2x4x48xf32>, tensor<2x4x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_24: i64):
      %39 = linalg.index 3 : index
      %40 = arith.index_cast %39 : index to i64
      %41 = arith.maximumf %in, %out : f32
      %42 = arith.cmpf ogt, %in, %out : f32
      %43 = arith.select %42, %40, %out_24 : i64
      linalg.yield %41, %43 : f32, i64
    } -> (tensor<2x4x48xf32>, tensor<2x4x48xi64>)
    %expanded_17 = tensor.expand_shape %24#0 [[0], [1], [2, 3]] output_shape [2, 4, 48, 1] : tensor<2x4x48xf32> into tensor<2x4x48x1xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19, %expanded_17 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%17 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %39 = arith.subf %in, %in_24 : f32
      linalg.yield %39 : f32
    } -> tensor<2x4x48x48xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<2x4x48x48xf32>) outs(%17 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %39 = math.exp %in : f32
      linalg.yield %39 : f32
    } -> tensor<2x4x48x48xf32>
    %27 = tensor.empty() : tensor<2x4x48x1xf32>
    %28 = linalg.fill ins(%cst : f32) outs(%27 : tensor<2x4x48x1xf32>) -> tensor<2x4x48x1xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%26 : tensor<2x4x48x48xf32>) outs(%28 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %39 = arith.addf %in, %out : f32
      linalg.yield %39 : f32
    } -> tensor<2x4x48x1xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %29 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%17 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %39 = arith.divf %in, %in_24 : f32
      linalg.yield %39 : f32
    } -> tensor<2x4x48x48xf32>
    %collapsed_18 = tensor.collapse_shape %30 [[0, 1], [2], [3]] : tensor<2x4x48x48xf32> into tensor<8x48x48xf32>
    %collapsed_19 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x4x48x64xf32> into tensor<8x48x64xf32>
    %31 = tensor.empty() : tensor<8x48x64xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %33 = linalg.batch_matmul ins(%collapsed_18, %collapsed_19 : tensor<8x48x48xf32>, tensor<8x48x64xf32>) outs(%32 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %expanded_20 = tensor.expand_shape %33 [[0, 1], [2], [3]] output_shape [2, 4, 48, 64] : tensor<8x48x64xf32> into tensor<2x4x48x64xf32>
    %34 = tensor.empty() : tensor<2x48x4x64xf32>
    %transposed_21 = linalg.transpose ins(%expanded_20 : tensor<2x4x48x64xf32>) outs(%34 : tensor<2x48x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_22 = tensor.collapse_shape %transposed_21 [[0, 1], [2, 3]] : tensor<2x48x4x64xf32> into tensor<96x256xf32>
    %35 = tensor.empty() : tensor<96x256xf32>
    %36 = linalg.fill ins(%cst : f32) outs(%35 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %37 = linalg.matmul ins(%collapsed_22, %arg3 : tensor<96x256xf32>, tensor<256x256xf32>) outs(%36 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %38 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%37, %arg4 : tensor<96x256xf32>, tensor<256xf32>) outs(%35 : tensor<96x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %39 = arith.addf %in, %in_24 : f32
      linalg.yield %39 : f32
    } -> tensor<96x256xf32>
    %expanded_23 = tensor.expand_shape %38 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    return %expanded_23 : tensor<2x48x256xf32>
  }
}

