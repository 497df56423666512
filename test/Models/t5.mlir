// T5 encoder self-attention, relative bias from its table, no scale: B=2, H=4, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.q.weight
//   %arg2: layer.k.weight
//   %arg3: layer.v.weight
//   %arg4: layer.o.weight
//   %arg5: layer.relative_attention_bias.weight

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (0, d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @t5(%arg0: tensor<2x40x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<32x4xf32>) -> tensor<2x40x256xf32> {
    %c8_i64 = arith.constant 8 : i64
    %c16_i64 = arith.constant 16 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c32 = arith.constant 32 : index
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 2.7725887222397811 : f64
    %cst_2 = arith.constant 8.000000e+00 : f32
    %cst_3 = arith.constant dense<15> : tensor<40x40xi64>
    %0 = tensor.empty() : tensor<256x256xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf32> into tensor<80x256xf32>
    %1 = tensor.empty() : tensor<80x256xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %4 = tensor.empty() : tensor<2x4x40x64xf32>
    %transposed_4 = linalg.transpose ins(%expanded : tensor<2x40x4x64xf32>) outs(%4 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_5 = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %5 = linalg.matmul ins(%collapsed, %transposed_5 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_6 = tensor.expand_shape %5 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_7 = linalg.transpose ins(%arg3 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_8 = tensor.expand_shape %6 [[0, 1], [2, 3]] output_shape [2, 40, 4, 64] : tensor<80x256xf32> into tensor<2x40x4x64xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x40x4x64xf32>) outs(%4 : tensor<2x4x40x64xf32>) permutation = [0, 2, 1, 3] 
    %7 = tensor.empty() : tensor<40xi64>
    %8 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%7 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %53 = linalg.index 0 : index
      %54 = arith.index_cast %53 : index to i64
      linalg.yield %54 : i64
    } -> tensor<40xi64>
    %expanded_10 = tensor.expand_shape %8 [[0, 1]] output_shape [40, 1] : tensor<40xi64> into tensor<40x1xi64>
    %expanded_11 = tensor.expand_shape %8 [[0, 1]] output_shape [1, 40] : tensor<40xi64> into tensor<1x40xi64>
    %9 = tensor.empty() : tensor<40x40xi64>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%expanded_11, %expanded_10 : tensor<1x40xi64>, tensor<40x1xi64>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i64, %in_26: i64, %out: i64):
      %53 = arith.subi %in, %in_26 : i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %11 = tensor.empty() : tensor<40x40xi1>
    %12 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<40x40xi64>) outs(%11 : tensor<40x40xi1>) {
    ^bb0(%in: i64, %out: i1):
      %53 = arith.cmpi sgt, %in, %c0_i64 : i64
      linalg.yield %53 : i1
    } -> tensor<40x40xi1>
    %13 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<40x40xi1>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i1, %out: i64):
      %53 = arith.extui %in : i1 to i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %14 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<40x40xi64>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i64, %out: i64):
      %53 = arith.muli %in, %c16_i64 : i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %15 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<40x40xi64>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i64, %out: i64):
      %53 = math.absi %in : i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %16 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<40x40xi64>) outs(%11 : tensor<40x40xi1>) {
    ^bb0(%in: i64, %out: i1):
      %53 = arith.cmpi slt, %in, %c8_i64 : i64
      linalg.yield %53 : i1
    } -> tensor<40x40xi1>
    %17 = tensor.empty() : tensor<40x40xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<40x40xi64>) outs(%17 : tensor<40x40xf32>) {
    ^bb0(%in: i64, %out: f32):
      %53 = arith.sitofp %in : i64 to f32
      linalg.yield %53 : f32
    } -> tensor<40x40xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<40x40xf32>) outs(%17 : tensor<40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %53 = arith.divf %in, %cst_2 : f32
      linalg.yield %53 : f32
    } -> tensor<40x40xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<40x40xf32>) outs(%17 : tensor<40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %53 = math.log %in : f32
      linalg.yield %53 : f32
    } -> tensor<40x40xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<40x40xf32>) outs(%17 : tensor<40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %53 = arith.truncf %cst_1 : f64 to f32
      %54 = arith.divf %in, %53 : f32
      linalg.yield %54 : f32
    } -> tensor<40x40xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<40x40xf32>) outs(%17 : tensor<40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %53 = arith.mulf %in, %cst_2 : f32
      linalg.yield %53 : f32
    } -> tensor<40x40xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<40x40xf32>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: f32, %out: i64):
      %53 = arith.fptosi %in : f32 to i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %24 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<40x40xi64>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i64, %out: i64):
      %53 = arith.addi %in, %c8_i64 : i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %25 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%24, %cst_3 : tensor<40x40xi64>, tensor<40x40xi64>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i64, %in_26: i64, %out: i64):
      %53 = arith.minsi %in, %in_26 : i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %26 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%16, %15, %25 : tensor<40x40xi1>, tensor<40x40xi64>, tensor<40x40xi64>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i1, %in_26: i64, %in_27: i64, %out: i64):
      %53 = arith.select %in, %in_26, %in_27 : i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %27 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%14, %26 : tensor<40x40xi64>, tensor<40x40xi64>) outs(%9 : tensor<40x40xi64>) {
    ^bb0(%in: i64, %in_26: i64, %out: i64):
      %53 = arith.addi %in, %in_26 : i64
      linalg.yield %53 : i64
    } -> tensor<40x40xi64>
    %28 = tensor.empty() : tensor<40x40x4xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<40x40xi64>) outs(%28 : tensor<40x40x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %53 = arith.index_cast %in : i64 to index
      %54 = linalg.index 2 : index
      %55 = arith.cmpi slt, %53, %c32 : index
      cf.assert %55, "index must be smaller than dim size"
      %56 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %56, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg5[%53, %54] : tensor<32x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<40x40x4xf32>
    %30 = tensor.empty() : tensor<4x40x40xf32>
    %transposed_12 = linalg.transpose ins(%29 : tensor<40x40x4xf32>) outs(%30 : tensor<4x40x40xf32>) permutation = [2, 0, 1] 
    %expanded_13 = tensor.expand_shape %transposed_12 [[0, 1], [2], [3]] output_shape [1, 4, 40, 40] : tensor<4x40x40xf32> into tensor<1x4x40x40xf32>
    %31 = tensor.empty() : tensor<2x4x64x40xf32>
    %transposed_14 = linalg.transpose ins(%expanded_6 : tensor<2x40x4x64xf32>) outs(%31 : tensor<2x4x64x40xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_15 = tensor.collapse_shape %transposed_4 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %collapsed_16 = tensor.collapse_shape %transposed_14 [[0, 1], [2], [3]] : tensor<2x4x64x40xf32> into tensor<8x64x40xf32>
    %32 = tensor.empty() : tensor<8x40x40xf32>
    %33 = linalg.fill ins(%cst : f32) outs(%32 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %34 = linalg.batch_matmul ins(%collapsed_15, %collapsed_16 : tensor<8x40x64xf32>, tensor<8x64x40xf32>) outs(%33 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %expanded_17 = tensor.expand_shape %34 [[0, 1], [2], [3]] output_shape [2, 4, 40, 40] : tensor<8x40x40xf32> into tensor<2x4x40x40xf32>
    %35 = tensor.empty() : tensor<2x4x40x40xf32>
    %36 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17, %expanded_13 : tensor<2x4x40x40xf32>, tensor<1x4x40x40xf32>) outs(%35 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_26: f32, %out: f32):
      %53 = arith.addf %in, %in_26 : f32
      linalg.yield %53 : f32
    } -> tensor<2x4x40x40xf32>
    %37 = tensor.empty() : tensor<2x4x40xi64>
    %38 = linalg.fill ins(%c0_i64 : i64) outs(%37 : tensor<2x4x40xi64>) -> tensor<2x4x40xi64>
    %39 = tensor.empty() : tensor<2x4x40xf32>
    %40 = linalg.fill ins(%cst_0 : f32) outs(%39 : tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %41:2 = linalg.generic {indexing_maps = [#map6, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36 : tensor<2x4x40x40xf32>) outs(%40, %38 : tensor<2x4x40xf32>, tensor<2x4x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_26: i64):
      %53 = linalg.index 3 : index
      %54 = arith.index_cast %53 : index to i64
      %55 = arith.maximumf %in, %out : f32
      %56 = arith.cmpf ogt, %in, %out : f32
      %57 = arith.select %56, %54, %out_26 : i64
      linalg.yield %55, %57 : f32, i64
    } -> (tensor<2x4x40xf32>, tensor<2x4x40xi64>)
    %expanded_18 = tensor.expand_shape %41#0 [[0], [1], [2, 3]] output_shape [2, 4, 40, 1] : tensor<2x4x40xf32> into tensor<2x4x40x1xf32>
    %42 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36, %expanded_18 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%35 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_26: f32, %out: f32):
      %53 = arith.subf %in, %in_26 : f32
      linalg.yield %53 : f32
    } -> tensor<2x4x40x40xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<2x4x40x40xf32>) outs(%35 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %53 = math.exp %in : f32
      linalg.yield %53 : f32
    } -> tensor<2x4x40x40xf32>
    %44 = tensor.empty() : tensor<2x4x40x1xf32>
    %45 = linalg.fill ins(%cst : f32) outs(%44 : tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%43 : tensor<2x4x40x40xf32>) outs(%45 : tensor<2x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %53 = arith.addf %in, %out : f32
      linalg.yield %53 : f32
    } -> tensor<2x4x40x1xf32>
    %47 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %46 : tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) outs(%35 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_26: f32, %out: f32):
      %53 = arith.divf %in, %in_26 : f32
      linalg.yield %53 : f32
    } -> tensor<2x4x40x40xf32>
    %collapsed_19 = tensor.collapse_shape %47 [[0, 1], [2], [3]] : tensor<2x4x40x40xf32> into tensor<8x40x40xf32>
    %collapsed_20 = tensor.collapse_shape %transposed_9 [[0, 1], [2], [3]] : tensor<2x4x40x64xf32> into tensor<8x40x64xf32>
    %48 = tensor.empty() : tensor<8x40x64xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %50 = linalg.batch_matmul ins(%collapsed_19, %collapsed_20 : tensor<8x40x40xf32>, tensor<8x40x64xf32>) outs(%49 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %expanded_21 = tensor.expand_shape %50 [[0, 1], [2], [3]] output_shape [2, 4, 40, 64] : tensor<8x40x64xf32> into tensor<2x4x40x64xf32>
    %51 = tensor.empty() : tensor<2x40x4x64xf32>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<2x4x40x64xf32>) outs(%51 : tensor<2x40x4x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_23 = linalg.transpose ins(%arg4 : tensor<256x256xf32>) outs(%0 : tensor<256x256xf32>) permutation = [1, 0] 
    %collapsed_24 = tensor.collapse_shape %transposed_22 [[0, 1], [2, 3]] : tensor<2x40x4x64xf32> into tensor<80x256xf32>
    %52 = linalg.matmul ins(%collapsed_24, %transposed_23 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%2 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_25 = tensor.expand_shape %52 [[0, 1], [2]] output_shape [2, 40, 256] : tensor<80x256xf32> into tensor<2x40x256xf32>
    return %expanded_25 : tensor<2x40x256xf32>
  }
}

