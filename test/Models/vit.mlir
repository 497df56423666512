// ViT-Tiny self-attention, no mask: B=1, H=3, M=N=197, D=64.
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

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @vit(%arg0: tensor<1x197x192xf32>, %arg1: tensor<192x192xf32>, %arg2: tensor<192xf32>, %arg3: tensor<192x192xf32>, %arg4: tensor<192xf32>, %arg5: tensor<192x192xf32>, %arg6: tensor<192xf32>, %arg7: tensor<192x192xf32>, %arg8: tensor<192xf32>) -> tensor<1x197x192xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.250000e-01 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<1x197x192xf32> into tensor<197x192xf32>
    %0 = tensor.empty() : tensor<192x192xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<192x192xf32>) outs(%0 : tensor<192x192xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<197x192xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<197x192xf32>) -> tensor<197x192xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<197x192xf32>, tensor<192x192xf32>) outs(%2 : tensor<197x192xf32>) -> tensor<197x192xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg2 : tensor<197x192xf32>, tensor<192xf32>) outs(%1 : tensor<197x192xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.addf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<197x192xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [1, 197, 3, 64] : tensor<197x192xf32> into tensor<1x197x3x64xf32>
    %5 = tensor.empty() : tensor<1x3x197x64xf32>
    %transposed_2 = linalg.transpose ins(%expanded : tensor<1x197x3x64xf32>) outs(%5 : tensor<1x3x197x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_3 = linalg.transpose ins(%arg3 : tensor<192x192xf32>) outs(%0 : tensor<192x192xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%collapsed, %transposed_3 : tensor<197x192xf32>, tensor<192x192xf32>) outs(%2 : tensor<197x192xf32>) -> tensor<197x192xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %arg4 : tensor<197x192xf32>, tensor<192xf32>) outs(%1 : tensor<197x192xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.addf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<197x192xf32>
    %expanded_4 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [1, 197, 3, 64] : tensor<197x192xf32> into tensor<1x197x3x64xf32>
    %transposed_5 = linalg.transpose ins(%arg5 : tensor<192x192xf32>) outs(%0 : tensor<192x192xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed, %transposed_5 : tensor<197x192xf32>, tensor<192x192xf32>) outs(%2 : tensor<197x192xf32>) -> tensor<197x192xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %arg6 : tensor<197x192xf32>, tensor<192xf32>) outs(%1 : tensor<197x192xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.addf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<197x192xf32>
    %expanded_6 = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [1, 197, 3, 64] : tensor<197x192xf32> into tensor<1x197x3x64xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<1x197x3x64xf32>) outs(%5 : tensor<1x3x197x64xf32>) permutation = [0, 2, 1, 3] 
    %10 = tensor.empty() : tensor<1x3x64x197xf32>
    %transposed_8 = linalg.transpose ins(%expanded_4 : tensor<1x197x3x64xf32>) outs(%10 : tensor<1x3x64x197xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_9 = tensor.collapse_shape %transposed_2 [[0, 1], [2], [3]] : tensor<1x3x197x64xf32> into tensor<3x197x64xf32>
    %collapsed_10 = tensor.collapse_shape %transposed_8 [[0, 1], [2], [3]] : tensor<1x3x64x197xf32> into tensor<3x64x197xf32>
    %11 = tensor.empty() : tensor<3x197x197xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<3x197x197xf32>) -> tensor<3x197x197xf32>
    %13 = linalg.batch_matmul ins(%collapsed_9, %collapsed_10 : tensor<3x197x64xf32>, tensor<3x64x197xf32>) outs(%12 : tensor<3x197x197xf32>) -> tensor<3x197x197xf32>
    %expanded_11 = tensor.expand_shape %13 [[0, 1], [2], [3]] output_shape [1, 3, 197, 197] : tensor<3x197x197xf32> into tensor<1x3x197x197xf32>
    %14 = tensor.empty() : tensor<1x3x197x197xf32>
    %15 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11 : tensor<1x3x197x197xf32>) outs(%14 : tensor<1x3x197x197xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.mulf %in, %cst_1 : f32
      linalg.yield %33 : f32
    } -> tensor<1x3x197x197xf32>
    %16 = tensor.empty() : tensor<1x3x197xi64>
    %17 = linalg.fill ins(%c0_i64 : i64) outs(%16 : tensor<1x3x197xi64>) -> tensor<1x3x197xi64>
    %18 = tensor.empty() : tensor<1x3x197xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x3x197xf32>) -> tensor<1x3x197xf32>
    %20:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<1x3x197x197xf32>) outs(%19, %17 : tensor<1x3x197xf32>, tensor<1x3x197xi64>) {
    ^bb0(%in: f32, %out: f32, %out_20: i64):
      %33 = linalg.index 3 : index
      %34 = arith.index_cast %33 : index to i64
      %35 = arith.maximumf %in, %out : f32
      %36 = arith.cmpf ogt, %in, %out : f32
      %37 = arith.select %36, %34, %out_20 : i64
      linalg.yield %35, %37 : f32, i64
    } -> (tensor<1x3x197xf32>, tensor<1x3x197xi64>)
    %expanded_12 = tensor.expand_shape %20#0 [[0], [1], [2, 3]] output_shape [1, 3, 197, 1] : tensor<1x3x197xf32> into tensor<1x3x197x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %expanded_12 : tensor<1x3x197x197xf32>, tensor<1x3x197x1xf32>) outs(%14 : tensor<1x3x197x197xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.subf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<1x3x197x197xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<1x3x197x197xf32>) outs(%14 : tensor<1x3x197x197xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = math.exp %in : f32
      linalg.yield %33 : f32
    } -> tensor<1x3x197x197xf32>
    %23 = tensor.empty() : tensor<1x3x197x1xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<1x3x197x1xf32>) -> tensor<1x3x197x1xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%22 : tensor<1x3x197x197xf32>) outs(%24 : tensor<1x3x197x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<1x3x197x1xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %25 : tensor<1x3x197x197xf32>, tensor<1x3x197x1xf32>) outs(%14 : tensor<1x3x197x197xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.divf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<1x3x197x197xf32>
    %collapsed_13 = tensor.collapse_shape %26 [[0, 1], [2], [3]] : tensor<1x3x197x197xf32> into tensor<3x197x197xf32>
    %collapsed_14 = tensor.collapse_shape %transposed_7 [[0, 1], [2], [3]] : tensor<1x3x197x64xf32> into tensor<3x197x64xf32>
    %27 = tensor.empty() : tensor<3x197x64xf32>
    %28 = linalg.fill ins(%cst : f32) outs(%27 : tensor<3x197x64xf32>) -> tensor<3x197x64xf32>
    %29 = linalg.batch_matmul ins(%collapsed_13, %collapsed_14 : tensor<3x197x197xf32>, tensor<3x197x64xf32>) outs(%28 : tensor<3x197x64xf32>) -> tensor<3x197x64xf32>
    %expanded_15 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [1, 3, 197, 64] : tensor<3x197x64xf32> into tensor<1x3x197x64xf32>
    %30 = tensor.empty() : tensor<1x197x3x64xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<1x3x197x64xf32>) outs(%30 : tensor<1x197x3x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_17 = tensor.collapse_shape %transposed_16 [[0, 1], [2, 3]] : tensor<1x197x3x64xf32> into tensor<197x192xf32>
    %transposed_18 = linalg.transpose ins(%arg7 : tensor<192x192xf32>) outs(%0 : tensor<192x192xf32>) permutation = [1, 0] 
    %31 = linalg.matmul ins(%collapsed_17, %transposed_18 : tensor<197x192xf32>, tensor<192x192xf32>) outs(%2 : tensor<197x192xf32>) -> tensor<197x192xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%31, %arg8 : tensor<197x192xf32>, tensor<192xf32>) outs(%1 : tensor<197x192xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %33 = arith.addf %in, %in_20 : f32
      linalg.yield %33 : f32
    } -> tensor<197x192xf32>
    %expanded_19 = tensor.expand_shape %32 [[0, 1], [2]] output_shape [1, 197, 192] : tensor<197x192xf32> into tensor<1x197x192xf32>
    return %expanded_19 : tensor<1x197x192xf32>
  }
}

