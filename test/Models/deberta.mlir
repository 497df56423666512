// DeBERTa v3 self-attention, two gathered terms, log buckets: B=2, H=2, M=N=24, D=32.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: mask
//   %arg2: rel_embeddings
//   %arg3: layer.query_proj.weight
//   %arg4: layer.query_proj.bias
//   %arg5: layer.key_proj.weight
//   %arg6: layer.key_proj.bias
//   %arg7: layer.value_proj.weight
//   %arg8: layer.value_proj.bias

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<() -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> ()>
#map5 = affine_map<(d0) -> (d0)>
#map6 = affine_map<(d0, d1) -> (d0, 0)>
#map7 = affine_map<(d0, d1) -> (0, d1)>
#map8 = affine_map<(d0, d1) -> ()>
#map9 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map11 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> ()>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @deberta(%arg0: tensor<2x24x64xf32>, %arg1: tensor<2x24xi1>, %arg2: tensor<32x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64xf32>) -> tensor<2x24x64xf32> {
    %c-8_i64 = arith.constant -8 : i64
    %c8_i64 = arith.constant 8 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c32 = arith.constant 32 : index
    %true = arith.constant true
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<1.35454571> : tensor<f32>
    %cst_3 = arith.constant dense<9.600000e+01> : tensor<f32>
    %cst_4 = arith.constant 8.000000e+00 : f32
    %cst_5 = arith.constant 7.000000e+00 : f32
    %c16_i64 = arith.constant 16 : i64
    %c31_i64 = arith.constant 31 : i64
    %cst_6 = arith.constant dense<-1> : tensor<i64>
    %cst_7 = arith.constant dense<0> : tensor<i64>
    %cst_8 = arith.constant dense<1> : tensor<i64>
    %cst_9 = arith.constant dense<7> : tensor<i64>
    %expanded = tensor.expand_shape %arg1 [[0], [1, 2, 3]] output_shape [2, 1, 1, 24] : tensor<2x24xi1> into tensor<2x1x1x24xi1>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x24x64xf32> into tensor<48x64xf32>
    %0 = tensor.empty() : tensor<64x64xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<48x64xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg4 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.addf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<48x64xf32>
    %expanded_10 = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %5 = tensor.empty() : tensor<2x2x24x32xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_12 = tensor.collapse_shape %transposed_11 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %transposed_13 = linalg.transpose ins(%arg5 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%collapsed, %transposed_13 : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %arg6 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.addf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<48x64xf32>
    %expanded_14 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_16 = tensor.collapse_shape %transposed_15 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %transposed_17 = linalg.transpose ins(%arg7 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed, %transposed_17 : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %arg8 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.addf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<48x64xf32>
    %expanded_18 = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_20 = tensor.collapse_shape %transposed_19 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %10 = tensor.empty() : tensor<f32>
    %11 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%cst_3 : tensor<f32>) outs(%10 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.sqrt %in : f32
      linalg.yield %91 : f32
    } -> tensor<f32>
    %12 = tensor.empty() : tensor<4x32x24xf32>
    %transposed_21 = linalg.transpose ins(%collapsed_16 : tensor<4x24x32xf32>) outs(%12 : tensor<4x32x24xf32>) permutation = [0, 2, 1] 
    %13 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_21, %11 : tensor<4x32x24xf32>, tensor<f32>) outs(%12 : tensor<4x32x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.divf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<4x32x24xf32>
    %14 = tensor.empty() : tensor<4x24x24xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %16 = linalg.batch_matmul ins(%collapsed_12, %13 : tensor<4x24x32xf32>, tensor<4x32x24xf32>) outs(%15 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %17 = tensor.empty() : tensor<24xi64>
    %18 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel"]} outs(%17 : tensor<24xi64>) {
    ^bb0(%out: i64):
      %91 = linalg.index 0 : index
      %92 = arith.index_cast %91 : index to i64
      linalg.yield %92 : i64
    } -> tensor<24xi64>
    %expanded_22 = tensor.expand_shape %18 [[0, 1]] output_shape [24, 1] : tensor<24xi64> into tensor<24x1xi64>
    %expanded_23 = tensor.expand_shape %18 [[0, 1]] output_shape [1, 24] : tensor<24xi64> into tensor<1x24xi64>
    %19 = tensor.empty() : tensor<24x24xi64>
    %20 = linalg.generic {indexing_maps = [#map6, #map7, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_22, %expanded_23 : tensor<24x1xi64>, tensor<1x24xi64>) outs(%19 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %in_44: i64, %out: i64):
      %91 = arith.subi %in, %in_44 : i64
      linalg.yield %91 : i64
    } -> tensor<24x24xi64>
    %21 = tensor.empty() : tensor<24x24xi1>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<24x24xi64>) outs(%21 : tensor<24x24xi1>) {
    ^bb0(%in: i64, %out: i1):
      %91 = arith.cmpi sgt, %in, %c0_i64 : i64
      linalg.yield %91 : i1
    } -> tensor<24x24xi1>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<24x24xi64>) outs(%21 : tensor<24x24xi1>) {
    ^bb0(%in: i64, %out: i1):
      %91 = arith.cmpi slt, %in, %c0_i64 : i64
      linalg.yield %91 : i1
    } -> tensor<24x24xi1>
    %24 = linalg.generic {indexing_maps = [#map, #map8, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %cst_8, %cst_7 : tensor<24x24xi1>, tensor<i64>, tensor<i64>) outs(%19 : tensor<24x24xi64>) {
    ^bb0(%in: i1, %in_44: i64, %in_45: i64, %out: i64):
      %91 = arith.select %in, %in_44, %in_45 : i64
      linalg.yield %91 : i64
    } -> tensor<24x24xi64>
    %25 = linalg.generic {indexing_maps = [#map, #map8, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%23, %cst_6, %24 : tensor<24x24xi1>, tensor<i64>, tensor<24x24xi64>) outs(%19 : tensor<24x24xi64>) {
    ^bb0(%in: i1, %in_44: i64, %in_45: i64, %out: i64):
      %91 = arith.select %in, %in_44, %in_45 : i64
      linalg.yield %91 : i64
    } -> tensor<24x24xi64>
    %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<24x24xi64>) outs(%21 : tensor<24x24xi1>) {
    ^bb0(%in: i64, %out: i1):
      %91 = arith.cmpi slt, %in, %c8_i64 : i64
      linalg.yield %91 : i1
    } -> tensor<24x24xi1>
    %27 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<24x24xi64>) outs(%21 : tensor<24x24xi1>) {
    ^bb0(%in: i64, %out: i1):
      %91 = arith.cmpi sgt, %in, %c-8_i64 : i64
      linalg.yield %91 : i1
    } -> tensor<24x24xi1>
    %28 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%26, %27 : tensor<24x24xi1>, tensor<24x24xi1>) outs(%21 : tensor<24x24xi1>) {
    ^bb0(%in: i1, %in_44: i1, %out: i1):
      %91 = arith.andi %in, %in_44 : i1
      linalg.yield %91 : i1
    } -> tensor<24x24xi1>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<24x24xi64>) outs(%19 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %91 = math.absi %in : i64
      linalg.yield %91 : i64
    } -> tensor<24x24xi64>
    %30 = linalg.generic {indexing_maps = [#map, #map8, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%28, %cst_9, %29 : tensor<24x24xi1>, tensor<i64>, tensor<24x24xi64>) outs(%19 : tensor<24x24xi64>) {
    ^bb0(%in: i1, %in_44: i64, %in_45: i64, %out: i64):
      %91 = arith.select %in, %in_44, %in_45 : i64
      linalg.yield %91 : i64
    } -> tensor<24x24xi64>
    %31 = tensor.empty() : tensor<24x24xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<24x24xi64>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %91 = arith.sitofp %in : i64 to f32
      %92 = arith.divf %91, %cst_4 : f32
      linalg.yield %92 : f32
    } -> tensor<24x24xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%32 : tensor<24x24xf32>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.log %in : f32
      linalg.yield %91 : f32
    } -> tensor<24x24xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%33, %cst_2 : tensor<24x24xf32>, tensor<f32>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.divf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<24x24xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%34 : tensor<24x24xf32>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.mulf %in, %cst_5 : f32
      linalg.yield %91 : f32
    } -> tensor<24x24xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<24x24xf32>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.ceil %in : f32
      linalg.yield %91 : f32
    } -> tensor<24x24xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%36 : tensor<24x24xf32>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %cst_4 : f32
      linalg.yield %91 : f32
    } -> tensor<24x24xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<24x24xi64>) outs(%21 : tensor<24x24xi1>) {
    ^bb0(%in: i64, %out: i1):
      %91 = arith.cmpi sle, %in, %c8_i64 : i64
      linalg.yield %91 : i1
    } -> tensor<24x24xi1>
    %39 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<24x24xi64>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %91 = arith.sitofp %in : i64 to f32
      linalg.yield %91 : f32
    } -> tensor<24x24xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%37, %25 : tensor<24x24xf32>, tensor<24x24xi64>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %in_44: i64, %out: f32):
      %91 = arith.sitofp %in_44 : i64 to f32
      %92 = arith.mulf %in, %91 : f32
      linalg.yield %92 : f32
    } -> tensor<24x24xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %39, %40 : tensor<24x24xi1>, tensor<24x24xf32>, tensor<24x24xf32>) outs(%31 : tensor<24x24xf32>) {
    ^bb0(%in: i1, %in_44: f32, %in_45: f32, %out: f32):
      %91 = arith.select %in, %in_44, %in_45 : f32
      linalg.yield %91 : f32
    } -> tensor<24x24xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%41 : tensor<24x24xf32>) outs(%19 : tensor<24x24xi64>) {
    ^bb0(%in: f32, %out: i64):
      %91 = arith.fptosi %in : f32 to i64
      linalg.yield %91 : i64
    } -> tensor<24x24xi64>
    %expanded_24 = tensor.expand_shape %42 [[0, 1, 2], [3]] output_shape [1, 1, 24, 24] : tensor<24x24xi64> into tensor<1x1x24x24xi64>
    %43 = tensor.empty() : tensor<32x64xf32>
    %44 = linalg.fill ins(%cst : f32) outs(%43 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %45 = linalg.matmul ins(%arg2, %transposed : tensor<32x64xf32>, tensor<64x64xf32>) outs(%44 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%45, %arg4 : tensor<32x64xf32>, tensor<64xf32>) outs(%43 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.addf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<32x64xf32>
    %expanded_25 = tensor.expand_shape %46 [[0, 1], [2, 3]] output_shape [1, 32, 2, 32] : tensor<32x64xf32> into tensor<1x32x2x32xf32>
    %47 = tensor.empty() : tensor<1x2x32x32xf32>
    %transposed_26 = linalg.transpose ins(%expanded_25 : tensor<1x32x2x32xf32>) outs(%47 : tensor<1x2x32x32xf32>) permutation = [0, 2, 1, 3] 
    %48 = tensor.empty() : tensor<2x2x32x32xf32>
    %collapsed_27 = tensor.collapse_shape %transposed_26 [[0, 1], [2], [3]] : tensor<1x2x32x32xf32> into tensor<2x32x32xf32>
    %49 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_27 : tensor<2x32x32xf32>) outs(%48 : tensor<2x2x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x32x32xf32>
    %collapsed_28 = tensor.collapse_shape %49 [[0, 1], [2], [3]] : tensor<2x2x32x32xf32> into tensor<4x32x32xf32>
    %50 = linalg.matmul ins(%arg2, %transposed_13 : tensor<32x64xf32>, tensor<64x64xf32>) outs(%44 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%50, %arg6 : tensor<32x64xf32>, tensor<64xf32>) outs(%43 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.addf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<32x64xf32>
    %expanded_29 = tensor.expand_shape %51 [[0, 1], [2, 3]] output_shape [1, 32, 2, 32] : tensor<32x64xf32> into tensor<1x32x2x32xf32>
    %transposed_30 = linalg.transpose ins(%expanded_29 : tensor<1x32x2x32xf32>) outs(%47 : tensor<1x2x32x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_31 = tensor.collapse_shape %transposed_30 [[0, 1], [2], [3]] : tensor<1x2x32x32xf32> into tensor<2x32x32xf32>
    %52 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_31 : tensor<2x32x32xf32>) outs(%48 : tensor<2x2x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x32x32xf32>
    %collapsed_32 = tensor.collapse_shape %52 [[0, 1], [2], [3]] : tensor<2x2x32x32xf32> into tensor<4x32x32xf32>
    %53 = tensor.empty() : tensor<4x32x32xf32>
    %transposed_33 = linalg.transpose ins(%collapsed_32 : tensor<4x32x32xf32>) outs(%53 : tensor<4x32x32xf32>) permutation = [0, 2, 1] 
    %54 = tensor.empty() : tensor<4x24x32xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %56 = linalg.batch_matmul ins(%collapsed_12, %transposed_33 : tensor<4x24x32xf32>, tensor<4x32x32xf32>) outs(%55 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %57 = tensor.empty() : tensor<1x1x24x24xi64>
    %58 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24 : tensor<1x1x24x24xi64>) outs(%57 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %91 = arith.addi %in, %c16_i64 : i64
      linalg.yield %91 : i64
    } -> tensor<1x1x24x24xi64>
    %59 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58 : tensor<1x1x24x24xi64>) outs(%57 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %91 = arith.maxsi %in, %c0_i64 : i64
      %92 = arith.minsi %91, %c31_i64 : i64
      linalg.yield %92 : i64
    } -> tensor<1x1x24x24xi64>
    %60 = tensor.empty() : tensor<4x24x24xi64>
    %collapsed_34 = tensor.collapse_shape %59 [[0, 1, 2], [3]] : tensor<1x1x24x24xi64> into tensor<24x24xi64>
    %61 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_34 : tensor<24x24xi64>) outs(%60 : tensor<4x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<4x24x24xi64>
    %62 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<4x24x24xi64>) outs(%15 : tensor<4x24x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %91 = linalg.index 0 : index
      %92 = linalg.index 1 : index
      %93 = arith.index_cast %in : i64 to index
      %94 = arith.cmpi slt, %93, %c32 : index
      cf.assert %94, "index must be smaller than dim size"
      %95 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %95, "index must be larger or equal to 0"
      %extracted = tensor.extract %56[%91, %92, %93] : tensor<4x24x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<4x24x24xf32>
    %63 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %11 : tensor<4x24x24xf32>, tensor<f32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.divf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<4x24x24xf32>
    %64 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %cst : f32
      linalg.yield %91 : f32
    } -> tensor<4x24x24xf32>
    %65 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24 : tensor<1x1x24x24xi64>) outs(%57 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %91 = arith.sitofp %in : i64 to f32
      %92 = arith.negf %91 : f32
      %93 = arith.fptosi %92 : f32 to i64
      linalg.yield %93 : i64
    } -> tensor<1x1x24x24xi64>
    %66 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65 : tensor<1x1x24x24xi64>) outs(%57 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %91 = arith.addi %in, %c16_i64 : i64
      linalg.yield %91 : i64
    } -> tensor<1x1x24x24xi64>
    %67 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66 : tensor<1x1x24x24xi64>) outs(%57 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %91 = arith.maxsi %in, %c0_i64 : i64
      %92 = arith.minsi %91, %c31_i64 : i64
      linalg.yield %92 : i64
    } -> tensor<1x1x24x24xi64>
    %transposed_35 = linalg.transpose ins(%collapsed_28 : tensor<4x32x32xf32>) outs(%53 : tensor<4x32x32xf32>) permutation = [0, 2, 1] 
    %68 = linalg.batch_matmul ins(%collapsed_16, %transposed_35 : tensor<4x24x32xf32>, tensor<4x32x32xf32>) outs(%55 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %collapsed_36 = tensor.collapse_shape %67 [[0, 1, 2], [3]] : tensor<1x1x24x24xi64> into tensor<24x24xi64>
    %69 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_36 : tensor<24x24xi64>) outs(%60 : tensor<4x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<4x24x24xi64>
    %70 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<4x24x24xi64>) outs(%15 : tensor<4x24x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %91 = linalg.index 0 : index
      %92 = linalg.index 1 : index
      %93 = arith.index_cast %in : i64 to index
      %94 = arith.cmpi slt, %93, %c32 : index
      cf.assert %94, "index must be smaller than dim size"
      %95 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %95, "index must be larger or equal to 0"
      %extracted = tensor.extract %68[%91, %92, %93] : tensor<4x24x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<4x24x24xf32>
    %transposed_37 = linalg.transpose ins(%70 : tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) permutation = [0, 2, 1] 
    %71 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_37, %11 : tensor<4x24x24xf32>, tensor<f32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.divf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<4x24x24xf32>
    %72 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %71 : tensor<4x24x24xf32>, tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.addf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<4x24x24xf32>
    %73 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16, %72 : tensor<4x24x24xf32>, tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.addf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<4x24x24xf32>
    %expanded_38 = tensor.expand_shape %73 [[0, 1], [2], [3]] output_shape [2, 2, 24, 24] : tensor<4x24x24xf32> into tensor<2x2x24x24xf32>
    %74 = tensor.empty() : tensor<2x1x1x24xi1>
    %75 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x1x1x24xi1>) outs(%74 : tensor<2x1x1x24xi1>) {
    ^bb0(%in: i1, %out: i1):
      %91 = arith.xori %in, %true : i1
      linalg.yield %91 : i1
    } -> tensor<2x1x1x24xi1>
    %76 = tensor.empty() : tensor<2x2x24x24xf32>
    %77 = linalg.generic {indexing_maps = [#map12, #map13, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75, %cst_1, %expanded_38 : tensor<2x1x1x24xi1>, tensor<f32>, tensor<2x2x24x24xf32>) outs(%76 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: i1, %in_44: f32, %in_45: f32, %out: f32):
      %91 = arith.select %in, %in_44, %in_45 : f32
      linalg.yield %91 : f32
    } -> tensor<2x2x24x24xf32>
    %78 = tensor.empty() : tensor<2x2x24xi64>
    %79 = linalg.fill ins(%c0_i64 : i64) outs(%78 : tensor<2x2x24xi64>) -> tensor<2x2x24xi64>
    %80 = tensor.empty() : tensor<2x2x24xf32>
    %81 = linalg.fill ins(%cst_0 : f32) outs(%80 : tensor<2x2x24xf32>) -> tensor<2x2x24xf32>
    %82:2 = linalg.generic {indexing_maps = [#map10, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%77 : tensor<2x2x24x24xf32>) outs(%81, %79 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_44: i64):
      %91 = linalg.index 3 : index
      %92 = arith.index_cast %91 : index to i64
      %93 = arith.maximumf %in, %out : f32
      %94 = arith.cmpf ogt, %in, %out : f32
      %95 = arith.select %94, %92, %out_44 : i64
      linalg.yield %93, %95 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_39 = tensor.expand_shape %82#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %83 = linalg.generic {indexing_maps = [#map10, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %expanded_39 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%76 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.subf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<2x2x24x24xf32>
    %84 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%83 : tensor<2x2x24x24xf32>) outs(%76 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.exp %in : f32
      linalg.yield %91 : f32
    } -> tensor<2x2x24x24xf32>
    %85 = tensor.empty() : tensor<2x2x24x1xf32>
    %86 = linalg.fill ins(%cst : f32) outs(%85 : tensor<2x2x24x1xf32>) -> tensor<2x2x24x1xf32>
    %87 = linalg.generic {indexing_maps = [#map10, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%84 : tensor<2x2x24x24xf32>) outs(%86 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %out : f32
      linalg.yield %91 : f32
    } -> tensor<2x2x24x1xf32>
    %88 = linalg.generic {indexing_maps = [#map10, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%84, %87 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%76 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_44: f32, %out: f32):
      %91 = arith.divf %in, %in_44 : f32
      linalg.yield %91 : f32
    } -> tensor<2x2x24x24xf32>
    %collapsed_40 = tensor.collapse_shape %88 [[0, 1], [2], [3]] : tensor<2x2x24x24xf32> into tensor<4x24x24xf32>
    %89 = linalg.batch_matmul ins(%collapsed_40, %collapsed_20 : tensor<4x24x24xf32>, tensor<4x24x32xf32>) outs(%55 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_41 = tensor.expand_shape %89 [[0, 1], [2], [3]] output_shape [2, 2, 24, 32] : tensor<4x24x32xf32> into tensor<2x2x24x32xf32>
    %90 = tensor.empty() : tensor<2x24x2x32xf32>
    %transposed_42 = linalg.transpose ins(%expanded_41 : tensor<2x2x24x32xf32>) outs(%90 : tensor<2x24x2x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_43 = tensor.collapse_shape %transposed_42 [[0], [1], [2, 3]] : tensor<2x24x2x32xf32> into tensor<2x24x64xf32>
    return %collapsed_43 : tensor<2x24x64xf32>
  }
}

