// gpt-oss attention with one learned sink logit per head: B=1, Hq=8, Hkv=2, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.sinks
//   %arg2: layer.q_proj.weight
//   %arg3: layer.q_proj.bias
//   %arg4: layer.k_proj.weight
//   %arg5: layer.k_proj.bias
//   %arg6: layer.v_proj.weight
//   %arg7: layer.v_proj.bias
//   %arg8: layer.o_proj.weight
//   %arg9: layer.o_proj.bias

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1) -> (d0, d1)>
#map9 = affine_map<(d0, d1) -> (d1)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @gpt_oss(%arg0: tensor<1x40x256xf32>, %arg1: tensor<8xf32>, %arg2: tensor<512x256xf32>, %arg3: tensor<512xf32>, %arg4: tensor<128x256xf32>, %arg5: tensor<128xf32>, %arg6: tensor<128x256xf32>, %arg7: tensor<128xf32>, %arg8: tensor<256x512xf32>, %arg9: tensor<256xf32>) -> tensor<1x40x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 1.3465735902799727 : f64
    %cst_4 = arith.constant dense_resource<torch_tensor_32_torch.float32> : tensor<32xf32>
    %cst_5 = arith.constant 1.250000e-01 : f32
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %76 = linalg.index 0 : index
      %77 = arith.index_cast %76 : index to i64
      linalg.yield %77 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 40, 1] : tensor<40xi64> into tensor<1x40x1xi64>
    %2 = tensor.empty() : tensor<1x40x1xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x40x1xi64>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %76 = arith.sitofp %in : i64 to f32
      linalg.yield %76 : f32
    } -> tensor<1x40x1xf32>
    %4 = tensor.empty() : tensor<1x40x32xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %cst_4 : tensor<1x40x1xf32>, tensor<32xf32>) outs(%4 : tensor<1x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x40x32xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x40x32xf32>) outs(%4 : tensor<1x40x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.cos %in : f32
      linalg.yield %76 : f32
    } -> tensor<1x40x32xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<1x40x32xf32>) outs(%4 : tensor<1x40x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.truncf %cst_3 : f64 to f32
      %77 = arith.mulf %in, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<1x40x32xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x40x32xf32>) outs(%4 : tensor<1x40x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.sin %in : f32
      linalg.yield %76 : f32
    } -> tensor<1x40x32xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<1x40x32xf32>) outs(%4 : tensor<1x40x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.truncf %cst_3 : f64 to f32
      %77 = arith.mulf %in, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<1x40x32xf32>
    %expanded_6 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_7 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %10 = tensor.empty() : tensor<1x1x40x40xi1>
    %11 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7, %expanded_6 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%10 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_39: i64, %out: i1):
      %76 = arith.cmpi sle, %in, %in_39 : i64
      linalg.yield %76 : i1
    } -> tensor<1x1x40x40xi1>
    %12 = tensor.empty() : tensor<1x1x40x40xf32>
    %13 = linalg.generic {indexing_maps = [#map6, #map7, #map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %cst_2, %cst_1 : tensor<1x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%12 : tensor<1x1x40x40xf32>) {
    ^bb0(%in: i1, %in_39: f32, %in_40: f32, %out: f32):
      %76 = arith.select %in, %in_39, %in_40 : f32
      linalg.yield %76 : f32
    } -> tensor<1x1x40x40xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<1x40x256xf32> into tensor<40x256xf32>
    %14 = tensor.empty() : tensor<256x512xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<512x256xf32>) outs(%14 : tensor<256x512xf32>) permutation = [1, 0] 
    %15 = tensor.empty() : tensor<40x512xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %17 = linalg.matmul ins(%collapsed, %transposed : tensor<40x256xf32>, tensor<256x512xf32>) outs(%16 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %18 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%17, %arg3 : tensor<40x512xf32>, tensor<512xf32>) outs(%15 : tensor<40x512xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.addf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<40x512xf32>
    %expanded_8 = tensor.expand_shape %18 [[0, 1], [2, 3]] output_shape [1, 40, 8, 64] : tensor<40x512xf32> into tensor<1x40x8x64xf32>
    %19 = tensor.empty() : tensor<1x8x40x64xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<1x40x8x64xf32>) outs(%19 : tensor<1x8x40x64xf32>) permutation = [0, 2, 1, 3] 
    %20 = tensor.empty() : tensor<256x128xf32>
    %transposed_10 = linalg.transpose ins(%arg4 : tensor<128x256xf32>) outs(%20 : tensor<256x128xf32>) permutation = [1, 0] 
    %21 = tensor.empty() : tensor<40x128xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<40x128xf32>) -> tensor<40x128xf32>
    %23 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<40x256xf32>, tensor<256x128xf32>) outs(%22 : tensor<40x128xf32>) -> tensor<40x128xf32>
    %24 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%23, %arg5 : tensor<40x128xf32>, tensor<128xf32>) outs(%21 : tensor<40x128xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.addf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<40x128xf32>
    %expanded_11 = tensor.expand_shape %24 [[0, 1], [2, 3]] output_shape [1, 40, 2, 64] : tensor<40x128xf32> into tensor<1x40x2x64xf32>
    %25 = tensor.empty() : tensor<1x2x40x64xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<1x40x2x64xf32>) outs(%25 : tensor<1x2x40x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_13 = linalg.transpose ins(%arg6 : tensor<128x256xf32>) outs(%20 : tensor<256x128xf32>) permutation = [1, 0] 
    %26 = linalg.matmul ins(%collapsed, %transposed_13 : tensor<40x256xf32>, tensor<256x128xf32>) outs(%22 : tensor<40x128xf32>) -> tensor<40x128xf32>
    %27 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%26, %arg7 : tensor<40x128xf32>, tensor<128xf32>) outs(%21 : tensor<40x128xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.addf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<40x128xf32>
    %expanded_14 = tensor.expand_shape %27 [[0, 1], [2, 3]] output_shape [1, 40, 2, 64] : tensor<40x128xf32> into tensor<1x40x2x64xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<1x40x2x64xf32>) outs(%25 : tensor<1x2x40x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_16 = tensor.expand_shape %7 [[0], [1, 2], [3]] output_shape [1, 1, 40, 32] : tensor<1x40x32xf32> into tensor<1x1x40x32xf32>
    %expanded_17 = tensor.expand_shape %9 [[0], [1, 2], [3]] output_shape [1, 1, 40, 32] : tensor<1x40x32xf32> into tensor<1x1x40x32xf32>
    %extracted_slice = tensor.extract_slice %transposed_9[0, 0, 0, 0] [1, 8, 40, 32] [1, 1, 1, 1] : tensor<1x8x40x64xf32> to tensor<1x8x40x32xf32>
    %extracted_slice_18 = tensor.extract_slice %transposed_9[0, 0, 0, 32] [1, 8, 40, 32] [1, 1, 1, 1] : tensor<1x8x40x64xf32> to tensor<1x8x40x32xf32>
    %28 = tensor.empty() : tensor<1x8x40x32xf32>
    %29 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %expanded_16 : tensor<1x8x40x32xf32>, tensor<1x1x40x32xf32>) outs(%28 : tensor<1x8x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x32xf32>
    %30 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18, %expanded_17 : tensor<1x8x40x32xf32>, tensor<1x1x40x32xf32>) outs(%28 : tensor<1x8x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x32xf32>
    %31 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %30 : tensor<1x8x40x32xf32>, tensor<1x8x40x32xf32>) outs(%28 : tensor<1x8x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.subf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x32xf32>
    %32 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18, %expanded_16 : tensor<1x8x40x32xf32>, tensor<1x1x40x32xf32>) outs(%28 : tensor<1x8x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x32xf32>
    %33 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %expanded_17 : tensor<1x8x40x32xf32>, tensor<1x1x40x32xf32>) outs(%28 : tensor<1x8x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x32xf32>
    %34 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %33 : tensor<1x8x40x32xf32>, tensor<1x8x40x32xf32>) outs(%28 : tensor<1x8x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.addf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x32xf32>
    %concat = tensor.concat dim(3) %31, %34 : (tensor<1x8x40x32xf32>, tensor<1x8x40x32xf32>) -> tensor<1x8x40x64xf32>
    %extracted_slice_19 = tensor.extract_slice %transposed_12[0, 0, 0, 0] [1, 2, 40, 32] [1, 1, 1, 1] : tensor<1x2x40x64xf32> to tensor<1x2x40x32xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_12[0, 0, 0, 32] [1, 2, 40, 32] [1, 1, 1, 1] : tensor<1x2x40x64xf32> to tensor<1x2x40x32xf32>
    %35 = tensor.empty() : tensor<1x2x40x32xf32>
    %36 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_19, %expanded_16 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%35 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x2x40x32xf32>
    %37 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %expanded_17 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%35 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x2x40x32xf32>
    %38 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36, %37 : tensor<1x2x40x32xf32>, tensor<1x2x40x32xf32>) outs(%35 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.subf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x2x40x32xf32>
    %39 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %expanded_16 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%35 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x2x40x32xf32>
    %40 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_19, %expanded_17 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%35 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.mulf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x2x40x32xf32>
    %41 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %40 : tensor<1x2x40x32xf32>, tensor<1x2x40x32xf32>) outs(%35 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.addf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x2x40x32xf32>
    %concat_21 = tensor.concat dim(3) %38, %41 : (tensor<1x2x40x32xf32>, tensor<1x2x40x32xf32>) -> tensor<1x2x40x64xf32>
    %42 = tensor.empty() : tensor<1x2x4x40x64xf32>
    %43 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%concat_21 : tensor<1x2x40x64xf32>) outs(%42 : tensor<1x2x4x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x40x64xf32>
    %collapsed_22 = tensor.collapse_shape %43 [[0], [1, 2], [3], [4]] : tensor<1x2x4x40x64xf32> into tensor<1x8x40x64xf32>
    %44 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_15 : tensor<1x2x40x64xf32>) outs(%42 : tensor<1x2x4x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x40x64xf32>
    %45 = tensor.empty() : tensor<1x8x64x40xf32>
    %transposed_23 = linalg.transpose ins(%collapsed_22 : tensor<1x8x40x64xf32>) outs(%45 : tensor<1x8x64x40xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_24 = tensor.collapse_shape %concat [[0, 1], [2], [3]] : tensor<1x8x40x64xf32> into tensor<8x40x64xf32>
    %collapsed_25 = tensor.collapse_shape %transposed_23 [[0, 1], [2], [3]] : tensor<1x8x64x40xf32> into tensor<8x64x40xf32>
    %46 = tensor.empty() : tensor<8x40x40xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%46 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %48 = linalg.batch_matmul ins(%collapsed_24, %collapsed_25 : tensor<8x40x64xf32>, tensor<8x64x40xf32>) outs(%47 : tensor<8x40x40xf32>) -> tensor<8x40x40xf32>
    %expanded_26 = tensor.expand_shape %48 [[0, 1], [2], [3]] output_shape [1, 8, 40, 40] : tensor<8x40x40xf32> into tensor<1x8x40x40xf32>
    %49 = tensor.empty() : tensor<1x8x40x40xf32>
    %50 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_26 : tensor<1x8x40x40xf32>) outs(%49 : tensor<1x8x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.mulf %in, %cst_5 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x40xf32>
    %51 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %13 : tensor<1x8x40x40xf32>, tensor<1x1x40x40xf32>) outs(%49 : tensor<1x8x40x40xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.addf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x40xf32>
    %52 = tensor.empty() : tensor<1x8x40x1xf32>
    %expanded_27 = tensor.expand_shape %arg1 [[0, 1, 2]] output_shape [1, 8, 1] : tensor<8xf32> into tensor<1x8x1xf32>
    %53 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<1x8x1xf32>) outs(%52 : tensor<1x8x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x40x1xf32>
    %concat_28 = tensor.concat dim(3) %51, %53 : (tensor<1x8x40x40xf32>, tensor<1x8x40x1xf32>) -> tensor<1x8x40x41xf32>
    %54 = tensor.empty() : tensor<1x8x40xi64>
    %55 = linalg.fill ins(%c0_i64 : i64) outs(%54 : tensor<1x8x40xi64>) -> tensor<1x8x40xi64>
    %56 = tensor.empty() : tensor<1x8x40xf32>
    %57 = linalg.fill ins(%cst_0 : f32) outs(%56 : tensor<1x8x40xf32>) -> tensor<1x8x40xf32>
    %58:2 = linalg.generic {indexing_maps = [#map6, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%concat_28 : tensor<1x8x40x41xf32>) outs(%57, %55 : tensor<1x8x40xf32>, tensor<1x8x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_39: i64):
      %76 = linalg.index 3 : index
      %77 = arith.index_cast %76 : index to i64
      %78 = arith.maximumf %in, %out : f32
      %79 = arith.cmpf ogt, %in, %out : f32
      %80 = arith.select %79, %77, %out_39 : i64
      linalg.yield %78, %80 : f32, i64
    } -> (tensor<1x8x40xf32>, tensor<1x8x40xi64>)
    %expanded_29 = tensor.expand_shape %58#0 [[0], [1], [2, 3]] output_shape [1, 8, 40, 1] : tensor<1x8x40xf32> into tensor<1x8x40x1xf32>
    %59 = tensor.empty() : tensor<1x8x40x41xf32>
    %60 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_28, %expanded_29 : tensor<1x8x40x41xf32>, tensor<1x8x40x1xf32>) outs(%59 : tensor<1x8x40x41xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.subf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x41xf32>
    %61:2 = linalg.generic {indexing_maps = [#map6, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%60 : tensor<1x8x40x41xf32>) outs(%57, %55 : tensor<1x8x40xf32>, tensor<1x8x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_39: i64):
      %76 = linalg.index 3 : index
      %77 = arith.index_cast %76 : index to i64
      %78 = arith.maximumf %in, %out : f32
      %79 = arith.cmpf ogt, %in, %out : f32
      %80 = arith.select %79, %77, %out_39 : i64
      linalg.yield %78, %80 : f32, i64
    } -> (tensor<1x8x40xf32>, tensor<1x8x40xi64>)
    %expanded_30 = tensor.expand_shape %61#0 [[0], [1], [2, 3]] output_shape [1, 8, 40, 1] : tensor<1x8x40xf32> into tensor<1x8x40x1xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %expanded_30 : tensor<1x8x40x41xf32>, tensor<1x8x40x1xf32>) outs(%59 : tensor<1x8x40x41xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.subf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x41xf32>
    %63 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62 : tensor<1x8x40x41xf32>) outs(%59 : tensor<1x8x40x41xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.exp %in : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x41xf32>
    %64 = linalg.fill ins(%cst : f32) outs(%52 : tensor<1x8x40x1xf32>) -> tensor<1x8x40x1xf32>
    %65 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%63 : tensor<1x8x40x41xf32>) outs(%64 : tensor<1x8x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x1xf32>
    %66 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63, %65 : tensor<1x8x40x41xf32>, tensor<1x8x40x1xf32>) outs(%59 : tensor<1x8x40x41xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.divf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<1x8x40x41xf32>
    %extracted_slice_31 = tensor.extract_slice %66[0, 0, 0, 0] [1, 8, 40, 40] [1, 1, 1, 1] : tensor<1x8x40x41xf32> to tensor<1x8x40x40xf32>
    %collapsed_32 = tensor.collapse_shape %extracted_slice_31 [[0, 1], [2], [3]] : tensor<1x8x40x40xf32> into tensor<8x40x40xf32>
    %collapsed_33 = tensor.collapse_shape %44 [[0, 1, 2], [3], [4]] : tensor<1x2x4x40x64xf32> into tensor<8x40x64xf32>
    %67 = tensor.empty() : tensor<8x40x64xf32>
    %68 = linalg.fill ins(%cst : f32) outs(%67 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %69 = linalg.batch_matmul ins(%collapsed_32, %collapsed_33 : tensor<8x40x40xf32>, tensor<8x40x64xf32>) outs(%68 : tensor<8x40x64xf32>) -> tensor<8x40x64xf32>
    %expanded_34 = tensor.expand_shape %69 [[0, 1], [2], [3]] output_shape [1, 8, 40, 64] : tensor<8x40x64xf32> into tensor<1x8x40x64xf32>
    %70 = tensor.empty() : tensor<1x40x8x64xf32>
    %transposed_35 = linalg.transpose ins(%expanded_34 : tensor<1x8x40x64xf32>) outs(%70 : tensor<1x40x8x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_36 = tensor.collapse_shape %transposed_35 [[0, 1], [2, 3]] : tensor<1x40x8x64xf32> into tensor<40x512xf32>
    %71 = tensor.empty() : tensor<512x256xf32>
    %transposed_37 = linalg.transpose ins(%arg8 : tensor<256x512xf32>) outs(%71 : tensor<512x256xf32>) permutation = [1, 0] 
    %72 = tensor.empty() : tensor<40x256xf32>
    %73 = linalg.fill ins(%cst : f32) outs(%72 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %74 = linalg.matmul ins(%collapsed_36, %transposed_37 : tensor<40x512xf32>, tensor<512x256xf32>) outs(%73 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %75 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%74, %arg9 : tensor<40x256xf32>, tensor<256xf32>) outs(%72 : tensor<40x256xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %76 = arith.addf %in, %in_39 : f32
      linalg.yield %76 : f32
    } -> tensor<40x256xf32>
    %expanded_38 = tensor.expand_shape %75 [[0, 1], [2]] output_shape [1, 40, 256] : tensor<40x256xf32> into tensor<1x40x256xf32>
    return %expanded_38 : tensor<1x40x256xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_32_torch.float32: "0x040000000000803F3565303FA216F33EAA7FA73EFAD3663EFD0C1F3E9F2FDB3D6407973D9421503DD5DD013D6F649E3C94EC3D3C40A8DE3B14FE7C3B0338093B78F7893A3C54EF39B9990739C6AD2038FC6DDD3728939837FA4252372CE110372BA8C7368C92893647963D3645A202366806B4352817783500F22A35EB93EB34D352A234"
    }
  }
#-}

