// Llama causal self-attention: B=2, Hq=8, Hkv=2, M=N=40, D=128.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.q_proj.weight
//   %arg2: layer.k_proj.weight
//   %arg3: layer.v_proj.weight
//   %arg4: layer.o_proj.weight

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> ()>
#map9 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @llama(%arg0: tensor<2x40x256xf32>, %arg1: tensor<1024x256xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256x1024xf32>) -> tensor<2x40x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 0.088388347648318447 : f64
    %cst_4 = arith.constant dense_resource<torch_tensor_64_torch.float32> : tensor<64xf32>
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %63 = linalg.index 0 : index
      %64 = arith.index_cast %63 : index to i64
      linalg.yield %64 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 40, 1] : tensor<40xi64> into tensor<1x40x1xi64>
    %2 = tensor.empty() : tensor<1x40x1xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x40x1xi64>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %63 = arith.sitofp %in : i64 to f32
      linalg.yield %63 : f32
    } -> tensor<1x40x1xf32>
    %4 = tensor.empty() : tensor<1x40x64xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %cst_4 : tensor<1x40x1xf32>, tensor<64xf32>) outs(%4 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.mulf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<1x40x64xf32>
    %concat = tensor.concat dim(2) %5, %5 : (tensor<1x40x64xf32>, tensor<1x40x64xf32>) -> tensor<1x40x128xf32>
    %6 = tensor.empty() : tensor<1x40x128xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x128xf32>) outs(%6 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %63 = math.cos %in : f32
      linalg.yield %63 : f32
    } -> tensor<1x40x128xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x128xf32>) outs(%6 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %63 = math.sin %in : f32
      linalg.yield %63 : f32
    } -> tensor<1x40x128xf32>
    %expanded_5 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_6 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %9 = tensor.empty() : tensor<1x1x40x40xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6, %expanded_5 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%9 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_36: i64, %out: i1):
      %63 = arith.cmpi sle, %in, %in_36 : i64
      linalg.yield %63 : i1
    } -> tensor<1x1x40x40xi1>
    %11 = tensor.empty() : tensor<2x1x40x40xi1>
    %collapsed = tensor.collapse_shape %10 [[0, 1], [2], [3]] : tensor<1x1x40x40xi1> into tensor<1x40x40xi1>
    %12 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x40x40xi1>) outs(%11 : tensor<2x1x40x40xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x40x40xi1>
    %13 = tensor.empty() : tensor<2x1x40x40xf32>
    %14 = linalg.generic {indexing_maps = [#map6, #map8, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_2, %cst_1 : tensor<2x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%13 : tensor<2x1x40x40xf32>) {
    ^bb0(%in: i1, %in_36: f32, %in_37: f32, %out: f32):
      %63 = arith.select %in, %in_36, %in_37 : f32
      linalg.yield %63 : f32
    } -> tensor<2x1x40x40xf32>
    %15 = tensor.empty() : tensor<256x1024xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<1024x256xf32>) outs(%15 : tensor<256x1024xf32>) permutation = [1, 0] 
    %collapsed_7 = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf32> into tensor<80x256xf32>
    %16 = tensor.empty() : tensor<80x1024xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<80x1024xf32>) -> tensor<80x1024xf32>
    %18 = linalg.matmul ins(%collapsed_7, %transposed : tensor<80x256xf32>, tensor<256x1024xf32>) outs(%17 : tensor<80x1024xf32>) -> tensor<80x1024xf32>
    %expanded_8 = tensor.expand_shape %18 [[0, 1], [2, 3]] output_shape [2, 40, 8, 128] : tensor<80x1024xf32> into tensor<2x40x8x128xf32>
    %19 = tensor.empty() : tensor<2x8x40x128xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x40x8x128xf32>) outs(%19 : tensor<2x8x40x128xf32>) permutation = [0, 2, 1, 3] 
    %20 = tensor.empty() : tensor<256x256xf32>
    %transposed_10 = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%20 : tensor<256x256xf32>) permutation = [1, 0] 
    %21 = tensor.empty() : tensor<80x256xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %23 = linalg.matmul ins(%collapsed_7, %transposed_10 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%22 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_11 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [2, 40, 2, 128] : tensor<80x256xf32> into tensor<2x40x2x128xf32>
    %24 = tensor.empty() : tensor<2x2x40x128xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x40x2x128xf32>) outs(%24 : tensor<2x2x40x128xf32>) permutation = [0, 2, 1, 3] 
    %transposed_13 = linalg.transpose ins(%arg3 : tensor<256x256xf32>) outs(%20 : tensor<256x256xf32>) permutation = [1, 0] 
    %25 = linalg.matmul ins(%collapsed_7, %transposed_13 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%22 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_14 = tensor.expand_shape %25 [[0, 1], [2, 3]] output_shape [2, 40, 2, 128] : tensor<80x256xf32> into tensor<2x40x2x128xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<2x40x2x128xf32>) outs(%24 : tensor<2x2x40x128xf32>) permutation = [0, 2, 1, 3] 
    %expanded_16 = tensor.expand_shape %7 [[0], [1, 2], [3]] output_shape [1, 1, 40, 128] : tensor<1x40x128xf32> into tensor<1x1x40x128xf32>
    %expanded_17 = tensor.expand_shape %8 [[0], [1, 2], [3]] output_shape [1, 1, 40, 128] : tensor<1x40x128xf32> into tensor<1x1x40x128xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9, %expanded_16 : tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>) outs(%19 : tensor<2x8x40x128xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.mulf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x128xf32>
    %extracted_slice = tensor.extract_slice %transposed_9[0, 0, 0, 0] [2, 8, 40, 64] [1, 1, 1, 1] : tensor<2x8x40x128xf32> to tensor<2x8x40x64xf32>
    %extracted_slice_18 = tensor.extract_slice %transposed_9[0, 0, 0, 64] [2, 8, 40, 64] [1, 1, 1, 1] : tensor<2x8x40x128xf32> to tensor<2x8x40x64xf32>
    %27 = tensor.empty() : tensor<2x8x40x64xf32>
    %28 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18 : tensor<2x8x40x64xf32>) outs(%27 : tensor<2x8x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %63 = arith.negf %in : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x64xf32>
    %concat_19 = tensor.concat dim(3) %28, %extracted_slice : (tensor<2x8x40x64xf32>, tensor<2x8x40x64xf32>) -> tensor<2x8x40x128xf32>
    %29 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_19, %expanded_17 : tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>) outs(%19 : tensor<2x8x40x128xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.mulf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x128xf32>
    %30 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %29 : tensor<2x8x40x128xf32>, tensor<2x8x40x128xf32>) outs(%19 : tensor<2x8x40x128xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.addf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x128xf32>
    %31 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12, %expanded_16 : tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>) outs(%24 : tensor<2x2x40x128xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.mulf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x2x40x128xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_12[0, 0, 0, 0] [2, 2, 40, 64] [1, 1, 1, 1] : tensor<2x2x40x128xf32> to tensor<2x2x40x64xf32>
    %extracted_slice_21 = tensor.extract_slice %transposed_12[0, 0, 0, 64] [2, 2, 40, 64] [1, 1, 1, 1] : tensor<2x2x40x128xf32> to tensor<2x2x40x64xf32>
    %32 = tensor.empty() : tensor<2x2x40x64xf32>
    %33 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21 : tensor<2x2x40x64xf32>) outs(%32 : tensor<2x2x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %63 = arith.negf %in : f32
      linalg.yield %63 : f32
    } -> tensor<2x2x40x64xf32>
    %concat_22 = tensor.concat dim(3) %33, %extracted_slice_20 : (tensor<2x2x40x64xf32>, tensor<2x2x40x64xf32>) -> tensor<2x2x40x128xf32>
    %34 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_22, %expanded_17 : tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>) outs(%24 : tensor<2x2x40x128xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.mulf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x2x40x128xf32>
    %35 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31, %34 : tensor<2x2x40x128xf32>, tensor<2x2x40x128xf32>) outs(%24 : tensor<2x2x40x128xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.addf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x2x40x128xf32>
    %36 = tensor.empty() : tensor<2x2x4x40x128xf32>
    %37 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x2x40x128xf32>) outs(%36 : tensor<2x2x4x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x4x40x128xf32>
    %collapsed_23 = tensor.collapse_shape %37 [[0], [1, 2], [3], [4]] : tensor<2x2x4x40x128xf32> into tensor<2x8x40x128xf32>
    %38 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_15 : tensor<2x2x40x128xf32>) outs(%36 : tensor<2x2x4x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x4x40x128xf32>
    %39 = tensor.empty() : tensor<2x8x128x40xf32>
    %transposed_24 = linalg.transpose ins(%collapsed_23 : tensor<2x8x40x128xf32>) outs(%39 : tensor<2x8x128x40xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_25 = tensor.collapse_shape %30 [[0, 1], [2], [3]] : tensor<2x8x40x128xf32> into tensor<16x40x128xf32>
    %collapsed_26 = tensor.collapse_shape %transposed_24 [[0, 1], [2], [3]] : tensor<2x8x128x40xf32> into tensor<16x128x40xf32>
    %40 = tensor.empty() : tensor<16x40x40xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<16x40x40xf32>) -> tensor<16x40x40xf32>
    %42 = linalg.batch_matmul ins(%collapsed_25, %collapsed_26 : tensor<16x40x128xf32>, tensor<16x128x40xf32>) outs(%41 : tensor<16x40x40xf32>) -> tensor<16x40x40xf32>
    %expanded_27 = tensor.expand_shape %42 [[0, 1], [2], [3]] output_shape [2, 8, 40, 40] : tensor<16x40x40xf32> into tensor<2x8x40x40xf32>
    %43 = tensor.empty() : tensor<2x8x40x40xf32>
    %44 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<2x8x40x40xf32>) outs(%43 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %63 = arith.truncf %cst_3 : f64 to f32
      %64 = arith.mulf %in, %63 : f32
      linalg.yield %64 : f32
    } -> tensor<2x8x40x40xf32>
    %45 = linalg.generic {indexing_maps = [#map6, #map12, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %14 : tensor<2x8x40x40xf32>, tensor<2x1x40x40xf32>) outs(%43 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.addf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x40xf32>
    %46 = tensor.empty() : tensor<2x8x40xi64>
    %47 = linalg.fill ins(%c0_i64 : i64) outs(%46 : tensor<2x8x40xi64>) -> tensor<2x8x40xi64>
    %48 = tensor.empty() : tensor<2x8x40xf32>
    %49 = linalg.fill ins(%cst_0 : f32) outs(%48 : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
    %50:2 = linalg.generic {indexing_maps = [#map6, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%45 : tensor<2x8x40x40xf32>) outs(%49, %47 : tensor<2x8x40xf32>, tensor<2x8x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_36: i64):
      %63 = linalg.index 3 : index
      %64 = arith.index_cast %63 : index to i64
      %65 = arith.maximumf %in, %out : f32
      %66 = arith.cmpf ogt, %in, %out : f32
      %67 = arith.select %66, %64, %out_36 : i64
      linalg.yield %65, %67 : f32, i64
    } -> (tensor<2x8x40xf32>, tensor<2x8x40xi64>)
    %expanded_28 = tensor.expand_shape %50#0 [[0], [1], [2, 3]] output_shape [2, 8, 40, 1] : tensor<2x8x40xf32> into tensor<2x8x40x1xf32>
    %51 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %expanded_28 : tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) outs(%43 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.subf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x40xf32>
    %52 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51 : tensor<2x8x40x40xf32>) outs(%43 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %63 = math.exp %in : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x40xf32>
    %53 = tensor.empty() : tensor<2x8x40x1xf32>
    %54 = linalg.fill ins(%cst : f32) outs(%53 : tensor<2x8x40x1xf32>) -> tensor<2x8x40x1xf32>
    %55 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%52 : tensor<2x8x40x40xf32>) outs(%54 : tensor<2x8x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %63 = arith.addf %in, %out : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x1xf32>
    %56 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %55 : tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) outs(%43 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %63 = arith.divf %in, %in_36 : f32
      linalg.yield %63 : f32
    } -> tensor<2x8x40x40xf32>
    %collapsed_29 = tensor.collapse_shape %56 [[0, 1], [2], [3]] : tensor<2x8x40x40xf32> into tensor<16x40x40xf32>
    %collapsed_30 = tensor.collapse_shape %38 [[0, 1, 2], [3], [4]] : tensor<2x2x4x40x128xf32> into tensor<16x40x128xf32>
    %57 = tensor.empty() : tensor<16x40x128xf32>
    %58 = linalg.fill ins(%cst : f32) outs(%57 : tensor<16x40x128xf32>) -> tensor<16x40x128xf32>
    %59 = linalg.batch_matmul ins(%collapsed_29, %collapsed_30 : tensor<16x40x40xf32>, tensor<16x40x128xf32>) outs(%58 : tensor<16x40x128xf32>) -> tensor<16x40x128xf32>
    %expanded_31 = tensor.expand_shape %59 [[0, 1], [2], [3]] output_shape [2, 8, 40, 128] : tensor<16x40x128xf32> into tensor<2x8x40x128xf32>
    %60 = tensor.empty() : tensor<2x40x8x128xf32>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<2x8x40x128xf32>) outs(%60 : tensor<2x40x8x128xf32>) permutation = [0, 2, 1, 3] 
    %61 = tensor.empty() : tensor<1024x256xf32>
    %transposed_33 = linalg.transpose ins(%arg4 : tensor<256x1024xf32>) outs(%61 : tensor<1024x256xf32>) permutation = [1, 0] 
    %collapsed_34 = tensor.collapse_shape %transposed_32 [[0, 1], [2, 3]] : tensor<2x40x8x128xf32> into tensor<80x1024xf32>
    %62 = linalg.matmul ins(%collapsed_34, %transposed_33 : tensor<80x1024xf32>, tensor<1024x256xf32>) outs(%22 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_35 = tensor.expand_shape %62 [[0, 1], [2]] output_shape [2, 40, 256] : tensor<80x256xf32> into tensor<2x40x256xf32>
    return %expanded_35 : tensor<2x40x256xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_64_torch.float32: "0x040000000000803FD7AF5D3F11F93F3FE03D263F9AF50F3FCF53F93E9BE8D73E1BF8BA3E9BE8A13E04358C3E23D4723EED47523E8718363E40B01D3E778D083ED67FEC3DCDCCCC3D7859B13D0D94993D4DFE843DC255663D3F76473D15BA2C3D4893153DE386013DD254E03C4F43C23C8B39A83C39AD913C334D7C3CF27B5A3C11333D3C0AD7233C2DE10D3CB0B9F53B15CAD43B9C44B83BCC919F3B772E8A3B0E526F3B383E4F3B0F77333B0D691B3B6F94063B2815E93A5CD7C93A8EC9AE3A0E5C973A6F12833AE201633A8C94443A443B2A3A166A133AAC4FFF392517DD39D774BF3960CBA53972928F3915A87839E453573953773A391679213972D40B39E22CF238"
    }
  }
#-}

