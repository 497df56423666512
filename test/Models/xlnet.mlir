// XLNet self-attention, relative shift by view and slice, memory: B=2, H=2, M=24, N=32, D=32.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: memory
//   %arg2: positions
//   %arg3: layer.q
//   %arg4: layer.k
//   %arg5: layer.v
//   %arg6: layer.o
//   %arg7: layer.r
//   %arg8: layer.r_r_bias
//   %arg9: layer.r_s_bias
//   %arg10: layer.r_w_bias
//   %arg11: layer.seg_embed
//   %arg12: layer.layer_norm.weight
//   %arg13: layer.layer_norm.bias

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @xlnet(%arg0: tensor<24x2x64xf32>, %arg1: tensor<8x2x64xf32>, %arg2: tensor<56x2x64xf32>, %arg3: tensor<64x2x32xf32>, %arg4: tensor<64x2x32xf32>, %arg5: tensor<64x2x32xf32>, %arg6: tensor<64x2x32xf32>, %arg7: tensor<64x2x32xf32>, %arg8: tensor<2x32xf32>, %arg9: tensor<2x32xf32>, %arg10: tensor<2x32xf32>, %arg11: tensor<2x2x32xf32>, %arg12: tensor<64xf32>, %arg13: tensor<64xf32>) -> tensor<24x2x64xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 9.9999999999999998E-13 : f64
    %cst_2 = arith.constant 0.17677669529663687 : f64
    %cst_3 = arith.constant 6.400000e+01 : f32
    %concat = tensor.concat dim(0) %arg1, %arg0 : (tensor<8x2x64xf32>, tensor<24x2x64xf32>) -> tensor<32x2x64xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<24x2x64xf32> into tensor<48x64xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1], [2]] output_shape [1, 48, 64] : tensor<48x64xf32> into tensor<1x48x64xf32>
    %collapsed_4 = tensor.collapse_shape %arg3 [[0], [1, 2]] : tensor<64x2x32xf32> into tensor<64x64xf32>
    %expanded_5 = tensor.expand_shape %collapsed_4 [[0, 1], [2]] output_shape [1, 64, 64] : tensor<64x64xf32> into tensor<1x64x64xf32>
    %0 = tensor.empty() : tensor<1x48x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x48x64xf32>) -> tensor<1x48x64xf32>
    %2 = linalg.batch_matmul ins(%expanded, %expanded_5 : tensor<1x48x64xf32>, tensor<1x64x64xf32>) outs(%1 : tensor<1x48x64xf32>) -> tensor<1x48x64xf32>
    %collapsed_6 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<1x48x64xf32> into tensor<48x64xf32>
    %expanded_7 = tensor.expand_shape %collapsed_6 [[0, 1], [2, 3, 4]] output_shape [24, 2, 1, 2, 32] : tensor<48x64xf32> into tensor<24x2x1x2x32xf32>
    %3 = tensor.empty() : tensor<24x2x2x32x1xf32>
    %transposed = linalg.transpose ins(%expanded_7 : tensor<24x2x1x2x32xf32>) outs(%3 : tensor<24x2x2x32x1xf32>) permutation = [0, 1, 3, 4, 2] 
    %collapsed_8 = tensor.collapse_shape %transposed [[0], [1], [2], [3, 4]] : tensor<24x2x2x32x1xf32> into tensor<24x2x2x32xf32>
    %collapsed_9 = tensor.collapse_shape %concat [[0, 1], [2]] : tensor<32x2x64xf32> into tensor<64x64xf32>
    %expanded_10 = tensor.expand_shape %collapsed_9 [[0, 1], [2]] output_shape [1, 64, 64] : tensor<64x64xf32> into tensor<1x64x64xf32>
    %collapsed_11 = tensor.collapse_shape %arg4 [[0], [1, 2]] : tensor<64x2x32xf32> into tensor<64x64xf32>
    %expanded_12 = tensor.expand_shape %collapsed_11 [[0, 1], [2]] output_shape [1, 64, 64] : tensor<64x64xf32> into tensor<1x64x64xf32>
    %4 = tensor.empty() : tensor<1x64x64xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %6 = linalg.batch_matmul ins(%expanded_10, %expanded_12 : tensor<1x64x64xf32>, tensor<1x64x64xf32>) outs(%5 : tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %collapsed_13 = tensor.collapse_shape %6 [[0, 1], [2]] : tensor<1x64x64xf32> into tensor<64x64xf32>
    %expanded_14 = tensor.expand_shape %collapsed_13 [[0, 1], [2, 3, 4]] output_shape [32, 2, 1, 2, 32] : tensor<64x64xf32> into tensor<32x2x1x2x32xf32>
    %collapsed_15 = tensor.collapse_shape %arg5 [[0], [1, 2]] : tensor<64x2x32xf32> into tensor<64x64xf32>
    %expanded_16 = tensor.expand_shape %collapsed_15 [[0, 1], [2]] output_shape [1, 64, 64] : tensor<64x64xf32> into tensor<1x64x64xf32>
    %7 = linalg.batch_matmul ins(%expanded_10, %expanded_16 : tensor<1x64x64xf32>, tensor<1x64x64xf32>) outs(%5 : tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %collapsed_17 = tensor.collapse_shape %7 [[0, 1], [2]] : tensor<1x64x64xf32> into tensor<64x64xf32>
    %expanded_18 = tensor.expand_shape %collapsed_17 [[0, 1], [2, 3, 4]] output_shape [32, 2, 1, 2, 32] : tensor<64x64xf32> into tensor<32x2x1x2x32xf32>
    %collapsed_19 = tensor.collapse_shape %arg2 [[0, 1], [2]] : tensor<56x2x64xf32> into tensor<112x64xf32>
    %expanded_20 = tensor.expand_shape %collapsed_19 [[0, 1], [2]] output_shape [1, 112, 64] : tensor<112x64xf32> into tensor<1x112x64xf32>
    %collapsed_21 = tensor.collapse_shape %arg7 [[0], [1, 2]] : tensor<64x2x32xf32> into tensor<64x64xf32>
    %expanded_22 = tensor.expand_shape %collapsed_21 [[0, 1], [2]] output_shape [1, 64, 64] : tensor<64x64xf32> into tensor<1x64x64xf32>
    %8 = tensor.empty() : tensor<1x112x64xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<1x112x64xf32>) -> tensor<1x112x64xf32>
    %10 = linalg.batch_matmul ins(%expanded_20, %expanded_22 : tensor<1x112x64xf32>, tensor<1x64x64xf32>) outs(%9 : tensor<1x112x64xf32>) -> tensor<1x112x64xf32>
    %collapsed_23 = tensor.collapse_shape %10 [[0, 1], [2]] : tensor<1x112x64xf32> into tensor<112x64xf32>
    %expanded_24 = tensor.expand_shape %collapsed_23 [[0, 1], [2, 3, 4]] output_shape [56, 2, 1, 2, 32] : tensor<112x64xf32> into tensor<56x2x1x2x32xf32>
    %11 = tensor.empty() : tensor<24x2x2x32xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_8, %arg10 : tensor<24x2x2x32xf32>, tensor<2x32xf32>) outs(%11 : tensor<24x2x2x32xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.addf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x2x32xf32>
    %expanded_25 = tensor.expand_shape %12 [[0], [1], [2], [3, 4]] output_shape [24, 2, 2, 32, 1] : tensor<24x2x2x32xf32> into tensor<24x2x2x32x1xf32>
    %13 = tensor.empty() : tensor<2x2x24x32x1xf32>
    %transposed_26 = linalg.transpose ins(%expanded_25 : tensor<24x2x2x32x1xf32>) outs(%13 : tensor<2x2x24x32x1xf32>) permutation = [1, 2, 0, 3, 4] 
    %collapsed_27 = tensor.collapse_shape %transposed_26 [[0, 1], [2], [3, 4]] : tensor<2x2x24x32x1xf32> into tensor<4x24x32xf32>
    %14 = tensor.empty() : tensor<2x2x32x32x1xf32>
    %transposed_28 = linalg.transpose ins(%expanded_14 : tensor<32x2x1x2x32xf32>) outs(%14 : tensor<2x2x32x32x1xf32>) permutation = [1, 3, 4, 0, 2] 
    %collapsed_29 = tensor.collapse_shape %transposed_28 [[0, 1], [2], [3, 4]] : tensor<2x2x32x32x1xf32> into tensor<4x32x32xf32>
    %15 = tensor.empty() : tensor<4x24x32xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %17 = linalg.batch_matmul ins(%collapsed_27, %collapsed_29 : tensor<4x24x32xf32>, tensor<4x32x32xf32>) outs(%16 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_30 = tensor.expand_shape %17 [[0, 1], [2], [3, 4]] output_shape [2, 2, 24, 1, 32] : tensor<4x24x32xf32> into tensor<2x2x24x1x32xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<2x2x24x1x32xf32>) outs(%13 : tensor<2x2x24x32x1xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_32 = tensor.collapse_shape %transposed_31 [[0], [1], [2], [3, 4]] : tensor<2x2x24x32x1xf32> into tensor<2x2x24x32xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_8, %arg8 : tensor<24x2x2x32xf32>, tensor<2x32xf32>) outs(%11 : tensor<24x2x2x32xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.addf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x2x32xf32>
    %expanded_33 = tensor.expand_shape %18 [[0], [1], [2], [3, 4]] output_shape [24, 2, 2, 32, 1] : tensor<24x2x2x32xf32> into tensor<24x2x2x32x1xf32>
    %transposed_34 = linalg.transpose ins(%expanded_33 : tensor<24x2x2x32x1xf32>) outs(%13 : tensor<2x2x24x32x1xf32>) permutation = [1, 2, 0, 3, 4] 
    %collapsed_35 = tensor.collapse_shape %transposed_34 [[0, 1], [2], [3, 4]] : tensor<2x2x24x32x1xf32> into tensor<4x24x32xf32>
    %19 = tensor.empty() : tensor<2x2x32x56x1xf32>
    %transposed_36 = linalg.transpose ins(%expanded_24 : tensor<56x2x1x2x32xf32>) outs(%19 : tensor<2x2x32x56x1xf32>) permutation = [1, 3, 4, 0, 2] 
    %collapsed_37 = tensor.collapse_shape %transposed_36 [[0, 1], [2], [3, 4]] : tensor<2x2x32x56x1xf32> into tensor<4x32x56xf32>
    %20 = tensor.empty() : tensor<4x24x56xf32>
    %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<4x24x56xf32>) -> tensor<4x24x56xf32>
    %22 = linalg.batch_matmul ins(%collapsed_35, %collapsed_37 : tensor<4x24x32xf32>, tensor<4x32x56xf32>) outs(%21 : tensor<4x24x56xf32>) -> tensor<4x24x56xf32>
    %expanded_38 = tensor.expand_shape %22 [[0, 1], [2], [3, 4]] output_shape [2, 2, 24, 1, 56] : tensor<4x24x56xf32> into tensor<2x2x24x1x56xf32>
    %23 = tensor.empty() : tensor<2x2x24x56x1xf32>
    %transposed_39 = linalg.transpose ins(%expanded_38 : tensor<2x2x24x1x56xf32>) outs(%23 : tensor<2x2x24x56x1xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_40 = tensor.collapse_shape %transposed_39 [[0], [1], [2, 3, 4]] : tensor<2x2x24x56x1xf32> into tensor<2x2x1344xf32>
    %expanded_41 = tensor.expand_shape %collapsed_40 [[0], [1], [2, 3]] output_shape [2, 2, 56, 24] : tensor<2x2x1344xf32> into tensor<2x2x56x24xf32>
    %extracted_slice = tensor.extract_slice %expanded_41[0, 0, 1, 0] [2, 2, 55, 24] [1, 1, 1, 1] : tensor<2x2x56x24xf32> to tensor<2x2x55x24xf32>
    %collapsed_42 = tensor.collapse_shape %extracted_slice [[0], [1], [2, 3]] : tensor<2x2x55x24xf32> into tensor<2x2x1320xf32>
    %expanded_43 = tensor.expand_shape %collapsed_42 [[0], [1], [2, 3]] output_shape [2, 2, 24, 55] : tensor<2x2x1320xf32> into tensor<2x2x24x55xf32>
    %24 = tensor.empty() : tensor<32xi64>
    %25 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%24 : tensor<32xi64>) {
    ^bb0(%out: i64):
      %64 = linalg.index 0 : index
      %65 = arith.index_cast %64 : index to i64
      linalg.yield %65 : i64
    } -> tensor<32xi64>
    %26 = tensor.empty() : tensor<2x2x24x32xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<32xi64>) outs(%26 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %64 = arith.index_cast %in : i64 to index
      %65 = linalg.index 0 : index
      %66 = linalg.index 1 : index
      %67 = linalg.index 2 : index
      %extracted = tensor.extract %expanded_43[%65, %66, %67, %64] : tensor<2x2x24x55xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x2x24x32xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_32, %27 : tensor<2x2x24x32xf32>, tensor<2x2x24x32xf32>) outs(%26 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.addf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<2x2x24x32xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<2x2x24x32xf32>) outs(%26 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.addf %in, %cst : f32
      linalg.yield %64 : f32
    } -> tensor<2x2x24x32xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<2x2x24x32xf32>) outs(%26 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.truncf %cst_2 : f64 to f32
      %65 = arith.mulf %in, %64 : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x24x32xf32>
    %31 = tensor.empty() : tensor<2x2x24xi64>
    %32 = linalg.fill ins(%c0_i64 : i64) outs(%31 : tensor<2x2x24xi64>) -> tensor<2x2x24xi64>
    %33 = tensor.empty() : tensor<2x2x24xf32>
    %34 = linalg.fill ins(%cst_0 : f32) outs(%33 : tensor<2x2x24xf32>) -> tensor<2x2x24xf32>
    %35:2 = linalg.generic {indexing_maps = [#map, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%30 : tensor<2x2x24x32xf32>) outs(%34, %32 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_62: i64):
      %64 = linalg.index 3 : index
      %65 = arith.index_cast %64 : index to i64
      %66 = arith.maximumf %in, %out : f32
      %67 = arith.cmpf ogt, %in, %out : f32
      %68 = arith.select %67, %65, %out_62 : i64
      linalg.yield %66, %68 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_44 = tensor.expand_shape %35#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %expanded_44 : tensor<2x2x24x32xf32>, tensor<2x2x24x1xf32>) outs(%26 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.subf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<2x2x24x32xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<2x2x24x32xf32>) outs(%26 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.exp %in : f32
      linalg.yield %64 : f32
    } -> tensor<2x2x24x32xf32>
    %38 = tensor.empty() : tensor<2x2x24x1xf32>
    %39 = linalg.fill ins(%cst : f32) outs(%38 : tensor<2x2x24x1xf32>) -> tensor<2x2x24x1xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%37 : tensor<2x2x24x32xf32>) outs(%39 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.addf %in, %out : f32
      linalg.yield %64 : f32
    } -> tensor<2x2x24x1xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%37, %40 : tensor<2x2x24x32xf32>, tensor<2x2x24x1xf32>) outs(%26 : tensor<2x2x24x32xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.divf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<2x2x24x32xf32>
    %collapsed_45 = tensor.collapse_shape %41 [[0, 1], [2], [3]] : tensor<2x2x24x32xf32> into tensor<4x24x32xf32>
    %transposed_46 = linalg.transpose ins(%expanded_18 : tensor<32x2x1x2x32xf32>) outs(%14 : tensor<2x2x32x32x1xf32>) permutation = [1, 3, 0, 4, 2] 
    %collapsed_47 = tensor.collapse_shape %transposed_46 [[0, 1], [2], [3, 4]] : tensor<2x2x32x32x1xf32> into tensor<4x32x32xf32>
    %42 = linalg.batch_matmul ins(%collapsed_45, %collapsed_47 : tensor<4x24x32xf32>, tensor<4x32x32xf32>) outs(%16 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_48 = tensor.expand_shape %42 [[0, 1], [2], [3, 4]] output_shape [2, 2, 24, 1, 32] : tensor<4x24x32xf32> into tensor<2x2x24x1x32xf32>
    %expanded_49 = tensor.expand_shape %arg6 [[0], [1], [2, 3, 4]] output_shape [64, 2, 32, 1, 1] : tensor<64x2x32xf32> into tensor<64x2x32x1x1xf32>
    %43 = tensor.empty() : tensor<24x2x32x2x1xf32>
    %transposed_50 = linalg.transpose ins(%expanded_48 : tensor<2x2x24x1x32xf32>) outs(%43 : tensor<24x2x32x2x1xf32>) permutation = [2, 0, 4, 1, 3] 
    %collapsed_51 = tensor.collapse_shape %transposed_50 [[0, 1], [2, 3, 4]] : tensor<24x2x32x2x1xf32> into tensor<48x64xf32>
    %expanded_52 = tensor.expand_shape %collapsed_51 [[0, 1], [2]] output_shape [1, 48, 64] : tensor<48x64xf32> into tensor<1x48x64xf32>
    %44 = tensor.empty() : tensor<32x2x64x1x1xf32>
    %transposed_53 = linalg.transpose ins(%expanded_49 : tensor<64x2x32x1x1xf32>) outs(%44 : tensor<32x2x64x1x1xf32>) permutation = [2, 1, 0, 3, 4] 
    %collapsed_54 = tensor.collapse_shape %transposed_53 [[0, 1], [2, 3, 4]] : tensor<32x2x64x1x1xf32> into tensor<64x64xf32>
    %expanded_55 = tensor.expand_shape %collapsed_54 [[0, 1], [2]] output_shape [1, 64, 64] : tensor<64x64xf32> into tensor<1x64x64xf32>
    %45 = linalg.batch_matmul ins(%expanded_52, %expanded_55 : tensor<1x48x64xf32>, tensor<1x64x64xf32>) outs(%1 : tensor<1x48x64xf32>) -> tensor<1x48x64xf32>
    %collapsed_56 = tensor.collapse_shape %45 [[0, 1], [2]] : tensor<1x48x64xf32> into tensor<48x64xf32>
    %expanded_57 = tensor.expand_shape %collapsed_56 [[0, 1], [2, 3, 4]] output_shape [24, 2, 1, 1, 64] : tensor<48x64xf32> into tensor<24x2x1x1x64xf32>
    %46 = tensor.empty() : tensor<24x2x64x1x1xf32>
    %transposed_58 = linalg.transpose ins(%expanded_57 : tensor<24x2x1x1x64xf32>) outs(%46 : tensor<24x2x64x1x1xf32>) permutation = [0, 1, 4, 2, 3] 
    %collapsed_59 = tensor.collapse_shape %transposed_58 [[0], [1], [2, 3, 4]] : tensor<24x2x64x1x1xf32> into tensor<24x2x64xf32>
    %47 = tensor.empty() : tensor<24x2x64xf32>
    %48 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_59, %arg0 : tensor<24x2x64xf32>, tensor<24x2x64xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.addf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x64xf32>
    %49 = tensor.empty() : tensor<24x2x1xf32>
    %50 = linalg.fill ins(%cst : f32) outs(%49 : tensor<24x2x1xf32>) -> tensor<24x2x1xf32>
    %51 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%48 : tensor<24x2x64xf32>) outs(%50 : tensor<24x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.addf %in, %out : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x1xf32>
    %52 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51 : tensor<24x2x1xf32>) outs(%49 : tensor<24x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.divf %in, %cst_3 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x1xf32>
    %collapsed_60 = tensor.collapse_shape %52 [[0], [1, 2]] : tensor<24x2x1xf32> into tensor<24x2xf32>
    %53 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_60 : tensor<24x2xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<24x2x64xf32>
    %54 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %53 : tensor<24x2x64xf32>, tensor<24x2x64xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.subf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x64xf32>
    %55 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %54 : tensor<24x2x64xf32>, tensor<24x2x64xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.mulf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x64xf32>
    %56 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%55 : tensor<24x2x64xf32>) outs(%50 : tensor<24x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.addf %in, %out : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x1xf32>
    %57 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<24x2x1xf32>) outs(%49 : tensor<24x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.divf %in, %cst_3 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x1xf32>
    %58 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57 : tensor<24x2x1xf32>) outs(%49 : tensor<24x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.truncf %cst_1 : f64 to f32
      %65 = arith.addf %in, %64 : f32
      linalg.yield %65 : f32
    } -> tensor<24x2x1xf32>
    %59 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<24x2x1xf32>) outs(%49 : tensor<24x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.rsqrt %in : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x1xf32>
    %collapsed_61 = tensor.collapse_shape %59 [[0], [1, 2]] : tensor<24x2x1xf32> into tensor<24x2xf32>
    %60 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_61 : tensor<24x2xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<24x2x64xf32>
    %61 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %60 : tensor<24x2x64xf32>, tensor<24x2x64xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.mulf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x64xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %arg12 : tensor<24x2x64xf32>, tensor<64xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.mulf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x64xf32>
    %63 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %arg13 : tensor<24x2x64xf32>, tensor<64xf32>) outs(%47 : tensor<24x2x64xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %64 = arith.addf %in, %in_62 : f32
      linalg.yield %64 : f32
    } -> tensor<24x2x64xf32>
    return %63 : tensor<24x2x64xf32>
  }
}

