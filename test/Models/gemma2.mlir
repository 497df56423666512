// Gemma-2 global attention, soft cap 50: B=1, Hq=4, Hkv=2, M=N=40, D=256.
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
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @gemma2(%arg0: tensor<1x40x256xf32>, %arg1: tensor<1024x256xf32>, %arg2: tensor<512x256xf32>, %arg3: tensor<512x256xf32>, %arg4: tensor<256x1024xf32>) -> tensor<1x40x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense_resource<torch_tensor_128_torch.float32> : tensor<128xf32>
    %cst_4 = arith.constant 6.250000e-02 : f32
    %cst_5 = arith.constant 5.000000e+01 : f32
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %66 = linalg.index 0 : index
      %67 = arith.index_cast %66 : index to i64
      linalg.yield %67 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 40, 1] : tensor<40xi64> into tensor<1x40x1xi64>
    %2 = tensor.empty() : tensor<1x40x1xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x40x1xi64>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %66 = arith.sitofp %in : i64 to f32
      linalg.yield %66 : f32
    } -> tensor<1x40x1xf32>
    %4 = tensor.empty() : tensor<1x40x128xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %cst_3 : tensor<1x40x1xf32>, tensor<128xf32>) outs(%4 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.mulf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x40x128xf32>
    %concat = tensor.concat dim(2) %5, %5 : (tensor<1x40x128xf32>, tensor<1x40x128xf32>) -> tensor<1x40x256xf32>
    %6 = tensor.empty() : tensor<1x40x256xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x256xf32>) outs(%6 : tensor<1x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.cos %in : f32
      linalg.yield %66 : f32
    } -> tensor<1x40x256xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x256xf32>) outs(%6 : tensor<1x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.sin %in : f32
      linalg.yield %66 : f32
    } -> tensor<1x40x256xf32>
    %expanded_6 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_7 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %9 = tensor.empty() : tensor<1x1x40x40xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7, %expanded_6 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%9 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_36: i64, %out: i1):
      %66 = arith.cmpi sle, %in, %in_36 : i64
      linalg.yield %66 : i1
    } -> tensor<1x1x40x40xi1>
    %11 = tensor.empty() : tensor<1x1x40x40xf32>
    %12 = linalg.generic {indexing_maps = [#map6, #map7, #map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %cst_2, %cst_1 : tensor<1x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%11 : tensor<1x1x40x40xf32>) {
    ^bb0(%in: i1, %in_36: f32, %in_37: f32, %out: f32):
      %66 = arith.select %in, %in_36, %in_37 : f32
      linalg.yield %66 : f32
    } -> tensor<1x1x40x40xf32>
    %13 = tensor.empty() : tensor<256x1024xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<1024x256xf32>) outs(%13 : tensor<256x1024xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<1x40x256xf32> into tensor<40x256xf32>
    %14 = tensor.empty() : tensor<40x1024xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<40x1024xf32>) -> tensor<40x1024xf32>
    %16 = linalg.matmul ins(%collapsed, %transposed : tensor<40x256xf32>, tensor<256x1024xf32>) outs(%15 : tensor<40x1024xf32>) -> tensor<40x1024xf32>
    %expanded_8 = tensor.expand_shape %16 [[0, 1], [2, 3]] output_shape [1, 40, 4, 256] : tensor<40x1024xf32> into tensor<1x40x4x256xf32>
    %17 = tensor.empty() : tensor<1x4x40x256xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<1x40x4x256xf32>) outs(%17 : tensor<1x4x40x256xf32>) permutation = [0, 2, 1, 3] 
    %18 = tensor.empty() : tensor<256x512xf32>
    %transposed_10 = linalg.transpose ins(%arg2 : tensor<512x256xf32>) outs(%18 : tensor<256x512xf32>) permutation = [1, 0] 
    %19 = tensor.empty() : tensor<40x512xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %21 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<40x256xf32>, tensor<256x512xf32>) outs(%20 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %expanded_11 = tensor.expand_shape %21 [[0, 1], [2, 3]] output_shape [1, 40, 2, 256] : tensor<40x512xf32> into tensor<1x40x2x256xf32>
    %22 = tensor.empty() : tensor<1x2x40x256xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<1x40x2x256xf32>) outs(%22 : tensor<1x2x40x256xf32>) permutation = [0, 2, 1, 3] 
    %transposed_13 = linalg.transpose ins(%arg3 : tensor<512x256xf32>) outs(%18 : tensor<256x512xf32>) permutation = [1, 0] 
    %23 = linalg.matmul ins(%collapsed, %transposed_13 : tensor<40x256xf32>, tensor<256x512xf32>) outs(%20 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %expanded_14 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [1, 40, 2, 256] : tensor<40x512xf32> into tensor<1x40x2x256xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<1x40x2x256xf32>) outs(%22 : tensor<1x2x40x256xf32>) permutation = [0, 2, 1, 3] 
    %expanded_16 = tensor.expand_shape %7 [[0], [1, 2], [3]] output_shape [1, 1, 40, 256] : tensor<1x40x256xf32> into tensor<1x1x40x256xf32>
    %expanded_17 = tensor.expand_shape %8 [[0], [1, 2], [3]] output_shape [1, 1, 40, 256] : tensor<1x40x256xf32> into tensor<1x1x40x256xf32>
    %24 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9, %expanded_16 : tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>) outs(%17 : tensor<1x4x40x256xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.mulf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x256xf32>
    %extracted_slice = tensor.extract_slice %transposed_9[0, 0, 0, 0] [1, 4, 40, 128] [1, 1, 1, 1] : tensor<1x4x40x256xf32> to tensor<1x4x40x128xf32>
    %extracted_slice_18 = tensor.extract_slice %transposed_9[0, 0, 0, 128] [1, 4, 40, 128] [1, 1, 1, 1] : tensor<1x4x40x256xf32> to tensor<1x4x40x128xf32>
    %25 = tensor.empty() : tensor<1x4x40x128xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18 : tensor<1x4x40x128xf32>) outs(%25 : tensor<1x4x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.negf %in : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x128xf32>
    %concat_19 = tensor.concat dim(3) %26, %extracted_slice : (tensor<1x4x40x128xf32>, tensor<1x4x40x128xf32>) -> tensor<1x4x40x256xf32>
    %27 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_19, %expanded_17 : tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>) outs(%17 : tensor<1x4x40x256xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.mulf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x256xf32>
    %28 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %27 : tensor<1x4x40x256xf32>, tensor<1x4x40x256xf32>) outs(%17 : tensor<1x4x40x256xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.addf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x256xf32>
    %29 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12, %expanded_16 : tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>) outs(%22 : tensor<1x2x40x256xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.mulf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x2x40x256xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_12[0, 0, 0, 0] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x256xf32> to tensor<1x2x40x128xf32>
    %extracted_slice_21 = tensor.extract_slice %transposed_12[0, 0, 0, 128] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x256xf32> to tensor<1x2x40x128xf32>
    %30 = tensor.empty() : tensor<1x2x40x128xf32>
    %31 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21 : tensor<1x2x40x128xf32>) outs(%30 : tensor<1x2x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.negf %in : f32
      linalg.yield %66 : f32
    } -> tensor<1x2x40x128xf32>
    %concat_22 = tensor.concat dim(3) %31, %extracted_slice_20 : (tensor<1x2x40x128xf32>, tensor<1x2x40x128xf32>) -> tensor<1x2x40x256xf32>
    %32 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_22, %expanded_17 : tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>) outs(%22 : tensor<1x2x40x256xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.mulf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x2x40x256xf32>
    %33 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %32 : tensor<1x2x40x256xf32>, tensor<1x2x40x256xf32>) outs(%22 : tensor<1x2x40x256xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.addf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x2x40x256xf32>
    %34 = tensor.empty() : tensor<1x2x2x40x256xf32>
    %35 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%33 : tensor<1x2x40x256xf32>) outs(%34 : tensor<1x2x2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x40x256xf32>
    %collapsed_23 = tensor.collapse_shape %35 [[0], [1, 2], [3], [4]] : tensor<1x2x2x40x256xf32> into tensor<1x4x40x256xf32>
    %36 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_15 : tensor<1x2x40x256xf32>) outs(%34 : tensor<1x2x2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x40x256xf32>
    %37 = tensor.empty() : tensor<1x4x256x40xf32>
    %transposed_24 = linalg.transpose ins(%collapsed_23 : tensor<1x4x40x256xf32>) outs(%37 : tensor<1x4x256x40xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_25 = tensor.collapse_shape %28 [[0, 1], [2], [3]] : tensor<1x4x40x256xf32> into tensor<4x40x256xf32>
    %collapsed_26 = tensor.collapse_shape %transposed_24 [[0, 1], [2], [3]] : tensor<1x4x256x40xf32> into tensor<4x256x40xf32>
    %38 = tensor.empty() : tensor<4x40x40xf32>
    %39 = linalg.fill ins(%cst : f32) outs(%38 : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
    %40 = linalg.batch_matmul ins(%collapsed_25, %collapsed_26 : tensor<4x40x256xf32>, tensor<4x256x40xf32>) outs(%39 : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
    %expanded_27 = tensor.expand_shape %40 [[0, 1], [2], [3]] output_shape [1, 4, 40, 40] : tensor<4x40x40xf32> into tensor<1x4x40x40xf32>
    %41 = tensor.empty() : tensor<1x4x40x40xf32>
    %42 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<1x4x40x40xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.mulf %in, %cst_4 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<1x4x40x40xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.divf %in, %cst_5 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %44 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<1x4x40x40xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.tanh %in : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %45 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44 : tensor<1x4x40x40xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.mulf %in, %cst_5 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %12 : tensor<1x4x40x40xf32>, tensor<1x1x40x40xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.addf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %47 = tensor.empty() : tensor<1x4x40xi64>
    %48 = linalg.fill ins(%c0_i64 : i64) outs(%47 : tensor<1x4x40xi64>) -> tensor<1x4x40xi64>
    %49 = tensor.empty() : tensor<1x4x40xf32>
    %50 = linalg.fill ins(%cst_0 : f32) outs(%49 : tensor<1x4x40xf32>) -> tensor<1x4x40xf32>
    %51:2 = linalg.generic {indexing_maps = [#map6, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%46 : tensor<1x4x40x40xf32>) outs(%50, %48 : tensor<1x4x40xf32>, tensor<1x4x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_36: i64):
      %66 = linalg.index 3 : index
      %67 = arith.index_cast %66 : index to i64
      %68 = arith.maximumf %in, %out : f32
      %69 = arith.cmpf ogt, %in, %out : f32
      %70 = arith.select %69, %67, %out_36 : i64
      linalg.yield %68, %70 : f32, i64
    } -> (tensor<1x4x40xf32>, tensor<1x4x40xi64>)
    %expanded_28 = tensor.expand_shape %51#0 [[0], [1], [2, 3]] output_shape [1, 4, 40, 1] : tensor<1x4x40xf32> into tensor<1x4x40x1xf32>
    %52 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %expanded_28 : tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.subf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %53 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52 : tensor<1x4x40x40xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.exp %in : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %54 = tensor.empty() : tensor<1x4x40x1xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<1x4x40x1xf32>) -> tensor<1x4x40x1xf32>
    %56 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53 : tensor<1x4x40x40xf32>) outs(%55 : tensor<1x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.addf %in, %out : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x1xf32>
    %57 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %56 : tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>) outs(%41 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %66 = arith.divf %in, %in_36 : f32
      linalg.yield %66 : f32
    } -> tensor<1x4x40x40xf32>
    %collapsed_29 = tensor.collapse_shape %57 [[0, 1], [2], [3]] : tensor<1x4x40x40xf32> into tensor<4x40x40xf32>
    %collapsed_30 = tensor.collapse_shape %36 [[0, 1, 2], [3], [4]] : tensor<1x2x2x40x256xf32> into tensor<4x40x256xf32>
    %58 = tensor.empty() : tensor<4x40x256xf32>
    %59 = linalg.fill ins(%cst : f32) outs(%58 : tensor<4x40x256xf32>) -> tensor<4x40x256xf32>
    %60 = linalg.batch_matmul ins(%collapsed_29, %collapsed_30 : tensor<4x40x40xf32>, tensor<4x40x256xf32>) outs(%59 : tensor<4x40x256xf32>) -> tensor<4x40x256xf32>
    %expanded_31 = tensor.expand_shape %60 [[0, 1], [2], [3]] output_shape [1, 4, 40, 256] : tensor<4x40x256xf32> into tensor<1x4x40x256xf32>
    %61 = tensor.empty() : tensor<1x40x4x256xf32>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<1x4x40x256xf32>) outs(%61 : tensor<1x40x4x256xf32>) permutation = [0, 2, 1, 3] 
    %62 = tensor.empty() : tensor<1024x256xf32>
    %transposed_33 = linalg.transpose ins(%arg4 : tensor<256x1024xf32>) outs(%62 : tensor<1024x256xf32>) permutation = [1, 0] 
    %collapsed_34 = tensor.collapse_shape %transposed_32 [[0, 1], [2, 3]] : tensor<1x40x4x256xf32> into tensor<40x1024xf32>
    %63 = tensor.empty() : tensor<40x256xf32>
    %64 = linalg.fill ins(%cst : f32) outs(%63 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %65 = linalg.matmul ins(%collapsed_34, %transposed_33 : tensor<40x1024xf32>, tensor<1024x256xf32>) outs(%64 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %expanded_35 = tensor.expand_shape %65 [[0, 1], [2]] output_shape [1, 40, 256] : tensor<40x256xf32> into tensor<1x40x256xf32>
    return %expanded_35 : tensor<1x40x256xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_128_torch.float32: "0x040000000000803FF8396E3FD7AF5D3FAD4B4E3F11F93F3F06A5323FE03D263F2BB31A3F9AF50F3FEFF6053FCF53F93E5F04E83E9BE8D73E24EBC83E1BF8BA3EFFFCAD3E9BE8A13EEAAA963E04358C3E0979823E23D4723E35F8613EED47523E7CAE433E8718363E0974293E40B01D3E91BD123E778D083EE024FE3DD67FEC3D6614DC3DCDCCCC3DC694BE3D7859B13D5609A53D0D94993D6BEA8E3D4DFE843D1385773DC255663DE457563D3F76473D199D393D15BA2C3D1DBC203D4893153DCC300B3DE386013D7711F13CD254E03CA8C1D03C4F43C23C91C6B43C8B39A83C978B9C3C39AD913C0890873C334D7C3CE7C86A3CF27B5A3CB3504B3C11333D3C5210303C0AD7233C0577183C2DE10D3C7907043CB0B9F53B46AAE43B15CAD43B0F04C63B9C44B83B8379AB3BCC919F3BAE7D943B772E8A3B7D96803B0E526F3B7AB45E3B383E4F3BC5DA403B0F77333B5301273B0D691B3BDB9E103B6F94063BF078FA3A2815E93A73E6D83A5CD7C93AEDD3BB3A8EC9AE3AF7A6A23A0E5C973ADBD98C3A6F12833AA3F1733AE201633A283F533A8C94443A9EEE363A443B2A3AA5691E3A166A133A022E093AAC4FFF39E295ED392517DD3996BDCD39D774BF39FB29B23960CBA5399E489A3972928F39A99A853915A8783992646739E4535739C160483953773A3929852D39167921392443163972D40B392B1F0239E22CF238915CE138"
    }
  }
#-}

