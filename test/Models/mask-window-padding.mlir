// A window and padded keys, |i - j| <= 5 and pad[j], lowest elsewhere.
// Exported by export.py with torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: query
//   %arg1: key
//   %arg2: value
//   %arg3: pad

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> ()>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @mask_window_padding(%arg0: tensor<2x2x24x32xf32>, %arg1: tensor<2x2x24x32xf32>, %arg2: tensor<2x2x24x32xf32>, %arg3: tensor<2x24xi1>) -> tensor<2x2x24x32xf32> {
    %c5_i64 = arith.constant 5 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant 1.250000e-01 : f32
    %0 = tensor.empty() : tensor<2x2x32x24xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x2x24x32xf32>) outs(%0 : tensor<2x2x32x24xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %collapsed_3 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x2x32x24xf32> into tensor<4x32x24xf32>
    %1 = tensor.empty() : tensor<4x24x24xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<4x24x32xf32>, tensor<4x32x24xf32>) outs(%2 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [2, 2, 24, 24] : tensor<4x24x24xf32> into tensor<2x2x24x24xf32>
    %4 = tensor.empty() : tensor<2x2x24x24xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x2x24x24xf32>) outs(%4 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %30 = arith.mulf %in, %cst_2 : f32
      linalg.yield %30 : f32
    } -> tensor<2x2x24x24xf32>
    %6 = tensor.empty() : tensor<24xi64>
    %7 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%6 : tensor<24xi64>) {
    ^bb0(%out: i64):
      %30 = linalg.index 0 : index
      %31 = arith.index_cast %30 : index to i64
      linalg.yield %31 : i64
    } -> tensor<24xi64>
    %expanded_4 = tensor.expand_shape %7 [[0, 1]] output_shape [24, 1] : tensor<24xi64> into tensor<24x1xi64>
    %expanded_5 = tensor.expand_shape %7 [[0, 1]] output_shape [1, 24] : tensor<24xi64> into tensor<1x24xi64>
    %8 = tensor.empty() : tensor<24x24xi64>
    %9 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded_4, %expanded_5 : tensor<24x1xi64>, tensor<1x24xi64>) outs(%8 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %in_11: i64, %out: i64):
      %30 = arith.subi %in, %in_11 : i64
      linalg.yield %30 : i64
    } -> tensor<24x24xi64>
    %10 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<24x24xi64>) outs(%8 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %30 = math.absi %in : i64
      linalg.yield %30 : i64
    } -> tensor<24x24xi64>
    %11 = tensor.empty() : tensor<24x24xi1>
    %12 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<24x24xi64>) outs(%11 : tensor<24x24xi1>) {
    ^bb0(%in: i64, %out: i1):
      %30 = arith.cmpi sle, %in, %c5_i64 : i64
      linalg.yield %30 : i1
    } -> tensor<24x24xi1>
    %expanded_6 = tensor.expand_shape %arg3 [[0], [1, 2, 3]] output_shape [2, 1, 1, 24] : tensor<2x24xi1> into tensor<2x1x1x24xi1>
    %13 = tensor.empty() : tensor<2x1x24x24xi1>
    %14 = linalg.generic {indexing_maps = [#map5, #map6, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %expanded_6 : tensor<24x24xi1>, tensor<2x1x1x24xi1>) outs(%13 : tensor<2x1x24x24xi1>) {
    ^bb0(%in: i1, %in_11: i1, %out: i1):
      %30 = arith.andi %in, %in_11 : i1
      linalg.yield %30 : i1
    } -> tensor<2x1x24x24xi1>
    %15 = linalg.generic {indexing_maps = [#map7, #map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %5, %cst_1 : tensor<2x1x24x24xi1>, tensor<2x2x24x24xf32>, tensor<f32>) outs(%4 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: i1, %in_11: f32, %in_12: f32, %out: f32):
      %30 = arith.select %in, %in_11, %in_12 : f32
      linalg.yield %30 : f32
    } -> tensor<2x2x24x24xf32>
    %16 = tensor.empty() : tensor<2x2x24xi64>
    %17 = linalg.fill ins(%c0_i64 : i64) outs(%16 : tensor<2x2x24xi64>) -> tensor<2x2x24xi64>
    %18 = tensor.empty() : tensor<2x2x24xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<2x2x24xf32>) -> tensor<2x2x24xf32>
    %20:2 = linalg.generic {indexing_maps = [#map, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<2x2x24x24xf32>) outs(%19, %17 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_11: i64):
      %30 = linalg.index 3 : index
      %31 = arith.index_cast %30 : index to i64
      %32 = arith.maximumf %in, %out : f32
      %33 = arith.cmpf ogt, %in, %out : f32
      %34 = arith.select %33, %31, %out_11 : i64
      linalg.yield %32, %34 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_7 = tensor.expand_shape %20#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map10, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %expanded_7 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%4 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %30 = arith.subf %in, %in_11 : f32
      linalg.yield %30 : f32
    } -> tensor<2x2x24x24xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<2x2x24x24xf32>) outs(%4 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %30 = math.exp %in : f32
      linalg.yield %30 : f32
    } -> tensor<2x2x24x24xf32>
    %23 = tensor.empty() : tensor<2x2x24x1xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<2x2x24x1xf32>) -> tensor<2x2x24x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%22 : tensor<2x2x24x24xf32>) outs(%24 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %30 = arith.addf %in, %out : f32
      linalg.yield %30 : f32
    } -> tensor<2x2x24x1xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map10, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %25 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%4 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %30 = arith.divf %in, %in_11 : f32
      linalg.yield %30 : f32
    } -> tensor<2x2x24x24xf32>
    %collapsed_8 = tensor.collapse_shape %26 [[0, 1], [2], [3]] : tensor<2x2x24x24xf32> into tensor<4x24x24xf32>
    %collapsed_9 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %27 = tensor.empty() : tensor<4x24x32xf32>
    %28 = linalg.fill ins(%cst : f32) outs(%27 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %29 = linalg.batch_matmul ins(%collapsed_8, %collapsed_9 : tensor<4x24x24xf32>, tensor<4x24x32xf32>) outs(%28 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_10 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 2, 24, 32] : tensor<4x24x32xf32> into tensor<2x2x24x32xf32>
    return %expanded_10 : tensor<2x2x24x32xf32>
  }
}

