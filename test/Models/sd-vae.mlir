// Stable Diffusion VAE mid-block attention on an 8x8 image: B=1, H=1, M=N=64, D=512.
// Exported by export.py with diffusers 0.42.1, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: group_norm.weight
//   %arg2: group_norm.bias
//   %arg3: to_q.weight
//   %arg4: to_q.bias
//   %arg5: to_k.weight
//   %arg6: to_k.bias
//   %arg7: to_v.weight
//   %arg8: to_v.bias
//   %arg9: to_out.0.weight
//   %arg10: to_out.0.bias

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d1, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1) -> (d1)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @sd_vae(%arg0: tensor<1x512x8x8xf32>, %arg1: tensor<512xf32>, %arg2: tensor<512xf32>, %arg3: tensor<512x512xf32>, %arg4: tensor<512xf32>, %arg5: tensor<512x512xf32>, %arg6: tensor<512xf32>, %arg7: tensor<512x512xf32>, %arg8: tensor<512xf32>, %arg9: tensor<512x512xf32>, %arg10: tensor<512xf32>) -> tensor<1x512x8x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f64
    %c0_i64 = arith.constant 0 : i64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 0.044194173824159223 : f64
    %cst_3 = arith.constant 9.9999999999999995E-7 : f64
    %cst_4 = arith.constant 1.024000e+03 : f32
    %cst_5 = arith.constant 1.024000e+03 : f64
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2, 3]] : tensor<1x512x8x8xf32> into tensor<1x32768xf32>
    %expanded = tensor.expand_shape %collapsed [[0], [1, 2]] output_shape [1, 32, 1024] : tensor<1x32768xf32> into tensor<1x32x1024xf32>
    %0 = tensor.empty() : tensor<1x32x1xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x32x1xf32>) -> tensor<1x32x1xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%expanded : tensor<1x32x1024xf32>) outs(%1 : tensor<1x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.addf %in, %out : f32
      linalg.yield %60 : f32
    } -> tensor<1x32x1xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<1x32x1xf32>) outs(%0 : tensor<1x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.divf %in, %cst_4 : f32
      linalg.yield %60 : f32
    } -> tensor<1x32x1xf32>
    %4 = tensor.empty() : tensor<1x32x1024xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x32x1024xf32>) outs(%4 : tensor<1x32x1024xf64>) {
    ^bb0(%in: f32, %out: f64):
      %60 = arith.extf %in : f32 to f64
      linalg.yield %60 : f64
    } -> tensor<1x32x1024xf64>
    %6 = tensor.empty() : tensor<1x32x1xf64>
    %7 = linalg.fill ins(%cst_0 : f64) outs(%6 : tensor<1x32x1xf64>) -> tensor<1x32x1xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5 : tensor<1x32x1024xf64>) outs(%7 : tensor<1x32x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %60 = arith.addf %in, %out : f64
      linalg.yield %60 : f64
    } -> tensor<1x32x1xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<1x32x1xf64>) outs(%6 : tensor<1x32x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %60 = arith.divf %in, %cst_5 : f64
      linalg.yield %60 : f64
    } -> tensor<1x32x1xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %9 : tensor<1x32x1024xf64>, tensor<1x32x1xf64>) outs(%4 : tensor<1x32x1024xf64>) {
    ^bb0(%in: f64, %in_31: f64, %out: f64):
      %60 = arith.subf %in, %in_31 : f64
      linalg.yield %60 : f64
    } -> tensor<1x32x1024xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %10 : tensor<1x32x1024xf64>, tensor<1x32x1024xf64>) outs(%4 : tensor<1x32x1024xf64>) {
    ^bb0(%in: f64, %in_31: f64, %out: f64):
      %60 = arith.mulf %in, %in_31 : f64
      linalg.yield %60 : f64
    } -> tensor<1x32x1024xf64>
    %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%11 : tensor<1x32x1024xf64>) outs(%7 : tensor<1x32x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %60 = arith.addf %in, %out : f64
      linalg.yield %60 : f64
    } -> tensor<1x32x1xf64>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x32x1xf64>) outs(%6 : tensor<1x32x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %60 = arith.divf %in, %cst_5 : f64
      linalg.yield %60 : f64
    } -> tensor<1x32x1xf64>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<1x32x1xf64>) outs(%0 : tensor<1x32x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %60 = arith.truncf %in : f64 to f32
      linalg.yield %60 : f32
    } -> tensor<1x32x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<1x32x1xf32>) outs(%0 : tensor<1x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.truncf %cst_3 : f64 to f32
      %61 = arith.addf %in, %60 : f32
      linalg.yield %61 : f32
    } -> tensor<1x32x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x32x1xf32>) outs(%0 : tensor<1x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = math.rsqrt %in : f32
      linalg.yield %60 : f32
    } -> tensor<1x32x1xf32>
    %17 = tensor.empty() : tensor<1x32x1024xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %3 : tensor<1x32x1024xf32>, tensor<1x32x1xf32>) outs(%17 : tensor<1x32x1024xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.subf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x32x1024xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %16 : tensor<1x32x1024xf32>, tensor<1x32x1xf32>) outs(%17 : tensor<1x32x1024xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.mulf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x32x1024xf32>
    %collapsed_6 = tensor.collapse_shape %19 [[0], [1, 2]] : tensor<1x32x1024xf32> into tensor<1x32768xf32>
    %expanded_7 = tensor.expand_shape %collapsed_6 [[0], [1, 2]] output_shape [1, 512, 64] : tensor<1x32768xf32> into tensor<1x512x64xf32>
    %expanded_8 = tensor.expand_shape %arg1 [[0, 1]] output_shape [512, 1] : tensor<512xf32> into tensor<512x1xf32>
    %20 = tensor.empty() : tensor<1x512x64xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_7, %expanded_8 : tensor<1x512x64xf32>, tensor<512x1xf32>) outs(%20 : tensor<1x512x64xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.mulf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x512x64xf32>
    %expanded_9 = tensor.expand_shape %arg2 [[0, 1]] output_shape [512, 1] : tensor<512xf32> into tensor<512x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %expanded_9 : tensor<1x512x64xf32>, tensor<512x1xf32>) outs(%20 : tensor<1x512x64xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.addf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x512x64xf32>
    %23 = tensor.empty() : tensor<1x64x512xf32>
    %transposed = linalg.transpose ins(%22 : tensor<1x512x64xf32>) outs(%23 : tensor<1x64x512xf32>) permutation = [0, 2, 1] 
    %24 = tensor.empty() : tensor<512x512xf32>
    %transposed_10 = linalg.transpose ins(%arg3 : tensor<512x512xf32>) outs(%24 : tensor<512x512xf32>) permutation = [1, 0] 
    %25 = tensor.empty() : tensor<1x512x512xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_10 : tensor<512x512xf32>) outs(%25 : tensor<1x512x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x512x512xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%23 : tensor<1x64x512xf32>) -> tensor<1x64x512xf32>
    %28 = linalg.batch_matmul ins(%transposed, %26 : tensor<1x64x512xf32>, tensor<1x512x512xf32>) outs(%27 : tensor<1x64x512xf32>) -> tensor<1x64x512xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %arg4 : tensor<1x64x512xf32>, tensor<512xf32>) outs(%23 : tensor<1x64x512xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.addf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x64x512xf32>
    %transposed_11 = linalg.transpose ins(%arg5 : tensor<512x512xf32>) outs(%24 : tensor<512x512xf32>) permutation = [1, 0] 
    %30 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_11 : tensor<512x512xf32>) outs(%25 : tensor<1x512x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x512x512xf32>
    %31 = linalg.batch_matmul ins(%transposed, %30 : tensor<1x64x512xf32>, tensor<1x512x512xf32>) outs(%27 : tensor<1x64x512xf32>) -> tensor<1x64x512xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %arg6 : tensor<1x64x512xf32>, tensor<512xf32>) outs(%23 : tensor<1x64x512xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.addf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x64x512xf32>
    %transposed_12 = linalg.transpose ins(%arg7 : tensor<512x512xf32>) outs(%24 : tensor<512x512xf32>) permutation = [1, 0] 
    %33 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_12 : tensor<512x512xf32>) outs(%25 : tensor<1x512x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x512x512xf32>
    %34 = linalg.batch_matmul ins(%transposed, %33 : tensor<1x64x512xf32>, tensor<1x512x512xf32>) outs(%27 : tensor<1x64x512xf32>) -> tensor<1x64x512xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %arg8 : tensor<1x64x512xf32>, tensor<512xf32>) outs(%23 : tensor<1x64x512xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.addf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x64x512xf32>
    %expanded_13 = tensor.expand_shape %29 [[0], [1], [2, 3]] output_shape [1, 64, 1, 512] : tensor<1x64x512xf32> into tensor<1x64x1x512xf32>
    %36 = tensor.empty() : tensor<1x1x64x512xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<1x64x1x512xf32>) outs(%36 : tensor<1x1x64x512xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_15 = tensor.collapse_shape %transposed_14 [[0], [1, 2], [3]] : tensor<1x1x64x512xf32> into tensor<1x64x512xf32>
    %expanded_16 = tensor.expand_shape %32 [[0], [1], [2, 3]] output_shape [1, 64, 1, 512] : tensor<1x64x512xf32> into tensor<1x64x1x512xf32>
    %transposed_17 = linalg.transpose ins(%expanded_16 : tensor<1x64x1x512xf32>) outs(%36 : tensor<1x1x64x512xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_18 = tensor.collapse_shape %transposed_17 [[0], [1, 2], [3]] : tensor<1x1x64x512xf32> into tensor<1x64x512xf32>
    %expanded_19 = tensor.expand_shape %35 [[0], [1], [2, 3]] output_shape [1, 64, 1, 512] : tensor<1x64x512xf32> into tensor<1x64x1x512xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<1x64x1x512xf32>) outs(%36 : tensor<1x1x64x512xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_21 = tensor.collapse_shape %transposed_20 [[0], [1, 2], [3]] : tensor<1x1x64x512xf32> into tensor<1x64x512xf32>
    %transposed_22 = linalg.transpose ins(%collapsed_18 : tensor<1x64x512xf32>) outs(%20 : tensor<1x512x64xf32>) permutation = [0, 2, 1] 
    %37 = tensor.empty() : tensor<1x64x64xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%37 : tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %39 = linalg.batch_matmul ins(%collapsed_15, %transposed_22 : tensor<1x64x512xf32>, tensor<1x512x64xf32>) outs(%38 : tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<1x64x64xf32>) outs(%37 : tensor<1x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.truncf %cst_2 : f64 to f32
      %61 = arith.mulf %in, %60 : f32
      linalg.yield %61 : f32
    } -> tensor<1x64x64xf32>
    %41 = tensor.empty() : tensor<1x64xi64>
    %42 = linalg.fill ins(%c0_i64 : i64) outs(%41 : tensor<1x64xi64>) -> tensor<1x64xi64>
    %43 = tensor.empty() : tensor<1x64xf32>
    %44 = linalg.fill ins(%cst_1 : f32) outs(%43 : tensor<1x64xf32>) -> tensor<1x64xf32>
    %45:2 = linalg.generic {indexing_maps = [#map, #map5, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%40 : tensor<1x64x64xf32>) outs(%44, %42 : tensor<1x64xf32>, tensor<1x64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_31: i64):
      %60 = linalg.index 2 : index
      %61 = arith.index_cast %60 : index to i64
      %62 = arith.maximumf %in, %out : f32
      %63 = arith.cmpf ogt, %in, %out : f32
      %64 = arith.select %63, %61, %out_31 : i64
      linalg.yield %62, %64 : f32, i64
    } -> (tensor<1x64xf32>, tensor<1x64xi64>)
    %expanded_23 = tensor.expand_shape %45#0 [[0], [1, 2]] output_shape [1, 64, 1] : tensor<1x64xf32> into tensor<1x64x1xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %expanded_23 : tensor<1x64x64xf32>, tensor<1x64x1xf32>) outs(%37 : tensor<1x64x64xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.subf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x64x64xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<1x64x64xf32>) outs(%37 : tensor<1x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = math.exp %in : f32
      linalg.yield %60 : f32
    } -> tensor<1x64x64xf32>
    %48 = tensor.empty() : tensor<1x64x1xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<1x64x1xf32>) -> tensor<1x64x1xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%47 : tensor<1x64x64xf32>) outs(%49 : tensor<1x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.addf %in, %out : f32
      linalg.yield %60 : f32
    } -> tensor<1x64x1xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %50 : tensor<1x64x64xf32>, tensor<1x64x1xf32>) outs(%37 : tensor<1x64x64xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.divf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x64x64xf32>
    %52 = linalg.batch_matmul ins(%51, %collapsed_21 : tensor<1x64x64xf32>, tensor<1x64x512xf32>) outs(%27 : tensor<1x64x512xf32>) -> tensor<1x64x512xf32>
    %expanded_24 = tensor.expand_shape %52 [[0], [1, 2], [3]] output_shape [1, 1, 64, 512] : tensor<1x64x512xf32> into tensor<1x1x64x512xf32>
    %53 = tensor.empty() : tensor<1x64x1x512xf32>
    %transposed_25 = linalg.transpose ins(%expanded_24 : tensor<1x1x64x512xf32>) outs(%53 : tensor<1x64x1x512xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_26 = tensor.collapse_shape %transposed_25 [[0, 1], [2, 3]] : tensor<1x64x1x512xf32> into tensor<64x512xf32>
    %transposed_27 = linalg.transpose ins(%arg9 : tensor<512x512xf32>) outs(%24 : tensor<512x512xf32>) permutation = [1, 0] 
    %54 = tensor.empty() : tensor<64x512xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<64x512xf32>) -> tensor<64x512xf32>
    %56 = linalg.matmul ins(%collapsed_26, %transposed_27 : tensor<64x512xf32>, tensor<512x512xf32>) outs(%55 : tensor<64x512xf32>) -> tensor<64x512xf32>
    %57 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%56, %arg10 : tensor<64x512xf32>, tensor<512xf32>) outs(%54 : tensor<64x512xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.addf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<64x512xf32>
    %expanded_28 = tensor.expand_shape %57 [[0, 1], [2]] output_shape [1, 64, 512] : tensor<64x512xf32> into tensor<1x64x512xf32>
    %transposed_29 = linalg.transpose ins(%expanded_28 : tensor<1x64x512xf32>) outs(%20 : tensor<1x512x64xf32>) permutation = [0, 2, 1] 
    %expanded_30 = tensor.expand_shape %transposed_29 [[0], [1], [2, 3]] output_shape [1, 512, 8, 8] : tensor<1x512x64xf32> into tensor<1x512x8x8xf32>
    %58 = tensor.empty() : tensor<1x512x8x8xf32>
    %59 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_30, %arg0 : tensor<1x512x8x8xf32>, tensor<1x512x8x8xf32>) outs(%58 : tensor<1x512x8x8xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %60 = arith.addf %in, %in_31 : f32
      linalg.yield %60 : f32
    } -> tensor<1x512x8x8xf32>
    return %59 : tensor<1x512x8x8xf32>
  }
}

