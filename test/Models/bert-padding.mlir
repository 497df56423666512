// BERT self-attention, mask built from a {0,1} padding mask: B=2, H=4, M=N=40, D=64.
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
#map12 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map13 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map14 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map15 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @bert_padding(%arg0: tensor<2x40x256xf32>, %arg1: tensor<2x40xi64>, %arg2: tensor<256x256xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256x256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256x256xf32>, %arg9: tensor<256xf32>, %arg10: tensor<256xf32>, %arg11: tensor<256xf32>) -> tensor<2x40x256xf32> {
    %c40_i64 = arith.constant 40 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant 9.9999999999999998E-13 : f64
    %cst_5 = arith.constant 1.250000e-01 : f32
    %cst_6 = arith.constant 2.560000e+02 : f32
    %0 = tensor.empty() : tensor<2x40xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x40xi64>) outs(%0 : tensor<2x40xi1>) {
    ^bb0(%in: i64, %out: i1):
      %66 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %66 : i1
    } -> tensor<2x40xi1>
    %2 = tensor.empty() : tensor<2xi64>
    %3 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%2 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %66 = linalg.index 0 : index
      %67 = arith.index_cast %66 : index to i64
      linalg.yield %67 : i64
    } -> tensor<2xi64>
    %4 = tensor.empty() : tensor<40xi64>
    %5 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%4 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %66 = linalg.index 0 : index
      %67 = arith.index_cast %66 : index to i64
      linalg.yield %67 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %3 [[0, 1, 2, 3]] output_shape [2, 1, 1, 1] : tensor<2xi64> into tensor<2x1x1x1xi64>
    %expanded_7 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_8 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %6 = tensor.empty() : tensor<1x1x40x1xi1>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7 : tensor<1x1x40x1xi64>) outs(%6 : tensor<1x1x40x1xi1>) {
    ^bb0(%in: i64, %out: i1):
      %66 = arith.cmpi sge, %in, %c0_i64 : i64
      linalg.yield %66 : i1
    } -> tensor<1x1x40x1xi1>
    %8 = linalg.generic {indexing_maps = [#map3, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3, %7 : tensor<i1>, tensor<1x1x40x1xi1>) outs(%6 : tensor<1x1x40x1xi1>) {
    ^bb0(%in: i1, %in_30: i1, %out: i1):
      %66 = arith.andi %in, %in_30 : i1
      linalg.yield %66 : i1
    } -> tensor<1x1x40x1xi1>
    %9 = tensor.empty() : tensor<2x1x1x40xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_8 : tensor<2x1x1x1xi64>, tensor<1x1x1x40xi64>) outs(%9 : tensor<2x1x1x40xi1>) {
    ^bb0(%in: i64, %in_30: i64, %out: i1):
      %66 = arith.cmpi slt, %in, %c0_i64 : i64
      %67 = arith.addi %in, %c2_i64 : i64
      %68 = arith.select %66, %67, %in : i64
      %69 = arith.index_cast %68 : i64 to index
      %70 = arith.cmpi slt, %in_30, %c0_i64 : i64
      %71 = arith.addi %in_30, %c40_i64 : i64
      %72 = arith.select %70, %71, %in_30 : i64
      %73 = arith.index_cast %72 : i64 to index
      %extracted = tensor.extract %1[%69, %73] : tensor<2x40xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x1x40xi1>
    %11 = tensor.empty() : tensor<2x1x40x40xi1>
    %12 = linalg.generic {indexing_maps = [#map6, #map7, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %10 : tensor<1x1x40x1xi1>, tensor<2x1x1x40xi1>) outs(%11 : tensor<2x1x40x40xi1>) {
    ^bb0(%in: i1, %in_30: i1, %out: i1):
      %66 = arith.andi %in, %in_30 : i1
      linalg.yield %66 : i1
    } -> tensor<2x1x40x40xi1>
    %13 = tensor.empty() : tensor<2x1x40x40xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map3, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_2, %cst_1 : tensor<2x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%13 : tensor<2x1x40x40xf32>) {
    ^bb0(%in: i1, %in_30: f32, %in_31: f32, %out: f32):
      %66 = arith.select %in, %in_30, %in_31 : f32
      linalg.yield %66 : f32
    } -> tensor<2x1x40x40xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf32> into tensor<80x256xf32>
    %15 = tensor.empty() : tensor<256x256xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%15 : tensor<256x256xf32>) permutation = [1, 0] 
    %16 = tensor.empty() : tensor<80x256xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %18 = linalg.matmul ins(%collapsed, %transposed : tensor<80x256xf32>, tensor<256x256xf32>) outs(%17 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %arg3 : tensor<80x256xf32>, tensor<256xf32>) outs(%16 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.addf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<80x256xf32>
    %expanded_9 = tensor.expand_shape %19 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %20 = tensor.empty() : tensor<2x4x40x64xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<2x40x4x64xf32>) outs(%20 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_11 = linalg.transpose ins(%arg4 : tensor<256x256xf32>) outs(%15 : tensor<256x256xf32>) permutation = [1, 0] 
    %21 = linalg.matmul ins(%collapsed, %transposed_11 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%17 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %arg5 : tensor<80x256xf32>, tensor<256xf32>) outs(%16 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.addf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<80x256xf32>
    %expanded_12 = tensor.expand_shape %22 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_13 = linalg.transpose ins(%arg6 : tensor<256x256xf32>) outs(%15 : tensor<256x256xf32>) permutation = [1, 0] 
    %23 = linalg.matmul ins(%collapsed, %transposed_13 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%17 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%23, %arg7 : tensor<80x256xf32>, tensor<256xf32>) outs(%16 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.addf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<80x256xf32>
    %expanded_14 = tensor.expand_shape %24 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<2x40x4x64xf32>) outs(%20 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %25 = tensor.empty() : tensor<2x4x64x40xf32>
    %transposed_16 = linalg.transpose ins(%expanded_12 : tensor<2x40x4x64xf32>) outs(%25 : tensor<2x4x64x40xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_17 = tensor.collapse_shape %transposed_10 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %collapsed_18 = tensor.collapse_shape %transposed_16 [[0, 1], [2], [3]] : tensor<2x4x64x40xf32> into tensor<8x64x40xf32>
    %26 = tensor.empty() : tensor<8x40x40xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %28 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<8x40x64xf32>, tensor<8x64x40xf32>) outs(%27 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %expanded_19 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [2, 4, 40, 40] : tensor<8x40x40xf32> into tensor<2x4x40x40xf32>
    %29 = tensor.empty() : tensor<2x4x40x40xf32>
    %30 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19 : tensor<2x4x40x40xf32>) outs(%29 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.mulf %in, %cst_5 : f32
      linalg.yield %66 : f32
    } -> tensor<2x4x40x40xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map9, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %14 : tensor<2x4x40x40xf32>, tensor<2x1x40x40xf32>) outs(%29 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.addf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x4x40x40xf32>
    %32 = tensor.empty() : tensor<2x4x40xi64>
    %33 = linalg.fill ins(%c0_i64 : i64) outs(%32 : tensor<2x4x40xi64>) -> tensor<2x4x40xi64>
    %34 = tensor.empty() : tensor<2x4x40xf32>
    %35 = linalg.fill ins(%cst_0 : f32) outs(%34 : tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %36:2 = linalg.generic {indexing_maps = [#map2, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%31 : tensor<2x4x40x40xf32>) outs(%35, %33 : tensor<2x4x40xf32>, tensor<2x4x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_30: i64):
      %66 = linalg.index 3 : index
      %67 = arith.index_cast %66 : index to i64
      %68 = arith.maximumf %in, %out : f32
      %69 = arith.cmpf ogt, %in, %out : f32
      %70 = arith.select %69, %67, %out_30 : i64
      linalg.yield %68, %70 : f32, i64
    } -> (tensor<2x4x40xf32>, tensor<2x4x40xi64>)
    %expanded_20 = tensor.expand_shape %36#0 [[0], [1], [2, 3]] output_shape [2, 4, 40, 1] : tensor<2x4x40xf32> into tensor<2x4x40x1xf32>
    %37 = linalg.generic {indexing_maps = [#map2, #map11, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31, %expanded_20 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%29 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.subf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x4x40x40xf32>
    %38 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%37 : tensor<2x4x40x40xf32>) outs(%29 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.exp %in : f32
      linalg.yield %66 : f32
    } -> tensor<2x4x40x40xf32>
    %39 = tensor.empty() : tensor<2x4x40x1xf32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %41 = linalg.generic {indexing_maps = [#map2, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%38 : tensor<2x4x40x40xf32>) outs(%40 : tensor<2x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.addf %in, %out : f32
      linalg.yield %66 : f32
    } -> tensor<2x4x40x1xf32>
    %42 = linalg.generic {indexing_maps = [#map2, #map11, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38, %41 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%29 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.divf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x4x40x40xf32>
    %collapsed_21 = tensor.collapse_shape %42 [[0, 1], [2], [3]] : tensor<2x4x40x40xf32> into tensor<8x40x40xf32>
    %collapsed_22 = tensor.collapse_shape %transposed_15 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %43 = tensor.empty() : tensor<8x40x64xf32>
    %44 = linalg.fill ins(%cst : f32) outs(%43 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %45 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<8x40x40xf32>, tensor<8x40x64xf32>) outs(%44 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %expanded_23 = tensor.expand_shape %45 [[0, 1], [2], [3]] output_shape [2, 4, 40, 64] : tensor<8x40x64xf32> into tensor<2x4x40x64xf32>
    %46 = tensor.empty() : tensor<2x40x4x64xf32>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<2x4x40x64xf32>) outs(%46 : tensor<2x40x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_25 = tensor.collapse_shape %transposed_24 [[0, 1], [2, 3]] : tensor<2x40x4x64xf32> into tensor<80x256xf32>
    %transposed_26 = linalg.transpose ins(%arg8 : tensor<256x256xf32>) outs(%15 : tensor<256x256xf32>) permutation = [1, 0] 
    %47 = linalg.matmul ins(%collapsed_25, %transposed_26 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%17 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %48 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%47, %arg9 : tensor<80x256xf32>, tensor<256xf32>) outs(%16 : tensor<80x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.addf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<80x256xf32>
    %expanded_27 = tensor.expand_shape %48 [[0, 1], [2]] output_shape [2, 40, 256] : tensor<80x256xf32> into tensor<2x40x256xf32>
    %49 = tensor.empty() : tensor<2x40x256xf32>
    %50 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_27, %arg0 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.addf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x256xf32>
    %51 = tensor.empty() : tensor<2x40x1xf32>
    %52 = linalg.fill ins(%cst : f32) outs(%51 : tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %53 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%50 : tensor<2x40x256xf32>) outs(%52 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.addf %in, %out : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x1xf32>
    %54 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53 : tensor<2x40x1xf32>) outs(%51 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.divf %in, %cst_6 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x1xf32>
    %collapsed_28 = tensor.collapse_shape %54 [[0], [1, 2]] : tensor<2x40x1xf32> into tensor<2x40xf32>
    %55 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_28 : tensor<2x40xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x256xf32>
    %56 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %55 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.subf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x256xf32>
    %57 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56, %56 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.mulf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x256xf32>
    %58 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%57 : tensor<2x40x256xf32>) outs(%52 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.addf %in, %out : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x1xf32>
    %59 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<2x40x1xf32>) outs(%51 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.divf %in, %cst_6 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x1xf32>
    %60 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59 : tensor<2x40x1xf32>) outs(%51 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.truncf %cst_4 : f64 to f32
      %67 = arith.addf %in, %66 : f32
      linalg.yield %67 : f32
    } -> tensor<2x40x1xf32>
    %61 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60 : tensor<2x40x1xf32>) outs(%51 : tensor<2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.rsqrt %in : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x1xf32>
    %collapsed_29 = tensor.collapse_shape %61 [[0], [1, 2]] : tensor<2x40x1xf32> into tensor<2x40xf32>
    %62 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_29 : tensor<2x40xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x256xf32>
    %63 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56, %62 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.mulf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x256xf32>
    %64 = linalg.generic {indexing_maps = [#map12, #map15, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %arg10 : tensor<2x40x256xf32>, tensor<256xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.mulf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x256xf32>
    %65 = linalg.generic {indexing_maps = [#map12, #map15, #map12], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %arg11 : tensor<2x40x256xf32>, tensor<256xf32>) outs(%49 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %66 = arith.addf %in, %in_30 : f32
      linalg.yield %66 : f32
    } -> tensor<2x40x256xf32>
    return %65 : tensor<2x40x256xf32>
  }
}

