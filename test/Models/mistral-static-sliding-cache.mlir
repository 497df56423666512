// A decode step of Mistral with transformers' StaticCache of its window, which is full, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64.
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
#map4 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @mistral_static_sliding_cache(%arg0: tensor<2x1x256xf16>, %arg1: tensor<1x1x64xf16>, %arg2: tensor<1x1x64xf16>, %arg3: tensor<2x2x96x64xf16>, %arg4: tensor<2x2x96x64xf16>, %arg5: tensor<256x256xf16>, %arg6: tensor<128x256xf16>, %arg7: tensor<128x256xf16>, %arg8: tensor<256x256xf16>) -> (tensor<2x1x256xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>) {
    %c289_i64 = arith.constant 289 : i64
    %c96_i64 = arith.constant 96 : i64
    %c384_i64 = arith.constant 384 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-6.550400e+04> : tensor<f16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f16>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant 1.250000e-01 : f16
    %0 = tensor.empty() : tensor<1xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<1xi64>) {
    ^bb0(%out: i64):
      linalg.yield %c0_i64 : i64
    } -> tensor<1xi64>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<1xi64>) outs(%0 : tensor<1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %77 = arith.addi %in, %c384_i64 : i64
      linalg.yield %77 : i64
    } -> tensor<1xi64>
    %3 = tensor.empty() : tensor<96xi64>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<96xi64>) {
    ^bb0(%out: i64):
      %77 = linalg.index 0 : index
      %78 = arith.index_cast %77 : index to i64
      linalg.yield %78 : i64
    } -> tensor<96xi64>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%4 : tensor<96xi64>) outs(%3 : tensor<96xi64>) {
    ^bb0(%in: i64, %out: i64):
      %77 = arith.addi %in, %c289_i64 : i64
      linalg.yield %77 : i64
    } -> tensor<96xi64>
    %expanded = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, 1, 1] : tensor<1xi64> into tensor<1x1x1x1xi64>
    %expanded_5 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 1, 96] : tensor<96xi64> into tensor<1x1x1x96xi64>
    %6 = tensor.empty() : tensor<1x1x1x1xi64>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x1x1xi64>) outs(%6 : tensor<1x1x1x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %77 = arith.subi %in, %c96_i64 : i64
      linalg.yield %77 : i64
    } -> tensor<1x1x1x1xi64>
    %8 = tensor.empty() : tensor<1x1x1x96xi1>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %7 : tensor<1x1x1x96xi64>, tensor<1x1x1x1xi64>) outs(%8 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i64, %in_44: i64, %out: i1):
      %77 = arith.cmpi sgt, %in, %in_44 : i64
      linalg.yield %77 : i1
    } -> tensor<1x1x1x96xi1>
    %10 = linalg.generic {indexing_maps = [#map3, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3, %9 : tensor<i1>, tensor<1x1x1x96xi1>) outs(%8 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i1, %in_44: i1, %out: i1):
      %77 = arith.andi %in, %in_44 : i1
      linalg.yield %77 : i1
    } -> tensor<1x1x1x96xi1>
    %11 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %expanded : tensor<1x1x1x96xi64>, tensor<1x1x1x1xi64>) outs(%8 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i64, %in_44: i64, %out: i1):
      %77 = arith.cmpi sle, %in, %in_44 : i64
      linalg.yield %77 : i1
    } -> tensor<1x1x1x96xi1>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %11 : tensor<1x1x1x96xi1>, tensor<1x1x1x96xi1>) outs(%8 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i1, %in_44: i1, %out: i1):
      %77 = arith.andi %in, %in_44 : i1
      linalg.yield %77 : i1
    } -> tensor<1x1x1x96xi1>
    %13 = tensor.empty() : tensor<2x1x1x96xi1>
    %collapsed = tensor.collapse_shape %12 [[0, 1], [2], [3]] : tensor<1x1x1x96xi1> into tensor<1x1x96xi1>
    %14 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x1x96xi1>) outs(%13 : tensor<2x1x1x96xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x1x96xi1>
    %15 = tensor.empty() : tensor<2x1x1x96xf16>
    %16 = linalg.generic {indexing_maps = [#map1, #map3, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %cst_2, %cst_1 : tensor<2x1x1x96xi1>, tensor<f16>, tensor<f16>) outs(%15 : tensor<2x1x1x96xf16>) {
    ^bb0(%in: i1, %in_44: f16, %in_45: f16, %out: f16):
      %77 = arith.select %in, %in_44, %in_45 : f16
      linalg.yield %77 : f16
    } -> tensor<2x1x1x96xf16>
    %17 = tensor.empty() : tensor<256x256xf16>
    %transposed = linalg.transpose ins(%arg5 : tensor<256x256xf16>) outs(%17 : tensor<256x256xf16>) permutation = [1, 0] 
    %collapsed_6 = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<2x1x256xf16> into tensor<2x256xf16>
    %18 = tensor.empty() : tensor<2x256xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %20 = linalg.matmul ins(%collapsed_6, %transposed : tensor<2x256xf16>, tensor<256x256xf16>) outs(%19 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %21 = tensor.empty() : tensor<2x256xf16>
    %22 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<2x256xf32>) outs(%21 : tensor<2x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %77 = arith.truncf %in : f32 to f16
      linalg.yield %77 : f16
    } -> tensor<2x256xf16>
    %expanded_7 = tensor.expand_shape %22 [[0], [1, 2, 3]] output_shape [2, 1, 4, 64] : tensor<2x256xf16> into tensor<2x1x4x64xf16>
    %23 = tensor.empty() : tensor<2x4x1x64xf16>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x1x4x64xf16>) outs(%23 : tensor<2x4x1x64xf16>) permutation = [0, 2, 1, 3] 
    %24 = tensor.empty() : tensor<256x128xf16>
    %transposed_9 = linalg.transpose ins(%arg6 : tensor<128x256xf16>) outs(%24 : tensor<256x128xf16>) permutation = [1, 0] 
    %25 = tensor.empty() : tensor<2x128xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %27 = linalg.matmul ins(%collapsed_6, %transposed_9 : tensor<2x256xf16>, tensor<256x128xf16>) outs(%26 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %28 = tensor.empty() : tensor<2x128xf16>
    %29 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<2x128xf32>) outs(%28 : tensor<2x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %77 = arith.truncf %in : f32 to f16
      linalg.yield %77 : f16
    } -> tensor<2x128xf16>
    %expanded_10 = tensor.expand_shape %29 [[0], [1, 2, 3]] output_shape [2, 1, 2, 64] : tensor<2x128xf16> into tensor<2x1x2x64xf16>
    %30 = tensor.empty() : tensor<2x2x1x64xf16>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x1x2x64xf16>) outs(%30 : tensor<2x2x1x64xf16>) permutation = [0, 2, 1, 3] 
    %transposed_12 = linalg.transpose ins(%arg7 : tensor<128x256xf16>) outs(%24 : tensor<256x128xf16>) permutation = [1, 0] 
    %31 = linalg.matmul ins(%collapsed_6, %transposed_12 : tensor<2x256xf16>, tensor<256x128xf16>) outs(%26 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<2x128xf32>) outs(%28 : tensor<2x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %77 = arith.truncf %in : f32 to f16
      linalg.yield %77 : f16
    } -> tensor<2x128xf16>
    %expanded_13 = tensor.expand_shape %32 [[0], [1, 2, 3]] output_shape [2, 1, 2, 64] : tensor<2x128xf16> into tensor<2x1x2x64xf16>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<2x1x2x64xf16>) outs(%30 : tensor<2x2x1x64xf16>) permutation = [0, 2, 1, 3] 
    %expanded_15 = tensor.expand_shape %arg1 [[0], [1, 2], [3]] output_shape [1, 1, 1, 64] : tensor<1x1x64xf16> into tensor<1x1x1x64xf16>
    %expanded_16 = tensor.expand_shape %arg2 [[0], [1, 2], [3]] output_shape [1, 1, 1, 64] : tensor<1x1x64xf16> into tensor<1x1x1x64xf16>
    %33 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_8, %expanded_15 : tensor<2x4x1x64xf16>, tensor<1x1x1x64xf16>) outs(%23 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_44: f16, %out: f16):
      %77 = arith.mulf %in, %in_44 : f16
      linalg.yield %77 : f16
    } -> tensor<2x4x1x64xf16>
    %extracted_slice = tensor.extract_slice %transposed_8[0, 0, 0, 0] [2, 4, 1, 32] [1, 1, 1, 1] : tensor<2x4x1x64xf16> to tensor<2x4x1x32xf16>
    %extracted_slice_17 = tensor.extract_slice %transposed_8[0, 0, 0, 32] [2, 4, 1, 32] [1, 1, 1, 1] : tensor<2x4x1x64xf16> to tensor<2x4x1x32xf16>
    %34 = tensor.empty() : tensor<2x4x1x32xf16>
    %35 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17 : tensor<2x4x1x32xf16>) outs(%34 : tensor<2x4x1x32xf16>) {
    ^bb0(%in: f16, %out: f16):
      %77 = arith.negf %in : f16
      linalg.yield %77 : f16
    } -> tensor<2x4x1x32xf16>
    %concat = tensor.concat dim(3) %35, %extracted_slice : (tensor<2x4x1x32xf16>, tensor<2x4x1x32xf16>) -> tensor<2x4x1x64xf16>
    %36 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat, %expanded_16 : tensor<2x4x1x64xf16>, tensor<1x1x1x64xf16>) outs(%23 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_44: f16, %out: f16):
      %77 = arith.mulf %in, %in_44 : f16
      linalg.yield %77 : f16
    } -> tensor<2x4x1x64xf16>
    %37 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>) outs(%23 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_44: f16, %out: f16):
      %77 = arith.addf %in, %in_44 : f16
      linalg.yield %77 : f16
    } -> tensor<2x4x1x64xf16>
    %38 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_11, %expanded_15 : tensor<2x2x1x64xf16>, tensor<1x1x1x64xf16>) outs(%30 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_44: f16, %out: f16):
      %77 = arith.mulf %in, %in_44 : f16
      linalg.yield %77 : f16
    } -> tensor<2x2x1x64xf16>
    %extracted_slice_18 = tensor.extract_slice %transposed_11[0, 0, 0, 0] [2, 2, 1, 32] [1, 1, 1, 1] : tensor<2x2x1x64xf16> to tensor<2x2x1x32xf16>
    %extracted_slice_19 = tensor.extract_slice %transposed_11[0, 0, 0, 32] [2, 2, 1, 32] [1, 1, 1, 1] : tensor<2x2x1x64xf16> to tensor<2x2x1x32xf16>
    %39 = tensor.empty() : tensor<2x2x1x32xf16>
    %40 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_19 : tensor<2x2x1x32xf16>) outs(%39 : tensor<2x2x1x32xf16>) {
    ^bb0(%in: f16, %out: f16):
      %77 = arith.negf %in : f16
      linalg.yield %77 : f16
    } -> tensor<2x2x1x32xf16>
    %concat_20 = tensor.concat dim(3) %40, %extracted_slice_18 : (tensor<2x2x1x32xf16>, tensor<2x2x1x32xf16>) -> tensor<2x2x1x64xf16>
    %41 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_20, %expanded_16 : tensor<2x2x1x64xf16>, tensor<1x1x1x64xf16>) outs(%30 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_44: f16, %out: f16):
      %77 = arith.mulf %in, %in_44 : f16
      linalg.yield %77 : f16
    } -> tensor<2x2x1x64xf16>
    %42 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38, %41 : tensor<2x2x1x64xf16>, tensor<2x2x1x64xf16>) outs(%30 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_44: f16, %out: f16):
      %77 = arith.addf %in, %in_44 : f16
      linalg.yield %77 : f16
    } -> tensor<2x2x1x64xf16>
    %extracted_slice_21 = tensor.extract_slice %arg3[0, 0, 1, 0] [2, 2, 95, 64] [1, 1, 1, 1] : tensor<2x2x96x64xf16> to tensor<2x2x95x64xf16>
    %cast = tensor.cast %extracted_slice_21 : tensor<2x2x95x64xf16> to tensor<2x2x?x64xf16>
    %extracted_slice_22 = tensor.extract_slice %arg3[0, 0, 0, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x96x64xf16> to tensor<2x2x1x64xf16>
    %cast_23 = tensor.cast %extracted_slice_22 : tensor<2x2x1x64xf16> to tensor<2x2x?x64xf16>
    %concat_24 = tensor.concat dim(2) %cast, %cast_23 : (tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>) -> tensor<2x2x96x64xf16>
    %extracted_slice_25 = tensor.extract_slice %arg4[0, 0, 1, 0] [2, 2, 95, 64] [1, 1, 1, 1] : tensor<2x2x96x64xf16> to tensor<2x2x95x64xf16>
    %cast_26 = tensor.cast %extracted_slice_25 : tensor<2x2x95x64xf16> to tensor<2x2x?x64xf16>
    %extracted_slice_27 = tensor.extract_slice %arg4[0, 0, 0, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x96x64xf16> to tensor<2x2x1x64xf16>
    %cast_28 = tensor.cast %extracted_slice_27 : tensor<2x2x1x64xf16> to tensor<2x2x?x64xf16>
    %concat_29 = tensor.concat dim(2) %cast_26, %cast_28 : (tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>) -> tensor<2x2x96x64xf16>
    %inserted_slice = tensor.insert_slice %42 into %concat_24[0, 0, 95, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    %inserted_slice_30 = tensor.insert_slice %transposed_14 into %concat_29[0, 0, 95, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    %43 = tensor.empty() : tensor<2x2x2x96x64xf16>
    %44 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice : tensor<2x2x96x64xf16>) outs(%43 : tensor<2x2x2x96x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x96x64xf16>
    %collapsed_31 = tensor.collapse_shape %44 [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x64xf16> into tensor<2x4x96x64xf16>
    %45 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice_30 : tensor<2x2x96x64xf16>) outs(%43 : tensor<2x2x2x96x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x96x64xf16>
    %46 = tensor.empty() : tensor<2x4x64x96xf16>
    %transposed_32 = linalg.transpose ins(%collapsed_31 : tensor<2x4x96x64xf16>) outs(%46 : tensor<2x4x64x96xf16>) permutation = [0, 1, 3, 2] 
    %collapsed_33 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<2x4x1x64xf16> into tensor<8x1x64xf16>
    %collapsed_34 = tensor.collapse_shape %transposed_32 [[0, 1], [2], [3]] : tensor<2x4x64x96xf16> into tensor<8x64x96xf16>
    %47 = tensor.empty() : tensor<8x1x96xf32>
    %48 = linalg.fill ins(%cst : f32) outs(%47 : tensor<8x1x96xf32>) -> tensor<8x1x96xf32>
    %49 = linalg.batch_matmul ins(%collapsed_33, %collapsed_34 : tensor<8x1x64xf16>, tensor<8x64x96xf16>) outs(%48 : tensor<8x1x96xf32>) -> tensor<8x1x96xf32>
    %50 = tensor.empty() : tensor<8x1x96xf16>
    %51 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49 : tensor<8x1x96xf32>) outs(%50 : tensor<8x1x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %77 = arith.truncf %in : f32 to f16
      linalg.yield %77 : f16
    } -> tensor<8x1x96xf16>
    %expanded_35 = tensor.expand_shape %51 [[0, 1], [2], [3]] output_shape [2, 4, 1, 96] : tensor<8x1x96xf16> into tensor<2x4x1x96xf16>
    %52 = tensor.empty() : tensor<2x4x1x96xf16>
    %53 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_35 : tensor<2x4x1x96xf16>) outs(%52 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f16, %out: f16):
      %77 = arith.mulf %in, %cst_4 : f16
      linalg.yield %77 : f16
    } -> tensor<2x4x1x96xf16>
    %54 = linalg.generic {indexing_maps = [#map1, #map10, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %16 : tensor<2x4x1x96xf16>, tensor<2x1x1x96xf16>) outs(%52 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f16, %in_44: f16, %out: f16):
      %77 = arith.addf %in, %in_44 : f16
      linalg.yield %77 : f16
    } -> tensor<2x4x1x96xf16>
    %55 = tensor.empty() : tensor<2x4x1x96xf32>
    %56 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54 : tensor<2x4x1x96xf16>) outs(%55 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f16, %out: f32):
      %77 = arith.extf %in : f16 to f32
      linalg.yield %77 : f32
    } -> tensor<2x4x1x96xf32>
    %57 = tensor.empty() : tensor<2x4x1xi64>
    %58 = linalg.fill ins(%c0_i64 : i64) outs(%57 : tensor<2x4x1xi64>) -> tensor<2x4x1xi64>
    %59 = tensor.empty() : tensor<2x4x1xf32>
    %60 = linalg.fill ins(%cst_0 : f32) outs(%59 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
    %61:2 = linalg.generic {indexing_maps = [#map1, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%56 : tensor<2x4x1x96xf32>) outs(%60, %58 : tensor<2x4x1xf32>, tensor<2x4x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_44: i64):
      %77 = linalg.index 3 : index
      %78 = arith.index_cast %77 : index to i64
      %79 = arith.maximumf %in, %out : f32
      %80 = arith.cmpf ogt, %in, %out : f32
      %81 = arith.select %80, %78, %out_44 : i64
      linalg.yield %79, %81 : f32, i64
    } -> (tensor<2x4x1xf32>, tensor<2x4x1xi64>)
    %expanded_36 = tensor.expand_shape %61#0 [[0], [1], [2, 3]] output_shape [2, 4, 1, 1] : tensor<2x4x1xf32> into tensor<2x4x1x1xf32>
    %62 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56, %expanded_36 : tensor<2x4x1x96xf32>, tensor<2x4x1x1xf32>) outs(%55 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %77 = arith.subf %in, %in_44 : f32
      linalg.yield %77 : f32
    } -> tensor<2x4x1x96xf32>
    %63 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62 : tensor<2x4x1x96xf32>) outs(%55 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      %77 = math.exp %in : f32
      linalg.yield %77 : f32
    } -> tensor<2x4x1x96xf32>
    %64 = tensor.empty() : tensor<2x4x1x1xf32>
    %65 = linalg.fill ins(%cst : f32) outs(%64 : tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
    %66 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%63 : tensor<2x4x1x96xf32>) outs(%65 : tensor<2x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %77 = arith.addf %in, %out : f32
      linalg.yield %77 : f32
    } -> tensor<2x4x1x1xf32>
    %67 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63, %66 : tensor<2x4x1x96xf32>, tensor<2x4x1x1xf32>) outs(%55 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %77 = arith.divf %in, %in_44 : f32
      linalg.yield %77 : f32
    } -> tensor<2x4x1x96xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67 : tensor<2x4x1x96xf32>) outs(%52 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %77 = arith.truncf %in : f32 to f16
      linalg.yield %77 : f16
    } -> tensor<2x4x1x96xf16>
    %collapsed_37 = tensor.collapse_shape %68 [[0, 1], [2], [3]] : tensor<2x4x1x96xf16> into tensor<8x1x96xf16>
    %collapsed_38 = tensor.collapse_shape %45 [[0, 1, 2], [3], [4]] : tensor<2x2x2x96x64xf16> into tensor<8x96x64xf16>
    %69 = tensor.empty() : tensor<8x1x64xf32>
    %70 = linalg.fill ins(%cst : f32) outs(%69 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %71 = linalg.batch_matmul ins(%collapsed_37, %collapsed_38 : tensor<8x1x96xf16>, tensor<8x96x64xf16>) outs(%70 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %72 = tensor.empty() : tensor<8x1x64xf16>
    %73 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<8x1x64xf32>) outs(%72 : tensor<8x1x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %77 = arith.truncf %in : f32 to f16
      linalg.yield %77 : f16
    } -> tensor<8x1x64xf16>
    %expanded_39 = tensor.expand_shape %73 [[0, 1], [2], [3]] output_shape [2, 4, 1, 64] : tensor<8x1x64xf16> into tensor<2x4x1x64xf16>
    %74 = tensor.empty() : tensor<2x1x4x64xf16>
    %transposed_40 = linalg.transpose ins(%expanded_39 : tensor<2x4x1x64xf16>) outs(%74 : tensor<2x1x4x64xf16>) permutation = [0, 2, 1, 3] 
    %transposed_41 = linalg.transpose ins(%arg8 : tensor<256x256xf16>) outs(%17 : tensor<256x256xf16>) permutation = [1, 0] 
    %collapsed_42 = tensor.collapse_shape %transposed_40 [[0], [1, 2, 3]] : tensor<2x1x4x64xf16> into tensor<2x256xf16>
    %75 = linalg.matmul ins(%collapsed_42, %transposed_41 : tensor<2x256xf16>, tensor<256x256xf16>) outs(%19 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %76 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%75 : tensor<2x256xf32>) outs(%21 : tensor<2x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %77 = arith.truncf %in : f32 to f16
      linalg.yield %77 : f16
    } -> tensor<2x256xf16>
    %expanded_43 = tensor.expand_shape %76 [[0], [1, 2]] output_shape [2, 1, 256] : tensor<2x256xf16> into tensor<2x1x256xf16>
    return %expanded_43, %inserted_slice, %inserted_slice_30 : tensor<2x1x256xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>
  }
}

