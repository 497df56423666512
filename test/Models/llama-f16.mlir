// Llama in f16 with an f32 softmax: B=2, Hq=8, Hkv=2, M=N=40, D=128.
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
#map9 = affine_map<(d0, d1) -> (d0, d1)>
#map10 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @llama_f16(%arg0: tensor<2x40x256xf16>, %arg1: tensor<1024x256xf16>, %arg2: tensor<256x256xf16>, %arg3: tensor<256x256xf16>, %arg4: tensor<256x1024xf16>) -> tensor<2x40x256xf16> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-6.550400e+04> : tensor<f16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f16>
    %cst_3 = arith.constant 0.088388347648318447 : f64
    %cst_4 = arith.constant dense_resource<torch_tensor_64_torch.float32> : tensor<64xf32>
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %79 = linalg.index 0 : index
      %80 = arith.index_cast %79 : index to i64
      linalg.yield %80 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 40, 1] : tensor<40xi64> into tensor<1x40x1xi64>
    %2 = tensor.empty() : tensor<1x40x1xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x40x1xi64>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %79 = arith.sitofp %in : i64 to f32
      linalg.yield %79 : f32
    } -> tensor<1x40x1xf32>
    %4 = tensor.empty() : tensor<1x40x64xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %cst_4 : tensor<1x40x1xf32>, tensor<64xf32>) outs(%4 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %79 = arith.mulf %in, %in_36 : f32
      linalg.yield %79 : f32
    } -> tensor<1x40x64xf32>
    %concat = tensor.concat dim(2) %5, %5 : (tensor<1x40x64xf32>, tensor<1x40x64xf32>) -> tensor<1x40x128xf32>
    %6 = tensor.empty() : tensor<1x40x128xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x128xf32>) outs(%6 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.cos %in : f32
      linalg.yield %79 : f32
    } -> tensor<1x40x128xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x128xf32>) outs(%6 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.sin %in : f32
      linalg.yield %79 : f32
    } -> tensor<1x40x128xf32>
    %9 = tensor.empty() : tensor<1x40x128xf16>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<1x40x128xf32>) outs(%9 : tensor<1x40x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<1x40x128xf16>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<1x40x128xf32>) outs(%9 : tensor<1x40x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<1x40x128xf16>
    %expanded_5 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_6 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %12 = tensor.empty() : tensor<1x1x40x40xi1>
    %13 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6, %expanded_5 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%12 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_36: i64, %out: i1):
      %79 = arith.cmpi sle, %in, %in_36 : i64
      linalg.yield %79 : i1
    } -> tensor<1x1x40x40xi1>
    %14 = tensor.empty() : tensor<2x1x40x40xi1>
    %collapsed = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<1x1x40x40xi1> into tensor<1x40x40xi1>
    %15 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x40x40xi1>) outs(%14 : tensor<2x1x40x40xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x40x40xi1>
    %16 = tensor.empty() : tensor<2x1x40x40xf16>
    %17 = linalg.generic {indexing_maps = [#map6, #map8, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %cst_2, %cst_1 : tensor<2x1x40x40xi1>, tensor<f16>, tensor<f16>) outs(%16 : tensor<2x1x40x40xf16>) {
    ^bb0(%in: i1, %in_36: f16, %in_37: f16, %out: f16):
      %79 = arith.select %in, %in_36, %in_37 : f16
      linalg.yield %79 : f16
    } -> tensor<2x1x40x40xf16>
    %18 = tensor.empty() : tensor<256x1024xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<1024x256xf16>) outs(%18 : tensor<256x1024xf16>) permutation = [1, 0] 
    %collapsed_7 = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf16> into tensor<80x256xf16>
    %19 = tensor.empty() : tensor<80x1024xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<80x1024xf32>) -> tensor<80x1024xf32>
    %21 = linalg.matmul ins(%collapsed_7, %transposed : tensor<80x256xf16>, tensor<256x1024xf16>) outs(%20 : tensor<80x1024xf32>) -> tensor<80x1024xf32>
    %22 = tensor.empty() : tensor<80x1024xf16>
    %23 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<80x1024xf32>) outs(%22 : tensor<80x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<80x1024xf16>
    %expanded_8 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [2, 40, 8, 128] : tensor<80x1024xf16> into tensor<2x40x8x128xf16>
    %24 = tensor.empty() : tensor<2x8x40x128xf16>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x40x8x128xf16>) outs(%24 : tensor<2x8x40x128xf16>) permutation = [0, 2, 1, 3] 
    %25 = tensor.empty() : tensor<256x256xf16>
    %transposed_10 = linalg.transpose ins(%arg2 : tensor<256x256xf16>) outs(%25 : tensor<256x256xf16>) permutation = [1, 0] 
    %26 = tensor.empty() : tensor<80x256xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %28 = linalg.matmul ins(%collapsed_7, %transposed_10 : tensor<80x256xf16>, tensor<256x256xf16>) outs(%27 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %29 = tensor.empty() : tensor<80x256xf16>
    %30 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<80x256xf32>) outs(%29 : tensor<80x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<80x256xf16>
    %expanded_11 = tensor.expand_shape %30 [[0, 1], [2, 3]] output_shape [2, 40, 2, 128] : tensor<80x256xf16> into tensor<2x40x2x128xf16>
    %31 = tensor.empty() : tensor<2x2x40x128xf16>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x40x2x128xf16>) outs(%31 : tensor<2x2x40x128xf16>) permutation = [0, 2, 1, 3] 
    %transposed_13 = linalg.transpose ins(%arg3 : tensor<256x256xf16>) outs(%25 : tensor<256x256xf16>) permutation = [1, 0] 
    %32 = linalg.matmul ins(%collapsed_7, %transposed_13 : tensor<80x256xf16>, tensor<256x256xf16>) outs(%27 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %33 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%32 : tensor<80x256xf32>) outs(%29 : tensor<80x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<80x256xf16>
    %expanded_14 = tensor.expand_shape %33 [[0, 1], [2, 3]] output_shape [2, 40, 2, 128] : tensor<80x256xf16> into tensor<2x40x2x128xf16>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<2x40x2x128xf16>) outs(%31 : tensor<2x2x40x128xf16>) permutation = [0, 2, 1, 3] 
    %expanded_16 = tensor.expand_shape %10 [[0], [1, 2], [3]] output_shape [1, 1, 40, 128] : tensor<1x40x128xf16> into tensor<1x1x40x128xf16>
    %expanded_17 = tensor.expand_shape %11 [[0], [1, 2], [3]] output_shape [1, 1, 40, 128] : tensor<1x40x128xf16> into tensor<1x1x40x128xf16>
    %34 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9, %expanded_16 : tensor<2x8x40x128xf16>, tensor<1x1x40x128xf16>) outs(%24 : tensor<2x8x40x128xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %79 = arith.mulf %in, %in_36 : f16
      linalg.yield %79 : f16
    } -> tensor<2x8x40x128xf16>
    %extracted_slice = tensor.extract_slice %transposed_9[0, 0, 0, 0] [2, 8, 40, 64] [1, 1, 1, 1] : tensor<2x8x40x128xf16> to tensor<2x8x40x64xf16>
    %extracted_slice_18 = tensor.extract_slice %transposed_9[0, 0, 0, 64] [2, 8, 40, 64] [1, 1, 1, 1] : tensor<2x8x40x128xf16> to tensor<2x8x40x64xf16>
    %35 = tensor.empty() : tensor<2x8x40x64xf16>
    %36 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18 : tensor<2x8x40x64xf16>) outs(%35 : tensor<2x8x40x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %79 = arith.negf %in : f16
      linalg.yield %79 : f16
    } -> tensor<2x8x40x64xf16>
    %concat_19 = tensor.concat dim(3) %36, %extracted_slice : (tensor<2x8x40x64xf16>, tensor<2x8x40x64xf16>) -> tensor<2x8x40x128xf16>
    %37 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_19, %expanded_17 : tensor<2x8x40x128xf16>, tensor<1x1x40x128xf16>) outs(%24 : tensor<2x8x40x128xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %79 = arith.mulf %in, %in_36 : f16
      linalg.yield %79 : f16
    } -> tensor<2x8x40x128xf16>
    %38 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34, %37 : tensor<2x8x40x128xf16>, tensor<2x8x40x128xf16>) outs(%24 : tensor<2x8x40x128xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %79 = arith.addf %in, %in_36 : f16
      linalg.yield %79 : f16
    } -> tensor<2x8x40x128xf16>
    %39 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12, %expanded_16 : tensor<2x2x40x128xf16>, tensor<1x1x40x128xf16>) outs(%31 : tensor<2x2x40x128xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %79 = arith.mulf %in, %in_36 : f16
      linalg.yield %79 : f16
    } -> tensor<2x2x40x128xf16>
    %extracted_slice_20 = tensor.extract_slice %transposed_12[0, 0, 0, 0] [2, 2, 40, 64] [1, 1, 1, 1] : tensor<2x2x40x128xf16> to tensor<2x2x40x64xf16>
    %extracted_slice_21 = tensor.extract_slice %transposed_12[0, 0, 0, 64] [2, 2, 40, 64] [1, 1, 1, 1] : tensor<2x2x40x128xf16> to tensor<2x2x40x64xf16>
    %40 = tensor.empty() : tensor<2x2x40x64xf16>
    %41 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21 : tensor<2x2x40x64xf16>) outs(%40 : tensor<2x2x40x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %79 = arith.negf %in : f16
      linalg.yield %79 : f16
    } -> tensor<2x2x40x64xf16>
    %concat_22 = tensor.concat dim(3) %41, %extracted_slice_20 : (tensor<2x2x40x64xf16>, tensor<2x2x40x64xf16>) -> tensor<2x2x40x128xf16>
    %42 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_22, %expanded_17 : tensor<2x2x40x128xf16>, tensor<1x1x40x128xf16>) outs(%31 : tensor<2x2x40x128xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %79 = arith.mulf %in, %in_36 : f16
      linalg.yield %79 : f16
    } -> tensor<2x2x40x128xf16>
    %43 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %42 : tensor<2x2x40x128xf16>, tensor<2x2x40x128xf16>) outs(%31 : tensor<2x2x40x128xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %79 = arith.addf %in, %in_36 : f16
      linalg.yield %79 : f16
    } -> tensor<2x2x40x128xf16>
    %44 = tensor.empty() : tensor<2x2x4x40x128xf16>
    %45 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<2x2x40x128xf16>) outs(%44 : tensor<2x2x4x40x128xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x4x40x128xf16>
    %collapsed_23 = tensor.collapse_shape %45 [[0], [1, 2], [3], [4]] : tensor<2x2x4x40x128xf16> into tensor<2x8x40x128xf16>
    %46 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_15 : tensor<2x2x40x128xf16>) outs(%44 : tensor<2x2x4x40x128xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x4x40x128xf16>
    %47 = tensor.empty() : tensor<2x8x128x40xf16>
    %transposed_24 = linalg.transpose ins(%collapsed_23 : tensor<2x8x40x128xf16>) outs(%47 : tensor<2x8x128x40xf16>) permutation = [0, 1, 3, 2] 
    %collapsed_25 = tensor.collapse_shape %38 [[0, 1], [2], [3]] : tensor<2x8x40x128xf16> into tensor<16x40x128xf16>
    %collapsed_26 = tensor.collapse_shape %transposed_24 [[0, 1], [2], [3]] : tensor<2x8x128x40xf16> into tensor<16x128x40xf16>
    %48 = tensor.empty() : tensor<16x40x40xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<16x40x40xf32>) -> tensor<16x40x40xf32>
    %50 = linalg.batch_matmul ins(%collapsed_25, %collapsed_26 : tensor<16x40x128xf16>, tensor<16x128x40xf16>) outs(%49 : tensor<16x40x40xf32>) -> tensor<16x40x40xf32>
    %51 = tensor.empty() : tensor<16x40x40xf16>
    %52 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50 : tensor<16x40x40xf32>) outs(%51 : tensor<16x40x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<16x40x40xf16>
    %expanded_27 = tensor.expand_shape %52 [[0, 1], [2], [3]] output_shape [2, 8, 40, 40] : tensor<16x40x40xf16> into tensor<2x8x40x40xf16>
    %53 = tensor.empty() : tensor<2x8x40x40xf16>
    %54 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<2x8x40x40xf16>) outs(%53 : tensor<2x8x40x40xf16>) {
    ^bb0(%in: f16, %out: f16):
      %79 = arith.truncf %cst_3 : f64 to f16
      %80 = arith.mulf %in, %79 : f16
      linalg.yield %80 : f16
    } -> tensor<2x8x40x40xf16>
    %55 = linalg.generic {indexing_maps = [#map6, #map13, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %17 : tensor<2x8x40x40xf16>, tensor<2x1x40x40xf16>) outs(%53 : tensor<2x8x40x40xf16>) {
    ^bb0(%in: f16, %in_36: f16, %out: f16):
      %79 = arith.addf %in, %in_36 : f16
      linalg.yield %79 : f16
    } -> tensor<2x8x40x40xf16>
    %56 = tensor.empty() : tensor<2x8x40x40xf32>
    %57 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55 : tensor<2x8x40x40xf16>) outs(%56 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f16, %out: f32):
      %79 = arith.extf %in : f16 to f32
      linalg.yield %79 : f32
    } -> tensor<2x8x40x40xf32>
    %58 = tensor.empty() : tensor<2x8x40xi64>
    %59 = linalg.fill ins(%c0_i64 : i64) outs(%58 : tensor<2x8x40xi64>) -> tensor<2x8x40xi64>
    %60 = tensor.empty() : tensor<2x8x40xf32>
    %61 = linalg.fill ins(%cst_0 : f32) outs(%60 : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
    %62:2 = linalg.generic {indexing_maps = [#map6, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%57 : tensor<2x8x40x40xf32>) outs(%61, %59 : tensor<2x8x40xf32>, tensor<2x8x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_36: i64):
      %79 = linalg.index 3 : index
      %80 = arith.index_cast %79 : index to i64
      %81 = arith.maximumf %in, %out : f32
      %82 = arith.cmpf ogt, %in, %out : f32
      %83 = arith.select %82, %80, %out_36 : i64
      linalg.yield %81, %83 : f32, i64
    } -> (tensor<2x8x40xf32>, tensor<2x8x40xi64>)
    %expanded_28 = tensor.expand_shape %62#0 [[0], [1], [2, 3]] output_shape [2, 8, 40, 1] : tensor<2x8x40xf32> into tensor<2x8x40x1xf32>
    %63 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57, %expanded_28 : tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) outs(%56 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %79 = arith.subf %in, %in_36 : f32
      linalg.yield %79 : f32
    } -> tensor<2x8x40x40xf32>
    %64 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<2x8x40x40xf32>) outs(%56 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.exp %in : f32
      linalg.yield %79 : f32
    } -> tensor<2x8x40x40xf32>
    %65 = tensor.empty() : tensor<2x8x40x1xf32>
    %66 = linalg.fill ins(%cst : f32) outs(%65 : tensor<2x8x40x1xf32>) -> tensor<2x8x40x1xf32>
    %67 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%64 : tensor<2x8x40x40xf32>) outs(%66 : tensor<2x8x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.addf %in, %out : f32
      linalg.yield %79 : f32
    } -> tensor<2x8x40x1xf32>
    %68 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64, %67 : tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) outs(%56 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %79 = arith.divf %in, %in_36 : f32
      linalg.yield %79 : f32
    } -> tensor<2x8x40x40xf32>
    %69 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<2x8x40x40xf32>) outs(%53 : tensor<2x8x40x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<2x8x40x40xf16>
    %collapsed_29 = tensor.collapse_shape %69 [[0, 1], [2], [3]] : tensor<2x8x40x40xf16> into tensor<16x40x40xf16>
    %collapsed_30 = tensor.collapse_shape %46 [[0, 1, 2], [3], [4]] : tensor<2x2x4x40x128xf16> into tensor<16x40x128xf16>
    %70 = tensor.empty() : tensor<16x40x128xf32>
    %71 = linalg.fill ins(%cst : f32) outs(%70 : tensor<16x40x128xf32>) -> tensor<16x40x128xf32>
    %72 = linalg.batch_matmul ins(%collapsed_29, %collapsed_30 : tensor<16x40x40xf16>, tensor<16x40x128xf16>) outs(%71 : tensor<16x40x128xf32>) -> tensor<16x40x128xf32>
    %73 = tensor.empty() : tensor<16x40x128xf16>
    %74 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<16x40x128xf32>) outs(%73 : tensor<16x40x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<16x40x128xf16>
    %expanded_31 = tensor.expand_shape %74 [[0, 1], [2], [3]] output_shape [2, 8, 40, 128] : tensor<16x40x128xf16> into tensor<2x8x40x128xf16>
    %75 = tensor.empty() : tensor<2x40x8x128xf16>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<2x8x40x128xf16>) outs(%75 : tensor<2x40x8x128xf16>) permutation = [0, 2, 1, 3] 
    %76 = tensor.empty() : tensor<1024x256xf16>
    %transposed_33 = linalg.transpose ins(%arg4 : tensor<256x1024xf16>) outs(%76 : tensor<1024x256xf16>) permutation = [1, 0] 
    %collapsed_34 = tensor.collapse_shape %transposed_32 [[0, 1], [2, 3]] : tensor<2x40x8x128xf16> into tensor<80x1024xf16>
    %77 = linalg.matmul ins(%collapsed_34, %transposed_33 : tensor<80x1024xf16>, tensor<1024x256xf16>) outs(%27 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %78 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%77 : tensor<80x256xf32>) outs(%29 : tensor<80x256xf16>) {
    ^bb0(%in: f32, %out: f16):
      %79 = arith.truncf %in : f32 to f16
      linalg.yield %79 : f16
    } -> tensor<80x256xf16>
    %expanded_35 = tensor.expand_shape %78 [[0, 1], [2]] output_shape [2, 40, 256] : tensor<80x256xf16> into tensor<2x40x256xf16>
    return %expanded_35 : tensor<2x40x256xf16>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_64_torch.float32: "0x040000000000803FD7AF5D3F11F93F3FE03D263F9AF50F3FCF53F93E9BE8D73E1BF8BA3E9BE8A13E04358C3E23D4723EED47523E8718363E40B01D3E778D083ED67FEC3DCDCCCC3D7859B13D0D94993D4DFE843DC255663D3F76473D15BA2C3D4893153DE386013DD254E03C4F43C23C8B39A83C39AD913C334D7C3CF27B5A3C11333D3C0AD7233C2DE10D3CB0B9F53B15CAD43B9C44B83BCC919F3B772E8A3B0E526F3B383E4F3B0F77333B0D691B3B6F94063B2815E93A5CD7C93A8EC9AE3A0E5C973A6F12833AE201633A8C94443A443B2A3A166A133AAC4FFF392517DD39D774BF3960CBA53972928F3915A87839E453573953773A391679213972D40B39E22CF238"
    }
  }
#-}

