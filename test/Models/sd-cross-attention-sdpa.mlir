// Stable Diffusion 2 cross-attention through scaled_dot_product_attention: B=2, H=5, M=64, N=77, D=64.
// Exported by export.py with diffusers 0.42.1, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: encoder_hidden_states
//   %arg2: to_q.weight
//   %arg3: to_k.weight
//   %arg4: to_v.weight
//   %arg5: to_out.0.weight
//   %arg6: to_out.0.bias

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @sd_cross_attention_sdpa(%arg0: tensor<2x64x320xf32>, %arg1: tensor<2x77x1024xf32>, %arg2: tensor<320x320xf32>, %arg3: tensor<320x1024xf32>, %arg4: tensor<320x1024xf32>, %arg5: tensor<320x320xf32>, %arg6: tensor<320xf32>) -> tensor<2x64x320xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x5x64x77xf32>
    %cst_2 = arith.constant 0xFFF0000000000000 : f64
    %cst_3 = arith.constant 0.35355339059327379 : f64
    %0 = tensor.empty() : tensor<320x320xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<320x320xf32>) outs(%0 : tensor<320x320xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x64x320xf32> into tensor<128x320xf32>
    %1 = tensor.empty() : tensor<128x320xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<128x320xf32>, tensor<320x320xf32>) outs(%2 : tensor<128x320xf32>) -> tensor<128x320xf32>
    %4 = tensor.empty() : tensor<1024x320xf32>
    %transposed_4 = linalg.transpose ins(%arg3 : tensor<320x1024xf32>) outs(%4 : tensor<1024x320xf32>) permutation = [1, 0] 
    %collapsed_5 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<2x77x1024xf32> into tensor<154x1024xf32>
    %5 = tensor.empty() : tensor<154x320xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %7 = linalg.matmul ins(%collapsed_5, %transposed_4 : tensor<154x1024xf32>, tensor<1024x320xf32>) outs(%6 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %transposed_6 = linalg.transpose ins(%arg4 : tensor<320x1024xf32>) outs(%4 : tensor<1024x320xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed_5, %transposed_6 : tensor<154x1024xf32>, tensor<1024x320xf32>) outs(%6 : tensor<154x320xf32>) -> tensor<154x320xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2, 3]] output_shape [2, 64, 5, 64] : tensor<128x320xf32> into tensor<2x64x5x64xf32>
    %9 = tensor.empty() : tensor<2x5x64x64xf32>
    %transposed_7 = linalg.transpose ins(%expanded : tensor<2x64x5x64xf32>) outs(%9 : tensor<2x5x64x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_8 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [2, 77, 5, 64] : tensor<154x320xf32> into tensor<2x77x5x64xf32>
    %expanded_9 = tensor.expand_shape %8 [[0, 1], [2, 3]] output_shape [2, 77, 5, 64] : tensor<154x320xf32> into tensor<2x77x5x64xf32>
    %10 = tensor.empty() : tensor<2x5x77x64xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<2x77x5x64xf32>) outs(%10 : tensor<2x5x77x64xf32>) permutation = [0, 2, 1, 3] 
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_7 : tensor<2x5x64x64xf32>) outs(%9 : tensor<2x5x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.truncf %cst_3 : f64 to f32
      %45 = arith.mulf %in, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<2x5x64x64xf32>
    %12 = tensor.empty() : tensor<2x5x64x77xf32>
    %transposed_11 = linalg.transpose ins(%expanded_8 : tensor<2x77x5x64xf32>) outs(%12 : tensor<2x5x64x77xf32>) permutation = [0, 2, 3, 1] 
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_11 : tensor<2x5x64x77xf32>) outs(%12 : tensor<2x5x64x77xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.truncf %cst_3 : f64 to f32
      %45 = arith.mulf %in, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<2x5x64x77xf32>
    %collapsed_12 = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<2x5x64x64xf32> into tensor<10x64x64xf32>
    %collapsed_13 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<2x5x64x77xf32> into tensor<10x64x77xf32>
    %14 = tensor.empty() : tensor<10x64x77xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<10x64x77xf32>) -> tensor<10x64x77xf32>
    %16 = linalg.batch_matmul ins(%collapsed_12, %collapsed_13 : tensor<10x64x64xf32>, tensor<10x64x77xf32>) outs(%15 : tensor<10x64x77xf32>) -> tensor<10x64x77xf32>
    %expanded_14 = tensor.expand_shape %16 [[0, 1], [2], [3]] output_shape [2, 5, 64, 77] : tensor<10x64x77xf32> into tensor<2x5x64x77xf32>
    %17 = tensor.empty() : tensor<2x5x64xi64>
    %18 = linalg.fill ins(%c0_i64 : i64) outs(%17 : tensor<2x5x64xi64>) -> tensor<2x5x64xi64>
    %19 = tensor.empty() : tensor<2x5x64xf32>
    %20 = linalg.fill ins(%cst_0 : f32) outs(%19 : tensor<2x5x64xf32>) -> tensor<2x5x64xf32>
    %21:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_14 : tensor<2x5x64x77xf32>) outs(%20, %18 : tensor<2x5x64xf32>, tensor<2x5x64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_22: i64):
      %44 = linalg.index 3 : index
      %45 = arith.index_cast %44 : index to i64
      %46 = arith.maximumf %in, %out : f32
      %47 = arith.cmpf ogt, %in, %out : f32
      %48 = arith.select %47, %45, %out_22 : i64
      linalg.yield %46, %48 : f32, i64
    } -> (tensor<2x5x64xf32>, tensor<2x5x64xi64>)
    %expanded_15 = tensor.expand_shape %21#0 [[0], [1], [2, 3]] output_shape [2, 5, 64, 1] : tensor<2x5x64xf32> into tensor<2x5x64x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_14, %expanded_15 : tensor<2x5x64x77xf32>, tensor<2x5x64x1xf32>) outs(%12 : tensor<2x5x64x77xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %44 = arith.subf %in, %in_22 : f32
      linalg.yield %44 : f32
    } -> tensor<2x5x64x77xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<2x5x64x77xf32>) outs(%12 : tensor<2x5x64x77xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.exp %in : f32
      linalg.yield %44 : f32
    } -> tensor<2x5x64x77xf32>
    %24 = tensor.empty() : tensor<2x5x64x1xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<2x5x64x1xf32>) -> tensor<2x5x64x1xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<2x5x64x77xf32>) outs(%25 : tensor<2x5x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.addf %in, %out : f32
      linalg.yield %44 : f32
    } -> tensor<2x5x64x1xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %26 : tensor<2x5x64x77xf32>, tensor<2x5x64x1xf32>) outs(%12 : tensor<2x5x64x77xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %44 = arith.divf %in, %in_22 : f32
      linalg.yield %44 : f32
    } -> tensor<2x5x64x77xf32>
    %28 = tensor.empty() : tensor<2x5x64x77xi1>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_14 : tensor<2x5x64x77xf32>) outs(%28 : tensor<2x5x64x77xi1>) {
    ^bb0(%in: f32, %out: i1):
      %44 = arith.extf %in : f32 to f64
      %45 = arith.cmpf oeq, %44, %cst_2 : f64
      linalg.yield %45 : i1
    } -> tensor<2x5x64x77xi1>
    %30 = tensor.empty() : tensor<2x5x64x1xi1>
    %31 = linalg.fill ins(%true : i1) outs(%30 : tensor<2x5x64x1xi1>) -> tensor<2x5x64x1xi1>
    %32 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%29 : tensor<2x5x64x77xi1>) outs(%31 : tensor<2x5x64x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %44 = arith.andi %in, %out : i1
      linalg.yield %44 : i1
    } -> tensor<2x5x64x1xi1>
    %33 = linalg.generic {indexing_maps = [#map2, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %cst_1, %27 : tensor<2x5x64x1xi1>, tensor<2x5x64x77xf32>, tensor<2x5x64x77xf32>) outs(%12 : tensor<2x5x64x77xf32>) {
    ^bb0(%in: i1, %in_22: f32, %in_23: f32, %out: f32):
      %44 = arith.select %in, %in_22, %in_23 : f32
      linalg.yield %44 : f32
    } -> tensor<2x5x64x77xf32>
    %collapsed_16 = tensor.collapse_shape %33 [[0, 1], [2], [3]] : tensor<2x5x64x77xf32> into tensor<10x64x77xf32>
    %collapsed_17 = tensor.collapse_shape %transposed_10 [[0, 1], [2], [3]] : tensor<2x5x77x64xf32> into tensor<10x77x64xf32>
    %34 = tensor.empty() : tensor<10x64x64xf32>
    %35 = linalg.fill ins(%cst : f32) outs(%34 : tensor<10x64x64xf32>) -> tensor<10x64x64xf32>
    %36 = linalg.batch_matmul ins(%collapsed_16, %collapsed_17 : tensor<10x64x77xf32>, tensor<10x77x64xf32>) outs(%35 : tensor<10x64x64xf32>) -> tensor<10x64x64xf32>
    %expanded_18 = tensor.expand_shape %36 [[0, 1], [2], [3]] output_shape [2, 5, 64, 64] : tensor<10x64x64xf32> into tensor<2x5x64x64xf32>
    %37 = tensor.empty() : tensor<2x64x5x64xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<2x5x64x64xf32>) outs(%37 : tensor<2x64x5x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_20 = tensor.collapse_shape %transposed_19 [[0], [1], [2, 3]] : tensor<2x64x5x64xf32> into tensor<2x64x320xf32>
    %transposed_21 = linalg.transpose ins(%arg5 : tensor<320x320xf32>) outs(%0 : tensor<320x320xf32>) permutation = [1, 0] 
    %38 = tensor.empty() : tensor<2x320x320xf32>
    %39 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_21 : tensor<320x320xf32>) outs(%38 : tensor<2x320x320xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x320x320xf32>
    %40 = tensor.empty() : tensor<2x64x320xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<2x64x320xf32>) -> tensor<2x64x320xf32>
    %42 = linalg.batch_matmul ins(%collapsed_20, %39 : tensor<2x64x320xf32>, tensor<2x320x320xf32>) outs(%41 : tensor<2x64x320xf32>) -> tensor<2x64x320xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42, %arg6 : tensor<2x64x320xf32>, tensor<320xf32>) outs(%40 : tensor<2x64x320xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %44 = arith.addf %in, %in_22 : f32
      linalg.yield %44 : f32
    } -> tensor<2x64x320xf32>
    return %43 : tensor<2x64x320xf32>
  }
}

