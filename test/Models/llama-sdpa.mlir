// Llama through scaled_dot_product_attention: B=2, Hq=8, Hkv=2, M=N=40, D=128.
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
#map8 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3) -> ()>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2) -> (d1, d2)>
module {
  func.func @llama_sdpa(%arg0: tensor<2x40x256xf32>, %arg1: tensor<1024x256xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256x1024xf32>) -> tensor<2x40x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x8x40x40xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant 0.29730177875068026 : f64
    %cst_5 = arith.constant 0xFFF0000000000000 : f64
    %cst_6 = arith.constant dense_resource<torch_tensor_64_torch.float32> : tensor<64xf32>
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %74 = linalg.index 0 : index
      %75 = arith.index_cast %74 : index to i64
      linalg.yield %75 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 40, 1] : tensor<40xi64> into tensor<1x40x1xi64>
    %2 = tensor.empty() : tensor<1x40x1xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x40x1xi64>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %74 = arith.sitofp %in : i64 to f32
      linalg.yield %74 : f32
    } -> tensor<1x40x1xf32>
    %4 = tensor.empty() : tensor<1x40x64xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %cst_6 : tensor<1x40x1xf32>, tensor<64xf32>) outs(%4 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.mulf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<1x40x64xf32>
    %concat = tensor.concat dim(2) %5, %5 : (tensor<1x40x64xf32>, tensor<1x40x64xf32>) -> tensor<1x40x128xf32>
    %6 = tensor.empty() : tensor<1x40x128xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x128xf32>) outs(%6 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = math.cos %in : f32
      linalg.yield %74 : f32
    } -> tensor<1x40x128xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x128xf32>) outs(%6 : tensor<1x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = math.sin %in : f32
      linalg.yield %74 : f32
    } -> tensor<1x40x128xf32>
    %expanded_7 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_8 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %9 = tensor.empty() : tensor<1x1x40x40xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %expanded_7 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%9 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_37: i64, %out: i1):
      %74 = arith.cmpi sle, %in, %in_37 : i64
      linalg.yield %74 : i1
    } -> tensor<1x1x40x40xi1>
    %11 = tensor.empty() : tensor<2x1x40x40xi1>
    %collapsed = tensor.collapse_shape %10 [[0, 1], [2], [3]] : tensor<1x1x40x40xi1> into tensor<1x40x40xi1>
    %12 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x40x40xi1>) outs(%11 : tensor<2x1x40x40xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x40x40xi1>
    %13 = tensor.empty() : tensor<256x1024xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<1024x256xf32>) outs(%13 : tensor<256x1024xf32>) permutation = [1, 0] 
    %collapsed_9 = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x40x256xf32> into tensor<80x256xf32>
    %14 = tensor.empty() : tensor<80x1024xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<80x1024xf32>) -> tensor<80x1024xf32>
    %16 = linalg.matmul ins(%collapsed_9, %transposed : tensor<80x256xf32>, tensor<256x1024xf32>) outs(%15 : tensor<80x1024xf32>) -> tensor<80x1024xf32>
    %expanded_10 = tensor.expand_shape %16 [[0, 1], [2, 3]] output_shape [2, 40, 8, 128] : tensor<80x1024xf32> into tensor<2x40x8x128xf32>
    %17 = tensor.empty() : tensor<2x8x40x128xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x40x8x128xf32>) outs(%17 : tensor<2x8x40x128xf32>) permutation = [0, 2, 1, 3] 
    %18 = tensor.empty() : tensor<256x256xf32>
    %transposed_12 = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%18 : tensor<256x256xf32>) permutation = [1, 0] 
    %19 = tensor.empty() : tensor<80x256xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %21 = linalg.matmul ins(%collapsed_9, %transposed_12 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%20 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_13 = tensor.expand_shape %21 [[0, 1], [2, 3]] output_shape [2, 40, 2, 128] : tensor<80x256xf32> into tensor<2x40x2x128xf32>
    %22 = tensor.empty() : tensor<2x2x40x128xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<2x40x2x128xf32>) outs(%22 : tensor<2x2x40x128xf32>) permutation = [0, 2, 1, 3] 
    %transposed_15 = linalg.transpose ins(%arg3 : tensor<256x256xf32>) outs(%18 : tensor<256x256xf32>) permutation = [1, 0] 
    %23 = linalg.matmul ins(%collapsed_9, %transposed_15 : tensor<80x256xf32>, tensor<256x256xf32>) outs(%20 : tensor<80x256xf32>) -> tensor<80x256xf32>
    %expanded_16 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [2, 40, 2, 128] : tensor<80x256xf32> into tensor<2x40x2x128xf32>
    %transposed_17 = linalg.transpose ins(%expanded_16 : tensor<2x40x2x128xf32>) outs(%22 : tensor<2x2x40x128xf32>) permutation = [0, 2, 1, 3] 
    %expanded_18 = tensor.expand_shape %7 [[0], [1, 2], [3]] output_shape [1, 1, 40, 128] : tensor<1x40x128xf32> into tensor<1x1x40x128xf32>
    %expanded_19 = tensor.expand_shape %8 [[0], [1, 2], [3]] output_shape [1, 1, 40, 128] : tensor<1x40x128xf32> into tensor<1x1x40x128xf32>
    %24 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_11, %expanded_18 : tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>) outs(%17 : tensor<2x8x40x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.mulf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x128xf32>
    %extracted_slice = tensor.extract_slice %transposed_11[0, 0, 0, 0] [2, 8, 40, 64] [1, 1, 1, 1] : tensor<2x8x40x128xf32> to tensor<2x8x40x64xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_11[0, 0, 0, 64] [2, 8, 40, 64] [1, 1, 1, 1] : tensor<2x8x40x128xf32> to tensor<2x8x40x64xf32>
    %25 = tensor.empty() : tensor<2x8x40x64xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20 : tensor<2x8x40x64xf32>) outs(%25 : tensor<2x8x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.negf %in : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x64xf32>
    %concat_21 = tensor.concat dim(3) %26, %extracted_slice : (tensor<2x8x40x64xf32>, tensor<2x8x40x64xf32>) -> tensor<2x8x40x128xf32>
    %27 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_21, %expanded_19 : tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>) outs(%17 : tensor<2x8x40x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.mulf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x128xf32>
    %28 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %27 : tensor<2x8x40x128xf32>, tensor<2x8x40x128xf32>) outs(%17 : tensor<2x8x40x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.addf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x128xf32>
    %29 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_14, %expanded_18 : tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>) outs(%22 : tensor<2x2x40x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.mulf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x2x40x128xf32>
    %extracted_slice_22 = tensor.extract_slice %transposed_14[0, 0, 0, 0] [2, 2, 40, 64] [1, 1, 1, 1] : tensor<2x2x40x128xf32> to tensor<2x2x40x64xf32>
    %extracted_slice_23 = tensor.extract_slice %transposed_14[0, 0, 0, 64] [2, 2, 40, 64] [1, 1, 1, 1] : tensor<2x2x40x128xf32> to tensor<2x2x40x64xf32>
    %30 = tensor.empty() : tensor<2x2x40x64xf32>
    %31 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_23 : tensor<2x2x40x64xf32>) outs(%30 : tensor<2x2x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.negf %in : f32
      linalg.yield %74 : f32
    } -> tensor<2x2x40x64xf32>
    %concat_24 = tensor.concat dim(3) %31, %extracted_slice_22 : (tensor<2x2x40x64xf32>, tensor<2x2x40x64xf32>) -> tensor<2x2x40x128xf32>
    %32 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_24, %expanded_19 : tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>) outs(%22 : tensor<2x2x40x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.mulf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x2x40x128xf32>
    %33 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %32 : tensor<2x2x40x128xf32>, tensor<2x2x40x128xf32>) outs(%22 : tensor<2x2x40x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.addf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x2x40x128xf32>
    %34 = tensor.empty() : tensor<2x2x4x40x128xf32>
    %35 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%33 : tensor<2x2x40x128xf32>) outs(%34 : tensor<2x2x4x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x4x40x128xf32>
    %collapsed_25 = tensor.collapse_shape %35 [[0], [1, 2], [3], [4]] : tensor<2x2x4x40x128xf32> into tensor<2x8x40x128xf32>
    %36 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_17 : tensor<2x2x40x128xf32>) outs(%34 : tensor<2x2x4x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x4x40x128xf32>
    %37 = tensor.empty() : tensor<2x1x40x40xf32>
    %38 = linalg.generic {indexing_maps = [#map6, #map11, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_2, %cst_3 : tensor<2x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%37 : tensor<2x1x40x40xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %74 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %74 : f32
    } -> tensor<2x1x40x40xf32>
    %39 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<2x8x40x128xf32>) outs(%17 : tensor<2x8x40x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.truncf %cst_4 : f64 to f32
      %75 = arith.mulf %in, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x8x40x128xf32>
    %40 = tensor.empty() : tensor<2x8x128x40xf32>
    %transposed_26 = linalg.transpose ins(%collapsed_25 : tensor<2x8x40x128xf32>) outs(%40 : tensor<2x8x128x40xf32>) permutation = [0, 1, 3, 2] 
    %41 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_26 : tensor<2x8x128x40xf32>) outs(%40 : tensor<2x8x128x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.truncf %cst_4 : f64 to f32
      %75 = arith.mulf %in, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x8x128x40xf32>
    %collapsed_27 = tensor.collapse_shape %39 [[0, 1], [2], [3]] : tensor<2x8x40x128xf32> into tensor<16x40x128xf32>
    %collapsed_28 = tensor.collapse_shape %41 [[0, 1], [2], [3]] : tensor<2x8x128x40xf32> into tensor<16x128x40xf32>
    %42 = tensor.empty() : tensor<16x40x40xf32>
    %43 = linalg.fill ins(%cst : f32) outs(%42 : tensor<16x40x40xf32>) -> tensor<16x40x40xf32>
    %44 = linalg.batch_matmul ins(%collapsed_27, %collapsed_28 : tensor<16x40x128xf32>, tensor<16x128x40xf32>) outs(%43 : tensor<16x40x40xf32>) -> tensor<16x40x40xf32>
    %expanded_29 = tensor.expand_shape %44 [[0, 1], [2], [3]] output_shape [2, 8, 40, 40] : tensor<16x40x40xf32> into tensor<2x8x40x40xf32>
    %45 = tensor.empty() : tensor<2x8x40x40xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map12, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_29, %38 : tensor<2x8x40x40xf32>, tensor<2x1x40x40xf32>) outs(%45 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.addf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x40xf32>
    %47 = tensor.empty() : tensor<2x8x40xi64>
    %48 = linalg.fill ins(%c0_i64 : i64) outs(%47 : tensor<2x8x40xi64>) -> tensor<2x8x40xi64>
    %49 = tensor.empty() : tensor<2x8x40xf32>
    %50 = linalg.fill ins(%cst_0 : f32) outs(%49 : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
    %51:2 = linalg.generic {indexing_maps = [#map6, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%46 : tensor<2x8x40x40xf32>) outs(%50, %48 : tensor<2x8x40xf32>, tensor<2x8x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_37: i64):
      %74 = linalg.index 3 : index
      %75 = arith.index_cast %74 : index to i64
      %76 = arith.maximumf %in, %out : f32
      %77 = arith.cmpf ogt, %in, %out : f32
      %78 = arith.select %77, %75, %out_37 : i64
      linalg.yield %76, %78 : f32, i64
    } -> (tensor<2x8x40xf32>, tensor<2x8x40xi64>)
    %expanded_30 = tensor.expand_shape %51#0 [[0], [1], [2, 3]] output_shape [2, 8, 40, 1] : tensor<2x8x40xf32> into tensor<2x8x40x1xf32>
    %52 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %expanded_30 : tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) outs(%45 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.subf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x40xf32>
    %53 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52 : tensor<2x8x40x40xf32>) outs(%45 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = math.exp %in : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x40xf32>
    %54 = tensor.empty() : tensor<2x8x40x1xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<2x8x40x1xf32>) -> tensor<2x8x40x1xf32>
    %56 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53 : tensor<2x8x40x40xf32>) outs(%55 : tensor<2x8x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %in, %out : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x1xf32>
    %57 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %56 : tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) outs(%45 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %74 = arith.divf %in, %in_37 : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x40xf32>
    %58 = tensor.empty() : tensor<2x8x40x40xi1>
    %59 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46 : tensor<2x8x40x40xf32>) outs(%58 : tensor<2x8x40x40xi1>) {
    ^bb0(%in: f32, %out: i1):
      %74 = arith.extf %in : f32 to f64
      %75 = arith.cmpf oeq, %74, %cst_5 : f64
      linalg.yield %75 : i1
    } -> tensor<2x8x40x40xi1>
    %60 = tensor.empty() : tensor<2x8x40x1xi1>
    %61 = linalg.fill ins(%true : i1) outs(%60 : tensor<2x8x40x1xi1>) -> tensor<2x8x40x1xi1>
    %62 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%59 : tensor<2x8x40x40xi1>) outs(%61 : tensor<2x8x40x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %74 = arith.andi %in, %out : i1
      linalg.yield %74 : i1
    } -> tensor<2x8x40x1xi1>
    %63 = linalg.generic {indexing_maps = [#map5, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62, %cst_1, %57 : tensor<2x8x40x1xi1>, tensor<2x8x40x40xf32>, tensor<2x8x40x40xf32>) outs(%45 : tensor<2x8x40x40xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %74 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %74 : f32
    } -> tensor<2x8x40x40xf32>
    %collapsed_31 = tensor.collapse_shape %63 [[0, 1], [2], [3]] : tensor<2x8x40x40xf32> into tensor<16x40x40xf32>
    %collapsed_32 = tensor.collapse_shape %36 [[0, 1, 2], [3], [4]] : tensor<2x2x4x40x128xf32> into tensor<16x40x128xf32>
    %64 = tensor.empty() : tensor<16x40x128xf32>
    %65 = linalg.fill ins(%cst : f32) outs(%64 : tensor<16x40x128xf32>) -> tensor<16x40x128xf32>
    %66 = linalg.batch_matmul ins(%collapsed_31, %collapsed_32 : tensor<16x40x40xf32>, tensor<16x40x128xf32>) outs(%65 : tensor<16x40x128xf32>) -> tensor<16x40x128xf32>
    %expanded_33 = tensor.expand_shape %66 [[0, 1], [2], [3]] output_shape [2, 8, 40, 128] : tensor<16x40x128xf32> into tensor<2x8x40x128xf32>
    %67 = tensor.empty() : tensor<2x40x8x128xf32>
    %transposed_34 = linalg.transpose ins(%expanded_33 : tensor<2x8x40x128xf32>) outs(%67 : tensor<2x40x8x128xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_35 = tensor.collapse_shape %transposed_34 [[0], [1], [2, 3]] : tensor<2x40x8x128xf32> into tensor<2x40x1024xf32>
    %68 = tensor.empty() : tensor<1024x256xf32>
    %transposed_36 = linalg.transpose ins(%arg4 : tensor<256x1024xf32>) outs(%68 : tensor<1024x256xf32>) permutation = [1, 0] 
    %69 = tensor.empty() : tensor<2x1024x256xf32>
    %70 = linalg.generic {indexing_maps = [#map14, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_36 : tensor<1024x256xf32>) outs(%69 : tensor<2x1024x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1024x256xf32>
    %71 = tensor.empty() : tensor<2x40x256xf32>
    %72 = linalg.fill ins(%cst : f32) outs(%71 : tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    %73 = linalg.batch_matmul ins(%collapsed_35, %70 : tensor<2x40x1024xf32>, tensor<2x1024x256xf32>) outs(%72 : tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    return %73 : tensor<2x40x256xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_64_torch.float32: "0x040000000000803FD7AF5D3F11F93F3FE03D263F9AF50F3FCF53F93E9BE8D73E1BF8BA3E9BE8A13E04358C3E23D4723EED47523E8718363E40B01D3E778D083ED67FEC3DCDCCCC3D7859B13D0D94993D4DFE843DC255663D3F76473D15BA2C3D4893153DE386013DD254E03C4F43C23C8B39A83C39AD913C334D7C3CF27B5A3C11333D3C0AD7233C2DE10D3CB0B9F53B15CAD43B9C44B83BCC919F3B772E8A3B0E526F3B383E4F3B0F77333B0D691B3B6F94063B2815E93A5CD7C93A8EC9AE3A0E5C973A6F12833AE201633A8C94443A443B2A3A166A133AAC4FFF392517DD39D774BF3960CBA53972928F3915A87839E453573953773A391679213972D40B39E22CF238"
    }
  }
#-}

