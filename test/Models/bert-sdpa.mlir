// BERT through scaled_dot_product_attention with a boolean mask: B=2, H=4, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: attention_mask
//   %arg2: layer.self.query.weight
//   %arg3: layer.self.query.bias
//   %arg4: layer.self.key.weight
//   %arg5: layer.self.key.bias
//   %arg6: layer.self.value.weight
//   %arg7: layer.self.value.bias
//   %arg8: layer.output.dense.weight
//   %arg9: layer.output.dense.bias
//   %arg10: layer.output.LayerNorm.weight
//   %arg11: layer.output.LayerNorm.bias

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map8 = affine_map<(d0, d1) -> (d1)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map12 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map13 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2) -> (d2)>
#map15 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map16 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @bert_sdpa(%arg0: tensor<2x40x256xf32>, %arg1: tensor<2x40xi64>, %arg2: tensor<256x256xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256x256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256x256xf32>, %arg9: tensor<256xf32>, %arg10: tensor<256xf32>, %arg11: tensor<256xf32>) -> tensor<2x40x256xf32> {
    %c40_i64 = arith.constant 40 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x4x40x40xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<i1>
    %cst_5 = arith.constant 9.9999999999999998E-13 : f64
    %cst_6 = arith.constant 0.35355339059327379 : f64
    %cst_7 = arith.constant 0xFFF0000000000000 : f64
    %cst_8 = arith.constant 2.560000e+02 : f32
    %0 = tensor.empty() : tensor<2x40xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x40xi64>) outs(%0 : tensor<2x40xi1>) {
    ^bb0(%in: i64, %out: i1):
      %76 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %76 : i1
    } -> tensor<2x40xi1>
    %2 = tensor.empty() : tensor<2xi64>
    %3 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%2 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %76 = linalg.index 0 : index
      %77 = arith.index_cast %76 : index to i64
      linalg.yield %77 : i64
    } -> tensor<2xi64>
    %4 = tensor.empty() : tensor<40xi64>
    %5 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%4 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %76 = linalg.index 0 : index
      %77 = arith.index_cast %76 : index to i64
      linalg.yield %77 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %3 [[0, 1, 2, 3]] output_shape [2, 1, 1, 1] : tensor<2xi64> into tensor<2x1x1x1xi64>
    %expanded_9 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_10 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %6 = tensor.empty() : tensor<1x1x40x1xi1>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_9 : tensor<1x1x40x1xi64>) outs(%6 : tensor<1x1x40x1xi1>) {
    ^bb0(%in: i64, %out: i1):
      %76 = arith.cmpi sge, %in, %c0_i64 : i64
      linalg.yield %76 : i1
    } -> tensor<1x1x40x1xi1>
    %8 = linalg.generic {indexing_maps = [#map3, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_4, %7 : tensor<i1>, tensor<1x1x40x1xi1>) outs(%6 : tensor<1x1x40x1xi1>) {
    ^bb0(%in: i1, %in_31: i1, %out: i1):
      %76 = arith.andi %in, %in_31 : i1
      linalg.yield %76 : i1
    } -> tensor<1x1x40x1xi1>
    %9 = tensor.empty() : tensor<2x1x1x40xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_10 : tensor<2x1x1x1xi64>, tensor<1x1x1x40xi64>) outs(%9 : tensor<2x1x1x40xi1>) {
    ^bb0(%in: i64, %in_31: i64, %out: i1):
      %76 = arith.cmpi slt, %in, %c0_i64 : i64
      %77 = arith.addi %in, %c2_i64 : i64
      %78 = arith.select %76, %77, %in : i64
      %79 = arith.index_cast %78 : i64 to index
      %80 = arith.cmpi slt, %in_31, %c0_i64 : i64
      %81 = arith.addi %in_31, %c40_i64 : i64
      %82 = arith.select %80, %81, %in_31 : i64
      %83 = arith.index_cast %82 : i64 to index
      %extracted = tensor.extract %1[%79, %83] : tensor<2x40xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x1x40xi1>
    %11 = tensor.empty() : tensor<2x1x40x40xi1>
    %12 = linalg.generic {indexing_maps = [#map6, #map7, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %10 : tensor<1x1x40x1xi1>, tensor<2x1x1x40xi1>) outs(%11 : tensor<2x1x40x40xi1>) {
    ^bb0(%in: i1, %in_31: i1, %out: i1):
      %76 = arith.andi %in, %in_31 : i1
      linalg.yield %76 : i1
    } -> tensor<2x1x40x40xi1>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf32> into tensor<80x256xf32>
    %13 = tensor.empty() : tensor<256x256xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%13 : tensor<256x256xf32>) permutation = [1, 0] 
    %14 = tensor.empty() : tensor<80x256xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %16 = linalg.matmul ins(%collapsed, %transposed : tensor<80x256xf32>, tensor<256x256xf32>) outs(%15 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%16, %arg3 : tensor<80x256xf32>, tensor<256xf32>) outs(%14 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.addf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<80x256xf32>
    %expanded_11 = tensor.expand_shape %17 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %18 = tensor.empty() : tensor<2x4x40x64xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x40x4x64xf32>) outs(%18 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_13 = linalg.transpose ins(%arg4 : tensor<256x256xf32>) outs(%13 : tensor<256x256xf32>) permutation = [1, 0] 
    %19 = linalg.matmul ins(%collapsed, %transposed_13 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%15 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %arg5 : tensor<80x256xf32>, tensor<256xf32>) outs(%14 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.addf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<80x256xf32>
    %expanded_14 = tensor.expand_shape %20 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_15 = linalg.transpose ins(%arg6 : tensor<256x256xf32>) outs(%13 : tensor<256x256xf32>) permutation = [1, 0] 
    %21 = linalg.matmul ins(%collapsed, %transposed_15 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%15 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %arg7 : tensor<80x256xf32>, tensor<256xf32>) outs(%14 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.addf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<80x256xf32>
    %expanded_16 = tensor.expand_shape %22 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_17 = linalg.transpose ins(%expanded_16 : tensor<2x40x4x64xf32>) outs(%18 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %23 = tensor.empty() : tensor<2x1x40x40xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map3, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_2, %cst_3 : tensor<2x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%23 : tensor<2x1x40x40xf32>) {
    ^bb0(%in: i1, %in_31: f32, %in_32: f32, %out: f32):
      %76 = arith.select %in, %in_31, %in_32 : f32
      linalg.yield %76 : f32
    } -> tensor<2x1x40x40xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12 : tensor<2x4x40x64xf32>) outs(%18 : tensor<2x4x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.truncf %cst_6 : f64 to f32
      %77 = arith.mulf %in, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<2x4x40x64xf32>
    %26 = tensor.empty() : tensor<2x4x64x40xf32>
    %transposed_18 = linalg.transpose ins(%expanded_14 : tensor<2x40x4x64xf32>) outs(%26 : tensor<2x4x64x40xf32>) permutation = [0, 2, 3, 1] 
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_18 : tensor<2x4x64x40xf32>) outs(%26 : tensor<2x4x64x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.truncf %cst_6 : f64 to f32
      %77 = arith.mulf %in, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<2x4x64x40xf32>
    %collapsed_19 = tensor.collapse_shape %25 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %collapsed_20 = tensor.collapse_shape %27 [[0, 1], [2], [3]] : tensor<2x4x64x40xf32> into tensor<8x64x40xf32>
    %28 = tensor.empty() : tensor<8x40x40xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %30 = linalg.batch_matmul ins(%collapsed_19, %collapsed_20 : tensor<8x40x64xf32>, tensor<8x64x40xf32>) outs(%29 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %expanded_21 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [2, 4, 40, 40] : tensor<8x40x40xf32> into tensor<2x4x40x40xf32>
    %31 = tensor.empty() : tensor<2x4x40x40xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map9, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_21, %24 : tensor<2x4x40x40xf32>, tensor<2x1x40x40xf32>) outs(%31 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.addf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x40x40xf32>
    %33 = tensor.empty() : tensor<2x4x40xi64>
    %34 = linalg.fill ins(%c0_i64 : i64) outs(%33 : tensor<2x4x40xi64>) -> tensor<2x4x40xi64>
    %35 = tensor.empty() : tensor<2x4x40xf32>
    %36 = linalg.fill ins(%cst_0 : f32) outs(%35 : tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %37:2 = linalg.generic {indexing_maps = [#map2, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<2x4x40x40xf32>) outs(%36, %34 : tensor<2x4x40xf32>, tensor<2x4x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_31: i64):
      %76 = linalg.index 3 : index
      %77 = arith.index_cast %76 : index to i64
      %78 = arith.maximumf %in, %out : f32
      %79 = arith.cmpf ogt, %in, %out : f32
      %80 = arith.select %79, %77, %out_31 : i64
      linalg.yield %78, %80 : f32, i64
    } -> (tensor<2x4x40xf32>, tensor<2x4x40xi64>)
    %expanded_22 = tensor.expand_shape %37#0 [[0], [1], [2, 3]] output_shape [2, 4, 40, 1] : tensor<2x4x40xf32> into tensor<2x4x40x1xf32>
    %38 = linalg.generic {indexing_maps = [#map2, #map11, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %expanded_22 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%31 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.subf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x40x40xf32>
    %39 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<2x4x40x40xf32>) outs(%31 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.exp %in : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x40x40xf32>
    %40 = tensor.empty() : tensor<2x4x40x1xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %42 = linalg.generic {indexing_maps = [#map2, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39 : tensor<2x4x40x40xf32>) outs(%41 : tensor<2x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x40x1xf32>
    %43 = linalg.generic {indexing_maps = [#map2, #map11, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %42 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%31 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.divf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x40x40xf32>
    %44 = tensor.empty() : tensor<2x4x40x40xi1>
    %45 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<2x4x40x40xf32>) outs(%44 : tensor<2x4x40x40xi1>) {
    ^bb0(%in: f32, %out: i1):
      %76 = arith.extf %in : f32 to f64
      %77 = arith.cmpf oeq, %76, %cst_7 : f64
      linalg.yield %77 : i1
    } -> tensor<2x4x40x40xi1>
    %46 = tensor.empty() : tensor<2x4x40x1xi1>
    %47 = linalg.fill ins(%true : i1) outs(%46 : tensor<2x4x40x1xi1>) -> tensor<2x4x40x1xi1>
    %48 = linalg.generic {indexing_maps = [#map2, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%45 : tensor<2x4x40x40xi1>) outs(%47 : tensor<2x4x40x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %76 = arith.andi %in, %out : i1
      linalg.yield %76 : i1
    } -> tensor<2x4x40x1xi1>
    %49 = linalg.generic {indexing_maps = [#map11, #map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %cst_1, %43 : tensor<2x4x40x1xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) outs(%31 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: i1, %in_31: f32, %in_32: f32, %out: f32):
      %76 = arith.select %in, %in_31, %in_32 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x40x40xf32>
    %collapsed_23 = tensor.collapse_shape %49 [[0, 1], [2], [3]] : tensor<2x4x40x40xf32> into tensor<8x40x40xf32>
    %collapsed_24 = tensor.collapse_shape %transposed_17 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %50 = tensor.empty() : tensor<8x40x64xf32>
    %51 = linalg.fill ins(%cst : f32) outs(%50 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %52 = linalg.batch_matmul ins(%collapsed_23, %collapsed_24 : tensor<8x40x40xf32>, tensor<8x40x64xf32>) outs(%51 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %expanded_25 = tensor.expand_shape %52 [[0, 1], [2], [3]] output_shape [2, 4, 40, 64] : tensor<8x40x64xf32> into tensor<2x4x40x64xf32>
    %53 = tensor.empty() : tensor<2x40x4x64xf32>
    %transposed_26 = linalg.transpose ins(%expanded_25 : tensor<2x4x40x64xf32>) outs(%53 : tensor<2x40x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_27 = tensor.collapse_shape %transposed_26 [[0], [1], [2, 3]] : tensor<2x40x4x64xf32> into tensor<2x40x256xf32>
    %transposed_28 = linalg.transpose ins(%arg8 : tensor<256x256xf32>) outs(%13 : tensor<256x256xf32>) permutation = [1, 0] 
    %54 = tensor.empty() : tensor<2x256x256xf32>
    %55 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_28 : tensor<256x256xf32>) outs(%54 : tensor<2x256x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x256x256xf32>
    %56 = tensor.empty() : tensor<2x40x256xf32>
    %57 = linalg.fill ins(%cst : f32) outs(%56 : tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    %58 = linalg.batch_matmul ins(%collapsed_27, %55 : tensor<2x40x256xf32>, tensor<2x256x256xf32>) outs(%57 : tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    %59 = linalg.generic {indexing_maps = [#map13, #map14, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %arg9 : tensor<2x40x256xf32>, tensor<256xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.addf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x256xf32>
    %60 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %arg0 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.addf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x256xf32>
    %61 = tensor.empty() : tensor<2x40x1xf32>
    %62 = linalg.fill ins(%cst : f32) outs(%61 : tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %63 = linalg.generic {indexing_maps = [#map13, #map15], iterator_types = ["parallel", "parallel", "reduction"]} ins(%60 : tensor<2x40x256xf32>) outs(%62 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x1xf32>
    %64 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : tensor<2x40x1xf32>) outs(%61 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.divf %in, %cst_8 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x1xf32>
    %collapsed_29 = tensor.collapse_shape %64 [[0], [1, 2]] : tensor<2x40x1xf32> into tensor<2x40xf32>
    %65 = linalg.generic {indexing_maps = [#map16, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_29 : tensor<2x40xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x256xf32>
    %66 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60, %65 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.subf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x256xf32>
    %67 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %66 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.mulf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x256xf32>
    %68 = linalg.generic {indexing_maps = [#map13, #map15], iterator_types = ["parallel", "parallel", "reduction"]} ins(%67 : tensor<2x40x256xf32>) outs(%62 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x1xf32>
    %69 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<2x40x1xf32>) outs(%61 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.divf %in, %cst_8 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x1xf32>
    %70 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<2x40x1xf32>) outs(%61 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.truncf %cst_5 : f64 to f32
      %77 = arith.addf %in, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<2x40x1xf32>
    %71 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<2x40x1xf32>) outs(%61 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.rsqrt %in : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x1xf32>
    %collapsed_30 = tensor.collapse_shape %71 [[0], [1, 2]] : tensor<2x40x1xf32> into tensor<2x40xf32>
    %72 = linalg.generic {indexing_maps = [#map16, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_30 : tensor<2x40xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x256xf32>
    %73 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %72 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.mulf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x256xf32>
    %74 = linalg.generic {indexing_maps = [#map13, #map14, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73, %arg10 : tensor<2x40x256xf32>, tensor<256xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.mulf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x256xf32>
    %75 = linalg.generic {indexing_maps = [#map13, #map14, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %arg11 : tensor<2x40x256xf32>, tensor<256xf32>) outs(%56 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %76 = arith.addf %in, %in_31 : f32
      linalg.yield %76 : f32
    } -> tensor<2x40x256xf32>
    return %75 : tensor<2x40x256xf32>
  }
}

