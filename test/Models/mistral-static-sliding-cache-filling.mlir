// A decode step of Mistral with transformers' StaticCache of its window, of which 41 rows are there, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: cos
//   %arg2: sin
//   %arg3: past_key
//   %arg4: past_value
//   %arg5: past_length
//   %arg6: layer.q_proj.weight
//   %arg7: layer.k_proj.weight
//   %arg8: layer.v_proj.weight
//   %arg9: layer.o_proj.weight

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
#map4 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map7 = affine_map<(d0) -> ()>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @mistral_static_sliding_cache_filling(%arg0: tensor<2x1x256xf16>, %arg1: tensor<1x1x64xf16>, %arg2: tensor<1x1x64xf16>, %arg3: tensor<2x2x96x64xf16>, %arg4: tensor<2x2x96x64xf16>, %arg5: tensor<i64>, %arg6: tensor<256x256xf16>, %arg7: tensor<128x256xf16>, %arg8: tensor<128x256xf16>, %arg9: tensor<256x256xf16>) -> (tensor<2x1x256xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>) {
    %c95_i64 = arith.constant 95 : i64
    %c96_i64 = arith.constant 96 : i64
    %c41_i64 = arith.constant 41 : i64
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
      %86 = arith.addi %in, %c41_i64 : i64
      linalg.yield %86 : i64
    } -> tensor<1xi64>
    %3 = tensor.empty() : tensor<96xi64>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<96xi64>) {
    ^bb0(%out: i64):
      %86 = linalg.index 0 : index
      %87 = arith.index_cast %86 : index to i64
      linalg.yield %87 : i64
    } -> tensor<96xi64>
    %expanded = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, 1, 1] : tensor<1xi64> into tensor<1x1x1x1xi64>
    %expanded_5 = tensor.expand_shape %4 [[0, 1, 2, 3]] output_shape [1, 1, 1, 96] : tensor<96xi64> into tensor<1x1x1x96xi64>
    %5 = tensor.empty() : tensor<1x1x1x1xi64>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x1x1xi64>) outs(%5 : tensor<1x1x1x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %86 = arith.subi %in, %c96_i64 : i64
      linalg.yield %86 : i64
    } -> tensor<1x1x1x1xi64>
    %7 = tensor.empty() : tensor<1x1x1x96xi1>
    %8 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %6 : tensor<1x1x1x96xi64>, tensor<1x1x1x1xi64>) outs(%7 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i64, %in_36: i64, %out: i1):
      %86 = arith.cmpi sgt, %in, %in_36 : i64
      linalg.yield %86 : i1
    } -> tensor<1x1x1x96xi1>
    %9 = linalg.generic {indexing_maps = [#map3, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3, %8 : tensor<i1>, tensor<1x1x1x96xi1>) outs(%7 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i1, %in_36: i1, %out: i1):
      %86 = arith.andi %in, %in_36 : i1
      linalg.yield %86 : i1
    } -> tensor<1x1x1x96xi1>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %expanded : tensor<1x1x1x96xi64>, tensor<1x1x1x1xi64>) outs(%7 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i64, %in_36: i64, %out: i1):
      %86 = arith.cmpi sle, %in, %in_36 : i64
      linalg.yield %86 : i1
    } -> tensor<1x1x1x96xi1>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %10 : tensor<1x1x1x96xi1>, tensor<1x1x1x96xi1>) outs(%7 : tensor<1x1x1x96xi1>) {
    ^bb0(%in: i1, %in_36: i1, %out: i1):
      %86 = arith.andi %in, %in_36 : i1
      linalg.yield %86 : i1
    } -> tensor<1x1x1x96xi1>
    %12 = tensor.empty() : tensor<2x1x1x96xi1>
    %collapsed = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<1x1x1x96xi1> into tensor<1x1x96xi1>
    %13 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x1x96xi1>) outs(%12 : tensor<2x1x1x96xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x1x96xi1>
    %14 = tensor.empty() : tensor<2x1x1x96xf16>
    %15 = linalg.generic {indexing_maps = [#map1, #map3, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %cst_2, %cst_1 : tensor<2x1x1x96xi1>, tensor<f16>, tensor<f16>) outs(%14 : tensor<2x1x1x96xf16>) {
    ^bb0(%in: i1, %in_36: f16, %in_37: f16, %out: f16):
      %86 = arith.select %in, %in_36, %in_37 : f16
      linalg.yield %86 : f16
    } -> tensor<2x1x1x96xf16>
    %16 = tensor.empty() : tensor<256x256xf16>
    %transposed = linalg.transpose ins(%arg6 : tensor<256x256xf16>) outs(%16 : tensor<256x256xf16>) permutation = [1, 0] 
    %collapsed_6 = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<2x1x256xf16> into tensor<2x256xf16>
    %17 = tensor.empty() : tensor<2x256xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %19 = linalg.matmul ins(%collapsed_6, %transposed : tensor<2x256xf16>, tensor<256x256xf16>) outs(%18 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %20 = tensor.empty() : tensor<2x256xf16>
    %21 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<2x256xf32>) outs(%20 : tensor<2x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %86 = arith.truncf %in : f32 to f16
      linalg.yield %86 : f16
    } -> tensor<2x256xf16>
    %expanded_7 = tensor.expand_shape %21 [[0], [1, 2, 3]] output_shape [2, 1, 4, 64] : tensor<2x256xf16> into tensor<2x1x4x64xf16>
    %22 = tensor.empty() : tensor<2x4x1x64xf16>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x1x4x64xf16>) outs(%22 : tensor<2x4x1x64xf16>) permutation = [0, 2, 1, 3] 
    %23 = tensor.empty() : tensor<256x128xf16>
    %transposed_9 = linalg.transpose ins(%arg7 : tensor<128x256xf16>) outs(%23 : tensor<256x128xf16>) permutation = [1, 0] 
    %24 = tensor.empty() : tensor<2x128xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %26 = linalg.matmul ins(%collapsed_6, %transposed_9 : tensor<2x256xf16>, tensor<256x128xf16>) outs(%25 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %27 = tensor.empty() : tensor<2x128xf16>
    %28 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<2x128xf32>) outs(%27 : tensor<2x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %86 = arith.truncf %in : f32 to f16
      linalg.yield %86 : f16
    } -> tensor<2x128xf16>
    %expanded_10 = tensor.expand_shape %28 [[0], [1, 2, 3]] output_shape [2, 1, 2, 64] : tensor<2x128xf16> into tensor<2x1x2x64xf16>
    %29 = tensor.empty() : tensor<2x2x1x64xf16>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x1x2x64xf16>) outs(%29 : tensor<2x2x1x64xf16>) permutation = [0, 2, 1, 3] 
    %transposed_12 = linalg.transpose ins(%arg8 : tensor<128x256xf16>) outs(%23 : tensor<256x128xf16>) permutation = [1, 0] 
    %30 = linalg.matmul ins(%collapsed_6, %transposed_12 : tensor<2x256xf16>, tensor<256x128xf16>) outs(%25 : tensor<2x128xf32>) -> tensor<2x128xf32>
    %31 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<2x128xf32>) outs(%27 : tensor<2x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %86 = arith.truncf %in : f32 to f16
      linalg.yield %86 : f16
    } -> tensor<2x128xf16>
    %expanded_13 = tensor.expand_shape %31 [[0], [1, 2, 3]] output_shape [2, 1, 2, 64] : tensor<2x128xf16> into tensor<2x1x2x64xf16>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<2x1x2x64xf16>) outs(%29 : tensor<2x2x1x64xf16>) permutation = [0, 2, 1, 3] 
    %expanded_15 = tensor.expand_shape %arg1 [[0], [1, 2], [3]] output_shape [1, 1, 1, 64] : tensor<1x1x64xf16> into tensor<1x1x1x64xf16>
    %expanded_16 = tensor.expand_shape %arg2 [[0], [1, 2], [3]] output_shape [1, 1, 1, 64] : tensor<1x1x64xf16> into tensor<1x1x1x64xf16>
    %32 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_8, %expanded_15 : tensor<2x4x1x64xf16>, tensor<1x1x1x64xf16>) outs(%22 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %86 = arith.mulf %in, %in_36 : f16
      linalg.yield %86 : f16
    } -> tensor<2x4x1x64xf16>
    %extracted_slice = tensor.extract_slice %transposed_8[0, 0, 0, 0] [2, 4, 1, 32] [1, 1, 1, 1] : tensor<2x4x1x64xf16> to tensor<2x4x1x32xf16>
    %extracted_slice_17 = tensor.extract_slice %transposed_8[0, 0, 0, 32] [2, 4, 1, 32] [1, 1, 1, 1] : tensor<2x4x1x64xf16> to tensor<2x4x1x32xf16>
    %33 = tensor.empty() : tensor<2x4x1x32xf16>
    %34 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17 : tensor<2x4x1x32xf16>) outs(%33 : tensor<2x4x1x32xf16>) {
    ^bb0(%in: f16, %out: f16):
      %86 = arith.negf %in : f16
      linalg.yield %86 : f16
    } -> tensor<2x4x1x32xf16>
    %concat = tensor.concat dim(3) %34, %extracted_slice : (tensor<2x4x1x32xf16>, tensor<2x4x1x32xf16>) -> tensor<2x4x1x64xf16>
    %35 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat, %expanded_16 : tensor<2x4x1x64xf16>, tensor<1x1x1x64xf16>) outs(%22 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %86 = arith.mulf %in, %in_36 : f16
      linalg.yield %86 : f16
    } -> tensor<2x4x1x64xf16>
    %36 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>) outs(%22 : tensor<2x4x1x64xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %86 = arith.addf %in, %in_36 : f16
      linalg.yield %86 : f16
    } -> tensor<2x4x1x64xf16>
    %37 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_11, %expanded_15 : tensor<2x2x1x64xf16>, tensor<1x1x1x64xf16>) outs(%29 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %86 = arith.mulf %in, %in_36 : f16
      linalg.yield %86 : f16
    } -> tensor<2x2x1x64xf16>
    %extracted_slice_18 = tensor.extract_slice %transposed_11[0, 0, 0, 0] [2, 2, 1, 32] [1, 1, 1, 1] : tensor<2x2x1x64xf16> to tensor<2x2x1x32xf16>
    %extracted_slice_19 = tensor.extract_slice %transposed_11[0, 0, 0, 32] [2, 2, 1, 32] [1, 1, 1, 1] : tensor<2x2x1x64xf16> to tensor<2x2x1x32xf16>
    %38 = tensor.empty() : tensor<2x2x1x32xf16>
    %39 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_19 : tensor<2x2x1x32xf16>) outs(%38 : tensor<2x2x1x32xf16>) {
    ^bb0(%in: f16, %out: f16):
      %86 = arith.negf %in : f16
      linalg.yield %86 : f16
    } -> tensor<2x2x1x32xf16>
    %concat_20 = tensor.concat dim(3) %39, %extracted_slice_18 : (tensor<2x2x1x32xf16>, tensor<2x2x1x32xf16>) -> tensor<2x2x1x64xf16>
    %40 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_20, %expanded_16 : tensor<2x2x1x64xf16>, tensor<1x1x1x64xf16>) outs(%29 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %86 = arith.mulf %in, %in_36 : f16
      linalg.yield %86 : f16
    } -> tensor<2x2x1x64xf16>
    %41 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%37, %40 : tensor<2x2x1x64xf16>, tensor<2x2x1x64xf16>) outs(%29 : tensor<2x2x1x64xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %86 = arith.addf %in, %in_36 : f16
      linalg.yield %86 : f16
    } -> tensor<2x2x1x64xf16>
    %42 = linalg.generic {indexing_maps = [#map, #map7, #map], iterator_types = ["parallel"]} ins(%1, %arg5 : tensor<1xi64>, tensor<i64>) outs(%0 : tensor<1xi64>) {
    ^bb0(%in: i64, %in_36: i64, %out: i64):
      %86 = arith.addi %in, %in_36 : i64
      linalg.yield %86 : i64
    } -> tensor<1xi64>
    %collapsed_21 = tensor.collapse_shape %42 [] : tensor<1xi64> into tensor<i64>
    %extracted = tensor.extract %collapsed_21[] : tensor<i64>
    %43 = arith.cmpi sge, %extracted, %c0_i64 : i64
    cf.assert %43, "Runtime assertion failed for expression u0 >= 0 on node 'ge_2'"
    %44 = arith.cmpi sle, %extracted, %c95_i64 : i64
    cf.assert %44, "Runtime assertion failed for expression u0 <= 95 on node 'le_1'"
    %45 = arith.cmpi slt, %extracted, %c96_i64 : i64
    cf.assert %45, "Runtime assertion failed for expression u0 < 96 on node 'lt_2'"
    %46 = arith.addi %extracted, %c96_i64 : i64
    %47 = arith.cmpi sge, %extracted, %c0_i64 : i64
    %48 = arith.select %47, %extracted, %46 : i64
    %49 = arith.maxsi %48, %c0_i64 : i64
    %50 = arith.minsi %49, %c96_i64 : i64
    %51 = arith.index_cast %50 : i64 to index
    %inserted_slice = tensor.insert_slice %41 into %arg3[0, 0, %51, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    cf.assert %43, "Runtime assertion failed for expression u1 >= 0 on node 'ge_3'"
    cf.assert %44, "Runtime assertion failed for expression u1 <= 95 on node 'le_2'"
    cf.assert %45, "Runtime assertion failed for expression u1 < 96 on node 'lt_3'"
    %inserted_slice_22 = tensor.insert_slice %transposed_14 into %arg4[0, 0, %51, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    %52 = tensor.empty() : tensor<2x2x2x96x64xf16>
    %53 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice : tensor<2x2x96x64xf16>) outs(%52 : tensor<2x2x2x96x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x96x64xf16>
    %collapsed_23 = tensor.collapse_shape %53 [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x64xf16> into tensor<2x4x96x64xf16>
    %54 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice_22 : tensor<2x2x96x64xf16>) outs(%52 : tensor<2x2x2x96x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x96x64xf16>
    %55 = tensor.empty() : tensor<2x4x64x96xf16>
    %transposed_24 = linalg.transpose ins(%collapsed_23 : tensor<2x4x96x64xf16>) outs(%55 : tensor<2x4x64x96xf16>) permutation = [0, 1, 3, 2] 
    %collapsed_25 = tensor.collapse_shape %36 [[0, 1], [2], [3]] : tensor<2x4x1x64xf16> into tensor<8x1x64xf16>
    %collapsed_26 = tensor.collapse_shape %transposed_24 [[0, 1], [2], [3]] : tensor<2x4x64x96xf16> into tensor<8x64x96xf16>
    %56 = tensor.empty() : tensor<8x1x96xf32>
    %57 = linalg.fill ins(%cst : f32) outs(%56 : tensor<8x1x96xf32>) -> tensor<8x1x96xf32>
    %58 = linalg.batch_matmul ins(%collapsed_25, %collapsed_26 : tensor<8x1x64xf16>, tensor<8x64x96xf16>) outs(%57 : tensor<8x1x96xf32>) -> tensor<8x1x96xf32>
    %59 = tensor.empty() : tensor<8x1x96xf16>
    %60 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<8x1x96xf32>) outs(%59 : tensor<8x1x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %86 = arith.truncf %in : f32 to f16
      linalg.yield %86 : f16
    } -> tensor<8x1x96xf16>
    %expanded_27 = tensor.expand_shape %60 [[0, 1], [2], [3]] output_shape [2, 4, 1, 96] : tensor<8x1x96xf16> into tensor<2x4x1x96xf16>
    %61 = tensor.empty() : tensor<2x4x1x96xf16>
    %62 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<2x4x1x96xf16>) outs(%61 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f16, %out: f16):
      %86 = arith.mulf %in, %cst_4 : f16
      linalg.yield %86 : f16
    } -> tensor<2x4x1x96xf16>
    %63 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62, %15 : tensor<2x4x1x96xf16>, tensor<2x1x1x96xf16>) outs(%61 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %86 = arith.addf %in, %in_36 : f16
      linalg.yield %86 : f16
    } -> tensor<2x4x1x96xf16>
    %64 = tensor.empty() : tensor<2x4x1x96xf32>
    %65 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<2x4x1x96xf16>) outs(%64 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f16, %out: f32):
      %86 = arith.extf %in : f16 to f32
      linalg.yield %86 : f32
    } -> tensor<2x4x1x96xf32>
    %66 = tensor.empty() : tensor<2x4x1xi64>
    %67 = linalg.fill ins(%c0_i64 : i64) outs(%66 : tensor<2x4x1xi64>) -> tensor<2x4x1xi64>
    %68 = tensor.empty() : tensor<2x4x1xf32>
    %69 = linalg.fill ins(%cst_0 : f32) outs(%68 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
    %70:2 = linalg.generic {indexing_maps = [#map1, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%65 : tensor<2x4x1x96xf32>) outs(%69, %67 : tensor<2x4x1xf32>, tensor<2x4x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_36: i64):
      %86 = linalg.index 3 : index
      %87 = arith.index_cast %86 : index to i64
      %88 = arith.maximumf %in, %out : f32
      %89 = arith.cmpf ogt, %in, %out : f32
      %90 = arith.select %89, %87, %out_36 : i64
      linalg.yield %88, %90 : f32, i64
    } -> (tensor<2x4x1xf32>, tensor<2x4x1xi64>)
    %expanded_28 = tensor.expand_shape %70#0 [[0], [1], [2, 3]] output_shape [2, 4, 1, 1] : tensor<2x4x1xf32> into tensor<2x4x1x1xf32>
    %71 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65, %expanded_28 : tensor<2x4x1x96xf32>, tensor<2x4x1x1xf32>) outs(%64 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %86 = arith.subf %in, %in_36 : f32
      linalg.yield %86 : f32
    } -> tensor<2x4x1x96xf32>
    %72 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71 : tensor<2x4x1x96xf32>) outs(%64 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = math.exp %in : f32
      linalg.yield %86 : f32
    } -> tensor<2x4x1x96xf32>
    %73 = tensor.empty() : tensor<2x4x1x1xf32>
    %74 = linalg.fill ins(%cst : f32) outs(%73 : tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
    %75 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%72 : tensor<2x4x1x96xf32>) outs(%74 : tensor<2x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = arith.addf %in, %out : f32
      linalg.yield %86 : f32
    } -> tensor<2x4x1x1xf32>
    %76 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72, %75 : tensor<2x4x1x96xf32>, tensor<2x4x1x1xf32>) outs(%64 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %86 = arith.divf %in, %in_36 : f32
      linalg.yield %86 : f32
    } -> tensor<2x4x1x96xf32>
    %77 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76 : tensor<2x4x1x96xf32>) outs(%61 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %86 = arith.truncf %in : f32 to f16
      linalg.yield %86 : f16
    } -> tensor<2x4x1x96xf16>
    %collapsed_29 = tensor.collapse_shape %77 [[0, 1], [2], [3]] : tensor<2x4x1x96xf16> into tensor<8x1x96xf16>
    %collapsed_30 = tensor.collapse_shape %54 [[0, 1, 2], [3], [4]] : tensor<2x2x2x96x64xf16> into tensor<8x96x64xf16>
    %78 = tensor.empty() : tensor<8x1x64xf32>
    %79 = linalg.fill ins(%cst : f32) outs(%78 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %80 = linalg.batch_matmul ins(%collapsed_29, %collapsed_30 : tensor<8x1x96xf16>, tensor<8x96x64xf16>) outs(%79 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %81 = tensor.empty() : tensor<8x1x64xf16>
    %82 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<8x1x64xf32>) outs(%81 : tensor<8x1x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %86 = arith.truncf %in : f32 to f16
      linalg.yield %86 : f16
    } -> tensor<8x1x64xf16>
    %expanded_31 = tensor.expand_shape %82 [[0, 1], [2], [3]] output_shape [2, 4, 1, 64] : tensor<8x1x64xf16> into tensor<2x4x1x64xf16>
    %83 = tensor.empty() : tensor<2x1x4x64xf16>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<2x4x1x64xf16>) outs(%83 : tensor<2x1x4x64xf16>) permutation = [0, 2, 1, 3] 
    %transposed_33 = linalg.transpose ins(%arg9 : tensor<256x256xf16>) outs(%16 : tensor<256x256xf16>) permutation = [1, 0] 
    %collapsed_34 = tensor.collapse_shape %transposed_32 [[0], [1, 2, 3]] : tensor<2x1x4x64xf16> into tensor<2x256xf16>
    %84 = linalg.matmul ins(%collapsed_34, %transposed_33 : tensor<2x256xf16>, tensor<256x256xf16>) outs(%18 : tensor<2x256xf32>) -> tensor<2x256xf32>
    %85 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%84 : tensor<2x256xf32>) outs(%20 : tensor<2x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %86 = arith.truncf %in : f32 to f16
      linalg.yield %86 : f16
    } -> tensor<2x256xf16>
    %expanded_35 = tensor.expand_shape %85 [[0], [1, 2]] output_shape [2, 1, 256] : tensor<2x256xf16> into tensor<2x1x256xf16>
    return %expanded_35, %inserted_slice, %inserted_slice_22 : tensor<2x1x256xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>
  }
}

