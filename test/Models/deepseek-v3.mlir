// DeepSeek-V3 latent attention: B=1, H=2, M=N=40, D=192 (128 + 64 rotary), Dv=128.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.q_a_proj.weight
//   %arg2: layer.q_a_layernorm.weight
//   %arg3: layer.q_b_proj.weight
//   %arg4: layer.kv_a_proj_with_mqa.weight
//   %arg5: layer.kv_a_layernorm.weight
//   %arg6: layer.kv_b_proj.weight
//   %arg7: layer.o_proj.weight

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @deepseek_v3(%arg0: tensor<1x40x256xf32>, %arg1: tensor<64x256xf32>, %arg2: tensor<64xf32>, %arg3: tensor<384x64xf32>, %arg4: tensor<128x256xf32>, %arg5: tensor<64xf32>, %arg6: tensor<512x64xf32>, %arg7: tensor<256x256xf32>) -> tensor<1x40x256xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 0.072168783648703216 : f64
    %cst_4 = arith.constant 9.9999999999999995E-7 : f64
    %cst_5 = arith.constant dense_resource<torch_tensor_32_torch.float32> : tensor<32xf32>
    %cst_6 = arith.constant 6.400000e+01 : f32
    %0 = tensor.empty() : tensor<40xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<40xi64>) {
    ^bb0(%out: i64):
      %88 = linalg.index 0 : index
      %89 = arith.index_cast %88 : index to i64
      linalg.yield %89 : i64
    } -> tensor<40xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 40, 1] : tensor<40xi64> into tensor<1x40x1xi64>
    %2 = tensor.empty() : tensor<1x40x1xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x40x1xi64>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %88 = arith.sitofp %in : i64 to f32
      linalg.yield %88 : f32
    } -> tensor<1x40x1xf32>
    %4 = tensor.empty() : tensor<1x40x32xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %cst_5 : tensor<1x40x1xf32>, tensor<32xf32>) outs(%4 : tensor<1x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x32xf32>
    %concat = tensor.concat dim(2) %5, %5 : (tensor<1x40x32xf32>, tensor<1x40x32xf32>) -> tensor<1x40x64xf32>
    %6 = tensor.empty() : tensor<1x40x64xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x64xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.cos %in : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x40x64xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.sin %in : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %expanded_7 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 40, 1] : tensor<40xi64> into tensor<1x1x40x1xi64>
    %expanded_8 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 40] : tensor<40xi64> into tensor<1x1x1x40xi64>
    %9 = tensor.empty() : tensor<1x1x40x40xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %expanded_7 : tensor<1x1x1x40xi64>, tensor<1x1x40x1xi64>) outs(%9 : tensor<1x1x40x40xi1>) {
    ^bb0(%in: i64, %in_51: i64, %out: i1):
      %88 = arith.cmpi sle, %in, %in_51 : i64
      linalg.yield %88 : i1
    } -> tensor<1x1x40x40xi1>
    %11 = tensor.empty() : tensor<1x1x40x40xf32>
    %12 = linalg.generic {indexing_maps = [#map6, #map7, #map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %cst_2, %cst_1 : tensor<1x1x40x40xi1>, tensor<f32>, tensor<f32>) outs(%11 : tensor<1x1x40x40xf32>) {
    ^bb0(%in: i1, %in_51: f32, %in_52: f32, %out: f32):
      %88 = arith.select %in, %in_51, %in_52 : f32
      linalg.yield %88 : f32
    } -> tensor<1x1x40x40xf32>
    %13 = tensor.empty() : tensor<256x64xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<64x256xf32>) outs(%13 : tensor<256x64xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<1x40x256xf32> into tensor<40x256xf32>
    %14 = tensor.empty() : tensor<40x64xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<40x64xf32>) -> tensor<40x64xf32>
    %16 = linalg.matmul ins(%collapsed, %transposed : tensor<40x256xf32>, tensor<256x64xf32>) outs(%15 : tensor<40x64xf32>) -> tensor<40x64xf32>
    %expanded_9 = tensor.expand_shape %16 [[0, 1], [2]] output_shape [1, 40, 64] : tensor<40x64xf32> into tensor<1x40x64xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_9 : tensor<1x40x64xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%2 : tensor<1x40x1xf32>) -> tensor<1x40x1xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%17 : tensor<1x40x64xf32>) outs(%18 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %in, %out : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x40x1xf32>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.divf %in, %cst_6 : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<1x40x1xf32>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.truncf %cst_4 : f64 to f32
      %89 = arith.addf %in, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<1x40x1xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x40x1xf32>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.rsqrt %in : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_9, %22 : tensor<1x40x64xf32>, tensor<1x40x1xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2, %23 : tensor<64xf32>, tensor<1x40x64xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %25 = tensor.empty() : tensor<64x384xf32>
    %transposed_10 = linalg.transpose ins(%arg3 : tensor<384x64xf32>) outs(%25 : tensor<64x384xf32>) permutation = [1, 0] 
    %collapsed_11 = tensor.collapse_shape %24 [[0, 1], [2]] : tensor<1x40x64xf32> into tensor<40x64xf32>
    %26 = tensor.empty() : tensor<40x384xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<40x384xf32>) -> tensor<40x384xf32>
    %28 = linalg.matmul ins(%collapsed_11, %transposed_10 : tensor<40x64xf32>, tensor<64x384xf32>) outs(%27 : tensor<40x384xf32>) -> tensor<40x384xf32>
    %expanded_12 = tensor.expand_shape %28 [[0, 1], [2, 3]] output_shape [1, 40, 2, 192] : tensor<40x384xf32> into tensor<1x40x2x192xf32>
    %29 = tensor.empty() : tensor<1x2x40x192xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<1x40x2x192xf32>) outs(%29 : tensor<1x2x40x192xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice = tensor.extract_slice %transposed_13[0, 0, 0, 0] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x192xf32> to tensor<1x2x40x128xf32>
    %extracted_slice_14 = tensor.extract_slice %transposed_13[0, 0, 0, 128] [1, 2, 40, 64] [1, 1, 1, 1] : tensor<1x2x40x192xf32> to tensor<1x2x40x64xf32>
    %30 = tensor.empty() : tensor<256x128xf32>
    %transposed_15 = linalg.transpose ins(%arg4 : tensor<128x256xf32>) outs(%30 : tensor<256x128xf32>) permutation = [1, 0] 
    %31 = tensor.empty() : tensor<40x128xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<40x128xf32>) -> tensor<40x128xf32>
    %33 = linalg.matmul ins(%collapsed, %transposed_15 : tensor<40x256xf32>, tensor<256x128xf32>) outs(%32 : tensor<40x128xf32>) -> tensor<40x128xf32>
    %expanded_16 = tensor.expand_shape %33 [[0, 1], [2]] output_shape [1, 40, 128] : tensor<40x128xf32> into tensor<1x40x128xf32>
    %extracted_slice_17 = tensor.extract_slice %expanded_16[0, 0, 0] [1, 40, 64] [1, 1, 1] : tensor<1x40x128xf32> to tensor<1x40x64xf32>
    %extracted_slice_18 = tensor.extract_slice %expanded_16[0, 0, 64] [1, 40, 64] [1, 1, 1] : tensor<1x40x128xf32> to tensor<1x40x64xf32>
    %34 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_17 : tensor<1x40x64xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %35 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%34 : tensor<1x40x64xf32>) outs(%18 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %in, %out : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x1xf32>
    %36 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<1x40x1xf32>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.divf %in, %cst_6 : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x1xf32>
    %37 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%36 : tensor<1x40x1xf32>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.truncf %cst_4 : f64 to f32
      %89 = arith.addf %in, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<1x40x1xf32>
    %38 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<1x40x1xf32>) outs(%2 : tensor<1x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.rsqrt %in : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x1xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_17, %38 : tensor<1x40x64xf32>, tensor<1x40x1xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %40 = linalg.generic {indexing_maps = [#map3, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5, %39 : tensor<64xf32>, tensor<1x40x64xf32>) outs(%6 : tensor<1x40x64xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x40x64xf32>
    %expanded_19 = tensor.expand_shape %extracted_slice_18 [[0], [1, 2], [3]] output_shape [1, 1, 40, 64] : tensor<1x40x64xf32> into tensor<1x1x40x64xf32>
    %extracted_slice_20 = tensor.extract_slice %7[0, 0, 0] [1, 40, 32] [1, 1, 1] : tensor<1x40x64xf32> to tensor<1x40x32xf32>
    %expanded_21 = tensor.expand_shape %extracted_slice_20 [[0], [1, 2], [3]] output_shape [1, 1, 40, 32] : tensor<1x40x32xf32> into tensor<1x1x40x32xf32>
    %extracted_slice_22 = tensor.extract_slice %8[0, 0, 0] [1, 40, 32] [1, 1, 1] : tensor<1x40x64xf32> to tensor<1x40x32xf32>
    %expanded_23 = tensor.expand_shape %extracted_slice_22 [[0], [1, 2], [3]] output_shape [1, 1, 40, 32] : tensor<1x40x32xf32> into tensor<1x1x40x32xf32>
    %extracted_slice_24 = tensor.extract_slice %extracted_slice_14[0, 0, 0, 0] [1, 2, 40, 32] [1, 1, 1, 2] : tensor<1x2x40x64xf32> to tensor<1x2x40x32xf32>
    %extracted_slice_25 = tensor.extract_slice %extracted_slice_14[0, 0, 0, 1] [1, 2, 40, 32] [1, 1, 1, 2] : tensor<1x2x40x64xf32> to tensor<1x2x40x32xf32>
    %extracted_slice_26 = tensor.extract_slice %expanded_19[0, 0, 0, 0] [1, 1, 40, 32] [1, 1, 1, 2] : tensor<1x1x40x64xf32> to tensor<1x1x40x32xf32>
    %extracted_slice_27 = tensor.extract_slice %expanded_19[0, 0, 0, 1] [1, 1, 40, 32] [1, 1, 1, 2] : tensor<1x1x40x64xf32> to tensor<1x1x40x32xf32>
    %41 = tensor.empty() : tensor<1x2x40x32xf32>
    %42 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %expanded_21 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%41 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x32xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25, %expanded_23 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%41 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x32xf32>
    %44 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %43 : tensor<1x2x40x32xf32>, tensor<1x2x40x32xf32>) outs(%41 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.subf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x32xf32>
    %45 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25, %expanded_21 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%41 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x32xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %expanded_23 : tensor<1x2x40x32xf32>, tensor<1x1x40x32xf32>) outs(%41 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x32xf32>
    %47 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %46 : tensor<1x2x40x32xf32>, tensor<1x2x40x32xf32>) outs(%41 : tensor<1x2x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.addf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x32xf32>
    %concat_28 = tensor.concat dim(3) %44, %47 : (tensor<1x2x40x32xf32>, tensor<1x2x40x32xf32>) -> tensor<1x2x40x64xf32>
    %48 = tensor.empty() : tensor<1x1x40x32xf32>
    %49 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_26, %expanded_21 : tensor<1x1x40x32xf32>, tensor<1x1x40x32xf32>) outs(%48 : tensor<1x1x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x1x40x32xf32>
    %50 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %expanded_23 : tensor<1x1x40x32xf32>, tensor<1x1x40x32xf32>) outs(%48 : tensor<1x1x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x1x40x32xf32>
    %51 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49, %50 : tensor<1x1x40x32xf32>, tensor<1x1x40x32xf32>) outs(%48 : tensor<1x1x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.subf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x1x40x32xf32>
    %52 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %expanded_21 : tensor<1x1x40x32xf32>, tensor<1x1x40x32xf32>) outs(%48 : tensor<1x1x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x1x40x32xf32>
    %53 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_26, %expanded_23 : tensor<1x1x40x32xf32>, tensor<1x1x40x32xf32>) outs(%48 : tensor<1x1x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.mulf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x1x40x32xf32>
    %54 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %53 : tensor<1x1x40x32xf32>, tensor<1x1x40x32xf32>) outs(%48 : tensor<1x1x40x32xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.addf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x1x40x32xf32>
    %concat_29 = tensor.concat dim(3) %51, %54 : (tensor<1x1x40x32xf32>, tensor<1x1x40x32xf32>) -> tensor<1x1x40x64xf32>
    %concat_30 = tensor.concat dim(3) %extracted_slice, %concat_28 : (tensor<1x2x40x128xf32>, tensor<1x2x40x64xf32>) -> tensor<1x2x40x192xf32>
    %55 = tensor.empty() : tensor<64x512xf32>
    %transposed_31 = linalg.transpose ins(%arg6 : tensor<512x64xf32>) outs(%55 : tensor<64x512xf32>) permutation = [1, 0] 
    %collapsed_32 = tensor.collapse_shape %40 [[0, 1], [2]] : tensor<1x40x64xf32> into tensor<40x64xf32>
    %56 = tensor.empty() : tensor<40x512xf32>
    %57 = linalg.fill ins(%cst : f32) outs(%56 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %58 = linalg.matmul ins(%collapsed_32, %transposed_31 : tensor<40x64xf32>, tensor<64x512xf32>) outs(%57 : tensor<40x512xf32>) -> tensor<40x512xf32>
    %expanded_33 = tensor.expand_shape %58 [[0, 1], [2, 3]] output_shape [1, 40, 2, 256] : tensor<40x512xf32> into tensor<1x40x2x256xf32>
    %59 = tensor.empty() : tensor<1x2x40x256xf32>
    %transposed_34 = linalg.transpose ins(%expanded_33 : tensor<1x40x2x256xf32>) outs(%59 : tensor<1x2x40x256xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_35 = tensor.extract_slice %transposed_34[0, 0, 0, 0] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x256xf32> to tensor<1x2x40x128xf32>
    %extracted_slice_36 = tensor.extract_slice %transposed_34[0, 0, 0, 128] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x256xf32> to tensor<1x2x40x128xf32>
    %60 = tensor.empty() : tensor<1x2x40x64xf32>
    %collapsed_37 = tensor.collapse_shape %concat_29 [[0, 1], [2], [3]] : tensor<1x1x40x64xf32> into tensor<1x40x64xf32>
    %61 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_37 : tensor<1x40x64xf32>) outs(%60 : tensor<1x2x40x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x40x64xf32>
    %inserted_slice = tensor.insert_slice %extracted_slice_35 into %29[0, 0, 0, 0] [1, 2, 40, 128] [1, 1, 1, 1] : tensor<1x2x40x128xf32> into tensor<1x2x40x192xf32>
    %inserted_slice_38 = tensor.insert_slice %61 into %inserted_slice[0, 0, 0, 128] [1, 2, 40, 64] [1, 1, 1, 1] : tensor<1x2x40x64xf32> into tensor<1x2x40x192xf32>
    %collapsed_39 = tensor.collapse_shape %concat_30 [[0, 1], [2], [3]] : tensor<1x2x40x192xf32> into tensor<2x40x192xf32>
    %62 = tensor.empty() : tensor<1x2x192x40xf32>
    %transposed_40 = linalg.transpose ins(%inserted_slice_38 : tensor<1x2x40x192xf32>) outs(%62 : tensor<1x2x192x40xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_41 = tensor.collapse_shape %transposed_40 [[0, 1], [2], [3]] : tensor<1x2x192x40xf32> into tensor<2x192x40xf32>
    %63 = tensor.empty() : tensor<2x40x40xf32>
    %64 = linalg.fill ins(%cst : f32) outs(%63 : tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
    %65 = linalg.batch_matmul ins(%collapsed_39, %collapsed_41 : tensor<2x40x192xf32>, tensor<2x192x40xf32>) outs(%64 : tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
    %expanded_42 = tensor.expand_shape %65 [[0, 1], [2], [3]] output_shape [1, 2, 40, 40] : tensor<2x40x40xf32> into tensor<1x2x40x40xf32>
    %66 = tensor.empty() : tensor<1x2x40x40xf32>
    %67 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_42 : tensor<1x2x40x40xf32>) outs(%66 : tensor<1x2x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.truncf %cst_3 : f64 to f32
      %89 = arith.mulf %in, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<1x2x40x40xf32>
    %68 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %12 : tensor<1x2x40x40xf32>, tensor<1x1x40x40xf32>) outs(%66 : tensor<1x2x40x40xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.addf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x40xf32>
    %69 = tensor.empty() : tensor<1x2x40xi64>
    %70 = linalg.fill ins(%c0_i64 : i64) outs(%69 : tensor<1x2x40xi64>) -> tensor<1x2x40xi64>
    %71 = tensor.empty() : tensor<1x2x40xf32>
    %72 = linalg.fill ins(%cst_0 : f32) outs(%71 : tensor<1x2x40xf32>) -> tensor<1x2x40xf32>
    %73:2 = linalg.generic {indexing_maps = [#map6, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%68 : tensor<1x2x40x40xf32>) outs(%72, %70 : tensor<1x2x40xf32>, tensor<1x2x40xi64>) {
    ^bb0(%in: f32, %out: f32, %out_51: i64):
      %88 = linalg.index 3 : index
      %89 = arith.index_cast %88 : index to i64
      %90 = arith.maximumf %in, %out : f32
      %91 = arith.cmpf ogt, %in, %out : f32
      %92 = arith.select %91, %89, %out_51 : i64
      linalg.yield %90, %92 : f32, i64
    } -> (tensor<1x2x40xf32>, tensor<1x2x40xi64>)
    %expanded_43 = tensor.expand_shape %73#0 [[0], [1], [2, 3]] output_shape [1, 2, 40, 1] : tensor<1x2x40xf32> into tensor<1x2x40x1xf32>
    %74 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68, %expanded_43 : tensor<1x2x40x40xf32>, tensor<1x2x40x1xf32>) outs(%66 : tensor<1x2x40x40xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.subf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x40xf32>
    %75 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74 : tensor<1x2x40x40xf32>) outs(%66 : tensor<1x2x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.exp %in : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x40xf32>
    %76 = tensor.empty() : tensor<1x2x40x1xf32>
    %77 = linalg.fill ins(%cst : f32) outs(%76 : tensor<1x2x40x1xf32>) -> tensor<1x2x40x1xf32>
    %78 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%75 : tensor<1x2x40x40xf32>) outs(%77 : tensor<1x2x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %in, %out : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x1xf32>
    %79 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75, %78 : tensor<1x2x40x40xf32>, tensor<1x2x40x1xf32>) outs(%66 : tensor<1x2x40x40xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %88 = arith.divf %in, %in_51 : f32
      linalg.yield %88 : f32
    } -> tensor<1x2x40x40xf32>
    %collapsed_44 = tensor.collapse_shape %79 [[0, 1], [2], [3]] : tensor<1x2x40x40xf32> into tensor<2x40x40xf32>
    %collapsed_45 = tensor.collapse_shape %extracted_slice_36 [[0, 1], [2], [3]] : tensor<1x2x40x128xf32> into tensor<2x40x128xf32>
    %80 = tensor.empty() : tensor<2x40x128xf32>
    %81 = linalg.fill ins(%cst : f32) outs(%80 : tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %82 = linalg.batch_matmul ins(%collapsed_44, %collapsed_45 : tensor<2x40x40xf32>, tensor<2x40x128xf32>) outs(%81 : tensor<2x40x128xf32>) -> tensor<2x40x128xf32>
    %expanded_46 = tensor.expand_shape %82 [[0, 1], [2], [3]] output_shape [1, 2, 40, 128] : tensor<2x40x128xf32> into tensor<1x2x40x128xf32>
    %83 = tensor.empty() : tensor<1x40x2x128xf32>
    %transposed_47 = linalg.transpose ins(%expanded_46 : tensor<1x2x40x128xf32>) outs(%83 : tensor<1x40x2x128xf32>) permutation = [0, 2, 1, 3] 
    %84 = tensor.empty() : tensor<256x256xf32>
    %transposed_48 = linalg.transpose ins(%arg7 : tensor<256x256xf32>) outs(%84 : tensor<256x256xf32>) permutation = [1, 0] 
    %collapsed_49 = tensor.collapse_shape %transposed_47 [[0, 1], [2, 3]] : tensor<1x40x2x128xf32> into tensor<40x256xf32>
    %85 = tensor.empty() : tensor<40x256xf32>
    %86 = linalg.fill ins(%cst : f32) outs(%85 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %87 = linalg.matmul ins(%collapsed_49, %transposed_48 : tensor<40x256xf32>, tensor<256x256xf32>) outs(%86 : tensor<40x256xf32>) -> tensor<40x256xf32>
    %expanded_50 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [1, 40, 256] : tensor<40x256xf32> into tensor<1x40x256xf32>
    return %expanded_50 : tensor<1x40x256xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_32_torch.float32: "0x040000000000803F11F93F3F9AF50F3F9BE8D73E9BE8A13E23D4723E8718363E778D083ECDCCCC3D0D94993DC255663D15BA2C3DE386013D4F43C23C39AD913CF27B5A3C0AD7233CB0B9F53B9C44B83B772E8A3B383E4F3B0D691B3B2815E93A8EC9AE3A6F12833A8C94443A166A133A2517DD3960CBA53915A8783953773A3972D40B39"
    }
  }
#-}

