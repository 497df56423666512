// DeBERTa v2 self-attention, two gathered terms, a row for each distance: B=2, H=2, M=N=24, D=32.
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
#map8 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> ()>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @deberta_positions(%arg0: tensor<2x24x64xf32>, %arg1: tensor<2x24xi1>, %arg2: tensor<64x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64xf32>) -> tensor<2x24x64xf32> {
    %c63_i64 = arith.constant 63 : i64
    %c32_i64 = arith.constant 32 : i64
    %c0_i64 = arith.constant 0 : i64
    %c64 = arith.constant 64 : index
    %cst = arith.constant 0.000000e+00 : f32
    %true = arith.constant true
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<9.600000e+01> : tensor<f32>
    %expanded = tensor.expand_shape %arg1 [[0], [1, 2, 3]] output_shape [2, 1, 1, 24] : tensor<2x24xi1> into tensor<2x1x1x24xi1>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x24x64xf32> into tensor<48x64xf32>
    %0 = tensor.empty() : tensor<64x64xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<48x64xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg4 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.addf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<48x64xf32>
    %expanded_3 = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %5 = tensor.empty() : tensor<2x2x24x32xf32>
    %transposed_4 = linalg.transpose ins(%expanded_3 : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_5 = tensor.collapse_shape %transposed_4 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %transposed_6 = linalg.transpose ins(%arg5 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%collapsed, %transposed_6 : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %arg6 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.addf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<48x64xf32>
    %expanded_7 = tensor.expand_shape %7 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_9 = tensor.collapse_shape %transposed_8 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %transposed_10 = linalg.transpose ins(%arg7 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<48x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %arg8 : tensor<48x64xf32>, tensor<64xf32>) outs(%1 : tensor<48x64xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.addf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<48x64xf32>
    %expanded_11 = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [2, 24, 2, 32] : tensor<48x64xf32> into tensor<2x24x2x32xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x24x2x32xf32>) outs(%5 : tensor<2x2x24x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_13 = tensor.collapse_shape %transposed_12 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %10 = tensor.empty() : tensor<f32>
    %11 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%cst_2 : tensor<f32>) outs(%10 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %70 = math.sqrt %in : f32
      linalg.yield %70 : f32
    } -> tensor<f32>
    %12 = tensor.empty() : tensor<4x32x24xf32>
    %transposed_14 = linalg.transpose ins(%collapsed_9 : tensor<4x24x32xf32>) outs(%12 : tensor<4x32x24xf32>) permutation = [0, 2, 1] 
    %13 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_14, %11 : tensor<4x32x24xf32>, tensor<f32>) outs(%12 : tensor<4x32x24xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.divf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<4x32x24xf32>
    %14 = tensor.empty() : tensor<4x24x24xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %16 = linalg.batch_matmul ins(%collapsed_5, %13 : tensor<4x24x32xf32>, tensor<4x32x24xf32>) outs(%15 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %17 = tensor.empty() : tensor<24xi64>
    %18 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel"]} outs(%17 : tensor<24xi64>) {
    ^bb0(%out: i64):
      %70 = linalg.index 0 : index
      %71 = arith.index_cast %70 : index to i64
      linalg.yield %71 : i64
    } -> tensor<24xi64>
    %expanded_15 = tensor.expand_shape %18 [[0, 1]] output_shape [24, 1] : tensor<24xi64> into tensor<24x1xi64>
    %expanded_16 = tensor.expand_shape %18 [[0, 1]] output_shape [1, 24] : tensor<24xi64> into tensor<1x24xi64>
    %19 = tensor.empty() : tensor<24x24xi64>
    %20 = linalg.generic {indexing_maps = [#map6, #map7, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_15, %expanded_16 : tensor<24x1xi64>, tensor<1x24xi64>) outs(%19 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %in_37: i64, %out: i64):
      %70 = arith.subi %in, %in_37 : i64
      linalg.yield %70 : i64
    } -> tensor<24x24xi64>
    %expanded_17 = tensor.expand_shape %20 [[0, 1, 2], [3]] output_shape [1, 1, 24, 24] : tensor<24x24xi64> into tensor<1x1x24x24xi64>
    %21 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %22 = linalg.matmul ins(%arg2, %transposed : tensor<64x64xf32>, tensor<64x64xf32>) outs(%21 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %arg4 : tensor<64x64xf32>, tensor<64xf32>) outs(%0 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.addf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<64x64xf32>
    %expanded_18 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [1, 64, 2, 32] : tensor<64x64xf32> into tensor<1x64x2x32xf32>
    %24 = tensor.empty() : tensor<1x2x64x32xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<1x64x2x32xf32>) outs(%24 : tensor<1x2x64x32xf32>) permutation = [0, 2, 1, 3] 
    %25 = tensor.empty() : tensor<2x2x64x32xf32>
    %collapsed_20 = tensor.collapse_shape %transposed_19 [[0, 1], [2], [3]] : tensor<1x2x64x32xf32> into tensor<2x64x32xf32>
    %26 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_20 : tensor<2x64x32xf32>) outs(%25 : tensor<2x2x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x64x32xf32>
    %collapsed_21 = tensor.collapse_shape %26 [[0, 1], [2], [3]] : tensor<2x2x64x32xf32> into tensor<4x64x32xf32>
    %27 = linalg.matmul ins(%arg2, %transposed_6 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%21 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%27, %arg6 : tensor<64x64xf32>, tensor<64xf32>) outs(%0 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.addf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<64x64xf32>
    %expanded_22 = tensor.expand_shape %28 [[0, 1], [2, 3]] output_shape [1, 64, 2, 32] : tensor<64x64xf32> into tensor<1x64x2x32xf32>
    %transposed_23 = linalg.transpose ins(%expanded_22 : tensor<1x64x2x32xf32>) outs(%24 : tensor<1x2x64x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_24 = tensor.collapse_shape %transposed_23 [[0, 1], [2], [3]] : tensor<1x2x64x32xf32> into tensor<2x64x32xf32>
    %29 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_24 : tensor<2x64x32xf32>) outs(%25 : tensor<2x2x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x64x32xf32>
    %collapsed_25 = tensor.collapse_shape %29 [[0, 1], [2], [3]] : tensor<2x2x64x32xf32> into tensor<4x64x32xf32>
    %30 = tensor.empty() : tensor<4x32x64xf32>
    %transposed_26 = linalg.transpose ins(%collapsed_25 : tensor<4x64x32xf32>) outs(%30 : tensor<4x32x64xf32>) permutation = [0, 2, 1] 
    %31 = tensor.empty() : tensor<4x24x64xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %33 = linalg.batch_matmul ins(%collapsed_5, %transposed_26 : tensor<4x24x32xf32>, tensor<4x32x64xf32>) outs(%32 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %34 = tensor.empty() : tensor<1x1x24x24xi64>
    %35 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<1x1x24x24xi64>) outs(%34 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %70 = arith.addi %in, %c32_i64 : i64
      linalg.yield %70 : i64
    } -> tensor<1x1x24x24xi64>
    %36 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<1x1x24x24xi64>) outs(%34 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %70 = arith.maxsi %in, %c0_i64 : i64
      %71 = arith.minsi %70, %c63_i64 : i64
      linalg.yield %71 : i64
    } -> tensor<1x1x24x24xi64>
    %37 = tensor.empty() : tensor<4x24x24xi64>
    %collapsed_27 = tensor.collapse_shape %36 [[0, 1, 2], [3]] : tensor<1x1x24x24xi64> into tensor<24x24xi64>
    %38 = linalg.generic {indexing_maps = [#map10, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_27 : tensor<24x24xi64>) outs(%37 : tensor<4x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<4x24x24xi64>
    %39 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<4x24x24xi64>) outs(%15 : tensor<4x24x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %70 = linalg.index 0 : index
      %71 = linalg.index 1 : index
      %72 = arith.index_cast %in : i64 to index
      %73 = arith.cmpi slt, %72, %c64 : index
      cf.assert %73, "index must be smaller than dim size"
      %74 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %74, "index must be larger or equal to 0"
      %extracted = tensor.extract %33[%70, %71, %72] : tensor<4x24x64xf32>
      linalg.yield %extracted : f32
    } -> tensor<4x24x24xf32>
    %40 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39, %11 : tensor<4x24x24xf32>, tensor<f32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.divf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<4x24x24xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40 : tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %70 = arith.addf %in, %cst : f32
      linalg.yield %70 : f32
    } -> tensor<4x24x24xf32>
    %42 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<1x1x24x24xi64>) outs(%34 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %70 = arith.sitofp %in : i64 to f32
      %71 = arith.negf %70 : f32
      %72 = arith.fptosi %71 : f32 to i64
      linalg.yield %72 : i64
    } -> tensor<1x1x24x24xi64>
    %43 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<1x1x24x24xi64>) outs(%34 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %70 = arith.addi %in, %c32_i64 : i64
      linalg.yield %70 : i64
    } -> tensor<1x1x24x24xi64>
    %44 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<1x1x24x24xi64>) outs(%34 : tensor<1x1x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %70 = arith.maxsi %in, %c0_i64 : i64
      %71 = arith.minsi %70, %c63_i64 : i64
      linalg.yield %71 : i64
    } -> tensor<1x1x24x24xi64>
    %transposed_28 = linalg.transpose ins(%collapsed_21 : tensor<4x64x32xf32>) outs(%30 : tensor<4x32x64xf32>) permutation = [0, 2, 1] 
    %45 = linalg.batch_matmul ins(%collapsed_9, %transposed_28 : tensor<4x24x32xf32>, tensor<4x32x64xf32>) outs(%32 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %collapsed_29 = tensor.collapse_shape %44 [[0, 1, 2], [3]] : tensor<1x1x24x24xi64> into tensor<24x24xi64>
    %46 = linalg.generic {indexing_maps = [#map10, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_29 : tensor<24x24xi64>) outs(%37 : tensor<4x24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<4x24x24xi64>
    %47 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<4x24x24xi64>) outs(%15 : tensor<4x24x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %70 = linalg.index 0 : index
      %71 = linalg.index 1 : index
      %72 = arith.index_cast %in : i64 to index
      %73 = arith.cmpi slt, %72, %c64 : index
      cf.assert %73, "index must be smaller than dim size"
      %74 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %74, "index must be larger or equal to 0"
      %extracted = tensor.extract %45[%70, %71, %72] : tensor<4x24x64xf32>
      linalg.yield %extracted : f32
    } -> tensor<4x24x24xf32>
    %transposed_30 = linalg.transpose ins(%47 : tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) permutation = [0, 2, 1] 
    %48 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_30, %11 : tensor<4x24x24xf32>, tensor<f32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.divf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<4x24x24xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41, %48 : tensor<4x24x24xf32>, tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.addf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<4x24x24xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16, %49 : tensor<4x24x24xf32>, tensor<4x24x24xf32>) outs(%14 : tensor<4x24x24xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.addf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<4x24x24xf32>
    %expanded_31 = tensor.expand_shape %50 [[0, 1], [2], [3]] output_shape [2, 2, 24, 24] : tensor<4x24x24xf32> into tensor<2x2x24x24xf32>
    %51 = tensor.empty() : tensor<2x1x1x24xi1>
    %52 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x1x1x24xi1>) outs(%51 : tensor<2x1x1x24xi1>) {
    ^bb0(%in: i1, %out: i1):
      %70 = arith.xori %in, %true : i1
      linalg.yield %70 : i1
    } -> tensor<2x1x1x24xi1>
    %53 = tensor.empty() : tensor<2x2x24x24xf32>
    %54 = linalg.generic {indexing_maps = [#map11, #map12, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %cst_1, %expanded_31 : tensor<2x1x1x24xi1>, tensor<f32>, tensor<2x2x24x24xf32>) outs(%53 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %70 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %70 : f32
    } -> tensor<2x2x24x24xf32>
    %55 = tensor.empty() : tensor<2x2x24xi64>
    %56 = linalg.fill ins(%c0_i64 : i64) outs(%55 : tensor<2x2x24xi64>) -> tensor<2x2x24xi64>
    %57 = tensor.empty() : tensor<2x2x24xf32>
    %58 = linalg.fill ins(%cst_0 : f32) outs(%57 : tensor<2x2x24xf32>) -> tensor<2x2x24xf32>
    %59:2 = linalg.generic {indexing_maps = [#map9, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%54 : tensor<2x2x24x24xf32>) outs(%58, %56 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_37: i64):
      %70 = linalg.index 3 : index
      %71 = arith.index_cast %70 : index to i64
      %72 = arith.maximumf %in, %out : f32
      %73 = arith.cmpf ogt, %in, %out : f32
      %74 = arith.select %73, %71, %out_37 : i64
      linalg.yield %72, %74 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_32 = tensor.expand_shape %59#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %60 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %expanded_32 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%53 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.subf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<2x2x24x24xf32>
    %61 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60 : tensor<2x2x24x24xf32>) outs(%53 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %70 = math.exp %in : f32
      linalg.yield %70 : f32
    } -> tensor<2x2x24x24xf32>
    %62 = tensor.empty() : tensor<2x2x24x1xf32>
    %63 = linalg.fill ins(%cst : f32) outs(%62 : tensor<2x2x24x1xf32>) -> tensor<2x2x24x1xf32>
    %64 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%61 : tensor<2x2x24x24xf32>) outs(%63 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %70 = arith.addf %in, %out : f32
      linalg.yield %70 : f32
    } -> tensor<2x2x24x1xf32>
    %65 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61, %64 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%53 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %70 = arith.divf %in, %in_37 : f32
      linalg.yield %70 : f32
    } -> tensor<2x2x24x24xf32>
    %collapsed_33 = tensor.collapse_shape %65 [[0, 1], [2], [3]] : tensor<2x2x24x24xf32> into tensor<4x24x24xf32>
    %66 = tensor.empty() : tensor<4x24x32xf32>
    %67 = linalg.fill ins(%cst : f32) outs(%66 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %68 = linalg.batch_matmul ins(%collapsed_33, %collapsed_13 : tensor<4x24x24xf32>, tensor<4x24x32xf32>) outs(%67 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_34 = tensor.expand_shape %68 [[0, 1], [2], [3]] output_shape [2, 2, 24, 32] : tensor<4x24x32xf32> into tensor<2x2x24x32xf32>
    %69 = tensor.empty() : tensor<2x24x2x32xf32>
    %transposed_35 = linalg.transpose ins(%expanded_34 : tensor<2x2x24x32xf32>) outs(%69 : tensor<2x24x2x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_36 = tensor.collapse_shape %transposed_35 [[0], [1], [2, 3]] : tensor<2x24x2x32xf32> into tensor<2x24x64xf32>
    return %collapsed_36 : tensor<2x24x64xf32>
  }
}

