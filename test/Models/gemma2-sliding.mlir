// Gemma-2 sliding-window attention, window 16, soft cap 50: B=1, Hq=4, Hkv=2, M=N=40, D=256.
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
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @gemma2_sliding(%arg0: tensor<1x40x256xf32>, %arg1: tensor<1024x256xf32>, %arg2: tensor<512x256xf32>, %arg3: tensor<512x256xf32>, %arg4: tensor<256x1024xf32>) -> tensor<1x40x256xf32> {
    %c16_i64 = arith.constant 16 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant dense_resource<torch_tensor_128_torch.float32> : tensor<128xf32>
    %cst_5 = arith.constant 6.250000e-02 : f32
    %cst_6 = arith.constant 5.000000e+01 : f32
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %71 = linalg.index 0 : index
      %72 = arith.index_cast %71 : index to i64
      linalg.yield %72 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 40, 1] : tensor<40xi64> into tensor<1x40x1xi64>
    %2 = tensor.empty() : tensor<1x40x1xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x40x1xi64>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %71 = arith.sitofp %in : i64 to f32
      linalg.yield %71 : f32
    } -> tensor<1x40x1xf32>
    %4 = tensor.empty() : tensor<1x40x128xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %cst_4 : tensor<1x40x1xf32>, tensor<128xf32>) outs(%4 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.mulf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x40x128xf32>
    %concat = tensor.concat dim(2) %5, %5 : (tensor<1x40x128xf32>, tensor<1x40x128xf32>) -> tensor<1x40x256xf32>
    %6 = tensor.empty() : tensor<1x40x256xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x256xf32>) outs(%6 : tensor<1x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = math.cos %in : f32
      linalg.yield %71 : f32
    } -> tensor<1x40x256xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x256xf32>) outs(%6 : tensor<1x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = math.sin %in : f32
      linalg.yield %71 : f32
    } -> tensor<1x40x256xf32>
    %expanded_7 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_8 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %9 = tensor.empty() : tensor<1x1x40x1xi64>
    %10 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7 : tensor<1x1x40x1xi64>) outs(%9 : tensor<1x1x40x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %71 = arith.subi %in, %c16_i64 : i64
      linalg.yield %71 : i64
    } -> tensor<1x1x40x1xi64>
    %11 = tensor.empty() : tensor<1x1x40x40xi1>
    %12 = linalg.generic {indexing_maps = [#map5, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %10 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%11 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_37: i64, %out: i1):
      %71 = arith.cmpi sgt, %in, %in_37 : i64
      linalg.yield %71 : i1
    } -> tensor<1x1x40x40xi1>
    %13 = linalg.generic {indexing_maps = [#map7, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3, %12 : tensor<i1>, tensor<1x1x40x40xi1>) outs(%11 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i1, %in_37: i1, %out: i1):
      %71 = arith.andi %in, %in_37 : i1
      linalg.yield %71 : i1
    } -> tensor<1x1x40x40xi1>
    %14 = linalg.generic {indexing_maps = [#map5, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %expanded_7 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%11 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_37: i64, %out: i1):
      %71 = arith.cmpi sle, %in, %in_37 : i64
      linalg.yield %71 : i1
    } -> tensor<1x1x40x40xi1>
    %15 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %14 : tensor<1x1x40x40xi1>, tensor<1x1x40x40xi1>) outs(%11 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i1, %in_37: i1, %out: i1):
      %71 = arith.andi %in, %in_37 : i1
      linalg.yield %71 : i1
    } -> tensor<1x1x40x40xi1>
    %16 = tensor.empty() : tensor<1x1x40x40xf32>
    %17 = linalg.generic {indexing_maps = [#map4, #map7, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %cst_2, %cst_1 : tensor<1x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%16 : tensor<1x1x40x40xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %71 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %71 : f32
    } -> tensor<1x1x40x40xf32>
    %18 = tensor.empty() : tensor<256x1024xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<1024x256xf32>) outs(%18 : tensor<256x1024xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<1x40x256xf32> into tensor<40x256xf32>
    %19 = tensor.empty() : tensor<40x1024xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<40x1024xf32>) -> tensor<40x1024xf32>
    %21 = linalg.matmul ins(%collapsed, %transposed : tensor<40x256xf32>, tensor<256x1024xf32>) outs(%20 : tensor<40x1024xf32>) -> tensor<40x1024xf32>
    %expanded_9 = tensor.expand_shape %21 [[0, 1], [2, 3]] output_shape [1, 40, 4, 256] : tensor<40x1024xf32> into tensor<1x40x4x256xf32>
    %22 = tensor.empty() : tensor<1x4x40x256xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<1x40x4x256xf32>) outs(%22 : tensor<1x4x40x256xf32>) permutation = [0, 2, 1, 3] 
    %23 = tensor.empty() : tensor<256x512xf32>
    %transposed_11 = linalg.transpose ins(%arg2 : tensor<512x256xf32>) outs(%23 : tensor<256x512xf32>) permutation = [1, 0] 
    %24 = tensor.empty() : tensor<40x512xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %26 = linalg.matmul ins(%collapsed, %transposed_11 : tensor<40x256xf32>, tensor<256x512xf32>) outs(%25 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %expanded_12 = tensor.expand_shape %26 [[0, 1], [2, 3]] output_shape [1, 40, 2, 256] : tensor<40x512xf32> into tensor<1x40x2x256xf32>
    %27 = tensor.empty() : tensor<1x2x40x256xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<1x40x2x256xf32>) outs(%27 : tensor<1x2x40x256xf32>) permutation = [0, 2, 1, 3] 
    %transposed_14 = linalg.transpose ins(%arg3 : tensor<512x256xf32>) outs(%23 : tensor<256x512xf32>) permutation = [1, 0] 
    %28 = linalg.matmul ins(%collapsed, %transposed_14 : tensor<40x256xf32>, tensor<256x512xf32>) outs(%25 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %expanded_15 = tensor.expand_shape %28 [[0, 1], [2, 3]] output_shape [1, 40, 2, 256] : tensor<40x512xf32> into tensor<1x40x2x256xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<1x40x2x256xf32>) outs(%27 : tensor<1x2x40x256xf32>) permutation = [0, 2, 1, 3] 
    %expanded_17 = tensor.expand_shape %7 [[0], [1, 2], [3]] output_shape [1, 1, 40, 256] : tensor<1x40x256xf32> into tensor<1x1x40x256xf32>
    %expanded_18 = tensor.expand_shape %8 [[0], [1, 2], [3]] output_shape [1, 1, 40, 256] : tensor<1x40x256xf32> into tensor<1x1x40x256xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_10, %expanded_17 : tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>) outs(%22 : tensor<1x4x40x256xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.mulf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x256xf32>
    %extracted_slice = tensor.extract_slice %transposed_10[0, 0, 0, 0] [1, 4, 40, 128] [1, 1, 1, 1] : tensor<1x4x40x256xf32> to tensor<1x4x40x128xf32>
    %extracted_slice_19 = tensor.extract_slice %transposed_10[0, 0, 0, 128] [1, 4, 40, 128] [1, 1, 1, 1] : tensor<1x4x40x256xf32> to tensor<1x4x40x128xf32>
    %30 = tensor.empty() : tensor<1x4x40x128xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_19 : tensor<1x4x40x128xf32>) outs(%30 : tensor<1x4x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = arith.negf %in : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x128xf32>
    %concat_20 = tensor.concat dim(3) %31, %extracted_slice : (tensor<1x4x40x128xf32>, tensor<1x4x40x128xf32>) -> tensor<1x4x40x256xf32>
    %32 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_20, %expanded_18 : tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>) outs(%22 : tensor<1x4x40x256xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.mulf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x256xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %32 : tensor<1x4x40x256xf32>, tensor<1x4x40x256xf32>) outs(%22 : tensor<1x4x40x256xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.addf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x256xf32>
    %34 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_13, %expanded_17 : tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>) outs(%27 : tensor<1x2x40x256xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.mulf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x2x40x256xf32>
    %extracted_slice_21 = tensor.extract_slice %transposed_13[0, 0, 0, 0] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x256xf32> to tensor<1x2x40x128xf32>
    %extracted_slice_22 = tensor.extract_slice %transposed_13[0, 0, 0, 128] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x256xf32> to tensor<1x2x40x128xf32>
    %35 = tensor.empty() : tensor<1x2x40x128xf32>
    %36 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_22 : tensor<1x2x40x128xf32>) outs(%35 : tensor<1x2x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = arith.negf %in : f32
      linalg.yield %71 : f32
    } -> tensor<1x2x40x128xf32>
    %concat_23 = tensor.concat dim(3) %36, %extracted_slice_21 : (tensor<1x2x40x128xf32>, tensor<1x2x40x128xf32>) -> tensor<1x2x40x256xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_23, %expanded_18 : tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>) outs(%27 : tensor<1x2x40x256xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.mulf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x2x40x256xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34, %37 : tensor<1x2x40x256xf32>, tensor<1x2x40x256xf32>) outs(%27 : tensor<1x2x40x256xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.addf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x2x40x256xf32>
    %39 = tensor.empty() : tensor<1x2x2x40x256xf32>
    %40 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<1x2x40x256xf32>) outs(%39 : tensor<1x2x2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x40x256xf32>
    %collapsed_24 = tensor.collapse_shape %40 [[0], [1, 2], [3], [4]] : tensor<1x2x2x40x256xf32> into tensor<1x4x40x256xf32>
    %41 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_16 : tensor<1x2x40x256xf32>) outs(%39 : tensor<1x2x2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x40x256xf32>
    %42 = tensor.empty() : tensor<1x4x256x40xf32>
    %transposed_25 = linalg.transpose ins(%collapsed_24 : tensor<1x4x40x256xf32>) outs(%42 : tensor<1x4x256x40xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_26 = tensor.collapse_shape %33 [[0, 1], [2], [3]] : tensor<1x4x40x256xf32> into tensor<4x40x256xf32>
    %collapsed_27 = tensor.collapse_shape %transposed_25 [[0, 1], [2], [3]] : tensor<1x4x256x40xf32> into tensor<4x256x40xf32>
    %43 = tensor.empty() : tensor<4x40x40xf32>
    %44 = linalg.fill ins(%cst : f32) outs(%43 : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
    %45 = linalg.batch_matmul ins(%collapsed_26, %collapsed_27 : tensor<4x40x256xf32>, tensor<4x256x40xf32>) outs(%44 : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
    %expanded_28 = tensor.expand_shape %45 [[0, 1], [2], [3]] output_shape [1, 4, 40, 40] : tensor<4x40x40xf32> into tensor<1x4x40x40xf32>
    %46 = tensor.empty() : tensor<1x4x40x40xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_28 : tensor<1x4x40x40xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = arith.mulf %in, %cst_5 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%47 : tensor<1x4x40x40xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = arith.divf %in, %cst_6 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48 : tensor<1x4x40x40xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = math.tanh %in : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<1x4x40x40xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = arith.mulf %in, %cst_6 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %17 : tensor<1x4x40x40xf32>, tensor<1x1x40x40xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.addf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %52 = tensor.empty() : tensor<1x4x40xi64>
    %53 = linalg.fill ins(%c0_i64 : i64) outs(%52 : tensor<1x4x40xi64>) -> tensor<1x4x40xi64>
    %54 = tensor.empty() : tensor<1x4x40xf32>
    %55 = linalg.fill ins(%cst_0 : f32) outs(%54 : tensor<1x4x40xf32>) -> tensor<1x4x40xf32>
    %56:2 = linalg.generic {indexing_maps = [#map4, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%51 : tensor<1x4x40x40xf32>) outs(%55, %53 : tensor<1x4x40xf32>, tensor<1x4x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_37: i64):
      %71 = linalg.index 3 : index
      %72 = arith.index_cast %71 : index to i64
      %73 = arith.maximumf %in, %out : f32
      %74 = arith.cmpf ogt, %in, %out : f32
      %75 = arith.select %74, %72, %out_37 : i64
      linalg.yield %73, %75 : f32, i64
    } -> (tensor<1x4x40xf32>, tensor<1x4x40xi64>)
    %expanded_29 = tensor.expand_shape %56#0 [[0], [1], [2, 3]] output_shape [1, 4, 40, 1] : tensor<1x4x40xf32> into tensor<1x4x40x1xf32>
    %57 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51, %expanded_29 : tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.subf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %58 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57 : tensor<1x4x40x40xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = math.exp %in : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %59 = tensor.empty() : tensor<1x4x40x1xf32>
    %60 = linalg.fill ins(%cst : f32) outs(%59 : tensor<1x4x40x1xf32>) -> tensor<1x4x40x1xf32>
    %61 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%58 : tensor<1x4x40x40xf32>) outs(%60 : tensor<1x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %71 = arith.addf %in, %out : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x1xf32>
    %62 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58, %61 : tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>) outs(%46 : tensor<1x4x40x40xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %71 = arith.divf %in, %in_37 : f32
      linalg.yield %71 : f32
    } -> tensor<1x4x40x40xf32>
    %collapsed_30 = tensor.collapse_shape %62 [[0, 1], [2], [3]] : tensor<1x4x40x40xf32> into tensor<4x40x40xf32>
    %collapsed_31 = tensor.collapse_shape %41 [[0, 1, 2], [3], [4]] : tensor<1x2x2x40x256xf32> into tensor<4x40x256xf32>
    %63 = tensor.empty() : tensor<4x40x256xf32>
    %64 = linalg.fill ins(%cst : f32) outs(%63 : tensor<4x40x256xf32>) -> tensor<4x40x256xf32>
    %65 = linalg.batch_matmul ins(%collapsed_30, %collapsed_31 : tensor<4x40x40xf32>, tensor<4x40x256xf32>) outs(%64 : tensor<4x40x256xf32>) -> tensor<4x40x256xf32>
    %expanded_32 = tensor.expand_shape %65 [[0, 1], [2], [3]] output_shape [1, 4, 40, 256] : tensor<4x40x256xf32> into tensor<1x4x40x256xf32>
    %66 = tensor.empty() : tensor<1x40x4x256xf32>
    %transposed_33 = linalg.transpose ins(%expanded_32 : tensor<1x4x40x256xf32>) outs(%66 : tensor<1x40x4x256xf32>) permutation = [0, 2, 1, 3] 
    %67 = tensor.empty() : tensor<1024x256xf32>
    %transposed_34 = linalg.transpose ins(%arg4 : tensor<256x1024xf32>) outs(%67 : tensor<1024x256xf32>) permutation = [1, 0] 
    %collapsed_35 = tensor.collapse_shape %transposed_33 [[0, 1], [2, 3]] : tensor<1x40x4x256xf32> into tensor<40x1024xf32>
    %68 = tensor.empty() : tensor<40x256xf32>
    %69 = linalg.fill ins(%cst : f32) outs(%68 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %70 = linalg.matmul ins(%collapsed_35, %transposed_34 : tensor<40x1024xf32>, tensor<1024x256xf32>) outs(%69 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %expanded_36 = tensor.expand_shape %70 [[0, 1], [2]] output_shape [1, 40, 256] : tensor<40x256xf32> into tensor<1x40x256xf32>
    return %expanded_36 : tensor<1x40x256xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_128_torch.float32: "0x040000000000803FF8396E3FD7AF5D3FAD4B4E3F11F93F3F06A5323FE03D263F2BB31A3F9AF50F3FEFF6053FCF53F93E5F04E83E9BE8D73E24EBC83E1BF8BA3EFFFCAD3E9BE8A13EEAAA963E04358C3E0979823E23D4723E35F8613EED47523E7CAE433E8718363E0974293E40B01D3E91BD123E778D083EE024FE3DD67FEC3D6614DC3DCDCCCC3DC694BE3D7859B13D5609A53D0D94993D6BEA8E3D4DFE843D1385773DC255663DE457563D3F76473D199D393D15BA2C3D1DBC203D4893153DCC300B3DE386013D7711F13CD254E03CA8C1D03C4F43C23C91C6B43C8B39A83C978B9C3C39AD913C0890873C334D7C3CE7C86A3CF27B5A3CB3504B3C11333D3C5210303C0AD7233C0577183C2DE10D3C7907043CB0B9F53B46AAE43B15CAD43B0F04C63B9C44B83B8379AB3BCC919F3BAE7D943B772E8A3B7D96803B0E526F3B7AB45E3B383E4F3BC5DA403B0F77333B5301273B0D691B3BDB9E103B6F94063BF078FA3A2815E93A73E6D83A5CD7C93AEDD3BB3A8EC9AE3AF7A6A23A0E5C973ADBD98C3A6F12833AA3F1733AE201633A283F533A8C94443A9EEE363A443B2A3AA5691E3A166A133A022E093AAC4FFF39E295ED392517DD3996BDCD39D774BF39FB29B23960CBA5399E489A3972928F39A99A853915A8783992646739E4535739C160483953773A3929852D39167921392443163972D40B392B1F0239E22CF238915CE138"
    }
  }
#-}

