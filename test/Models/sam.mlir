// SAM window self-attention, decomposed relative position: B=2, H=2, 6 x 6 positions, D=32.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.rel_pos_h
//   %arg2: layer.rel_pos_w
//   %arg3: layer.qkv.weight
//   %arg4: layer.qkv.bias
//   %arg5: layer.proj.weight
//   %arg6: layer.proj.bias

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1, d2) -> (0, 0, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d1, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d2)>
#map7 = affine_map<(d0, d1) -> (d0, 0)>
#map8 = affine_map<(d0, d1) -> (0, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, 0, d4)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module {
  func.func @sam(%arg0: tensor<2x6x6x64xf32>, %arg1: tensor<11x32xf32>, %arg2: tensor<11x32xf32>, %arg3: tensor<192x64xf32>, %arg4: tensor<192xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<64xf32>) -> tensor<2x6x6x64xf32> {
    %c10_i64 = arith.constant 10 : i64
    %c11_i64 = arith.constant 11 : i64
    %c32_i64 = arith.constant 32 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.17677669529663689 : f64
    %cst_2 = arith.constant 5.000000e-01 : f32
    %cst_3 = arith.constant 1.000000e+00 : f32
    %cst_4 = arith.constant 5.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2], [3]] : tensor<2x6x6x64xf32> into tensor<72x64xf32>
    %0 = tensor.empty() : tensor<64x192xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<192x64xf32>) outs(%0 : tensor<64x192xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<72x192xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<72x192xf32>) -> tensor<72x192xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<72x64xf32>, tensor<64x192xf32>) outs(%2 : tensor<72x192xf32>) -> tensor<72x192xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg4 : tensor<72x192xf32>, tensor<192xf32>) outs(%1 : tensor<72x192xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.addf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<72x192xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2, 3, 4]] output_shape [2, 36, 3, 2, 32] : tensor<72x192xf32> into tensor<2x36x3x2x32xf32>
    %5 = tensor.empty() : tensor<3x2x2x36x32xf32>
    %transposed_5 = linalg.transpose ins(%expanded : tensor<2x36x3x2x32xf32>) outs(%5 : tensor<3x2x2x36x32xf32>) permutation = [2, 0, 3, 1, 4] 
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0], [1, 2], [3], [4]] : tensor<3x2x2x36x32xf32> into tensor<3x4x36x32xf32>
    %extracted_slice = tensor.extract_slice %collapsed_6[0, 0, 0, 0] [1, 4, 36, 32] [1, 1, 1, 1] : tensor<3x4x36x32xf32> to tensor<1x4x36x32xf32>
    %extracted_slice_7 = tensor.extract_slice %collapsed_6[1, 0, 0, 0] [1, 4, 36, 32] [1, 1, 1, 1] : tensor<3x4x36x32xf32> to tensor<1x4x36x32xf32>
    %extracted_slice_8 = tensor.extract_slice %collapsed_6[2, 0, 0, 0] [1, 4, 36, 32] [1, 1, 1, 1] : tensor<3x4x36x32xf32> to tensor<1x4x36x32xf32>
    %collapsed_9 = tensor.collapse_shape %extracted_slice [[0, 1], [2], [3]] : tensor<1x4x36x32xf32> into tensor<4x36x32xf32>
    %collapsed_10 = tensor.collapse_shape %extracted_slice_7 [[0, 1], [2], [3]] : tensor<1x4x36x32xf32> into tensor<4x36x32xf32>
    %collapsed_11 = tensor.collapse_shape %extracted_slice_8 [[0, 1], [2], [3]] : tensor<1x4x36x32xf32> into tensor<4x36x32xf32>
    %6 = tensor.empty() : tensor<4x36x32xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_9 : tensor<4x36x32xf32>) outs(%6 : tensor<4x36x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.truncf %cst_1 : f64 to f32
      %84 = arith.mulf %in, %83 : f32
      linalg.yield %84 : f32
    } -> tensor<4x36x32xf32>
    %8 = tensor.empty() : tensor<4x32x36xf32>
    %transposed_12 = linalg.transpose ins(%collapsed_10 : tensor<4x36x32xf32>) outs(%8 : tensor<4x32x36xf32>) permutation = [0, 2, 1] 
    %9 = tensor.empty() : tensor<4x36x36xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<4x36x36xf32>) -> tensor<4x36x36xf32>
    %11 = linalg.batch_matmul ins(%7, %transposed_12 : tensor<4x36x32xf32>, tensor<4x32x36xf32>) outs(%10 : tensor<4x36x36xf32>) -> tensor<4x36x36xf32>
    %expanded_13 = tensor.expand_shape %arg1 [[0, 1], [2]] output_shape [1, 11, 32] : tensor<11x32xf32> into tensor<1x11x32xf32>
    %12 = tensor.empty() : tensor<1x32x11xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<1x11x32xf32>) outs(%12 : tensor<1x32x11xf32>) permutation = [0, 2, 1] 
    %13 = tensor.empty() : tensor<11xi64>
    %14 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%13 : tensor<11xi64>) {
    ^bb0(%out: i64):
      %83 = linalg.index 0 : index
      %84 = arith.index_cast %83 : index to i64
      linalg.yield %84 : i64
    } -> tensor<11xi64>
    %15 = tensor.empty() : tensor<11xf32>
    %16 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%14 : tensor<11xi64>) outs(%15 : tensor<11xf32>) {
    ^bb0(%in: i64, %out: f32):
      %83 = arith.sitofp %in : i64 to f32
      linalg.yield %83 : f32
    } -> tensor<11xf32>
    %17 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%16 : tensor<11xf32>) outs(%15 : tensor<11xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.addf %in, %cst_2 : f32
      linalg.yield %83 : f32
    } -> tensor<11xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%17 : tensor<11xf32>) outs(%15 : tensor<11xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.subf %in, %cst_2 : f32
      linalg.yield %83 : f32
    } -> tensor<11xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%18 : tensor<11xf32>) outs(%15 : tensor<11xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.cmpf ult, %in, %cst : f32
      %84 = arith.select %83, %cst, %in : f32
      linalg.yield %84 : f32
    } -> tensor<11xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%19 : tensor<11xf32>) outs(%13 : tensor<11xi64>) {
    ^bb0(%in: f32, %out: i64):
      %83 = arith.fptosi %in : f32 to i64
      linalg.yield %83 : i64
    } -> tensor<11xi64>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%20 : tensor<11xi64>) outs(%13 : tensor<11xi64>) {
    ^bb0(%in: i64, %out: i64):
      %83 = arith.addi %in, %c1_i64 : i64
      linalg.yield %83 : i64
    } -> tensor<11xi64>
    %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%21 : tensor<11xi64>) outs(%13 : tensor<11xi64>) {
    ^bb0(%in: i64, %out: i64):
      %83 = arith.minsi %in, %c10_i64 : i64
      linalg.yield %83 : i64
    } -> tensor<11xi64>
    %23 = tensor.empty() : tensor<32xi64>
    %24 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%23 : tensor<32xi64>) {
    ^bb0(%out: i64):
      %83 = linalg.index 0 : index
      %84 = arith.index_cast %83 : index to i64
      linalg.yield %84 : i64
    } -> tensor<32xi64>
    %expanded_15 = tensor.expand_shape %24 [[0, 1]] output_shape [32, 1] : tensor<32xi64> into tensor<32x1xi64>
    %25 = tensor.empty() : tensor<1xi64>
    %26 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%25 : tensor<1xi64>) {
    ^bb0(%out: i64):
      linalg.yield %c0_i64 : i64
    } -> tensor<1xi64>
    %expanded_16 = tensor.expand_shape %26 [[0, 1, 2]] output_shape [1, 1, 1] : tensor<1xi64> into tensor<1x1x1xi64>
    %27 = linalg.generic {indexing_maps = [#map4, #map5, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16, %expanded_15, %20 : tensor<1x1x1xi64>, tensor<32x1xi64>, tensor<11xi64>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: i64, %in_49: i64, %in_50: i64, %out: f32):
      %83 = arith.cmpi slt, %in, %c0_i64 : i64
      %84 = arith.addi %in, %c1_i64 : i64
      %85 = arith.select %83, %84, %in : i64
      %86 = arith.index_cast %85 : i64 to index
      %87 = arith.cmpi slt, %in_49, %c0_i64 : i64
      %88 = arith.addi %in_49, %c32_i64 : i64
      %89 = arith.select %87, %88, %in_49 : i64
      %90 = arith.index_cast %89 : i64 to index
      %91 = arith.cmpi slt, %in_50, %c0_i64 : i64
      %92 = arith.addi %in_50, %c11_i64 : i64
      %93 = arith.select %91, %92, %in_50 : i64
      %94 = arith.index_cast %93 : i64 to index
      %extracted = tensor.extract %transposed_14[%86, %90, %94] : tensor<1x32x11xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x32x11xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map5, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16, %expanded_15, %22 : tensor<1x1x1xi64>, tensor<32x1xi64>, tensor<11xi64>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: i64, %in_49: i64, %in_50: i64, %out: f32):
      %83 = arith.cmpi slt, %in, %c0_i64 : i64
      %84 = arith.addi %in, %c1_i64 : i64
      %85 = arith.select %83, %84, %in : i64
      %86 = arith.index_cast %85 : i64 to index
      %87 = arith.cmpi slt, %in_49, %c0_i64 : i64
      %88 = arith.addi %in_49, %c32_i64 : i64
      %89 = arith.select %87, %88, %in_49 : i64
      %90 = arith.index_cast %89 : i64 to index
      %91 = arith.cmpi slt, %in_50, %c0_i64 : i64
      %92 = arith.addi %in_50, %c11_i64 : i64
      %93 = arith.select %91, %92, %in_50 : i64
      %94 = arith.index_cast %93 : i64 to index
      %extracted = tensor.extract %transposed_14[%86, %90, %94] : tensor<1x32x11xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x32x11xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%19, %20 : tensor<11xf32>, tensor<11xi64>) outs(%15 : tensor<11xf32>) {
    ^bb0(%in: f32, %in_49: i64, %out: f32):
      %83 = arith.sitofp %in_49 : i64 to f32
      %84 = arith.subf %in, %83 : f32
      linalg.yield %84 : f32
    } -> tensor<11xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%29 : tensor<11xf32>) outs(%15 : tensor<11xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.cmpf ult, %in, %cst : f32
      %84 = arith.select %83, %cst, %in : f32
      %85 = arith.cmpf ugt, %84, %cst_3 : f32
      %86 = arith.select %85, %cst_3, %84 : f32
      linalg.yield %86 : f32
    } -> tensor<11xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %27 : tensor<1x32x11xf32>, tensor<1x32x11xf32>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.subf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<1x32x11xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %30 : tensor<1x32x11xf32>, tensor<11xf32>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.mulf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<1x32x11xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %32 : tensor<1x32x11xf32>, tensor<1x32x11xf32>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.addf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<1x32x11xf32>
    %collapsed_17 = tensor.collapse_shape %33 [[0, 1], [2]] : tensor<1x32x11xf32> into tensor<32x11xf32>
    %34 = tensor.empty() : tensor<11x32xf32>
    %transposed_18 = linalg.transpose ins(%collapsed_17 : tensor<32x11xf32>) outs(%34 : tensor<11x32xf32>) permutation = [1, 0] 
    %35 = tensor.empty() : tensor<6xi64>
    %36 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%35 : tensor<6xi64>) {
    ^bb0(%out: i64):
      %83 = linalg.index 0 : index
      %84 = arith.index_cast %83 : index to i64
      linalg.yield %84 : i64
    } -> tensor<6xi64>
    %expanded_19 = tensor.expand_shape %36 [[0, 1]] output_shape [6, 1] : tensor<6xi64> into tensor<6x1xi64>
    %37 = tensor.empty() : tensor<6x1xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_19 : tensor<6x1xi64>) outs(%37 : tensor<6x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %83 = arith.sitofp %in : i64 to f32
      linalg.yield %83 : f32
    } -> tensor<6x1xf32>
    %expanded_20 = tensor.expand_shape %36 [[0, 1]] output_shape [1, 6] : tensor<6xi64> into tensor<1x6xi64>
    %39 = tensor.empty() : tensor<1x6xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_20 : tensor<1x6xi64>) outs(%39 : tensor<1x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %83 = arith.sitofp %in : i64 to f32
      linalg.yield %83 : f32
    } -> tensor<1x6xf32>
    %41 = tensor.empty() : tensor<6x6xf32>
    %42 = linalg.generic {indexing_maps = [#map7, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %40 : tensor<6x1xf32>, tensor<1x6xf32>) outs(%41 : tensor<6x6xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.subf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<6x6xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%42 : tensor<6x6xf32>) outs(%41 : tensor<6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.addf %in, %cst_4 : f32
      linalg.yield %83 : f32
    } -> tensor<6x6xf32>
    %44 = tensor.empty() : tensor<6x6xi64>
    %45 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<6x6xf32>) outs(%44 : tensor<6x6xi64>) {
    ^bb0(%in: f32, %out: i64):
      %83 = arith.fptosi %in : f32 to i64
      linalg.yield %83 : i64
    } -> tensor<6x6xi64>
    %46 = tensor.empty() : tensor<6x6x32xf32>
    %47 = linalg.generic {indexing_maps = [#map9, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<6x6xi64>) outs(%46 : tensor<6x6x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %83 = arith.cmpi slt, %in, %c0_i64 : i64
      %84 = arith.addi %in, %c11_i64 : i64
      %85 = arith.select %83, %84, %in : i64
      %86 = arith.index_cast %85 : i64 to index
      %87 = linalg.index 2 : index
      %extracted = tensor.extract %transposed_18[%86, %87] : tensor<11x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<6x6x32xf32>
    %expanded_21 = tensor.expand_shape %arg2 [[0, 1], [2]] output_shape [1, 11, 32] : tensor<11x32xf32> into tensor<1x11x32xf32>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<1x11x32xf32>) outs(%12 : tensor<1x32x11xf32>) permutation = [0, 2, 1] 
    %48 = linalg.generic {indexing_maps = [#map4, #map5, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16, %expanded_15, %20 : tensor<1x1x1xi64>, tensor<32x1xi64>, tensor<11xi64>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: i64, %in_49: i64, %in_50: i64, %out: f32):
      %83 = arith.cmpi slt, %in, %c0_i64 : i64
      %84 = arith.addi %in, %c1_i64 : i64
      %85 = arith.select %83, %84, %in : i64
      %86 = arith.index_cast %85 : i64 to index
      %87 = arith.cmpi slt, %in_49, %c0_i64 : i64
      %88 = arith.addi %in_49, %c32_i64 : i64
      %89 = arith.select %87, %88, %in_49 : i64
      %90 = arith.index_cast %89 : i64 to index
      %91 = arith.cmpi slt, %in_50, %c0_i64 : i64
      %92 = arith.addi %in_50, %c11_i64 : i64
      %93 = arith.select %91, %92, %in_50 : i64
      %94 = arith.index_cast %93 : i64 to index
      %extracted = tensor.extract %transposed_22[%86, %90, %94] : tensor<1x32x11xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x32x11xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map5, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16, %expanded_15, %22 : tensor<1x1x1xi64>, tensor<32x1xi64>, tensor<11xi64>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: i64, %in_49: i64, %in_50: i64, %out: f32):
      %83 = arith.cmpi slt, %in, %c0_i64 : i64
      %84 = arith.addi %in, %c1_i64 : i64
      %85 = arith.select %83, %84, %in : i64
      %86 = arith.index_cast %85 : i64 to index
      %87 = arith.cmpi slt, %in_49, %c0_i64 : i64
      %88 = arith.addi %in_49, %c32_i64 : i64
      %89 = arith.select %87, %88, %in_49 : i64
      %90 = arith.index_cast %89 : i64 to index
      %91 = arith.cmpi slt, %in_50, %c0_i64 : i64
      %92 = arith.addi %in_50, %c11_i64 : i64
      %93 = arith.select %91, %92, %in_50 : i64
      %94 = arith.index_cast %93 : i64 to index
      %extracted = tensor.extract %transposed_22[%86, %90, %94] : tensor<1x32x11xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x32x11xf32>
    %50 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49, %48 : tensor<1x32x11xf32>, tensor<1x32x11xf32>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.subf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<1x32x11xf32>
    %51 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %30 : tensor<1x32x11xf32>, tensor<11xf32>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.mulf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<1x32x11xf32>
    %52 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %51 : tensor<1x32x11xf32>, tensor<1x32x11xf32>) outs(%12 : tensor<1x32x11xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.addf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<1x32x11xf32>
    %collapsed_23 = tensor.collapse_shape %52 [[0, 1], [2]] : tensor<1x32x11xf32> into tensor<32x11xf32>
    %transposed_24 = linalg.transpose ins(%collapsed_23 : tensor<32x11xf32>) outs(%34 : tensor<11x32xf32>) permutation = [1, 0] 
    %53 = linalg.generic {indexing_maps = [#map9, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<6x6xi64>) outs(%46 : tensor<6x6x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %83 = arith.cmpi slt, %in, %c0_i64 : i64
      %84 = arith.addi %in, %c11_i64 : i64
      %85 = arith.select %83, %84, %in : i64
      %86 = arith.index_cast %85 : i64 to index
      %87 = linalg.index 2 : index
      %extracted = tensor.extract %transposed_24[%86, %87] : tensor<11x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<6x6x32xf32>
    %expanded_25 = tensor.expand_shape %collapsed_9 [[0], [1, 2], [3, 4]] output_shape [4, 6, 6, 32, 1] : tensor<4x36x32xf32> into tensor<4x6x6x32x1xf32>
    %expanded_26 = tensor.expand_shape %47 [[0], [1], [2, 3, 4]] output_shape [6, 6, 32, 1, 1] : tensor<6x6x32xf32> into tensor<6x6x32x1x1xf32>
    %54 = tensor.empty() : tensor<6x4x6x32x1xf32>
    %transposed_27 = linalg.transpose ins(%expanded_25 : tensor<4x6x6x32x1xf32>) outs(%54 : tensor<6x4x6x32x1xf32>) permutation = [1, 0, 2, 3, 4] 
    %collapsed_28 = tensor.collapse_shape %transposed_27 [[0], [1, 2], [3, 4]] : tensor<6x4x6x32x1xf32> into tensor<6x24x32xf32>
    %55 = tensor.empty() : tensor<6x32x6x1x1xf32>
    %transposed_29 = linalg.transpose ins(%expanded_26 : tensor<6x6x32x1x1xf32>) outs(%55 : tensor<6x32x6x1x1xf32>) permutation = [0, 2, 1, 3, 4] 
    %collapsed_30 = tensor.collapse_shape %transposed_29 [[0], [1], [2, 3, 4]] : tensor<6x32x6x1x1xf32> into tensor<6x32x6xf32>
    %56 = tensor.empty() : tensor<6x24x6xf32>
    %57 = linalg.fill ins(%cst : f32) outs(%56 : tensor<6x24x6xf32>) -> tensor<6x24x6xf32>
    %58 = linalg.batch_matmul ins(%collapsed_28, %collapsed_30 : tensor<6x24x32xf32>, tensor<6x32x6xf32>) outs(%57 : tensor<6x24x6xf32>) -> tensor<6x24x6xf32>
    %expanded_31 = tensor.expand_shape %58 [[0], [1, 2], [3, 4]] output_shape [6, 4, 6, 1, 6] : tensor<6x24x6xf32> into tensor<6x4x6x1x6xf32>
    %59 = tensor.empty() : tensor<4x6x6x6x1xf32>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<6x4x6x1x6xf32>) outs(%59 : tensor<4x6x6x6x1xf32>) permutation = [1, 0, 2, 4, 3] 
    %expanded_33 = tensor.expand_shape %53 [[0], [1], [2, 3, 4]] output_shape [6, 6, 32, 1, 1] : tensor<6x6x32xf32> into tensor<6x6x32x1x1xf32>
    %transposed_34 = linalg.transpose ins(%expanded_25 : tensor<4x6x6x32x1xf32>) outs(%54 : tensor<6x4x6x32x1xf32>) permutation = [2, 0, 1, 3, 4] 
    %collapsed_35 = tensor.collapse_shape %transposed_34 [[0], [1, 2], [3, 4]] : tensor<6x4x6x32x1xf32> into tensor<6x24x32xf32>
    %transposed_36 = linalg.transpose ins(%expanded_33 : tensor<6x6x32x1x1xf32>) outs(%55 : tensor<6x32x6x1x1xf32>) permutation = [0, 2, 1, 3, 4] 
    %collapsed_37 = tensor.collapse_shape %transposed_36 [[0], [1], [2, 3, 4]] : tensor<6x32x6x1x1xf32> into tensor<6x32x6xf32>
    %60 = linalg.batch_matmul ins(%collapsed_35, %collapsed_37 : tensor<6x24x32xf32>, tensor<6x32x6xf32>) outs(%57 : tensor<6x24x6xf32>) -> tensor<6x24x6xf32>
    %expanded_38 = tensor.expand_shape %60 [[0], [1, 2], [3, 4]] output_shape [6, 4, 6, 1, 6] : tensor<6x24x6xf32> into tensor<6x4x6x1x6xf32>
    %transposed_39 = linalg.transpose ins(%expanded_38 : tensor<6x4x6x1x6xf32>) outs(%59 : tensor<4x6x6x6x1xf32>) permutation = [1, 2, 0, 4, 3] 
    %collapsed_40 = tensor.collapse_shape %transposed_39 [[0], [1], [2], [3, 4]] : tensor<4x6x6x6x1xf32> into tensor<4x6x6x6xf32>
    %expanded_41 = tensor.expand_shape %collapsed_40 [[0], [1], [2], [3, 4]] output_shape [4, 6, 6, 1, 6] : tensor<4x6x6x6xf32> into tensor<4x6x6x1x6xf32>
    %61 = tensor.empty() : tensor<4x6x6x6x6xf32>
    %62 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_32, %expanded_41 : tensor<4x6x6x6x1xf32>, tensor<4x6x6x1x6xf32>) outs(%61 : tensor<4x6x6x6x6xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.addf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<4x6x6x6x6xf32>
    %collapsed_42 = tensor.collapse_shape %62 [[0], [1, 2], [3, 4]] : tensor<4x6x6x6x6xf32> into tensor<4x36x36xf32>
    %63 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11, %collapsed_42 : tensor<4x36x36xf32>, tensor<4x36x36xf32>) outs(%9 : tensor<4x36x36xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.addf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<4x36x36xf32>
    %64 = tensor.empty() : tensor<4x36xi64>
    %65 = linalg.fill ins(%c0_i64 : i64) outs(%64 : tensor<4x36xi64>) -> tensor<4x36xi64>
    %66 = tensor.empty() : tensor<4x36xf32>
    %67 = linalg.fill ins(%cst_0 : f32) outs(%66 : tensor<4x36xf32>) -> tensor<4x36xf32>
    %68:2 = linalg.generic {indexing_maps = [#map2, #map9, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%63 : tensor<4x36x36xf32>) outs(%67, %65 : tensor<4x36xf32>, tensor<4x36xi64>) {
    ^bb0(%in: f32, %out: f32, %out_49: i64):
      %83 = linalg.index 2 : index
      %84 = arith.index_cast %83 : index to i64
      %85 = arith.maximumf %in, %out : f32
      %86 = arith.cmpf ogt, %in, %out : f32
      %87 = arith.select %86, %84, %out_49 : i64
      linalg.yield %85, %87 : f32, i64
    } -> (tensor<4x36xf32>, tensor<4x36xi64>)
    %expanded_43 = tensor.expand_shape %68#0 [[0], [1, 2]] output_shape [4, 36, 1] : tensor<4x36xf32> into tensor<4x36x1xf32>
    %69 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %expanded_43 : tensor<4x36x36xf32>, tensor<4x36x1xf32>) outs(%9 : tensor<4x36x36xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.subf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<4x36x36xf32>
    %70 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<4x36x36xf32>) outs(%9 : tensor<4x36x36xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.exp %in : f32
      linalg.yield %83 : f32
    } -> tensor<4x36x36xf32>
    %71 = tensor.empty() : tensor<4x36x1xf32>
    %72 = linalg.fill ins(%cst : f32) outs(%71 : tensor<4x36x1xf32>) -> tensor<4x36x1xf32>
    %73 = linalg.generic {indexing_maps = [#map2, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<4x36x36xf32>) outs(%72 : tensor<4x36x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.addf %in, %out : f32
      linalg.yield %83 : f32
    } -> tensor<4x36x1xf32>
    %74 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %73 : tensor<4x36x36xf32>, tensor<4x36x1xf32>) outs(%9 : tensor<4x36x36xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.divf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<4x36x36xf32>
    %75 = linalg.fill ins(%cst : f32) outs(%6 : tensor<4x36x32xf32>) -> tensor<4x36x32xf32>
    %76 = linalg.batch_matmul ins(%74, %collapsed_11 : tensor<4x36x36xf32>, tensor<4x36x32xf32>) outs(%75 : tensor<4x36x32xf32>) -> tensor<4x36x32xf32>
    %expanded_44 = tensor.expand_shape %76 [[0, 1], [2, 3], [4]] output_shape [2, 2, 6, 6, 32] : tensor<4x36x32xf32> into tensor<2x2x6x6x32xf32>
    %77 = tensor.empty() : tensor<2x6x6x2x32xf32>
    %transposed_45 = linalg.transpose ins(%expanded_44 : tensor<2x2x6x6x32xf32>) outs(%77 : tensor<2x6x6x2x32xf32>) permutation = [0, 2, 3, 1, 4] 
    %collapsed_46 = tensor.collapse_shape %transposed_45 [[0, 1, 2], [3, 4]] : tensor<2x6x6x2x32xf32> into tensor<72x64xf32>
    %78 = tensor.empty() : tensor<64x64xf32>
    %transposed_47 = linalg.transpose ins(%arg5 : tensor<64x64xf32>) outs(%78 : tensor<64x64xf32>) permutation = [1, 0] 
    %79 = tensor.empty() : tensor<72x64xf32>
    %80 = linalg.fill ins(%cst : f32) outs(%79 : tensor<72x64xf32>) -> tensor<72x64xf32>
    %81 = linalg.matmul ins(%collapsed_46, %transposed_47 : tensor<72x64xf32>, tensor<64x64xf32>) outs(%80 : tensor<72x64xf32>) -> tensor<72x64xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%81, %arg6 : tensor<72x64xf32>, tensor<64xf32>) outs(%79 : tensor<72x64xf32>) {
    ^bb0(%in: f32, %in_49: f32, %out: f32):
      %83 = arith.addf %in, %in_49 : f32
      linalg.yield %83 : f32
    } -> tensor<72x64xf32>
    %expanded_48 = tensor.expand_shape %82 [[0, 1, 2], [3]] output_shape [2, 6, 6, 64] : tensor<72x64xf32> into tensor<2x6x6x64xf32>
    return %expanded_48 : tensor<2x6x6x64xf32>
  }
}

