// torch.nn.MultiheadAttention with boolean padding mask, M != N: B=2, H=4, M=32, N=40, D=64.
// Exported by export.py with torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: query
//   %arg1: memory
//   %arg2: ignored_keys
//   %arg3: layer.in_proj_weight
//   %arg4: layer.in_proj_bias
//   %arg5: layer.out_proj.weight
//   %arg6: layer.out_proj.bias

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map10 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @torch_multihead_attention(%arg0: tensor<2x32x256xf32>, %arg1: tensor<2x40x256xf32>, %arg2: tensor<2x40xi1>, %arg3: tensor<768x256xf32>, %arg4: tensor<768xf32>, %arg5: tensor<256x256xf32>, %arg6: tensor<256xf32>) -> tensor<2x32x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x40xf32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant 1.250000e-01 : f32
    %0 = tensor.empty() : tensor<2x40xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2, %cst_2, %cst_1 : tensor<2x40xi1>, tensor<f32>, tensor<2x40xf32>) outs(%0 : tensor<2x40xf32>) {
    ^bb0(%in: i1, %in_32: f32, %in_33: f32, %out: f32):
      %47 = arith.select %in, %in_32, %in_33 : f32
      linalg.yield %47 : f32
    } -> tensor<2x40xf32>
    %2 = tensor.empty() : tensor<32x2x256xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<2x32x256xf32>) outs(%2 : tensor<32x2x256xf32>) permutation = [1, 0, 2] 
    %3 = tensor.empty() : tensor<40x2x256xf32>
    %transposed_4 = linalg.transpose ins(%arg1 : tensor<2x40x256xf32>) outs(%3 : tensor<40x2x256xf32>) permutation = [1, 0, 2] 
    %extracted_slice = tensor.extract_slice %arg3[0, 0] [256, 256] [1, 1] : tensor<768x256xf32> to tensor<256x256xf32>
    %extracted_slice_5 = tensor.extract_slice %arg3[256, 0] [512, 256] [1, 1] : tensor<768x256xf32> to tensor<512x256xf32>
    %extracted_slice_6 = tensor.extract_slice %arg4[0] [256] [1] : tensor<768xf32> to tensor<256xf32>
    %extracted_slice_7 = tensor.extract_slice %arg4[256] [512] [1] : tensor<768xf32> to tensor<512xf32>
    %4 = tensor.empty() : tensor<256x256xf32>
    %transposed_8 = linalg.transpose ins(%extracted_slice : tensor<256x256xf32>) outs(%4 : tensor<256x256xf32>) permutation = [1, 0] 
    %5 = tensor.empty() : tensor<32x256x256xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_8 : tensor<256x256xf32>) outs(%5 : tensor<32x256x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x256x256xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%2 : tensor<32x2x256xf32>) -> tensor<32x2x256xf32>
    %8 = linalg.batch_matmul ins(%transposed, %6 : tensor<32x2x256xf32>, tensor<32x256x256xf32>) outs(%7 : tensor<32x2x256xf32>) -> tensor<32x2x256xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %extracted_slice_6 : tensor<32x2x256xf32>, tensor<256xf32>) outs(%2 : tensor<32x2x256xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %47 = arith.addf %in, %in_32 : f32
      linalg.yield %47 : f32
    } -> tensor<32x2x256xf32>
    %10 = tensor.empty() : tensor<256x512xf32>
    %transposed_9 = linalg.transpose ins(%extracted_slice_5 : tensor<512x256xf32>) outs(%10 : tensor<256x512xf32>) permutation = [1, 0] 
    %11 = tensor.empty() : tensor<40x256x512xf32>
    %12 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_9 : tensor<256x512xf32>) outs(%11 : tensor<40x256x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x256x512xf32>
    %13 = tensor.empty() : tensor<40x2x512xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<40x2x512xf32>) -> tensor<40x2x512xf32>
    %15 = linalg.batch_matmul ins(%transposed_4, %12 : tensor<40x2x256xf32>, tensor<40x256x512xf32>) outs(%14 : tensor<40x2x512xf32>) -> tensor<40x2x512xf32>
    %16 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %extracted_slice_7 : tensor<40x2x512xf32>, tensor<512xf32>) outs(%13 : tensor<40x2x512xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %47 = arith.addf %in, %in_32 : f32
      linalg.yield %47 : f32
    } -> tensor<40x2x512xf32>
    %expanded = tensor.expand_shape %16 [[0, 1], [2], [3, 4]] output_shape [1, 40, 2, 2, 256] : tensor<40x2x512xf32> into tensor<1x40x2x2x256xf32>
    %17 = tensor.empty() : tensor<2x40x2x1x256xf32>
    %transposed_10 = linalg.transpose ins(%expanded : tensor<1x40x2x2x256xf32>) outs(%17 : tensor<2x40x2x1x256xf32>) permutation = [3, 1, 2, 0, 4] 
    %collapsed = tensor.collapse_shape %transposed_10 [[0], [1], [2, 3], [4]] : tensor<2x40x2x1x256xf32> into tensor<2x40x2x256xf32>
    %extracted_slice_11 = tensor.extract_slice %collapsed[0, 0, 0, 0] [1, 40, 2, 256] [1, 1, 1, 1] : tensor<2x40x2x256xf32> to tensor<1x40x2x256xf32>
    %extracted_slice_12 = tensor.extract_slice %collapsed[1, 0, 0, 0] [1, 40, 2, 256] [1, 1, 1, 1] : tensor<2x40x2x256xf32> to tensor<1x40x2x256xf32>
    %collapsed_13 = tensor.collapse_shape %9 [[0], [1, 2]] : tensor<32x2x256xf32> into tensor<32x512xf32>
    %expanded_14 = tensor.expand_shape %collapsed_13 [[0], [1, 2]] output_shape [32, 8, 64] : tensor<32x512xf32> into tensor<32x8x64xf32>
    %18 = tensor.empty() : tensor<8x32x64xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<32x8x64xf32>) outs(%18 : tensor<8x32x64xf32>) permutation = [1, 0, 2] 
    %collapsed_16 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2, 3]] : tensor<1x40x2x256xf32> into tensor<40x512xf32>
    %expanded_17 = tensor.expand_shape %collapsed_16 [[0], [1, 2]] output_shape [40, 8, 64] : tensor<40x512xf32> into tensor<40x8x64xf32>
    %collapsed_18 = tensor.collapse_shape %extracted_slice_12 [[0, 1], [2, 3]] : tensor<1x40x2x256xf32> into tensor<40x512xf32>
    %expanded_19 = tensor.expand_shape %collapsed_18 [[0], [1, 2]] output_shape [40, 8, 64] : tensor<40x512xf32> into tensor<40x8x64xf32>
    %19 = tensor.empty() : tensor<8x40x64xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<40x8x64xf32>) outs(%19 : tensor<8x40x64xf32>) permutation = [1, 0, 2] 
    %expanded_21 = tensor.expand_shape %1 [[0], [1, 2, 3]] output_shape [2, 1, 1, 40] : tensor<2x40xf32> into tensor<2x1x1x40xf32>
    %20 = tensor.empty() : tensor<2x4x1x40xf32>
    %collapsed_22 = tensor.collapse_shape %expanded_21 [[0, 1], [2], [3]] : tensor<2x1x1x40xf32> into tensor<2x1x40xf32>
    %21 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_22 : tensor<2x1x40xf32>) outs(%20 : tensor<2x4x1x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x1x40xf32>
    %collapsed_23 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x1x40xf32> into tensor<8x1x40xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_15 : tensor<8x32x64xf32>) outs(%18 : tensor<8x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.mulf %in, %cst_3 : f32
      linalg.yield %47 : f32
    } -> tensor<8x32x64xf32>
    %23 = tensor.empty() : tensor<8x64x40xf32>
    %transposed_24 = linalg.transpose ins(%expanded_17 : tensor<40x8x64xf32>) outs(%23 : tensor<8x64x40xf32>) permutation = [1, 2, 0] 
    %24 = tensor.empty() : tensor<8x32x40xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<8x32x40xf32>) -> tensor<8x32x40xf32>
    %26 = linalg.batch_matmul ins(%22, %transposed_24 : tensor<8x32x64xf32>, tensor<8x64x40xf32>) outs(%25 : tensor<8x32x40xf32>) -> tensor<8x32x40xf32>
    %27 = linalg.generic {indexing_maps = [#map7, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_23, %26 : tensor<8x1x40xf32>, tensor<8x32x40xf32>) outs(%24 : tensor<8x32x40xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %47 = arith.addf %in, %in_32 : f32
      linalg.yield %47 : f32
    } -> tensor<8x32x40xf32>
    %28 = tensor.empty() : tensor<8x32xi64>
    %29 = linalg.fill ins(%c0_i64 : i64) outs(%28 : tensor<8x32xi64>) -> tensor<8x32xi64>
    %30 = tensor.empty() : tensor<8x32xf32>
    %31 = linalg.fill ins(%cst_0 : f32) outs(%30 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %32:2 = linalg.generic {indexing_maps = [#map3, #map8, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%27 : tensor<8x32x40xf32>) outs(%31, %29 : tensor<8x32xf32>, tensor<8x32xi64>) {
    ^bb0(%in: f32, %out: f32, %out_32: i64):
      %47 = linalg.index 2 : index
      %48 = arith.index_cast %47 : index to i64
      %49 = arith.maximumf %in, %out : f32
      %50 = arith.cmpf ogt, %in, %out : f32
      %51 = arith.select %50, %48, %out_32 : i64
      linalg.yield %49, %51 : f32, i64
    } -> (tensor<8x32xf32>, tensor<8x32xi64>)
    %expanded_25 = tensor.expand_shape %32#0 [[0], [1, 2]] output_shape [8, 32, 1] : tensor<8x32xf32> into tensor<8x32x1xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %expanded_25 : tensor<8x32x40xf32>, tensor<8x32x1xf32>) outs(%24 : tensor<8x32x40xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %47 = arith.subf %in, %in_32 : f32
      linalg.yield %47 : f32
    } -> tensor<8x32x40xf32>
    %34 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33 : tensor<8x32x40xf32>) outs(%24 : tensor<8x32x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = math.exp %in : f32
      linalg.yield %47 : f32
    } -> tensor<8x32x40xf32>
    %35 = tensor.empty() : tensor<8x32x1xf32>
    %36 = linalg.fill ins(%cst : f32) outs(%35 : tensor<8x32x1xf32>) -> tensor<8x32x1xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%34 : tensor<8x32x40xf32>) outs(%36 : tensor<8x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.addf %in, %out : f32
      linalg.yield %47 : f32
    } -> tensor<8x32x1xf32>
    %38 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %37 : tensor<8x32x40xf32>, tensor<8x32x1xf32>) outs(%24 : tensor<8x32x40xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %47 = arith.divf %in, %in_32 : f32
      linalg.yield %47 : f32
    } -> tensor<8x32x40xf32>
    %39 = linalg.fill ins(%cst : f32) outs(%18 : tensor<8x32x64xf32>) -> tensor<8x32x64xf32>
    %40 = linalg.batch_matmul ins(%38, %transposed_20 : tensor<8x32x40xf32>, tensor<8x40x64xf32>) outs(%39 : tensor<8x32x64xf32>) -> tensor<8x32x64xf32>
    %41 = tensor.empty() : tensor<32x8x64xf32>
    %transposed_26 = linalg.transpose ins(%40 : tensor<8x32x64xf32>) outs(%41 : tensor<32x8x64xf32>) permutation = [1, 0, 2] 
    %collapsed_27 = tensor.collapse_shape %transposed_26 [[0, 1, 2]] : tensor<32x8x64xf32> into tensor<16384xf32>
    %expanded_28 = tensor.expand_shape %collapsed_27 [[0, 1]] output_shape [64, 256] : tensor<16384xf32> into tensor<64x256xf32>
    %transposed_29 = linalg.transpose ins(%arg5 : tensor<256x256xf32>) outs(%4 : tensor<256x256xf32>) permutation = [1, 0] 
    %42 = tensor.empty() : tensor<64x256xf32>
    %43 = linalg.fill ins(%cst : f32) outs(%42 : tensor<64x256xf32>) -> tensor<64x256xf32>
    %44 = linalg.matmul ins(%expanded_28, %transposed_29 : tensor<64x256xf32>, tensor<256x256xf32>) outs(%43 : tensor<64x256xf32>) -> tensor<64x256xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map10, #map], iterator_types = ["parallel", "parallel"]} ins(%44, %arg6 : tensor<64x256xf32>, tensor<256xf32>) outs(%42 : tensor<64x256xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %47 = arith.addf %in, %in_32 : f32
      linalg.yield %47 : f32
    } -> tensor<64x256xf32>
    %expanded_30 = tensor.expand_shape %45 [[0, 1], [2]] output_shape [32, 2, 256] : tensor<64x256xf32> into tensor<32x2x256xf32>
    %46 = tensor.empty() : tensor<2x32x256xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<32x2x256xf32>) outs(%46 : tensor<2x32x256xf32>) permutation = [1, 0, 2] 
    return %transposed_31 : tensor<2x32x256xf32>
  }
}

