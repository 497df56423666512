// T5, two layers of encoder and decoder, six attentions: B=2, H=2, M=24, N=48, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: inputs_embeds
//   %arg1: decoder_inputs_embeds
//   %arg2: model.shared.weight
//   %arg3: model.encoder.block.0.layer.0.SelfAttention.q.weight
//   %arg4: model.encoder.block.0.layer.0.SelfAttention.k.weight
//   %arg5: model.encoder.block.0.layer.0.SelfAttention.v.weight
//   %arg6: model.encoder.block.0.layer.0.SelfAttention.o.weight
//   %arg7: model.encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight
//   %arg8: model.encoder.block.0.layer.0.layer_norm.weight
//   %arg9: model.encoder.block.0.layer.1.DenseReluDense.wi.weight
//   %arg10: model.encoder.block.0.layer.1.DenseReluDense.wo.weight
//   %arg11: model.encoder.block.0.layer.1.layer_norm.weight
//   %arg12: model.encoder.block.1.layer.0.SelfAttention.q.weight
//   %arg13: model.encoder.block.1.layer.0.SelfAttention.k.weight
//   %arg14: model.encoder.block.1.layer.0.SelfAttention.v.weight
//   %arg15: model.encoder.block.1.layer.0.SelfAttention.o.weight
//   %arg16: model.encoder.block.1.layer.0.layer_norm.weight
//   %arg17: model.encoder.block.1.layer.1.DenseReluDense.wi.weight
//   %arg18: model.encoder.block.1.layer.1.DenseReluDense.wo.weight
//   %arg19: model.encoder.block.1.layer.1.layer_norm.weight
//   %arg20: model.encoder.final_layer_norm.weight
//   %arg21: model.decoder.block.0.layer.0.SelfAttention.q.weight
//   %arg22: model.decoder.block.0.layer.0.SelfAttention.k.weight
//   %arg23: model.decoder.block.0.layer.0.SelfAttention.v.weight
//   %arg24: model.decoder.block.0.layer.0.SelfAttention.o.weight
//   %arg25: model.decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight
//   %arg26: model.decoder.block.0.layer.0.layer_norm.weight
//   %arg27: model.decoder.block.0.layer.1.EncDecAttention.q.weight
//   %arg28: model.decoder.block.0.layer.1.EncDecAttention.k.weight
//   %arg29: model.decoder.block.0.layer.1.EncDecAttention.v.weight
//   %arg30: model.decoder.block.0.layer.1.EncDecAttention.o.weight
//   %arg31: model.decoder.block.0.layer.1.layer_norm.weight
//   %arg32: model.decoder.block.0.layer.2.DenseReluDense.wi.weight
//   %arg33: model.decoder.block.0.layer.2.DenseReluDense.wo.weight
//   %arg34: model.decoder.block.0.layer.2.layer_norm.weight
//   %arg35: model.decoder.block.1.layer.0.SelfAttention.q.weight
//   %arg36: model.decoder.block.1.layer.0.SelfAttention.k.weight
//   %arg37: model.decoder.block.1.layer.0.SelfAttention.v.weight
//   %arg38: model.decoder.block.1.layer.0.SelfAttention.o.weight
//   %arg39: model.decoder.block.1.layer.0.layer_norm.weight
//   %arg40: model.decoder.block.1.layer.1.EncDecAttention.q.weight
//   %arg41: model.decoder.block.1.layer.1.EncDecAttention.k.weight
//   %arg42: model.decoder.block.1.layer.1.EncDecAttention.v.weight
//   %arg43: model.decoder.block.1.layer.1.EncDecAttention.o.weight
//   %arg44: model.decoder.block.1.layer.1.layer_norm.weight
//   %arg45: model.decoder.block.1.layer.2.DenseReluDense.wi.weight
//   %arg46: model.decoder.block.1.layer.2.DenseReluDense.wo.weight
//   %arg47: model.decoder.block.1.layer.2.layer_norm.weight
//   %arg48: model.decoder.final_layer_norm.weight

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d2)>
#map7 = affine_map<(d0, d1) -> (0, d1)>
#map8 = affine_map<(d0, d1) -> (d0, 0)>
#map9 = affine_map<(d0, d1) -> (d0, d1)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map11 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
module {
  func.func @t5_model(%arg0: tensor<2x48x128xf32>, %arg1: tensor<2x24x128xf32>, %arg2: tensor<16x128xf32>, %arg3: tensor<128x128xf32>, %arg4: tensor<128x128xf32>, %arg5: tensor<128x128xf32>, %arg6: tensor<128x128xf32>, %arg7: tensor<32x2xf32>, %arg8: tensor<128xf32>, %arg9: tensor<256x128xf32>, %arg10: tensor<128x256xf32>, %arg11: tensor<128xf32>, %arg12: tensor<128x128xf32>, %arg13: tensor<128x128xf32>, %arg14: tensor<128x128xf32>, %arg15: tensor<128x128xf32>, %arg16: tensor<128xf32>, %arg17: tensor<256x128xf32>, %arg18: tensor<128x256xf32>, %arg19: tensor<128xf32>, %arg20: tensor<128xf32>, %arg21: tensor<128x128xf32>, %arg22: tensor<128x128xf32>, %arg23: tensor<128x128xf32>, %arg24: tensor<128x128xf32>, %arg25: tensor<32x2xf32>, %arg26: tensor<128xf32>, %arg27: tensor<128x128xf32>, %arg28: tensor<128x128xf32>, %arg29: tensor<128x128xf32>, %arg30: tensor<128x128xf32>, %arg31: tensor<128xf32>, %arg32: tensor<256x128xf32>, %arg33: tensor<128x256xf32>, %arg34: tensor<128xf32>, %arg35: tensor<128x128xf32>, %arg36: tensor<128x128xf32>, %arg37: tensor<128x128xf32>, %arg38: tensor<128x128xf32>, %arg39: tensor<128xf32>, %arg40: tensor<128x128xf32>, %arg41: tensor<128x128xf32>, %arg42: tensor<128x128xf32>, %arg43: tensor<128x128xf32>, %arg44: tensor<128xf32>, %arg45: tensor<256x128xf32>, %arg46: tensor<128x256xf32>, %arg47: tensor<128xf32>, %arg48: tensor<128xf32>) -> tensor<2x24x128xf32> {
    %c8_i64 = arith.constant 8 : i64
    %c16_i64 = arith.constant 16 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c32 = arith.constant 32 : index
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x2x24x48xf32>
    %cst_2 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = arith.constant 2.0794415416798357 : f64
    %cst_5 = arith.constant 2.7725887222397811 : f64
    %cst_6 = arith.constant 9.9999999999999995E-7 : f64
    %cst_7 = arith.constant 1.280000e+02 : f32
    %cst_8 = arith.constant 8.000000e+00 : f32
    %cst_9 = arith.constant 1.600000e+01 : f32
    %cst_10 = arith.constant dense<31> : tensor<24x24xi64>
    %cst_11 = arith.constant dense<0> : tensor<24x24xi64>
    %cst_12 = arith.constant dense<15> : tensor<48x48xi64>
    %0 = tensor.empty() : tensor<48xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<48xi64>) {
    ^bb0(%out: i64):
      %297 = linalg.index 0 : index
      %298 = arith.index_cast %297 : index to i64
      linalg.yield %298 : i64
    } -> tensor<48xi64>
    %expanded = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 48, 1] : tensor<48xi64> into tensor<1x1x48x1xi64>
    %2 = tensor.empty() : tensor<1x1x48x1xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x48x1xi64>) outs(%2 : tensor<1x1x48x1xi1>) {
    ^bb0(%in: i64, %out: i1):
      %297 = arith.cmpi sge, %in, %c0_i64 : i64
      linalg.yield %297 : i1
    } -> tensor<1x1x48x1xi1>
    %4 = tensor.empty() : tensor<2x1x48x48xi1>
    %collapsed = tensor.collapse_shape %3 [[0, 1], [2, 3]] : tensor<1x1x48x1xi1> into tensor<1x48xi1>
    %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x48xi1>) outs(%4 : tensor<2x1x48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x48x48xi1>
    %6 = tensor.empty() : tensor<2x1x48x48xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map3, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %cst_3, %cst_2 : tensor<2x1x48x48xi1>, tensor<f32>, tensor<f32>) outs(%6 : tensor<2x1x48x48xf32>) {
    ^bb0(%in: i1, %in_175: f32, %in_176: f32, %out: f32):
      %297 = arith.select %in, %in_175, %in_176 : f32
      linalg.yield %297 : f32
    } -> tensor<2x1x48x48xf32>
    %8 = tensor.empty() : tensor<2x48x128xf32>
    %9 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %10 = tensor.empty() : tensor<2x48x1xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<2x48x1xf32>) -> tensor<2x48x1xf32>
    %12 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<2x48x128xf32>) outs(%11 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %13 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %14 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x48x1xf32>
    %15 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %15 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %17 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8, %16 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %18 = tensor.empty() : tensor<128x128xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_13 = tensor.collapse_shape %17 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %19 = tensor.empty() : tensor<96x128xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %21 = linalg.matmul ins(%collapsed_13, %transposed : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_14 = tensor.expand_shape %21 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %22 = tensor.empty() : tensor<2x2x48x64xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<2x48x2x64xf32>) outs(%22 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_16 = linalg.transpose ins(%arg4 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %23 = linalg.matmul ins(%collapsed_13, %transposed_16 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_17 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_18 = linalg.transpose ins(%arg5 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %24 = linalg.matmul ins(%collapsed_13, %transposed_18 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_19 = tensor.expand_shape %24 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<2x48x2x64xf32>) outs(%22 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_21 = tensor.expand_shape %1 [[0, 1]] output_shape [48, 1] : tensor<48xi64> into tensor<48x1xi64>
    %expanded_22 = tensor.expand_shape %1 [[0, 1]] output_shape [1, 48] : tensor<48xi64> into tensor<1x48xi64>
    %25 = tensor.empty() : tensor<48x48xi64>
    %26 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel"]} ins(%expanded_22, %expanded_21 : tensor<1x48xi64>, tensor<48x1xi64>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %in_175: i64, %out: i64):
      %297 = arith.subi %in, %in_175 : i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %27 = tensor.empty() : tensor<48x48xi1>
    %28 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<48x48xi64>) outs(%27 : tensor<48x48xi1>) {
    ^bb0(%in: i64, %out: i1):
      %297 = arith.cmpi sgt, %in, %c0_i64 : i64
      linalg.yield %297 : i1
    } -> tensor<48x48xi1>
    %29 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<48x48xi1>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i1, %out: i64):
      %297 = arith.extui %in : i1 to i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %30 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<48x48xi64>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %out: i64):
      %297 = arith.muli %in, %c16_i64 : i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %31 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<48x48xi64>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %out: i64):
      %297 = math.absi %in : i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %32 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<48x48xi64>) outs(%27 : tensor<48x48xi1>) {
    ^bb0(%in: i64, %out: i1):
      %297 = arith.cmpi slt, %in, %c8_i64 : i64
      linalg.yield %297 : i1
    } -> tensor<48x48xi1>
    %33 = tensor.empty() : tensor<48x48xf32>
    %34 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<48x48xi64>) outs(%33 : tensor<48x48xf32>) {
    ^bb0(%in: i64, %out: f32):
      %297 = arith.sitofp %in : i64 to f32
      linalg.yield %297 : f32
    } -> tensor<48x48xf32>
    %35 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%34 : tensor<48x48xf32>) outs(%33 : tensor<48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_8 : f32
      linalg.yield %297 : f32
    } -> tensor<48x48xf32>
    %36 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<48x48xf32>) outs(%33 : tensor<48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.log %in : f32
      linalg.yield %297 : f32
    } -> tensor<48x48xf32>
    %37 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%36 : tensor<48x48xf32>) outs(%33 : tensor<48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_5 : f64 to f32
      %298 = arith.divf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<48x48xf32>
    %38 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%37 : tensor<48x48xf32>) outs(%33 : tensor<48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.mulf %in, %cst_8 : f32
      linalg.yield %297 : f32
    } -> tensor<48x48xf32>
    %39 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%38 : tensor<48x48xf32>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: f32, %out: i64):
      %297 = arith.fptosi %in : f32 to i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %40 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%39 : tensor<48x48xi64>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %out: i64):
      %297 = arith.addi %in, %c8_i64 : i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %41 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%40, %cst_12 : tensor<48x48xi64>, tensor<48x48xi64>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %in_175: i64, %out: i64):
      %297 = arith.minsi %in, %in_175 : i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %42 = linalg.generic {indexing_maps = [#map9, #map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%32, %31, %41 : tensor<48x48xi1>, tensor<48x48xi64>, tensor<48x48xi64>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i1, %in_175: i64, %in_176: i64, %out: i64):
      %297 = arith.select %in, %in_175, %in_176 : i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %43 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%30, %42 : tensor<48x48xi64>, tensor<48x48xi64>) outs(%25 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %in_175: i64, %out: i64):
      %297 = arith.addi %in, %in_175 : i64
      linalg.yield %297 : i64
    } -> tensor<48x48xi64>
    %44 = tensor.empty() : tensor<48x48x2xf32>
    %45 = linalg.generic {indexing_maps = [#map10, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : tensor<48x48xi64>) outs(%44 : tensor<48x48x2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %297 = arith.index_cast %in : i64 to index
      %298 = linalg.index 2 : index
      %299 = arith.cmpi slt, %297, %c32 : index
      cf.assert %299, "index must be smaller than dim size"
      %300 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %300, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg7[%297, %298] : tensor<32x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<48x48x2xf32>
    %46 = tensor.empty() : tensor<2x48x48xf32>
    %transposed_23 = linalg.transpose ins(%45 : tensor<48x48x2xf32>) outs(%46 : tensor<2x48x48xf32>) permutation = [2, 0, 1] 
    %expanded_24 = tensor.expand_shape %transposed_23 [[0, 1], [2], [3]] output_shape [1, 2, 48, 48] : tensor<2x48x48xf32> into tensor<1x2x48x48xf32>
    %47 = tensor.empty() : tensor<2x2x64x48xf32>
    %transposed_25 = linalg.transpose ins(%expanded_17 : tensor<2x48x2x64xf32>) outs(%47 : tensor<2x2x64x48xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_26 = tensor.collapse_shape %transposed_15 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %collapsed_27 = tensor.collapse_shape %transposed_25 [[0, 1], [2], [3]] : tensor<2x2x64x48xf32> into tensor<4x64x48xf32>
    %48 = tensor.empty() : tensor<4x48x48xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<4x48x48xf32>) -> tensor<4x48x48xf32>
    %50 = linalg.batch_matmul ins(%collapsed_26, %collapsed_27 : tensor<4x48x64xf32>, tensor<4x64x48xf32>) outs(%49 : tensor<4x48x48xf32>) -> tensor<4x48x48xf32>
    %expanded_28 = tensor.expand_shape %50 [[0, 1], [2], [3]] output_shape [2, 2, 48, 48] : tensor<4x48x48xf32> into tensor<2x2x48x48xf32>
    %51 = tensor.empty() : tensor<2x2x48x48xf32>
    %52 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_28, %expanded_24 : tensor<2x2x48x48xf32>, tensor<1x2x48x48xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %53 = linalg.generic {indexing_maps = [#map1, #map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %7 : tensor<2x2x48x48xf32>, tensor<2x1x48x48xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %54 = tensor.empty() : tensor<2x2x48xi64>
    %55 = linalg.fill ins(%c0_i64 : i64) outs(%54 : tensor<2x2x48xi64>) -> tensor<2x2x48xi64>
    %56 = tensor.empty() : tensor<2x2x48xf32>
    %57 = linalg.fill ins(%cst_0 : f32) outs(%56 : tensor<2x2x48xf32>) -> tensor<2x2x48xf32>
    %58:2 = linalg.generic {indexing_maps = [#map1, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53 : tensor<2x2x48x48xf32>) outs(%57, %55 : tensor<2x2x48xf32>, tensor<2x2x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_175: i64):
      %297 = linalg.index 3 : index
      %298 = arith.index_cast %297 : index to i64
      %299 = arith.maximumf %in, %out : f32
      %300 = arith.cmpf ogt, %in, %out : f32
      %301 = arith.select %300, %298, %out_175 : i64
      linalg.yield %299, %301 : f32, i64
    } -> (tensor<2x2x48xf32>, tensor<2x2x48xi64>)
    %expanded_29 = tensor.expand_shape %58#0 [[0], [1], [2, 3]] output_shape [2, 2, 48, 1] : tensor<2x2x48xf32> into tensor<2x2x48x1xf32>
    %59 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %expanded_29 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.subf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %60 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59 : tensor<2x2x48x48xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.exp %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %61 = tensor.empty() : tensor<2x2x48x1xf32>
    %62 = linalg.fill ins(%cst : f32) outs(%61 : tensor<2x2x48x1xf32>) -> tensor<2x2x48x1xf32>
    %63 = linalg.generic {indexing_maps = [#map1, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%60 : tensor<2x2x48x48xf32>) outs(%62 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x1xf32>
    %64 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %63 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.divf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %collapsed_30 = tensor.collapse_shape %64 [[0, 1], [2], [3]] : tensor<2x2x48x48xf32> into tensor<4x48x48xf32>
    %collapsed_31 = tensor.collapse_shape %transposed_20 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %65 = tensor.empty() : tensor<4x48x64xf32>
    %66 = linalg.fill ins(%cst : f32) outs(%65 : tensor<4x48x64xf32>) -> tensor<4x48x64xf32>
    %67 = linalg.batch_matmul ins(%collapsed_30, %collapsed_31 : tensor<4x48x48xf32>, tensor<4x48x64xf32>) outs(%66 : tensor<4x48x64xf32>) -> tensor<4x48x64xf32>
    %expanded_32 = tensor.expand_shape %67 [[0, 1], [2], [3]] output_shape [2, 2, 48, 64] : tensor<4x48x64xf32> into tensor<2x2x48x64xf32>
    %68 = tensor.empty() : tensor<2x48x2x64xf32>
    %transposed_33 = linalg.transpose ins(%expanded_32 : tensor<2x2x48x64xf32>) outs(%68 : tensor<2x48x2x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_34 = linalg.transpose ins(%arg6 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_35 = tensor.collapse_shape %transposed_33 [[0, 1], [2, 3]] : tensor<2x48x2x64xf32> into tensor<96x128xf32>
    %69 = linalg.matmul ins(%collapsed_35, %transposed_34 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_36 = tensor.expand_shape %69 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %70 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_36 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %72 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%71 : tensor<2x48x128xf32>) outs(%11 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %74 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x48x1xf32>
    %75 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %76 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %75 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %77 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11, %76 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %78 = tensor.empty() : tensor<128x256xf32>
    %transposed_37 = linalg.transpose ins(%arg9 : tensor<256x128xf32>) outs(%78 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_38 = tensor.collapse_shape %77 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %79 = tensor.empty() : tensor<96x256xf32>
    %80 = linalg.fill ins(%cst : f32) outs(%79 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %81 = linalg.matmul ins(%collapsed_38, %transposed_37 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%80 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_39 = tensor.expand_shape %81 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %82 = tensor.empty() : tensor<2x48x256xf32>
    %83 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_39 : tensor<2x48x256xf32>) outs(%82 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.cmpf ugt, %in, %cst : f32
      %298 = arith.select %297, %in, %cst : f32
      linalg.yield %298 : f32
    } -> tensor<2x48x256xf32>
    %84 = tensor.empty() : tensor<256x128xf32>
    %transposed_40 = linalg.transpose ins(%arg10 : tensor<128x256xf32>) outs(%84 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_41 = tensor.collapse_shape %83 [[0, 1], [2]] : tensor<2x48x256xf32> into tensor<96x256xf32>
    %85 = linalg.matmul ins(%collapsed_41, %transposed_40 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_42 = tensor.expand_shape %85 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %86 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %expanded_42 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %87 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86 : tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %88 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%87 : tensor<2x48x128xf32>) outs(%11 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %89 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %90 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x48x1xf32>
    %91 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %92 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %91 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %93 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg16, %92 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %transposed_43 = linalg.transpose ins(%arg12 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_44 = tensor.collapse_shape %93 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %94 = linalg.matmul ins(%collapsed_44, %transposed_43 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_45 = tensor.expand_shape %94 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_46 = linalg.transpose ins(%expanded_45 : tensor<2x48x2x64xf32>) outs(%22 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_47 = linalg.transpose ins(%arg13 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %95 = linalg.matmul ins(%collapsed_44, %transposed_47 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_48 = tensor.expand_shape %95 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_49 = linalg.transpose ins(%arg14 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %96 = linalg.matmul ins(%collapsed_44, %transposed_49 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_50 = tensor.expand_shape %96 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_51 = linalg.transpose ins(%expanded_50 : tensor<2x48x2x64xf32>) outs(%22 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_52 = linalg.transpose ins(%expanded_48 : tensor<2x48x2x64xf32>) outs(%47 : tensor<2x2x64x48xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_53 = tensor.collapse_shape %transposed_46 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %collapsed_54 = tensor.collapse_shape %transposed_52 [[0, 1], [2], [3]] : tensor<2x2x64x48xf32> into tensor<4x64x48xf32>
    %97 = linalg.batch_matmul ins(%collapsed_53, %collapsed_54 : tensor<4x48x64xf32>, tensor<4x64x48xf32>) outs(%49 : tensor<4x48x48xf32>) -> tensor<4x48x48xf32>
    %expanded_55 = tensor.expand_shape %97 [[0, 1], [2], [3]] output_shape [2, 2, 48, 48] : tensor<4x48x48xf32> into tensor<2x2x48x48xf32>
    %98 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_55, %expanded_24 : tensor<2x2x48x48xf32>, tensor<1x2x48x48xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %99 = linalg.generic {indexing_maps = [#map1, #map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%98, %7 : tensor<2x2x48x48xf32>, tensor<2x1x48x48xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %100:2 = linalg.generic {indexing_maps = [#map1, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%99 : tensor<2x2x48x48xf32>) outs(%57, %55 : tensor<2x2x48xf32>, tensor<2x2x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_175: i64):
      %297 = linalg.index 3 : index
      %298 = arith.index_cast %297 : index to i64
      %299 = arith.maximumf %in, %out : f32
      %300 = arith.cmpf ogt, %in, %out : f32
      %301 = arith.select %300, %298, %out_175 : i64
      linalg.yield %299, %301 : f32, i64
    } -> (tensor<2x2x48xf32>, tensor<2x2x48xi64>)
    %expanded_56 = tensor.expand_shape %100#0 [[0], [1], [2, 3]] output_shape [2, 2, 48, 1] : tensor<2x2x48xf32> into tensor<2x2x48x1xf32>
    %101 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%99, %expanded_56 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.subf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %102 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%101 : tensor<2x2x48x48xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.exp %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %103 = linalg.generic {indexing_maps = [#map1, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%102 : tensor<2x2x48x48xf32>) outs(%62 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x1xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%102, %103 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%51 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.divf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x48x48xf32>
    %collapsed_57 = tensor.collapse_shape %104 [[0, 1], [2], [3]] : tensor<2x2x48x48xf32> into tensor<4x48x48xf32>
    %collapsed_58 = tensor.collapse_shape %transposed_51 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %105 = linalg.batch_matmul ins(%collapsed_57, %collapsed_58 : tensor<4x48x48xf32>, tensor<4x48x64xf32>) outs(%66 : tensor<4x48x64xf32>) -> tensor<4x48x64xf32>
    %expanded_59 = tensor.expand_shape %105 [[0, 1], [2], [3]] output_shape [2, 2, 48, 64] : tensor<4x48x64xf32> into tensor<2x2x48x64xf32>
    %transposed_60 = linalg.transpose ins(%expanded_59 : tensor<2x2x48x64xf32>) outs(%68 : tensor<2x48x2x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_61 = linalg.transpose ins(%arg15 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_62 = tensor.collapse_shape %transposed_60 [[0, 1], [2, 3]] : tensor<2x48x2x64xf32> into tensor<96x128xf32>
    %106 = linalg.matmul ins(%collapsed_62, %transposed_61 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_63 = tensor.expand_shape %106 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %107 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %expanded_63 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %108 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %109 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%108 : tensor<2x48x128xf32>) outs(%11 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %110 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %111 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x48x1xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %113 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %112 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %114 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg19, %113 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %transposed_64 = linalg.transpose ins(%arg17 : tensor<256x128xf32>) outs(%78 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_65 = tensor.collapse_shape %114 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %115 = linalg.matmul ins(%collapsed_65, %transposed_64 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%80 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_66 = tensor.expand_shape %115 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %116 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_66 : tensor<2x48x256xf32>) outs(%82 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.cmpf ugt, %in, %cst : f32
      %298 = arith.select %297, %in, %cst : f32
      linalg.yield %298 : f32
    } -> tensor<2x48x256xf32>
    %transposed_67 = linalg.transpose ins(%arg18 : tensor<128x256xf32>) outs(%84 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_68 = tensor.collapse_shape %116 [[0, 1], [2]] : tensor<2x48x256xf32> into tensor<96x256xf32>
    %117 = linalg.matmul ins(%collapsed_68, %transposed_67 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_69 = tensor.expand_shape %117 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %118 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %expanded_69 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %119 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %120 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%119 : tensor<2x48x128xf32>) outs(%11 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %121 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %122 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x48x1xf32>
    %123 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122 : tensor<2x48x1xf32>) outs(%10 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x1xf32>
    %124 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118, %123 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %125 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg20, %124 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%8 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x48x128xf32>
    %126 = tensor.empty() : tensor<24xi64>
    %127 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%126 : tensor<24xi64>) {
    ^bb0(%out: i64):
      %297 = linalg.index 0 : index
      %298 = arith.index_cast %297 : index to i64
      linalg.yield %298 : i64
    } -> tensor<24xi64>
    %expanded_70 = tensor.expand_shape %127 [[0, 1, 2, 3]] output_shape [1, 1, 24, 1] : tensor<24xi64> into tensor<1x1x24x1xi64>
    %expanded_71 = tensor.expand_shape %127 [[0, 1, 2, 3]] output_shape [1, 1, 1, 24] : tensor<24xi64> into tensor<1x1x1x24xi64>
    %128 = tensor.empty() : tensor<1x1x24x24xi1>
    %129 = linalg.generic {indexing_maps = [#map15, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_71, %expanded_70 : tensor<1x1x1x24xi64>, tensor<1x1x24x1xi64>) outs(%128 : tensor<1x1x24x24xi1>) {
    ^bb0(%in: i64, %in_175: i64, %out: i1):
      %297 = arith.cmpi sle, %in, %in_175 : i64
      linalg.yield %297 : i1
    } -> tensor<1x1x24x24xi1>
    %130 = tensor.empty() : tensor<2x1x24x24xi1>
    %collapsed_72 = tensor.collapse_shape %129 [[0, 1], [2], [3]] : tensor<1x1x24x24xi1> into tensor<1x24x24xi1>
    %131 = linalg.generic {indexing_maps = [#map16, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_72 : tensor<1x24x24xi1>) outs(%130 : tensor<2x1x24x24xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x24x24xi1>
    %132 = tensor.empty() : tensor<2x1x24x24xf32>
    %133 = linalg.generic {indexing_maps = [#map1, #map3, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%131, %cst_3, %cst_2 : tensor<2x1x24x24xi1>, tensor<f32>, tensor<f32>) outs(%132 : tensor<2x1x24x24xf32>) {
    ^bb0(%in: i1, %in_175: f32, %in_176: f32, %out: f32):
      %297 = arith.select %in, %in_175, %in_176 : f32
      linalg.yield %297 : f32
    } -> tensor<2x1x24x24xf32>
    %134 = tensor.empty() : tensor<1x1x24x1xi1>
    %135 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_70 : tensor<1x1x24x1xi64>) outs(%134 : tensor<1x1x24x1xi1>) {
    ^bb0(%in: i64, %out: i1):
      %297 = arith.cmpi sge, %in, %c0_i64 : i64
      linalg.yield %297 : i1
    } -> tensor<1x1x24x1xi1>
    %136 = tensor.empty() : tensor<2x1x24x48xi1>
    %collapsed_73 = tensor.collapse_shape %135 [[0, 1], [2, 3]] : tensor<1x1x24x1xi1> into tensor<1x24xi1>
    %137 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_73 : tensor<1x24xi1>) outs(%136 : tensor<2x1x24x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x24x48xi1>
    %138 = tensor.empty() : tensor<2x1x24x48xf32>
    %139 = linalg.generic {indexing_maps = [#map1, #map3, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%137, %cst_3, %cst_2 : tensor<2x1x24x48xi1>, tensor<f32>, tensor<f32>) outs(%138 : tensor<2x1x24x48xf32>) {
    ^bb0(%in: i1, %in_175: f32, %in_176: f32, %out: f32):
      %297 = arith.select %in, %in_175, %in_176 : f32
      linalg.yield %297 : f32
    } -> tensor<2x1x24x48xf32>
    %140 = tensor.empty() : tensor<2x24x128xf32>
    %141 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %142 = tensor.empty() : tensor<2x24x1xf32>
    %143 = linalg.fill ins(%cst : f32) outs(%142 : tensor<2x24x1xf32>) -> tensor<2x24x1xf32>
    %144 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%141 : tensor<2x24x128xf32>) outs(%143 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %145 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %146 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x1xf32>
    %147 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %148 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %147 : tensor<2x24x128xf32>, tensor<2x24x1xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %149 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg26, %148 : tensor<128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %transposed_74 = linalg.transpose ins(%arg21 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_75 = tensor.collapse_shape %149 [[0, 1], [2]] : tensor<2x24x128xf32> into tensor<48x128xf32>
    %150 = tensor.empty() : tensor<48x128xf32>
    %151 = linalg.fill ins(%cst : f32) outs(%150 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %152 = linalg.matmul ins(%collapsed_75, %transposed_74 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_76 = tensor.expand_shape %152 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %153 = tensor.empty() : tensor<2x2x24x64xf32>
    %transposed_77 = linalg.transpose ins(%expanded_76 : tensor<2x24x2x64xf32>) outs(%153 : tensor<2x2x24x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_78 = linalg.transpose ins(%arg22 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %154 = linalg.matmul ins(%collapsed_75, %transposed_78 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_79 = tensor.expand_shape %154 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %transposed_80 = linalg.transpose ins(%arg23 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %155 = linalg.matmul ins(%collapsed_75, %transposed_80 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_81 = tensor.expand_shape %155 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %transposed_82 = linalg.transpose ins(%expanded_81 : tensor<2x24x2x64xf32>) outs(%153 : tensor<2x2x24x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_83 = tensor.expand_shape %127 [[0, 1]] output_shape [24, 1] : tensor<24xi64> into tensor<24x1xi64>
    %expanded_84 = tensor.expand_shape %127 [[0, 1]] output_shape [1, 24] : tensor<24xi64> into tensor<1x24xi64>
    %156 = tensor.empty() : tensor<24x24xi64>
    %157 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel"]} ins(%expanded_84, %expanded_83 : tensor<1x24xi64>, tensor<24x1xi64>) outs(%156 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %in_175: i64, %out: i64):
      %297 = arith.subi %in, %in_175 : i64
      linalg.yield %297 : i64
    } -> tensor<24x24xi64>
    %158 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%157, %cst_11 : tensor<24x24xi64>, tensor<24x24xi64>) outs(%156 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %in_175: i64, %out: i64):
      %297 = arith.minsi %in, %in_175 : i64
      linalg.yield %297 : i64
    } -> tensor<24x24xi64>
    %159 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%158 : tensor<24x24xi64>) outs(%156 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %297 = arith.sitofp %in : i64 to f32
      %298 = arith.negf %297 : f32
      %299 = arith.fptosi %298 : f32 to i64
      linalg.yield %299 : i64
    } -> tensor<24x24xi64>
    %160 = tensor.empty() : tensor<24x24xi1>
    %161 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%159 : tensor<24x24xi64>) outs(%160 : tensor<24x24xi1>) {
    ^bb0(%in: i64, %out: i1):
      %297 = arith.cmpi slt, %in, %c16_i64 : i64
      linalg.yield %297 : i1
    } -> tensor<24x24xi1>
    %162 = tensor.empty() : tensor<24x24xf32>
    %163 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%159 : tensor<24x24xi64>) outs(%162 : tensor<24x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %297 = arith.sitofp %in : i64 to f32
      linalg.yield %297 : f32
    } -> tensor<24x24xf32>
    %164 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%163 : tensor<24x24xf32>) outs(%162 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_9 : f32
      linalg.yield %297 : f32
    } -> tensor<24x24xf32>
    %165 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%164 : tensor<24x24xf32>) outs(%162 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.log %in : f32
      linalg.yield %297 : f32
    } -> tensor<24x24xf32>
    %166 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%165 : tensor<24x24xf32>) outs(%162 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_4 : f64 to f32
      %298 = arith.divf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<24x24xf32>
    %167 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%166 : tensor<24x24xf32>) outs(%162 : tensor<24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.mulf %in, %cst_9 : f32
      linalg.yield %297 : f32
    } -> tensor<24x24xf32>
    %168 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%167 : tensor<24x24xf32>) outs(%156 : tensor<24x24xi64>) {
    ^bb0(%in: f32, %out: i64):
      %297 = arith.fptosi %in : f32 to i64
      linalg.yield %297 : i64
    } -> tensor<24x24xi64>
    %169 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%168 : tensor<24x24xi64>) outs(%156 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %out: i64):
      %297 = arith.addi %in, %c16_i64 : i64
      linalg.yield %297 : i64
    } -> tensor<24x24xi64>
    %170 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%169, %cst_10 : tensor<24x24xi64>, tensor<24x24xi64>) outs(%156 : tensor<24x24xi64>) {
    ^bb0(%in: i64, %in_175: i64, %out: i64):
      %297 = arith.minsi %in, %in_175 : i64
      linalg.yield %297 : i64
    } -> tensor<24x24xi64>
    %171 = linalg.generic {indexing_maps = [#map9, #map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%161, %159, %170 : tensor<24x24xi1>, tensor<24x24xi64>, tensor<24x24xi64>) outs(%156 : tensor<24x24xi64>) {
    ^bb0(%in: i1, %in_175: i64, %in_176: i64, %out: i64):
      %297 = arith.select %in, %in_175, %in_176 : i64
      linalg.yield %297 : i64
    } -> tensor<24x24xi64>
    %172 = tensor.empty() : tensor<24x24x2xf32>
    %173 = linalg.generic {indexing_maps = [#map10, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%171 : tensor<24x24xi64>) outs(%172 : tensor<24x24x2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %297 = arith.index_cast %in : i64 to index
      %298 = linalg.index 2 : index
      %299 = arith.cmpi slt, %297, %c32 : index
      cf.assert %299, "index must be smaller than dim size"
      %300 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %300, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg25[%297, %298] : tensor<32x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<24x24x2xf32>
    %174 = tensor.empty() : tensor<2x24x24xf32>
    %transposed_85 = linalg.transpose ins(%173 : tensor<24x24x2xf32>) outs(%174 : tensor<2x24x24xf32>) permutation = [2, 0, 1] 
    %expanded_86 = tensor.expand_shape %transposed_85 [[0, 1], [2], [3]] output_shape [1, 2, 24, 24] : tensor<2x24x24xf32> into tensor<1x2x24x24xf32>
    %175 = tensor.empty() : tensor<2x2x64x24xf32>
    %transposed_87 = linalg.transpose ins(%expanded_79 : tensor<2x24x2x64xf32>) outs(%175 : tensor<2x2x64x24xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_88 = tensor.collapse_shape %transposed_77 [[0, 1], [2], [3]] : tensor<2x2x24x64xf32> into tensor<4x24x64xf32>
    %collapsed_89 = tensor.collapse_shape %transposed_87 [[0, 1], [2], [3]] : tensor<2x2x64x24xf32> into tensor<4x64x24xf32>
    %176 = tensor.empty() : tensor<4x24x24xf32>
    %177 = linalg.fill ins(%cst : f32) outs(%176 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %178 = linalg.batch_matmul ins(%collapsed_88, %collapsed_89 : tensor<4x24x64xf32>, tensor<4x64x24xf32>) outs(%177 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %expanded_90 = tensor.expand_shape %178 [[0, 1], [2], [3]] output_shape [2, 2, 24, 24] : tensor<4x24x24xf32> into tensor<2x2x24x24xf32>
    %179 = tensor.empty() : tensor<2x2x24x24xf32>
    %180 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_90, %expanded_86 : tensor<2x2x24x24xf32>, tensor<1x2x24x24xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %181 = linalg.generic {indexing_maps = [#map1, #map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%180, %133 : tensor<2x2x24x24xf32>, tensor<2x1x24x24xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %182 = tensor.empty() : tensor<2x2x24xi64>
    %183 = linalg.fill ins(%c0_i64 : i64) outs(%182 : tensor<2x2x24xi64>) -> tensor<2x2x24xi64>
    %184 = tensor.empty() : tensor<2x2x24xf32>
    %185 = linalg.fill ins(%cst_0 : f32) outs(%184 : tensor<2x2x24xf32>) -> tensor<2x2x24xf32>
    %186:2 = linalg.generic {indexing_maps = [#map1, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%181 : tensor<2x2x24x24xf32>) outs(%185, %183 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_175: i64):
      %297 = linalg.index 3 : index
      %298 = arith.index_cast %297 : index to i64
      %299 = arith.maximumf %in, %out : f32
      %300 = arith.cmpf ogt, %in, %out : f32
      %301 = arith.select %300, %298, %out_175 : i64
      linalg.yield %299, %301 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_91 = tensor.expand_shape %186#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %187 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%181, %expanded_91 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.subf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %188 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%187 : tensor<2x2x24x24xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.exp %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %189 = tensor.empty() : tensor<2x2x24x1xf32>
    %190 = linalg.fill ins(%cst : f32) outs(%189 : tensor<2x2x24x1xf32>) -> tensor<2x2x24x1xf32>
    %191 = linalg.generic {indexing_maps = [#map1, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%188 : tensor<2x2x24x24xf32>) outs(%190 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x1xf32>
    %192 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%188, %191 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.divf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %collapsed_92 = tensor.collapse_shape %192 [[0, 1], [2], [3]] : tensor<2x2x24x24xf32> into tensor<4x24x24xf32>
    %collapsed_93 = tensor.collapse_shape %transposed_82 [[0, 1], [2], [3]] : tensor<2x2x24x64xf32> into tensor<4x24x64xf32>
    %193 = tensor.empty() : tensor<4x24x64xf32>
    %194 = linalg.fill ins(%cst : f32) outs(%193 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %195 = linalg.batch_matmul ins(%collapsed_92, %collapsed_93 : tensor<4x24x24xf32>, tensor<4x24x64xf32>) outs(%194 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %expanded_94 = tensor.expand_shape %195 [[0, 1], [2], [3]] output_shape [2, 2, 24, 64] : tensor<4x24x64xf32> into tensor<2x2x24x64xf32>
    %196 = tensor.empty() : tensor<2x24x2x64xf32>
    %transposed_95 = linalg.transpose ins(%expanded_94 : tensor<2x2x24x64xf32>) outs(%196 : tensor<2x24x2x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_96 = linalg.transpose ins(%arg24 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_97 = tensor.collapse_shape %transposed_95 [[0, 1], [2, 3]] : tensor<2x24x2x64xf32> into tensor<48x128xf32>
    %197 = linalg.matmul ins(%collapsed_97, %transposed_96 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_98 = tensor.expand_shape %197 [[0, 1], [2]] output_shape [2, 24, 128] : tensor<48x128xf32> into tensor<2x24x128xf32>
    %198 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %expanded_98 : tensor<2x24x128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %199 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198 : tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %200 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%199 : tensor<2x24x128xf32>) outs(%143 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %201 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %202 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%201 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x1xf32>
    %203 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %204 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198, %203 : tensor<2x24x128xf32>, tensor<2x24x1xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %205 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg31, %204 : tensor<128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %transposed_99 = linalg.transpose ins(%arg27 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_100 = tensor.collapse_shape %205 [[0, 1], [2]] : tensor<2x24x128xf32> into tensor<48x128xf32>
    %206 = linalg.matmul ins(%collapsed_100, %transposed_99 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_101 = tensor.expand_shape %206 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %transposed_102 = linalg.transpose ins(%expanded_101 : tensor<2x24x2x64xf32>) outs(%153 : tensor<2x2x24x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_103 = linalg.transpose ins(%arg28 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_104 = tensor.collapse_shape %125 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %207 = linalg.matmul ins(%collapsed_104, %transposed_103 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_105 = tensor.expand_shape %207 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_106 = linalg.transpose ins(%arg29 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %208 = linalg.matmul ins(%collapsed_104, %transposed_106 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_107 = tensor.expand_shape %208 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_108 = linalg.transpose ins(%expanded_107 : tensor<2x48x2x64xf32>) outs(%22 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_109 = linalg.transpose ins(%expanded_105 : tensor<2x48x2x64xf32>) outs(%47 : tensor<2x2x64x48xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_110 = tensor.collapse_shape %transposed_102 [[0, 1], [2], [3]] : tensor<2x2x24x64xf32> into tensor<4x24x64xf32>
    %collapsed_111 = tensor.collapse_shape %transposed_109 [[0, 1], [2], [3]] : tensor<2x2x64x48xf32> into tensor<4x64x48xf32>
    %209 = tensor.empty() : tensor<4x24x48xf32>
    %210 = linalg.fill ins(%cst : f32) outs(%209 : tensor<4x24x48xf32>) -> tensor<4x24x48xf32>
    %211 = linalg.batch_matmul ins(%collapsed_110, %collapsed_111 : tensor<4x24x64xf32>, tensor<4x64x48xf32>) outs(%210 : tensor<4x24x48xf32>) -> tensor<4x24x48xf32>
    %expanded_112 = tensor.expand_shape %211 [[0, 1], [2], [3]] output_shape [2, 2, 24, 48] : tensor<4x24x48xf32> into tensor<2x2x24x48xf32>
    %212 = tensor.empty() : tensor<2x2x24x48xf32>
    %213 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_112, %cst_1 : tensor<2x2x24x48xf32>, tensor<1x2x24x48xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %214 = linalg.generic {indexing_maps = [#map1, #map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%213, %139 : tensor<2x2x24x48xf32>, tensor<2x1x24x48xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %215:2 = linalg.generic {indexing_maps = [#map1, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%214 : tensor<2x2x24x48xf32>) outs(%185, %183 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_175: i64):
      %297 = linalg.index 3 : index
      %298 = arith.index_cast %297 : index to i64
      %299 = arith.maximumf %in, %out : f32
      %300 = arith.cmpf ogt, %in, %out : f32
      %301 = arith.select %300, %298, %out_175 : i64
      linalg.yield %299, %301 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_113 = tensor.expand_shape %215#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %216 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%214, %expanded_113 : tensor<2x2x24x48xf32>, tensor<2x2x24x1xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.subf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %217 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%216 : tensor<2x2x24x48xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.exp %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %218 = linalg.generic {indexing_maps = [#map1, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%217 : tensor<2x2x24x48xf32>) outs(%190 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x1xf32>
    %219 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%217, %218 : tensor<2x2x24x48xf32>, tensor<2x2x24x1xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.divf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %collapsed_114 = tensor.collapse_shape %219 [[0, 1], [2], [3]] : tensor<2x2x24x48xf32> into tensor<4x24x48xf32>
    %collapsed_115 = tensor.collapse_shape %transposed_108 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %220 = linalg.batch_matmul ins(%collapsed_114, %collapsed_115 : tensor<4x24x48xf32>, tensor<4x48x64xf32>) outs(%194 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %expanded_116 = tensor.expand_shape %220 [[0, 1], [2], [3]] output_shape [2, 2, 24, 64] : tensor<4x24x64xf32> into tensor<2x2x24x64xf32>
    %transposed_117 = linalg.transpose ins(%expanded_116 : tensor<2x2x24x64xf32>) outs(%196 : tensor<2x24x2x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_118 = linalg.transpose ins(%arg30 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_119 = tensor.collapse_shape %transposed_117 [[0, 1], [2, 3]] : tensor<2x24x2x64xf32> into tensor<48x128xf32>
    %221 = linalg.matmul ins(%collapsed_119, %transposed_118 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_120 = tensor.expand_shape %221 [[0, 1], [2]] output_shape [2, 24, 128] : tensor<48x128xf32> into tensor<2x24x128xf32>
    %222 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198, %expanded_120 : tensor<2x24x128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %223 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222 : tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %224 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%223 : tensor<2x24x128xf32>) outs(%143 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %225 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%224 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %226 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x1xf32>
    %227 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%226 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %228 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222, %227 : tensor<2x24x128xf32>, tensor<2x24x1xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %229 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg34, %228 : tensor<128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %transposed_121 = linalg.transpose ins(%arg32 : tensor<256x128xf32>) outs(%78 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_122 = tensor.collapse_shape %229 [[0, 1], [2]] : tensor<2x24x128xf32> into tensor<48x128xf32>
    %230 = tensor.empty() : tensor<48x256xf32>
    %231 = linalg.fill ins(%cst : f32) outs(%230 : tensor<48x256xf32>) -> tensor<48x256xf32>
    %232 = linalg.matmul ins(%collapsed_122, %transposed_121 : tensor<48x128xf32>, tensor<128x256xf32>) outs(%231 : tensor<48x256xf32>) -> tensor<48x256xf32>
    %expanded_123 = tensor.expand_shape %232 [[0, 1], [2]] output_shape [2, 24, 256] : tensor<48x256xf32> into tensor<2x24x256xf32>
    %233 = tensor.empty() : tensor<2x24x256xf32>
    %234 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_123 : tensor<2x24x256xf32>) outs(%233 : tensor<2x24x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.cmpf ugt, %in, %cst : f32
      %298 = arith.select %297, %in, %cst : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x256xf32>
    %transposed_124 = linalg.transpose ins(%arg33 : tensor<128x256xf32>) outs(%84 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_125 = tensor.collapse_shape %234 [[0, 1], [2]] : tensor<2x24x256xf32> into tensor<48x256xf32>
    %235 = linalg.matmul ins(%collapsed_125, %transposed_124 : tensor<48x256xf32>, tensor<256x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_126 = tensor.expand_shape %235 [[0, 1], [2]] output_shape [2, 24, 128] : tensor<48x128xf32> into tensor<2x24x128xf32>
    %236 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222, %expanded_126 : tensor<2x24x128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %237 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236 : tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %238 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%237 : tensor<2x24x128xf32>) outs(%143 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %239 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%238 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %240 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%239 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x1xf32>
    %241 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%240 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %242 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236, %241 : tensor<2x24x128xf32>, tensor<2x24x1xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %243 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg39, %242 : tensor<128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %transposed_127 = linalg.transpose ins(%arg35 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_128 = tensor.collapse_shape %243 [[0, 1], [2]] : tensor<2x24x128xf32> into tensor<48x128xf32>
    %244 = linalg.matmul ins(%collapsed_128, %transposed_127 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_129 = tensor.expand_shape %244 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %transposed_130 = linalg.transpose ins(%expanded_129 : tensor<2x24x2x64xf32>) outs(%153 : tensor<2x2x24x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_131 = linalg.transpose ins(%arg36 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %245 = linalg.matmul ins(%collapsed_128, %transposed_131 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_132 = tensor.expand_shape %245 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %transposed_133 = linalg.transpose ins(%arg37 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %246 = linalg.matmul ins(%collapsed_128, %transposed_133 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_134 = tensor.expand_shape %246 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %transposed_135 = linalg.transpose ins(%expanded_134 : tensor<2x24x2x64xf32>) outs(%153 : tensor<2x2x24x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_136 = linalg.transpose ins(%expanded_132 : tensor<2x24x2x64xf32>) outs(%175 : tensor<2x2x64x24xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_137 = tensor.collapse_shape %transposed_130 [[0, 1], [2], [3]] : tensor<2x2x24x64xf32> into tensor<4x24x64xf32>
    %collapsed_138 = tensor.collapse_shape %transposed_136 [[0, 1], [2], [3]] : tensor<2x2x64x24xf32> into tensor<4x64x24xf32>
    %247 = linalg.batch_matmul ins(%collapsed_137, %collapsed_138 : tensor<4x24x64xf32>, tensor<4x64x24xf32>) outs(%177 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %expanded_139 = tensor.expand_shape %247 [[0, 1], [2], [3]] output_shape [2, 2, 24, 24] : tensor<4x24x24xf32> into tensor<2x2x24x24xf32>
    %248 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_139, %expanded_86 : tensor<2x2x24x24xf32>, tensor<1x2x24x24xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %249 = linalg.generic {indexing_maps = [#map1, #map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%248, %133 : tensor<2x2x24x24xf32>, tensor<2x1x24x24xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %250:2 = linalg.generic {indexing_maps = [#map1, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%249 : tensor<2x2x24x24xf32>) outs(%185, %183 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_175: i64):
      %297 = linalg.index 3 : index
      %298 = arith.index_cast %297 : index to i64
      %299 = arith.maximumf %in, %out : f32
      %300 = arith.cmpf ogt, %in, %out : f32
      %301 = arith.select %300, %298, %out_175 : i64
      linalg.yield %299, %301 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_140 = tensor.expand_shape %250#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %251 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%249, %expanded_140 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.subf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %252 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%251 : tensor<2x2x24x24xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.exp %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %253 = linalg.generic {indexing_maps = [#map1, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%252 : tensor<2x2x24x24xf32>) outs(%190 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x1xf32>
    %254 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%252, %253 : tensor<2x2x24x24xf32>, tensor<2x2x24x1xf32>) outs(%179 : tensor<2x2x24x24xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.divf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x24xf32>
    %collapsed_141 = tensor.collapse_shape %254 [[0, 1], [2], [3]] : tensor<2x2x24x24xf32> into tensor<4x24x24xf32>
    %collapsed_142 = tensor.collapse_shape %transposed_135 [[0, 1], [2], [3]] : tensor<2x2x24x64xf32> into tensor<4x24x64xf32>
    %255 = linalg.batch_matmul ins(%collapsed_141, %collapsed_142 : tensor<4x24x24xf32>, tensor<4x24x64xf32>) outs(%194 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %expanded_143 = tensor.expand_shape %255 [[0, 1], [2], [3]] output_shape [2, 2, 24, 64] : tensor<4x24x64xf32> into tensor<2x2x24x64xf32>
    %transposed_144 = linalg.transpose ins(%expanded_143 : tensor<2x2x24x64xf32>) outs(%196 : tensor<2x24x2x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_145 = linalg.transpose ins(%arg38 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_146 = tensor.collapse_shape %transposed_144 [[0, 1], [2, 3]] : tensor<2x24x2x64xf32> into tensor<48x128xf32>
    %256 = linalg.matmul ins(%collapsed_146, %transposed_145 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_147 = tensor.expand_shape %256 [[0, 1], [2]] output_shape [2, 24, 128] : tensor<48x128xf32> into tensor<2x24x128xf32>
    %257 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236, %expanded_147 : tensor<2x24x128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %258 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257 : tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %259 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%258 : tensor<2x24x128xf32>) outs(%143 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %260 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%259 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %261 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%260 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x1xf32>
    %262 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%261 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %263 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257, %262 : tensor<2x24x128xf32>, tensor<2x24x1xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %264 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg44, %263 : tensor<128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %transposed_148 = linalg.transpose ins(%arg40 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_149 = tensor.collapse_shape %264 [[0, 1], [2]] : tensor<2x24x128xf32> into tensor<48x128xf32>
    %265 = linalg.matmul ins(%collapsed_149, %transposed_148 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_150 = tensor.expand_shape %265 [[0, 1], [2, 3]] output_shape [2, 24, 2, 64] : tensor<48x128xf32> into tensor<2x24x2x64xf32>
    %transposed_151 = linalg.transpose ins(%expanded_150 : tensor<2x24x2x64xf32>) outs(%153 : tensor<2x2x24x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_152 = linalg.transpose ins(%arg41 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %266 = linalg.matmul ins(%collapsed_104, %transposed_152 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_153 = tensor.expand_shape %266 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_154 = linalg.transpose ins(%arg42 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %267 = linalg.matmul ins(%collapsed_104, %transposed_154 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%20 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_155 = tensor.expand_shape %267 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_156 = linalg.transpose ins(%expanded_155 : tensor<2x48x2x64xf32>) outs(%22 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_157 = linalg.transpose ins(%expanded_153 : tensor<2x48x2x64xf32>) outs(%47 : tensor<2x2x64x48xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_158 = tensor.collapse_shape %transposed_151 [[0, 1], [2], [3]] : tensor<2x2x24x64xf32> into tensor<4x24x64xf32>
    %collapsed_159 = tensor.collapse_shape %transposed_157 [[0, 1], [2], [3]] : tensor<2x2x64x48xf32> into tensor<4x64x48xf32>
    %268 = linalg.batch_matmul ins(%collapsed_158, %collapsed_159 : tensor<4x24x64xf32>, tensor<4x64x48xf32>) outs(%210 : tensor<4x24x48xf32>) -> tensor<4x24x48xf32>
    %expanded_160 = tensor.expand_shape %268 [[0, 1], [2], [3]] output_shape [2, 2, 24, 48] : tensor<4x24x48xf32> into tensor<2x2x24x48xf32>
    %269 = linalg.generic {indexing_maps = [#map1, #map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_160, %cst_1 : tensor<2x2x24x48xf32>, tensor<1x2x24x48xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %270 = linalg.generic {indexing_maps = [#map1, #map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%269, %139 : tensor<2x2x24x48xf32>, tensor<2x1x24x48xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %271:2 = linalg.generic {indexing_maps = [#map1, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%270 : tensor<2x2x24x48xf32>) outs(%185, %183 : tensor<2x2x24xf32>, tensor<2x2x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_175: i64):
      %297 = linalg.index 3 : index
      %298 = arith.index_cast %297 : index to i64
      %299 = arith.maximumf %in, %out : f32
      %300 = arith.cmpf ogt, %in, %out : f32
      %301 = arith.select %300, %298, %out_175 : i64
      linalg.yield %299, %301 : f32, i64
    } -> (tensor<2x2x24xf32>, tensor<2x2x24xi64>)
    %expanded_161 = tensor.expand_shape %271#0 [[0], [1], [2, 3]] output_shape [2, 2, 24, 1] : tensor<2x2x24xf32> into tensor<2x2x24x1xf32>
    %272 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%270, %expanded_161 : tensor<2x2x24x48xf32>, tensor<2x2x24x1xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.subf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %273 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%272 : tensor<2x2x24x48xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.exp %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %274 = linalg.generic {indexing_maps = [#map1, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%273 : tensor<2x2x24x48xf32>) outs(%190 : tensor<2x2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x1xf32>
    %275 = linalg.generic {indexing_maps = [#map1, #map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%273, %274 : tensor<2x2x24x48xf32>, tensor<2x2x24x1xf32>) outs(%212 : tensor<2x2x24x48xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.divf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x2x24x48xf32>
    %collapsed_162 = tensor.collapse_shape %275 [[0, 1], [2], [3]] : tensor<2x2x24x48xf32> into tensor<4x24x48xf32>
    %collapsed_163 = tensor.collapse_shape %transposed_156 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %276 = linalg.batch_matmul ins(%collapsed_162, %collapsed_163 : tensor<4x24x48xf32>, tensor<4x48x64xf32>) outs(%194 : tensor<4x24x64xf32>) -> tensor<4x24x64xf32>
    %expanded_164 = tensor.expand_shape %276 [[0, 1], [2], [3]] output_shape [2, 2, 24, 64] : tensor<4x24x64xf32> into tensor<2x2x24x64xf32>
    %transposed_165 = linalg.transpose ins(%expanded_164 : tensor<2x2x24x64xf32>) outs(%196 : tensor<2x24x2x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_166 = linalg.transpose ins(%arg43 : tensor<128x128xf32>) outs(%18 : tensor<128x128xf32>) permutation = [1, 0] 
    %collapsed_167 = tensor.collapse_shape %transposed_165 [[0, 1], [2, 3]] : tensor<2x24x2x64xf32> into tensor<48x128xf32>
    %277 = linalg.matmul ins(%collapsed_167, %transposed_166 : tensor<48x128xf32>, tensor<128x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_168 = tensor.expand_shape %277 [[0, 1], [2]] output_shape [2, 24, 128] : tensor<48x128xf32> into tensor<2x24x128xf32>
    %278 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257, %expanded_168 : tensor<2x24x128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %279 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%278 : tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %280 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%279 : tensor<2x24x128xf32>) outs(%143 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %281 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%280 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %282 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%281 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x1xf32>
    %283 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%282 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %284 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%278, %283 : tensor<2x24x128xf32>, tensor<2x24x1xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %285 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg47, %284 : tensor<128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %transposed_169 = linalg.transpose ins(%arg45 : tensor<256x128xf32>) outs(%78 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_170 = tensor.collapse_shape %285 [[0, 1], [2]] : tensor<2x24x128xf32> into tensor<48x128xf32>
    %286 = linalg.matmul ins(%collapsed_170, %transposed_169 : tensor<48x128xf32>, tensor<128x256xf32>) outs(%231 : tensor<48x256xf32>) -> tensor<48x256xf32>
    %expanded_171 = tensor.expand_shape %286 [[0, 1], [2]] output_shape [2, 24, 256] : tensor<48x256xf32> into tensor<2x24x256xf32>
    %287 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_171 : tensor<2x24x256xf32>) outs(%233 : tensor<2x24x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.cmpf ugt, %in, %cst : f32
      %298 = arith.select %297, %in, %cst : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x256xf32>
    %transposed_172 = linalg.transpose ins(%arg46 : tensor<128x256xf32>) outs(%84 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_173 = tensor.collapse_shape %287 [[0, 1], [2]] : tensor<2x24x256xf32> into tensor<48x256xf32>
    %288 = linalg.matmul ins(%collapsed_173, %transposed_172 : tensor<48x256xf32>, tensor<256x128xf32>) outs(%151 : tensor<48x128xf32>) -> tensor<48x128xf32>
    %expanded_174 = tensor.expand_shape %288 [[0, 1], [2]] output_shape [2, 24, 128] : tensor<48x128xf32> into tensor<2x24x128xf32>
    %289 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%278, %expanded_174 : tensor<2x24x128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.addf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %290 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%289 : tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %291 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%290 : tensor<2x24x128xf32>) outs(%143 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.addf %in, %out : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %292 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%291 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.divf %in, %cst_7 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %293 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%292 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = arith.truncf %cst_6 : f64 to f32
      %298 = arith.addf %in, %297 : f32
      linalg.yield %298 : f32
    } -> tensor<2x24x1xf32>
    %294 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%293 : tensor<2x24x1xf32>) outs(%142 : tensor<2x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %297 = math.rsqrt %in : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x1xf32>
    %295 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%289, %294 : tensor<2x24x128xf32>, tensor<2x24x1xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    %296 = linalg.generic {indexing_maps = [#map6, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg48, %295 : tensor<128xf32>, tensor<2x24x128xf32>) outs(%140 : tensor<2x24x128xf32>) {
    ^bb0(%in: f32, %in_175: f32, %out: f32):
      %297 = arith.mulf %in, %in_175 : f32
      linalg.yield %297 : f32
    } -> tensor<2x24x128xf32>
    return %296 : tensor<2x24x128xf32>
  }
}

