// A decode step of Mistral with transformers' DynamicCache, f16: B=2, Hq=4, Hkv=2, M=1, D=64, any number of keys before.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: cos
//   %arg2: sin
//   %arg3: past_key
//   %arg4: past_value
//   %arg5: layer.q_proj.weight
//   %arg6: layer.k_proj.weight
//   %arg7: layer.v_proj.weight
//   %arg8: layer.o_proj.weight

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map6 = affine_map<()[s0] -> (s0 + 1)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @mistral_dynamic_cache(%arg0: tensor<2x1x256xf16>, %arg1: tensor<1x1x64xf16>, %arg2: tensor<1x1x64xf16>, %arg3: tensor<2x2x?x64xf16>, %arg4: tensor<2x2x?x64xf16>, %arg5: tensor<256x256xf16>, %arg6: tensor<128x256xf16>, %arg7: tensor<128x256xf16>, %arg8: tensor<256x256xf16>) -> (tensor<2x1x256xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>) {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-6.550400e+04> : tensor<f16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f16>
    %cst_3 = arith.constant 1.250000e-01 : f16
    %dim = tensor.dim %arg3, %c2 : tensor<2x2x?x64xf16>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.addi %0, %c1_i64 : i64
    %2 = tensor.empty() : tensor<1xi64>
    %3 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%2 : tensor<1xi64>) {
    ^bb0(%out: i64):
      linalg.yield %c0_i64 : i64
    } -> tensor<1xi64>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%3 : tensor<1xi64>) outs(%2 : tensor<1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %81 = arith.addi %in, %0 : i64
      linalg.yield %81 : i64
    } -> tensor<1xi64>
    %5 = arith.index_cast %1 : i64 to index
    %6 = tensor.empty(%5) : tensor<?xi64>
    %7 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%6 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %81 = linalg.index 0 : index
      %82 = arith.index_cast %81 : index to i64
      linalg.yield %82 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %4 [[0, 1, 2, 3]] output_shape [1, 1, 1, 1] : tensor<1xi64> into tensor<1x1x1x1xi64>
    %expanded_4 = tensor.expand_shape %7 [[0, 1, 2, 3]] output_shape [1, 1, 1, %5] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %8 = tensor.empty(%5) : tensor<1x1x1x?xi1>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x1x1xi64>) outs(%8 : tensor<1x1x1x?xi1>) {
    ^bb0(%in: i64, %in_38: i64, %out: i1):
      %81 = arith.cmpi sle, %in, %in_38 : i64
      linalg.yield %81 : i1
    } -> tensor<1x1x1x?xi1>
    %10 = arith.cmpi sge, %1, %c0_i64 : i64
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %11 = tensor.empty(%5) : tensor<2x1x1x?xi1>
    %12 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%11 : tensor<2x1x1x?xi1>) {
    ^bb0(%out: i1):
      %81 = linalg.index 3 : index
      %82 = arith.cmpi eq, %5, %c1 : index
      %83 = arith.select %82, %c0, %81 : index
      %extracted = tensor.extract %9[%c0, %c0, %c0, %83] : tensor<1x1x1x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x1x?xi1>
    %13 = tensor.empty(%5) : tensor<2x1x1x?xf16>
    %14 = linalg.generic {indexing_maps = [#map1, #map3, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_2, %cst_1 : tensor<2x1x1x?xi1>, tensor<f16>, tensor<f16>) outs(%13 : tensor<2x1x1x?xf16>) {
    ^bb0(%in: i1, %in_38: f16, %in_39: f16, %out: f16):
      %81 = arith.select %in, %in_38, %in_39 : f16
      linalg.yield %81 : f16
    } -> tensor<2x1x1x?xf16>
    %15 = tensor.empty() : tensor<256x256xf16>
    %transposed = linalg.transpose ins(%arg5 : tensor<256x256xf16>) outs(%15 : tensor<256x256xf16>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<2x1x256xf16> into tensor<2x256xf16>
    %16 = tensor.empty() : tensor<2x256xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %18 = linalg.matmul ins(%collapsed, %transposed : tensor<2x256xf16>, tensor<256x256xf16>) outs(%17 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %19 = tensor.empty() : tensor<2x256xf16>
    %20 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<2x256xf32>) outs(%19 : tensor<2x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %81 = arith.truncf %in : f32 to f16
      linalg.yield %81 : f16
    } -> tensor<2x256xf16>
    %expanded_5 = tensor.expand_shape %20 [[0], [1, 2, 3]] output_shape [2, 1, 4, 64] : tensor<2x256xf16> into tensor<2x1x4x64xf16>
    %21 = tensor.empty() : tensor<2x4x1x64xf16>
    %transposed_6 = linalg.transpose ins(%expanded_5 : tensor<2x1x4x64xf16>) outs(%21 : tensor<2x4x1x64xf16>) permutation = [0, 2, 1, 3] 
    %22 = tensor.empty() : tensor<256x128xf16>
    %transposed_7 = linalg.transpose ins(%arg6 : tensor<128x256xf16>) outs(%22 : tensor<256x128xf16>) permutation = [1, 0] 
    %23 = tensor.empty() : tensor<2x128xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %25 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<2x256xf16>, tensor<256x128xf16>) outs(%24 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %26 = tensor.empty() : tensor<2x128xf16>
    %27 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<2x128xf32>) outs(%26 : tensor<2x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %81 = arith.truncf %in : f32 to f16
      linalg.yield %81 : f16
    } -> tensor<2x128xf16>
    %expanded_8 = tensor.expand_shape %27 [[0], [1, 2, 3]] output_shape [2, 1, 2, 64] : tensor<2x128xf16> into tensor<2x1x2x64xf16>
    %28 = tensor.empty() : tensor<2x2x1x64xf16>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x1x2x64xf16>) outs(%28 : tensor<2x2x1x64xf16>) permutation = [0, 2, 1, 3] 
    %transposed_10 = linalg.transpose ins(%arg7 : tensor<128x256xf16>) outs(%22 : tensor<256x128xf16>) permutation = [1, 0] 
    %29 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<2x256xf16>, tensor<256x128xf16>) outs(%24 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<2x128xf32>) outs(%26 : tensor<2x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %81 = arith.truncf %in : f32 to f16
      linalg.yield %81 : f16
    } -> tensor<2x128xf16>
    %expanded_11 = tensor.expand_shape %30 [[0], [1, 2, 3]] output_shape [2, 1, 2, 64] : tensor<2x128xf16> into tensor<2x1x2x64xf16>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x1x2x64xf16>) outs(%28 : tensor<2x2x1x64xf16>) permutation = [0, 2, 1, 3] 
    %expanded_13 = tensor.expand_shape %arg1 [[0], [1, 2], [3]] output_shape [1, 1, 1, 64] : tensor<1x1x64xf16> into tensor<1x1x1x64xf16>
    %expanded_14 = tensor.expand_shape %arg2 [[0], [1, 2], [3]] output_shape [1, 1, 1, 64] : tensor<1x1x64xf16> into tensor<1x1x1x64xf16>
    %31 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_6, %expanded_13 : tensor<2x4x1x64xf16>, tensor<1x1x1x64xf16>) outs(%21 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_38: f16, %out: f16):
      %81 = arith.mulf %in, %in_38 : f16
      linalg.yield %81 : f16
    } -> tensor<2x4x1x64xf16>
    %extracted_slice = tensor.extract_slice %transposed_6[0, 0, 0, 0] [2, 4, 1, 32] [1, 1, 1, 1] : tensor<2x4x1x64xf16> to tensor<2x4x1x32xf16>
    %extracted_slice_15 = tensor.extract_slice %transposed_6[0, 0, 0, 32] [2, 4, 1, 32] [1, 1, 1, 1] : tensor<2x4x1x64xf16> to tensor<2x4x1x32xf16>
    %32 = tensor.empty() : tensor<2x4x1x32xf16>
    %33 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_15 : tensor<2x4x1x32xf16>) outs(%32 : tensor<2x4x1x32xf16>) {
    ^bb0(%in: f16, %out: f16):
      %81 = arith.negf %in : f16
      linalg.yield %81 : f16
    } -> tensor<2x4x1x32xf16>
    %concat = tensor.concat dim(3) %33, %extracted_slice : (tensor<2x4x1x32xf16>, tensor<2x4x1x32xf16>) -> tensor<2x4x1x64xf16>
    %34 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat, %expanded_14 : tensor<2x4x1x64xf16>, tensor<1x1x1x64xf16>) outs(%21 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_38: f16, %out: f16):
      %81 = arith.mulf %in, %in_38 : f16
      linalg.yield %81 : f16
    } -> tensor<2x4x1x64xf16>
    %35 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31, %34 : tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>) outs(%21 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_38: f16, %out: f16):
      %81 = arith.addf %in, %in_38 : f16
      linalg.yield %81 : f16
    } -> tensor<2x4x1x64xf16>
    %36 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9, %expanded_13 : tensor<2x2x1x64xf16>, tensor<1x1x1x64xf16>) outs(%28 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_38: f16, %out: f16):
      %81 = arith.mulf %in, %in_38 : f16
      linalg.yield %81 : f16
    } -> tensor<2x2x1x64xf16>
    %extracted_slice_16 = tensor.extract_slice %transposed_9[0, 0, 0, 0] [2, 2, 1, 32] [1, 1, 1, 1] : tensor<2x2x1x64xf16> to tensor<2x2x1x32xf16>
    %extracted_slice_17 = tensor.extract_slice %transposed_9[0, 0, 0, 32] [2, 2, 1, 32] [1, 1, 1, 1] : tensor<2x2x1x64xf16> to tensor<2x2x1x32xf16>
    %37 = tensor.empty() : tensor<2x2x1x32xf16>
    %38 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17 : tensor<2x2x1x32xf16>) outs(%37 : tensor<2x2x1x32xf16>) {
    ^bb0(%in: f16, %out: f16):
      %81 = arith.negf %in : f16
      linalg.yield %81 : f16
    } -> tensor<2x2x1x32xf16>
    %concat_18 = tensor.concat dim(3) %38, %extracted_slice_16 : (tensor<2x2x1x32xf16>, tensor<2x2x1x32xf16>) -> tensor<2x2x1x64xf16>
    %39 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_18, %expanded_14 : tensor<2x2x1x64xf16>, tensor<1x1x1x64xf16>) outs(%28 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_38: f16, %out: f16):
      %81 = arith.mulf %in, %in_38 : f16
      linalg.yield %81 : f16
    } -> tensor<2x2x1x64xf16>
    %40 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36, %39 : tensor<2x2x1x64xf16>, tensor<2x2x1x64xf16>) outs(%28 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_38: f16, %out: f16):
      %81 = arith.addf %in, %in_38 : f16
      linalg.yield %81 : f16
    } -> tensor<2x2x1x64xf16>
    %concat_19 = tensor.concat dim(2) %arg3, %40 : (tensor<2x2x?x64xf16>, tensor<2x2x1x64xf16>) -> tensor<2x2x?x64xf16>
    %concat_20 = tensor.concat dim(2) %arg4, %transposed_12 : (tensor<2x2x?x64xf16>, tensor<2x2x1x64xf16>) -> tensor<2x2x?x64xf16>
    %41 = affine.apply #map6()[%dim]
    %expanded_21 = tensor.expand_shape %concat_19 [[0], [1], [2, 3], [4]] output_shape [2, 2, 1, %41, 64] : tensor<2x2x?x64xf16> into tensor<2x2x1x?x64xf16>
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %42 = tensor.empty(%5) : tensor<2x2x2x?x64xf16>
    %43 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%42 : tensor<2x2x2x?x64xf16>) {
    ^bb0(%out: f16):
      %81 = linalg.index 0 : index
      %82 = linalg.index 1 : index
      %83 = linalg.index 3 : index
      %84 = linalg.index 4 : index
      %85 = arith.cmpi eq, %41, %c1 : index
      %86 = arith.select %85, %c0, %83 : index
      %extracted = tensor.extract %expanded_21[%81, %82, %c0, %86, %84] : tensor<2x2x1x?x64xf16>
      linalg.yield %extracted : f16
    } -> tensor<2x2x2x?x64xf16>
    %collapsed_22 = tensor.collapse_shape %43 [[0], [1, 2], [3], [4]] : tensor<2x2x2x?x64xf16> into tensor<2x4x?x64xf16>
    %dim_23 = tensor.dim %arg4, %c2 : tensor<2x2x?x64xf16>
    %44 = affine.apply #map6()[%dim_23]
    %expanded_24 = tensor.expand_shape %concat_20 [[0], [1], [2, 3], [4]] output_shape [2, 2, 1, %44, 64] : tensor<2x2x?x64xf16> into tensor<2x2x1x?x64xf16>
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %45 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%42 : tensor<2x2x2x?x64xf16>) {
    ^bb0(%out: f16):
      %81 = linalg.index 0 : index
      %82 = linalg.index 1 : index
      %83 = linalg.index 3 : index
      %84 = linalg.index 4 : index
      %85 = arith.cmpi eq, %44, %c1 : index
      %86 = arith.select %85, %c0, %83 : index
      %extracted = tensor.extract %expanded_24[%81, %82, %c0, %86, %84] : tensor<2x2x1x?x64xf16>
      linalg.yield %extracted : f16
    } -> tensor<2x2x2x?x64xf16>
    %collapsed_25 = tensor.collapse_shape %45 [[0], [1, 2], [3], [4]] : tensor<2x2x2x?x64xf16> into tensor<2x4x?x64xf16>
    %46 = tensor.empty(%5) : tensor<2x4x64x?xf16>
    %transposed_26 = linalg.transpose ins(%collapsed_22 : tensor<2x4x?x64xf16>) outs(%46 : tensor<2x4x64x?xf16>) permutation = [0, 1, 3, 2] 
    %collapsed_27 = tensor.collapse_shape %35 [[0, 1], [2], [3]] : tensor<2x4x1x64xf16> into tensor<8x1x64xf16>
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %47 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%46 : tensor<2x4x64x?xf16>) {
    ^bb0(%out: f16):
      %81 = linalg.index 0 : index
      %82 = linalg.index 1 : index
      %83 = linalg.index 2 : index
      %84 = linalg.index 3 : index
      %85 = arith.cmpi eq, %5, %c1 : index
      %86 = arith.select %85, %c0, %84 : index
      %extracted = tensor.extract %transposed_26[%81, %82, %83, %86] : tensor<2x4x64x?xf16>
      linalg.yield %extracted : f16
    } -> tensor<2x4x64x?xf16>
    %collapsed_28 = tensor.collapse_shape %47 [[0, 1], [2], [3]] : tensor<2x4x64x?xf16> into tensor<8x64x?xf16>
    %48 = tensor.empty(%5) : tensor<8x1x?xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<8x1x?xf32>) -> tensor<8x1x?xf32>
    %50 = linalg.batch_matmul ins(%collapsed_27, %collapsed_28 : tensor<8x1x64xf16>, tensor<8x64x?xf16>) outs(%49 : tensor<8x1x?xf32>) -> tensor<8x1x?xf32>
    %51 = tensor.empty(%5) : tensor<8x1x?xf16>
    %52 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50 : tensor<8x1x?xf32>) outs(%51 : tensor<8x1x?xf16>) {
    ^bb0(%in: f32, %out: f16):
      %81 = arith.truncf %in : f32 to f16
      linalg.yield %81 : f16
    } -> tensor<8x1x?xf16>
    %expanded_29 = tensor.expand_shape %52 [[0, 1], [2], [3]] output_shape [2, 4, 1, %5] : tensor<8x1x?xf16> into tensor<2x4x1x?xf16>
    %53 = tensor.empty(%5) : tensor<2x4x1x?xf16>
    %54 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_29 : tensor<2x4x1x?xf16>) outs(%53 : tensor<2x4x1x?xf16>) {
    ^bb0(%in: f16, %out: f16):
      %81 = arith.mulf %in, %cst_3 : f16
      linalg.yield %81 : f16
    } -> tensor<2x4x1x?xf16>
    %55 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %14 : tensor<2x4x1x?xf16>, tensor<2x1x1x?xf16>) outs(%53 : tensor<2x4x1x?xf16>) {
    ^bb0(%in: f16, %in_38: f16, %out: f16):
      %81 = arith.addf %in, %in_38 : f16
      linalg.yield %81 : f16
    } -> tensor<2x4x1x?xf16>
    %56 = tensor.empty(%5) : tensor<2x4x1x?xf32>
    %57 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55 : tensor<2x4x1x?xf16>) outs(%56 : tensor<2x4x1x?xf32>) {
    ^bb0(%in: f16, %out: f32):
      %81 = arith.extf %in : f16 to f32
      linalg.yield %81 : f32
    } -> tensor<2x4x1x?xf32>
    %58 = tensor.empty() : tensor<2x4x1xi64>
    %59 = linalg.fill ins(%c0_i64 : i64) outs(%58 : tensor<2x4x1xi64>) -> tensor<2x4x1xi64>
    %60 = tensor.empty() : tensor<2x4x1xf32>
    %61 = linalg.fill ins(%cst_0 : f32) outs(%60 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
    %62:2 = linalg.generic {indexing_maps = [#map1, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%57 : tensor<2x4x1x?xf32>) outs(%61, %59 : tensor<2x4x1xf32>, tensor<2x4x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_38: i64):
      %81 = linalg.index 3 : index
      %82 = arith.index_cast %81 : index to i64
      %83 = arith.maximumf %in, %out : f32
      %84 = arith.cmpf ogt, %in, %out : f32
      %85 = arith.select %84, %82, %out_38 : i64
      linalg.yield %83, %85 : f32, i64
    } -> (tensor<2x4x1xf32>, tensor<2x4x1xi64>)
    %expanded_30 = tensor.expand_shape %62#0 [[0], [1], [2, 3]] output_shape [2, 4, 1, 1] : tensor<2x4x1xf32> into tensor<2x4x1x1xf32>
    %63 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57, %expanded_30 : tensor<2x4x1x?xf32>, tensor<2x4x1x1xf32>) outs(%56 : tensor<2x4x1x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %81 = arith.subf %in, %in_38 : f32
      linalg.yield %81 : f32
    } -> tensor<2x4x1x?xf32>
    %64 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<2x4x1x?xf32>) outs(%56 : tensor<2x4x1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %81 = math.exp %in : f32
      linalg.yield %81 : f32
    } -> tensor<2x4x1x?xf32>
    %65 = tensor.empty() : tensor<2x4x1x1xf32>
    %66 = linalg.fill ins(%cst : f32) outs(%65 : tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
    %67 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%64 : tensor<2x4x1x?xf32>) outs(%66 : tensor<2x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %81 = arith.addf %in, %out : f32
      linalg.yield %81 : f32
    } -> tensor<2x4x1x1xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64, %67 : tensor<2x4x1x?xf32>, tensor<2x4x1x1xf32>) outs(%56 : tensor<2x4x1x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %81 = arith.divf %in, %in_38 : f32
      linalg.yield %81 : f32
    } -> tensor<2x4x1x?xf32>
    %69 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<2x4x1x?xf32>) outs(%53 : tensor<2x4x1x?xf16>) {
    ^bb0(%in: f32, %out: f16):
      %81 = arith.truncf %in : f32 to f16
      linalg.yield %81 : f16
    } -> tensor<2x4x1x?xf16>
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %70 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%53 : tensor<2x4x1x?xf16>) {
    ^bb0(%out: f16):
      %81 = linalg.index 0 : index
      %82 = linalg.index 1 : index
      %83 = linalg.index 3 : index
      %84 = arith.cmpi eq, %5, %c1 : index
      %85 = arith.select %84, %c0, %83 : index
      %extracted = tensor.extract %69[%81, %82, %c0, %85] : tensor<2x4x1x?xf16>
      linalg.yield %extracted : f16
    } -> tensor<2x4x1x?xf16>
    %collapsed_31 = tensor.collapse_shape %70 [[0, 1], [2], [3]] : tensor<2x4x1x?xf16> into tensor<8x1x?xf16>
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %71 = tensor.empty(%5) : tensor<2x4x?x64xf16>
    %72 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%71 : tensor<2x4x?x64xf16>) {
    ^bb0(%out: f16):
      %81 = linalg.index 0 : index
      %82 = linalg.index 1 : index
      %83 = linalg.index 2 : index
      %84 = linalg.index 3 : index
      %85 = arith.cmpi eq, %5, %c1 : index
      %86 = arith.select %85, %c0, %83 : index
      %extracted = tensor.extract %collapsed_25[%81, %82, %86, %84] : tensor<2x4x?x64xf16>
      linalg.yield %extracted : f16
    } -> tensor<2x4x?x64xf16>
    %collapsed_32 = tensor.collapse_shape %72 [[0, 1], [2], [3]] : tensor<2x4x?x64xf16> into tensor<8x?x64xf16>
    %73 = tensor.empty() : tensor<8x1x64xf32>
    %74 = linalg.fill ins(%cst : f32) outs(%73 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %75 = linalg.batch_matmul ins(%collapsed_31, %collapsed_32 : tensor<8x1x?xf16>, tensor<8x?x64xf16>) outs(%74 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %76 = tensor.empty() : tensor<8x1x64xf16>
    %77 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75 : tensor<8x1x64xf32>) outs(%76 : tensor<8x1x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %81 = arith.truncf %in : f32 to f16
      linalg.yield %81 : f16
    } -> tensor<8x1x64xf16>
    %expanded_33 = tensor.expand_shape %77 [[0, 1], [2], [3]] output_shape [2, 4, 1, 64] : tensor<8x1x64xf16> into tensor<2x4x1x64xf16>
    %78 = tensor.empty() : tensor<2x1x4x64xf16>
    %transposed_34 = linalg.transpose ins(%expanded_33 : tensor<2x4x1x64xf16>) outs(%78 : tensor<2x1x4x64xf16>) permutation = [0, 2, 1, 3] 
    %transposed_35 = linalg.transpose ins(%arg8 : tensor<256x256xf16>) outs(%15 : tensor<256x256xf16>) permutation = [1, 0] 
    %collapsed_36 = tensor.collapse_shape %transposed_34 [[0], [1, 2, 3]] : tensor<2x1x4x64xf16> into tensor<2x256xf16>
    %79 = linalg.matmul ins(%collapsed_36, %transposed_35 : tensor<2x256xf16>, tensor<256x256xf16>) outs(%17 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %80 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%79 : tensor<2x256xf32>) outs(%19 : tensor<2x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %81 = arith.truncf %in : f32 to f16
      linalg.yield %81 : f16
    } -> tensor<2x256xf16>
    %expanded_37 = tensor.expand_shape %80 [[0], [1, 2]] output_shape [2, 1, 256] : tensor<2x256xf16> into tensor<2x1x256xf16>
    return %expanded_37, %concat_19, %concat_20 : tensor<2x1x256xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>
  }
}

