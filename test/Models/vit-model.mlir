// ViT, two layers, from pixels: B=2, H=2, M=N=65, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: pixel_values
//   %arg1: model.embeddings.cls_token
//   %arg2: model.embeddings.position_embeddings
//   %arg3: model.embeddings.patch_embeddings.projection.weight
//   %arg4: model.embeddings.patch_embeddings.projection.bias
//   %arg5: model.layers.0.attention.q_proj.weight
//   %arg6: model.layers.0.attention.q_proj.bias
//   %arg7: model.layers.0.attention.k_proj.weight
//   %arg8: model.layers.0.attention.k_proj.bias
//   %arg9: model.layers.0.attention.v_proj.weight
//   %arg10: model.layers.0.attention.v_proj.bias
//   %arg11: model.layers.0.attention.o_proj.weight
//   %arg12: model.layers.0.attention.o_proj.bias
//   %arg13: model.layers.0.layernorm_before.weight
//   %arg14: model.layers.0.layernorm_before.bias
//   %arg15: model.layers.0.layernorm_after.weight
//   %arg16: model.layers.0.layernorm_after.bias
//   %arg17: model.layers.0.mlp.fc1.weight
//   %arg18: model.layers.0.mlp.fc1.bias
//   %arg19: model.layers.0.mlp.fc2.weight
//   %arg20: model.layers.0.mlp.fc2.bias
//   %arg21: model.layers.1.attention.q_proj.weight
//   %arg22: model.layers.1.attention.q_proj.bias
//   %arg23: model.layers.1.attention.k_proj.weight
//   %arg24: model.layers.1.attention.k_proj.bias
//   %arg25: model.layers.1.attention.v_proj.weight
//   %arg26: model.layers.1.attention.v_proj.bias
//   %arg27: model.layers.1.attention.o_proj.weight
//   %arg28: model.layers.1.attention.o_proj.bias
//   %arg29: model.layers.1.layernorm_before.weight
//   %arg30: model.layers.1.layernorm_before.bias
//   %arg31: model.layers.1.layernorm_after.weight
//   %arg32: model.layers.1.layernorm_after.bias
//   %arg33: model.layers.1.mlp.fc1.weight
//   %arg34: model.layers.1.mlp.fc1.bias
//   %arg35: model.layers.1.mlp.fc2.weight
//   %arg36: model.layers.1.mlp.fc2.bias
//   %arg37: model.layernorm.weight
//   %arg38: model.layernorm.bias

#map = affine_map<(d0, d1, d2) -> (d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> ()>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d2)>
#map10 = affine_map<(d0, d1) -> (d0, d1)>
#map11 = affine_map<(d0, d1) -> (d1)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @vit_model(%arg0: tensor<2x3x32x32xf32>, %arg1: tensor<1x1x128xf32>, %arg2: tensor<1x65x128xf32>, %arg3: tensor<128x3x4x4xf32>, %arg4: tensor<128xf32>, %arg5: tensor<128x128xf32>, %arg6: tensor<128xf32>, %arg7: tensor<128x128xf32>, %arg8: tensor<128xf32>, %arg9: tensor<128x128xf32>, %arg10: tensor<128xf32>, %arg11: tensor<128x128xf32>, %arg12: tensor<128xf32>, %arg13: tensor<128xf32>, %arg14: tensor<128xf32>, %arg15: tensor<128xf32>, %arg16: tensor<128xf32>, %arg17: tensor<256x128xf32>, %arg18: tensor<256xf32>, %arg19: tensor<128x256xf32>, %arg20: tensor<128xf32>, %arg21: tensor<128x128xf32>, %arg22: tensor<128xf32>, %arg23: tensor<128x128xf32>, %arg24: tensor<128xf32>, %arg25: tensor<128x128xf32>, %arg26: tensor<128xf32>, %arg27: tensor<128x128xf32>, %arg28: tensor<128xf32>, %arg29: tensor<128xf32>, %arg30: tensor<128xf32>, %arg31: tensor<128xf32>, %arg32: tensor<128xf32>, %arg33: tensor<256x128xf32>, %arg34: tensor<256xf32>, %arg35: tensor<128x256xf32>, %arg36: tensor<128xf32>, %arg37: tensor<128xf32>, %arg38: tensor<128xf32>) -> tensor<2x65x128xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 5.000000e-01 : f32
    %cst_3 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = arith.constant 9.9999999999999998E-13 : f64
    %cst_6 = arith.constant 1.280000e+02 : f32
    %cst_7 = arith.constant 1.250000e-01 : f32
    %cst_8 = arith.constant 1.41421354 : f32
    %0 = tensor.empty() : tensor<2x128x8x8xf32>
    %broadcasted = linalg.broadcast ins(%arg4 : tensor<128xf32>) outs(%0 : tensor<2x128x8x8xf32>) dimensions = [0, 2, 3] 
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<4> : vector<2xi64>} ins(%arg0, %arg3 : tensor<2x3x32x32xf32>, tensor<128x3x4x4xf32>) outs(%broadcasted : tensor<2x128x8x8xf32>) -> tensor<2x128x8x8xf32>
    %collapsed = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<2x128x8x8xf32> into tensor<2x128x64xf32>
    %2 = tensor.empty() : tensor<2x64x128xf32>
    %transposed = linalg.transpose ins(%collapsed : tensor<2x128x64xf32>) outs(%2 : tensor<2x64x128xf32>) permutation = [0, 2, 1] 
    %3 = tensor.empty() : tensor<2x1x128xf32>
    %collapsed_9 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<1x1x128xf32> into tensor<1x128xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_9 : tensor<1x128xf32>) outs(%3 : tensor<2x1x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x128xf32>
    %concat = tensor.concat dim(1) %4, %transposed : (tensor<2x1x128xf32>, tensor<2x64x128xf32>) -> tensor<2x65x128xf32>
    %5 = tensor.empty() : tensor<2x65x128xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat, %arg2 : tensor<2x65x128xf32>, tensor<1x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %7 = tensor.empty() : tensor<65xi64>
    %8 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%7 : tensor<65xi64>) {
    ^bb0(%out: i64):
      %152 = linalg.index 0 : index
      %153 = arith.index_cast %152 : index to i64
      linalg.yield %153 : i64
    } -> tensor<65xi64>
    %expanded = tensor.expand_shape %8 [[0, 1, 2, 3]] output_shape [1, 1, 65, 1] : tensor<65xi64> into tensor<1x1x65x1xi64>
    %9 = tensor.empty() : tensor<1x1x65x1xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x65x1xi64>) outs(%9 : tensor<1x1x65x1xi1>) {
    ^bb0(%in: i64, %out: i1):
      %152 = arith.cmpi sge, %in, %c0_i64 : i64
      linalg.yield %152 : i1
    } -> tensor<1x1x65x1xi1>
    %11 = tensor.empty() : tensor<2x1x65x65xi1>
    %collapsed_10 = tensor.collapse_shape %10 [[0, 1], [2, 3]] : tensor<1x1x65x1xi1> into tensor<1x65xi1>
    %12 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_10 : tensor<1x65xi1>) outs(%11 : tensor<2x1x65x65xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x65x65xi1>
    %13 = tensor.empty() : tensor<2x1x65x65xf32>
    %14 = linalg.generic {indexing_maps = [#map4, #map6, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_4, %cst_3 : tensor<2x1x65x65xi1>, tensor<f32>, tensor<f32>) outs(%13 : tensor<2x1x65x65xf32>) {
    ^bb0(%in: i1, %in_75: f32, %in_76: f32, %out: f32):
      %152 = arith.select %in, %in_75, %in_76 : f32
      linalg.yield %152 : f32
    } -> tensor<2x1x65x65xf32>
    %15 = tensor.empty() : tensor<2x65x1xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<2x65x1xf32>) -> tensor<2x65x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%6 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_11 = tensor.collapse_shape %18 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %19 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_11 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %19 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.subf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %20 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%21 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.truncf %cst_5 : f64 to f32
      %153 = arith.addf %in, %152 : f32
      linalg.yield %153 : f32
    } -> tensor<2x65x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = math.rsqrt %in : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_12 = tensor.collapse_shape %25 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %26 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_12 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %26 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %arg13 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %29 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %arg14 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %collapsed_13 = tensor.collapse_shape %29 [[0, 1], [2]] : tensor<2x65x128xf32> into tensor<130x128xf32>
    %30 = tensor.empty() : tensor<128x128xf32>
    %transposed_14 = linalg.transpose ins(%arg5 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %31 = tensor.empty() : tensor<130x128xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %33 = linalg.matmul ins(%collapsed_13, %transposed_14 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %34 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%33, %arg6 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_15 = tensor.expand_shape %34 [[0, 1], [2, 3]] output_shape [2, 65, 2, 64] : tensor<130x128xf32> into tensor<2x65x2x64xf32>
    %35 = tensor.empty() : tensor<2x2x65x64xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<2x65x2x64xf32>) outs(%35 : tensor<2x2x65x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_17 = linalg.transpose ins(%arg7 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %36 = linalg.matmul ins(%collapsed_13, %transposed_17 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %37 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%36, %arg8 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_18 = tensor.expand_shape %37 [[0, 1], [2, 3]] output_shape [2, 65, 2, 64] : tensor<130x128xf32> into tensor<2x65x2x64xf32>
    %transposed_19 = linalg.transpose ins(%arg9 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %38 = linalg.matmul ins(%collapsed_13, %transposed_19 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %39 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%38, %arg10 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_20 = tensor.expand_shape %39 [[0, 1], [2, 3]] output_shape [2, 65, 2, 64] : tensor<130x128xf32> into tensor<2x65x2x64xf32>
    %transposed_21 = linalg.transpose ins(%expanded_20 : tensor<2x65x2x64xf32>) outs(%35 : tensor<2x2x65x64xf32>) permutation = [0, 2, 1, 3] 
    %40 = tensor.empty() : tensor<2x2x64x65xf32>
    %transposed_22 = linalg.transpose ins(%expanded_18 : tensor<2x65x2x64xf32>) outs(%40 : tensor<2x2x64x65xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_23 = tensor.collapse_shape %transposed_16 [[0, 1], [2], [3]] : tensor<2x2x65x64xf32> into tensor<4x65x64xf32>
    %collapsed_24 = tensor.collapse_shape %transposed_22 [[0, 1], [2], [3]] : tensor<2x2x64x65xf32> into tensor<4x64x65xf32>
    %41 = tensor.empty() : tensor<4x65x65xf32>
    %42 = linalg.fill ins(%cst : f32) outs(%41 : tensor<4x65x65xf32>) -> tensor<4x65x65xf32>
    %43 = linalg.batch_matmul ins(%collapsed_23, %collapsed_24 : tensor<4x65x64xf32>, tensor<4x64x65xf32>) outs(%42 : tensor<4x65x65xf32>) -> tensor<4x65x65xf32>
    %expanded_25 = tensor.expand_shape %43 [[0, 1], [2], [3]] output_shape [2, 2, 65, 65] : tensor<4x65x65xf32> into tensor<2x2x65x65xf32>
    %44 = tensor.empty() : tensor<2x2x65x65xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_25 : tensor<2x2x65x65xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.mulf %in, %cst_7 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %14 : tensor<2x2x65x65xf32>, tensor<2x1x65x65xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %47 = tensor.empty() : tensor<2x2x65xi64>
    %48 = linalg.fill ins(%c0_i64 : i64) outs(%47 : tensor<2x2x65xi64>) -> tensor<2x2x65xi64>
    %49 = tensor.empty() : tensor<2x2x65xf32>
    %50 = linalg.fill ins(%cst_0 : f32) outs(%49 : tensor<2x2x65xf32>) -> tensor<2x2x65xf32>
    %51:2 = linalg.generic {indexing_maps = [#map4, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%46 : tensor<2x2x65x65xf32>) outs(%50, %48 : tensor<2x2x65xf32>, tensor<2x2x65xi64>) {
    ^bb0(%in: f32, %out: f32, %out_75: i64):
      %152 = linalg.index 3 : index
      %153 = arith.index_cast %152 : index to i64
      %154 = arith.maximumf %in, %out : f32
      %155 = arith.cmpf ogt, %in, %out : f32
      %156 = arith.select %155, %153, %out_75 : i64
      linalg.yield %154, %156 : f32, i64
    } -> (tensor<2x2x65xf32>, tensor<2x2x65xi64>)
    %expanded_26 = tensor.expand_shape %51#0 [[0], [1], [2, 3]] output_shape [2, 2, 65, 1] : tensor<2x2x65xf32> into tensor<2x2x65x1xf32>
    %52 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %expanded_26 : tensor<2x2x65x65xf32>, tensor<2x2x65x1xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.subf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %53 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52 : tensor<2x2x65x65xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = math.exp %in : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %54 = tensor.empty() : tensor<2x2x65x1xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<2x2x65x1xf32>) -> tensor<2x2x65x1xf32>
    %56 = linalg.generic {indexing_maps = [#map4, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53 : tensor<2x2x65x65xf32>) outs(%55 : tensor<2x2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x1xf32>
    %57 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %56 : tensor<2x2x65x65xf32>, tensor<2x2x65x1xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.divf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %collapsed_27 = tensor.collapse_shape %57 [[0, 1], [2], [3]] : tensor<2x2x65x65xf32> into tensor<4x65x65xf32>
    %collapsed_28 = tensor.collapse_shape %transposed_21 [[0, 1], [2], [3]] : tensor<2x2x65x64xf32> into tensor<4x65x64xf32>
    %58 = tensor.empty() : tensor<4x65x64xf32>
    %59 = linalg.fill ins(%cst : f32) outs(%58 : tensor<4x65x64xf32>) -> tensor<4x65x64xf32>
    %60 = linalg.batch_matmul ins(%collapsed_27, %collapsed_28 : tensor<4x65x65xf32>, tensor<4x65x64xf32>) outs(%59 : tensor<4x65x64xf32>) -> tensor<4x65x64xf32>
    %expanded_29 = tensor.expand_shape %60 [[0, 1], [2], [3]] output_shape [2, 2, 65, 64] : tensor<4x65x64xf32> into tensor<2x2x65x64xf32>
    %61 = tensor.empty() : tensor<2x65x2x64xf32>
    %transposed_30 = linalg.transpose ins(%expanded_29 : tensor<2x2x65x64xf32>) outs(%61 : tensor<2x65x2x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_31 = tensor.collapse_shape %transposed_30 [[0, 1], [2, 3]] : tensor<2x65x2x64xf32> into tensor<130x128xf32>
    %transposed_32 = linalg.transpose ins(%arg11 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %62 = linalg.matmul ins(%collapsed_31, %transposed_32 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %63 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%62, %arg12 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_33 = tensor.expand_shape %63 [[0, 1], [2]] output_shape [2, 65, 128] : tensor<130x128xf32> into tensor<2x65x128xf32>
    %64 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_33, %6 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %65 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%64 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %66 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_34 = tensor.collapse_shape %66 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %67 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_34 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %67 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.subf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %69 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %68 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %70 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%69 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %71 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %72 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.truncf %cst_5 : f64 to f32
      %153 = arith.addf %in, %152 : f32
      linalg.yield %153 : f32
    } -> tensor<2x65x1xf32>
    %73 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = math.rsqrt %in : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_35 = tensor.collapse_shape %73 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %74 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_35 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %75 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %74 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %76 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %arg15 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %77 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %arg16 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %collapsed_36 = tensor.collapse_shape %77 [[0, 1], [2]] : tensor<2x65x128xf32> into tensor<130x128xf32>
    %78 = tensor.empty() : tensor<128x256xf32>
    %transposed_37 = linalg.transpose ins(%arg17 : tensor<256x128xf32>) outs(%78 : tensor<128x256xf32>) permutation = [1, 0] 
    %79 = tensor.empty() : tensor<130x256xf32>
    %80 = linalg.fill ins(%cst : f32) outs(%79 : tensor<130x256xf32>) -> tensor<130x256xf32>
    %81 = linalg.matmul ins(%collapsed_36, %transposed_37 : tensor<130x128xf32>, tensor<128x256xf32>) outs(%80 : tensor<130x256xf32>) -> tensor<130x256xf32>
    %82 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%81, %arg18 : tensor<130x256xf32>, tensor<256xf32>) outs(%79 : tensor<130x256xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x256xf32>
    %expanded_38 = tensor.expand_shape %82 [[0, 1], [2]] output_shape [2, 65, 256] : tensor<130x256xf32> into tensor<2x65x256xf32>
    %83 = tensor.empty() : tensor<2x65x256xf32>
    %84 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_38 : tensor<2x65x256xf32>) outs(%83 : tensor<2x65x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_8 : f32
      %153 = math.erf %152 : f32
      %154 = arith.addf %153, %cst_1 : f32
      %155 = arith.mulf %154, %cst_2 : f32
      %156 = arith.mulf %in, %155 : f32
      linalg.yield %156 : f32
    } -> tensor<2x65x256xf32>
    %collapsed_39 = tensor.collapse_shape %84 [[0, 1], [2]] : tensor<2x65x256xf32> into tensor<130x256xf32>
    %85 = tensor.empty() : tensor<256x128xf32>
    %transposed_40 = linalg.transpose ins(%arg19 : tensor<128x256xf32>) outs(%85 : tensor<256x128xf32>) permutation = [1, 0] 
    %86 = linalg.matmul ins(%collapsed_39, %transposed_40 : tensor<130x256xf32>, tensor<256x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %87 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%86, %arg20 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_41 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [2, 65, 128] : tensor<130x128xf32> into tensor<2x65x128xf32>
    %88 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_41, %64 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %89 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%88 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %90 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_42 = tensor.collapse_shape %90 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %91 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_42 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %92 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %91 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.subf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %93 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %92 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %94 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%93 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %95 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %96 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.truncf %cst_5 : f64 to f32
      %153 = arith.addf %in, %152 : f32
      linalg.yield %153 : f32
    } -> tensor<2x65x1xf32>
    %97 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = math.rsqrt %in : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_43 = tensor.collapse_shape %97 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %98 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_43 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %99 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %98 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %100 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99, %arg29 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %101 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %arg30 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %collapsed_44 = tensor.collapse_shape %101 [[0, 1], [2]] : tensor<2x65x128xf32> into tensor<130x128xf32>
    %transposed_45 = linalg.transpose ins(%arg21 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %102 = linalg.matmul ins(%collapsed_44, %transposed_45 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %103 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%102, %arg22 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_46 = tensor.expand_shape %103 [[0, 1], [2, 3]] output_shape [2, 65, 2, 64] : tensor<130x128xf32> into tensor<2x65x2x64xf32>
    %transposed_47 = linalg.transpose ins(%expanded_46 : tensor<2x65x2x64xf32>) outs(%35 : tensor<2x2x65x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_48 = linalg.transpose ins(%arg23 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %104 = linalg.matmul ins(%collapsed_44, %transposed_48 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %105 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%104, %arg24 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_49 = tensor.expand_shape %105 [[0, 1], [2, 3]] output_shape [2, 65, 2, 64] : tensor<130x128xf32> into tensor<2x65x2x64xf32>
    %transposed_50 = linalg.transpose ins(%arg25 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %106 = linalg.matmul ins(%collapsed_44, %transposed_50 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %107 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%106, %arg26 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_51 = tensor.expand_shape %107 [[0, 1], [2, 3]] output_shape [2, 65, 2, 64] : tensor<130x128xf32> into tensor<2x65x2x64xf32>
    %transposed_52 = linalg.transpose ins(%expanded_51 : tensor<2x65x2x64xf32>) outs(%35 : tensor<2x2x65x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_53 = linalg.transpose ins(%expanded_49 : tensor<2x65x2x64xf32>) outs(%40 : tensor<2x2x64x65xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_54 = tensor.collapse_shape %transposed_47 [[0, 1], [2], [3]] : tensor<2x2x65x64xf32> into tensor<4x65x64xf32>
    %collapsed_55 = tensor.collapse_shape %transposed_53 [[0, 1], [2], [3]] : tensor<2x2x64x65xf32> into tensor<4x64x65xf32>
    %108 = linalg.batch_matmul ins(%collapsed_54, %collapsed_55 : tensor<4x65x64xf32>, tensor<4x64x65xf32>) outs(%42 : tensor<4x65x65xf32>) -> tensor<4x65x65xf32>
    %expanded_56 = tensor.expand_shape %108 [[0, 1], [2], [3]] output_shape [2, 2, 65, 65] : tensor<4x65x65xf32> into tensor<2x2x65x65xf32>
    %109 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_56 : tensor<2x2x65x65xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.mulf %in, %cst_7 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %110 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%109, %14 : tensor<2x2x65x65xf32>, tensor<2x1x65x65xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %111:2 = linalg.generic {indexing_maps = [#map4, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%110 : tensor<2x2x65x65xf32>) outs(%50, %48 : tensor<2x2x65xf32>, tensor<2x2x65xi64>) {
    ^bb0(%in: f32, %out: f32, %out_75: i64):
      %152 = linalg.index 3 : index
      %153 = arith.index_cast %152 : index to i64
      %154 = arith.maximumf %in, %out : f32
      %155 = arith.cmpf ogt, %in, %out : f32
      %156 = arith.select %155, %153, %out_75 : i64
      linalg.yield %154, %156 : f32, i64
    } -> (tensor<2x2x65xf32>, tensor<2x2x65xi64>)
    %expanded_57 = tensor.expand_shape %111#0 [[0], [1], [2, 3]] output_shape [2, 2, 65, 1] : tensor<2x2x65xf32> into tensor<2x2x65x1xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%110, %expanded_57 : tensor<2x2x65x65xf32>, tensor<2x2x65x1xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.subf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %113 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%112 : tensor<2x2x65x65xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = math.exp %in : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %114 = linalg.generic {indexing_maps = [#map4, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%113 : tensor<2x2x65x65xf32>) outs(%55 : tensor<2x2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x1xf32>
    %115 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%113, %114 : tensor<2x2x65x65xf32>, tensor<2x2x65x1xf32>) outs(%44 : tensor<2x2x65x65xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.divf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x2x65x65xf32>
    %collapsed_58 = tensor.collapse_shape %115 [[0, 1], [2], [3]] : tensor<2x2x65x65xf32> into tensor<4x65x65xf32>
    %collapsed_59 = tensor.collapse_shape %transposed_52 [[0, 1], [2], [3]] : tensor<2x2x65x64xf32> into tensor<4x65x64xf32>
    %116 = linalg.batch_matmul ins(%collapsed_58, %collapsed_59 : tensor<4x65x65xf32>, tensor<4x65x64xf32>) outs(%59 : tensor<4x65x64xf32>) -> tensor<4x65x64xf32>
    %expanded_60 = tensor.expand_shape %116 [[0, 1], [2], [3]] output_shape [2, 2, 65, 64] : tensor<4x65x64xf32> into tensor<2x2x65x64xf32>
    %transposed_61 = linalg.transpose ins(%expanded_60 : tensor<2x2x65x64xf32>) outs(%61 : tensor<2x65x2x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_62 = tensor.collapse_shape %transposed_61 [[0, 1], [2, 3]] : tensor<2x65x2x64xf32> into tensor<130x128xf32>
    %transposed_63 = linalg.transpose ins(%arg27 : tensor<128x128xf32>) outs(%30 : tensor<128x128xf32>) permutation = [1, 0] 
    %117 = linalg.matmul ins(%collapsed_62, %transposed_63 : tensor<130x128xf32>, tensor<128x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %118 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%117, %arg28 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_64 = tensor.expand_shape %118 [[0, 1], [2]] output_shape [2, 65, 128] : tensor<130x128xf32> into tensor<2x65x128xf32>
    %119 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_64, %88 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %120 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%119 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %121 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_65 = tensor.collapse_shape %121 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %122 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_65 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %123 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %122 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.subf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %124 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %123 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %125 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%124 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %126 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %127 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.truncf %cst_5 : f64 to f32
      %153 = arith.addf %in, %152 : f32
      linalg.yield %153 : f32
    } -> tensor<2x65x1xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = math.rsqrt %in : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_66 = tensor.collapse_shape %128 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %129 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_66 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %130 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %129 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %131 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %arg31 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %132 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131, %arg32 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %collapsed_67 = tensor.collapse_shape %132 [[0, 1], [2]] : tensor<2x65x128xf32> into tensor<130x128xf32>
    %transposed_68 = linalg.transpose ins(%arg33 : tensor<256x128xf32>) outs(%78 : tensor<128x256xf32>) permutation = [1, 0] 
    %133 = linalg.matmul ins(%collapsed_67, %transposed_68 : tensor<130x128xf32>, tensor<128x256xf32>) outs(%80 : tensor<130x256xf32>) -> tensor<130x256xf32>
    %134 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%133, %arg34 : tensor<130x256xf32>, tensor<256xf32>) outs(%79 : tensor<130x256xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x256xf32>
    %expanded_69 = tensor.expand_shape %134 [[0, 1], [2]] output_shape [2, 65, 256] : tensor<130x256xf32> into tensor<2x65x256xf32>
    %135 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_69 : tensor<2x65x256xf32>) outs(%83 : tensor<2x65x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_8 : f32
      %153 = math.erf %152 : f32
      %154 = arith.addf %153, %cst_1 : f32
      %155 = arith.mulf %154, %cst_2 : f32
      %156 = arith.mulf %in, %155 : f32
      linalg.yield %156 : f32
    } -> tensor<2x65x256xf32>
    %collapsed_70 = tensor.collapse_shape %135 [[0, 1], [2]] : tensor<2x65x256xf32> into tensor<130x256xf32>
    %transposed_71 = linalg.transpose ins(%arg35 : tensor<128x256xf32>) outs(%85 : tensor<256x128xf32>) permutation = [1, 0] 
    %136 = linalg.matmul ins(%collapsed_70, %transposed_71 : tensor<130x256xf32>, tensor<256x128xf32>) outs(%32 : tensor<130x128xf32>) -> tensor<130x128xf32>
    %137 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%136, %arg36 : tensor<130x128xf32>, tensor<128xf32>) outs(%31 : tensor<130x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<130x128xf32>
    %expanded_72 = tensor.expand_shape %137 [[0, 1], [2]] output_shape [2, 65, 128] : tensor<130x128xf32> into tensor<2x65x128xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_72, %119 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %139 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%138 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %140 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_73 = tensor.collapse_shape %140 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %141 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_73 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %142 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %141 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.subf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %143 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %142 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%143 : tensor<2x65x128xf32>) outs(%16 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.addf %in, %out : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %145 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.divf %in, %cst_6 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = arith.truncf %cst_5 : f64 to f32
      %153 = arith.addf %in, %152 : f32
      linalg.yield %153 : f32
    } -> tensor<2x65x1xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<2x65x1xf32>) outs(%15 : tensor<2x65x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %152 = math.rsqrt %in : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x1xf32>
    %collapsed_74 = tensor.collapse_shape %147 [[0], [1, 2]] : tensor<2x65x1xf32> into tensor<2x65xf32>
    %148 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_74 : tensor<2x65xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x65x128xf32>
    %149 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %148 : tensor<2x65x128xf32>, tensor<2x65x128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %arg37 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.mulf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    %151 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150, %arg38 : tensor<2x65x128xf32>, tensor<128xf32>) outs(%5 : tensor<2x65x128xf32>) {
    ^bb0(%in: f32, %in_75: f32, %out: f32):
      %152 = arith.addf %in, %in_75 : f32
      linalg.yield %152 : f32
    } -> tensor<2x65x128xf32>
    return %151 : tensor<2x65x128xf32>
  }
}

