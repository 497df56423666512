// Gemma-3, one layer with a sliding window of 16 and one without: B=2, Hq=4, Hkv=2, M=N=48, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: inputs_embeds
//   %arg1: attention_mask
//   %arg2: model.embed_tokens.weight
//   %arg3: model.layers.0.self_attn.q_proj.weight
//   %arg4: model.layers.0.self_attn.k_proj.weight
//   %arg5: model.layers.0.self_attn.v_proj.weight
//   %arg6: model.layers.0.self_attn.o_proj.weight
//   %arg7: model.layers.0.self_attn.q_norm.weight
//   %arg8: model.layers.0.self_attn.k_norm.weight
//   %arg9: model.layers.0.mlp.gate_proj.weight
//   %arg10: model.layers.0.mlp.up_proj.weight
//   %arg11: model.layers.0.mlp.down_proj.weight
//   %arg12: model.layers.0.input_layernorm.weight
//   %arg13: model.layers.0.post_attention_layernorm.weight
//   %arg14: model.layers.0.pre_feedforward_layernorm.weight
//   %arg15: model.layers.0.post_feedforward_layernorm.weight
//   %arg16: model.layers.1.self_attn.q_proj.weight
//   %arg17: model.layers.1.self_attn.k_proj.weight
//   %arg18: model.layers.1.self_attn.v_proj.weight
//   %arg19: model.layers.1.self_attn.o_proj.weight
//   %arg20: model.layers.1.self_attn.q_norm.weight
//   %arg21: model.layers.1.self_attn.k_norm.weight
//   %arg22: model.layers.1.mlp.gate_proj.weight
//   %arg23: model.layers.1.mlp.up_proj.weight
//   %arg24: model.layers.1.mlp.down_proj.weight
//   %arg25: model.layers.1.input_layernorm.weight
//   %arg26: model.layers.1.post_attention_layernorm.weight
//   %arg27: model.layers.1.pre_feedforward_layernorm.weight
//   %arg28: model.layers.1.post_feedforward_layernorm.weight
//   %arg29: model.norm.weight

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> ()>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map11 = affine_map<(d0, d1, d2) -> (d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map15 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map17 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @gemma3_model(%arg0: tensor<2x48x128xf32>, %arg1: tensor<2x48xi64>, %arg2: tensor<16x128xf32>, %arg3: tensor<256x128xf32>, %arg4: tensor<128x128xf32>, %arg5: tensor<128x128xf32>, %arg6: tensor<128x256xf32>, %arg7: tensor<64xf32>, %arg8: tensor<64xf32>, %arg9: tensor<256x128xf32>, %arg10: tensor<256x128xf32>, %arg11: tensor<128x256xf32>, %arg12: tensor<128xf32>, %arg13: tensor<128xf32>, %arg14: tensor<128xf32>, %arg15: tensor<128xf32>, %arg16: tensor<256x128xf32>, %arg17: tensor<128x128xf32>, %arg18: tensor<128x128xf32>, %arg19: tensor<128x256xf32>, %arg20: tensor<64xf32>, %arg21: tensor<64xf32>, %arg22: tensor<256x128xf32>, %arg23: tensor<256x128xf32>, %arg24: tensor<128x256xf32>, %arg25: tensor<128xf32>, %arg26: tensor<128xf32>, %arg27: tensor<128xf32>, %arg28: tensor<128xf32>, %arg29: tensor<128xf32>) -> tensor<2x48x128xf32> {
    %c16_i64 = arith.constant 16 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c48_i64 = arith.constant 48 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %c3_i64 = arith.constant 3 : i64
    %cst_1 = arith.constant 4.471500e-02 : f32
    %cst_2 = arith.constant 7.977240e-01 : f32
    %cst_3 = arith.constant 1.000000e+00 : f32
    %cst_4 = arith.constant 5.000000e-01 : f32
    %cst_5 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = arith.constant dense<true> : tensor<i1>
    %cst_8 = arith.constant 9.9999999999999995E-7 : f64
    %cst_9 = arith.constant dense_resource<torch_tensor_32_torch.float32_1> : tensor<32xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_32_torch.float32> : tensor<32xf32>
    %cst_11 = arith.constant 1.280000e+02 : f32
    %cst_12 = arith.constant 6.400000e+01 : f32
    %cst_13 = arith.constant 6.250000e-02 : f32
    %0 = tensor.empty() : tensor<48xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<48xi64>) {
    ^bb0(%out: i64):
      %230 = linalg.index 0 : index
      %231 = arith.index_cast %230 : index to i64
      linalg.yield %231 : i64
    } -> tensor<48xi64>
    %2 = tensor.empty() : tensor<2x48xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x48xi64>) outs(%2 : tensor<2x48xi1>) {
    ^bb0(%in: i64, %out: i1):
      %230 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %230 : i1
    } -> tensor<2x48xi1>
    %4 = tensor.empty() : tensor<2xi64>
    %5 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%4 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %230 = linalg.index 0 : index
      %231 = arith.index_cast %230 : index to i64
      linalg.yield %231 : i64
    } -> tensor<2xi64>
    %expanded = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [2, 1, 1, 1] : tensor<2xi64> into tensor<2x1x1x1xi64>
    %expanded_14 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 48, 1] : tensor<48xi64> into tensor<1x1x48x1xi64>
    %expanded_15 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 48] : tensor<48xi64> into tensor<1x1x1x48xi64>
    %6 = tensor.empty() : tensor<1x1x48x48xi1>
    %7 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15, %expanded_14 : tensor<1x1x1x48xi64>, tensor<1x1x48x1xi64>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i64, %in_93: i64, %out: i1):
      %230 = arith.cmpi sle, %in, %in_93 : i64
      linalg.yield %230 : i1
    } -> tensor<1x1x48x48xi1>
    %8 = linalg.generic {indexing_maps = [#map5, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7, %7 : tensor<i1>, tensor<1x1x48x48xi1>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i1, %in_93: i1, %out: i1):
      %230 = arith.andi %in, %in_93 : i1
      linalg.yield %230 : i1
    } -> tensor<1x1x48x48xi1>
    %9 = tensor.empty() : tensor<2x1x1x48xi1>
    %10 = linalg.generic {indexing_maps = [#map6, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_15 : tensor<2x1x1x1xi64>, tensor<1x1x1x48xi64>) outs(%9 : tensor<2x1x1x48xi1>) {
    ^bb0(%in: i64, %in_93: i64, %out: i1):
      %230 = arith.cmpi slt, %in, %c0_i64 : i64
      %231 = arith.addi %in, %c2_i64 : i64
      %232 = arith.select %230, %231, %in : i64
      %233 = arith.index_cast %232 : i64 to index
      %234 = arith.cmpi slt, %in_93, %c0_i64 : i64
      %235 = arith.addi %in_93, %c48_i64 : i64
      %236 = arith.select %234, %235, %in_93 : i64
      %237 = arith.index_cast %236 : i64 to index
      %extracted = tensor.extract %3[%233, %237] : tensor<2x48xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x1x48xi1>
    %11 = tensor.empty() : tensor<2x1x48x48xi1>
    %12 = linalg.generic {indexing_maps = [#map8, #map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %10 : tensor<1x1x48x48xi1>, tensor<2x1x1x48xi1>) outs(%11 : tensor<2x1x48x48xi1>) {
    ^bb0(%in: i1, %in_93: i1, %out: i1):
      %230 = arith.andi %in, %in_93 : i1
      linalg.yield %230 : i1
    } -> tensor<2x1x48x48xi1>
    %13 = tensor.empty() : tensor<2x1x48x48xf32>
    %14 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_6, %cst_5 : tensor<2x1x48x48xi1>, tensor<f32>, tensor<f32>) outs(%13 : tensor<2x1x48x48xf32>) {
    ^bb0(%in: i1, %in_93: f32, %in_94: f32, %out: f32):
      %230 = arith.select %in, %in_93, %in_94 : f32
      linalg.yield %230 : f32
    } -> tensor<2x1x48x48xf32>
    %15 = tensor.empty() : tensor<1x1x48x1xi64>
    %16 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_14 : tensor<1x1x48x1xi64>) outs(%15 : tensor<1x1x48x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %230 = arith.subi %in, %c16_i64 : i64
      linalg.yield %230 : i64
    } -> tensor<1x1x48x1xi64>
    %17 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15, %16 : tensor<1x1x1x48xi64>, tensor<1x1x48x1xi64>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i64, %in_93: i64, %out: i1):
      %230 = arith.cmpi sgt, %in, %in_93 : i64
      linalg.yield %230 : i1
    } -> tensor<1x1x48x48xi1>
    %18 = linalg.generic {indexing_maps = [#map5, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7, %17 : tensor<i1>, tensor<1x1x48x48xi1>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i1, %in_93: i1, %out: i1):
      %230 = arith.andi %in, %in_93 : i1
      linalg.yield %230 : i1
    } -> tensor<1x1x48x48xi1>
    %19 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %7 : tensor<1x1x48x48xi1>, tensor<1x1x48x48xi1>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i1, %in_93: i1, %out: i1):
      %230 = arith.andi %in, %in_93 : i1
      linalg.yield %230 : i1
    } -> tensor<1x1x48x48xi1>
    %20 = linalg.generic {indexing_maps = [#map5, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7, %19 : tensor<i1>, tensor<1x1x48x48xi1>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i1, %in_93: i1, %out: i1):
      %230 = arith.andi %in, %in_93 : i1
      linalg.yield %230 : i1
    } -> tensor<1x1x48x48xi1>
    %21 = linalg.generic {indexing_maps = [#map8, #map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20, %10 : tensor<1x1x48x48xi1>, tensor<2x1x1x48xi1>) outs(%11 : tensor<2x1x48x48xi1>) {
    ^bb0(%in: i1, %in_93: i1, %out: i1):
      %230 = arith.andi %in, %in_93 : i1
      linalg.yield %230 : i1
    } -> tensor<2x1x48x48xi1>
    %22 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %cst_6, %cst_5 : tensor<2x1x48x48xi1>, tensor<f32>, tensor<f32>) outs(%13 : tensor<2x1x48x48xf32>) {
    ^bb0(%in: i1, %in_93: f32, %in_94: f32, %out: f32):
      %230 = arith.select %in, %in_93, %in_94 : f32
      linalg.yield %230 : f32
    } -> tensor<2x1x48x48xf32>
    %expanded_16 = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 48, 1] : tensor<48xi64> into tensor<1x48x1xi64>
    %23 = tensor.empty() : tensor<1x48x1xf32>
    %24 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<1x48x1xi64>) outs(%23 : tensor<1x48x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %230 = arith.sitofp %in : i64 to f32
      linalg.yield %230 : f32
    } -> tensor<1x48x1xf32>
    %25 = tensor.empty() : tensor<1x48x32xf32>
    %26 = linalg.generic {indexing_maps = [#map10, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %cst_10 : tensor<1x48x1xf32>, tensor<32xf32>) outs(%25 : tensor<1x48x32xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<1x48x32xf32>
    %concat = tensor.concat dim(2) %26, %26 : (tensor<1x48x32xf32>, tensor<1x48x32xf32>) -> tensor<1x48x64xf32>
    %27 = tensor.empty() : tensor<1x48x64xf32>
    %28 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x48x64xf32>) outs(%27 : tensor<1x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.cos %in : f32
      linalg.yield %230 : f32
    } -> tensor<1x48x64xf32>
    %29 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x48x64xf32>) outs(%27 : tensor<1x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.sin %in : f32
      linalg.yield %230 : f32
    } -> tensor<1x48x64xf32>
    %30 = linalg.generic {indexing_maps = [#map10, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %cst_9 : tensor<1x48x1xf32>, tensor<32xf32>) outs(%25 : tensor<1x48x32xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<1x48x32xf32>
    %concat_17 = tensor.concat dim(2) %30, %30 : (tensor<1x48x32xf32>, tensor<1x48x32xf32>) -> tensor<1x48x64xf32>
    %31 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat_17 : tensor<1x48x64xf32>) outs(%27 : tensor<1x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.cos %in : f32
      linalg.yield %230 : f32
    } -> tensor<1x48x64xf32>
    %32 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat_17 : tensor<1x48x64xf32>) outs(%27 : tensor<1x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.sin %in : f32
      linalg.yield %230 : f32
    } -> tensor<1x48x64xf32>
    %33 = tensor.empty() : tensor<2x48x128xf32>
    %34 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %35 = tensor.empty() : tensor<2x48x1xf32>
    %36 = linalg.fill ins(%cst : f32) outs(%35 : tensor<2x48x1xf32>) -> tensor<2x48x1xf32>
    %37 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%34 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %38 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %39 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %40 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %41 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %40 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %42 = tensor.empty() : tensor<128xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg12 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %44 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41, %43 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %45 = tensor.empty() : tensor<128x256xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<256x128xf32>) outs(%45 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %44 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %46 = tensor.empty() : tensor<96x256xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%46 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %48 = linalg.matmul ins(%collapsed, %transposed : tensor<96x128xf32>, tensor<128x256xf32>) outs(%47 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_18 = tensor.expand_shape %48 [[0, 1], [2, 3]] output_shape [2, 48, 4, 64] : tensor<96x256xf32> into tensor<2x48x4x64xf32>
    %49 = tensor.empty() : tensor<2x4x48x64xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<2x48x4x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) permutation = [0, 2, 1, 3] 
    %50 = tensor.empty() : tensor<128x128xf32>
    %transposed_20 = linalg.transpose ins(%arg4 : tensor<128x128xf32>) outs(%50 : tensor<128x128xf32>) permutation = [1, 0] 
    %51 = tensor.empty() : tensor<96x128xf32>
    %52 = linalg.fill ins(%cst : f32) outs(%51 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %53 = linalg.matmul ins(%collapsed, %transposed_20 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_21 = tensor.expand_shape %53 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %54 = tensor.empty() : tensor<2x2x48x64xf32>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<2x48x2x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_23 = linalg.transpose ins(%arg5 : tensor<128x128xf32>) outs(%50 : tensor<128x128xf32>) permutation = [1, 0] 
    %55 = linalg.matmul ins(%collapsed, %transposed_23 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_24 = tensor.expand_shape %55 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_25 = linalg.transpose ins(%expanded_24 : tensor<2x48x2x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %56 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_19 : tensor<2x4x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %57 = tensor.empty() : tensor<2x4x48x1xf32>
    %58 = linalg.fill ins(%cst : f32) outs(%57 : tensor<2x4x48x1xf32>) -> tensor<2x4x48x1xf32>
    %59 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%56 : tensor<2x4x48x64xf32>) outs(%58 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %60 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59 : tensor<2x4x48x1xf32>) outs(%57 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_12 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %61 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60 : tensor<2x4x48x1xf32>) outs(%57 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x4x48x1xf32>
    %62 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61 : tensor<2x4x48x1xf32>) outs(%57 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %63 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_19, %62 : tensor<2x4x48x64xf32>, tensor<2x4x48x1xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %64 = tensor.empty() : tensor<64xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg7 : tensor<64xf32>) outs(%64 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<64xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63, %65 : tensor<2x4x48x64xf32>, tensor<64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %67 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_22 : tensor<2x2x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %68 = tensor.empty() : tensor<2x2x48x1xf32>
    %69 = linalg.fill ins(%cst : f32) outs(%68 : tensor<2x2x48x1xf32>) -> tensor<2x2x48x1xf32>
    %70 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%67 : tensor<2x2x48x64xf32>) outs(%69 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x1xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70 : tensor<2x2x48x1xf32>) outs(%68 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_12 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x1xf32>
    %72 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71 : tensor<2x2x48x1xf32>) outs(%68 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x2x48x1xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72 : tensor<2x2x48x1xf32>) outs(%68 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x1xf32>
    %74 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_22, %73 : tensor<2x2x48x64xf32>, tensor<2x2x48x1xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg8 : tensor<64xf32>) outs(%64 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<64xf32>
    %76 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74, %75 : tensor<2x2x48x64xf32>, tensor<64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %expanded_26 = tensor.expand_shape %31 [[0], [1, 2], [3]] output_shape [1, 1, 48, 64] : tensor<1x48x64xf32> into tensor<1x1x48x64xf32>
    %expanded_27 = tensor.expand_shape %32 [[0], [1, 2], [3]] output_shape [1, 1, 48, 64] : tensor<1x48x64xf32> into tensor<1x1x48x64xf32>
    %77 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66, %expanded_26 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %extracted_slice = tensor.extract_slice %66[0, 0, 0, 0] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %extracted_slice_28 = tensor.extract_slice %66[0, 0, 0, 32] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %78 = tensor.empty() : tensor<2x4x48x32xf32>
    %79 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28 : tensor<2x4x48x32xf32>) outs(%78 : tensor<2x4x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.negf %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x32xf32>
    %concat_29 = tensor.concat dim(3) %79, %extracted_slice : (tensor<2x4x48x32xf32>, tensor<2x4x48x32xf32>) -> tensor<2x4x48x64xf32>
    %80 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_29, %expanded_27 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %81 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %80 : tensor<2x4x48x64xf32>, tensor<2x4x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %82 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76, %expanded_26 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %extracted_slice_30 = tensor.extract_slice %76[0, 0, 0, 0] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %extracted_slice_31 = tensor.extract_slice %76[0, 0, 0, 32] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %83 = tensor.empty() : tensor<2x2x48x32xf32>
    %84 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_31 : tensor<2x2x48x32xf32>) outs(%83 : tensor<2x2x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.negf %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x32xf32>
    %concat_32 = tensor.concat dim(3) %84, %extracted_slice_30 : (tensor<2x2x48x32xf32>, tensor<2x2x48x32xf32>) -> tensor<2x2x48x64xf32>
    %85 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_32, %expanded_27 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %86 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%82, %85 : tensor<2x2x48x64xf32>, tensor<2x2x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %87 = tensor.empty() : tensor<2x2x2x48x64xf32>
    %88 = linalg.generic {indexing_maps = [#map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%86 : tensor<2x2x48x64xf32>) outs(%87 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %collapsed_33 = tensor.collapse_shape %88 [[0], [1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<2x4x48x64xf32>
    %89 = linalg.generic {indexing_maps = [#map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_25 : tensor<2x2x48x64xf32>) outs(%87 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %90 = tensor.empty() : tensor<2x4x64x48xf32>
    %transposed_34 = linalg.transpose ins(%collapsed_33 : tensor<2x4x48x64xf32>) outs(%90 : tensor<2x4x64x48xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_35 = tensor.collapse_shape %81 [[0, 1], [2], [3]] : tensor<2x4x48x64xf32> into tensor<8x48x64xf32>
    %collapsed_36 = tensor.collapse_shape %transposed_34 [[0, 1], [2], [3]] : tensor<2x4x64x48xf32> into tensor<8x64x48xf32>
    %91 = tensor.empty() : tensor<8x48x48xf32>
    %92 = linalg.fill ins(%cst : f32) outs(%91 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %93 = linalg.batch_matmul ins(%collapsed_35, %collapsed_36 : tensor<8x48x64xf32>, tensor<8x64x48xf32>) outs(%92 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %expanded_37 = tensor.expand_shape %93 [[0, 1], [2], [3]] output_shape [2, 4, 48, 48] : tensor<8x48x48xf32> into tensor<2x4x48x48xf32>
    %94 = tensor.empty() : tensor<2x4x48x48xf32>
    %95 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_37 : tensor<2x4x48x48xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.mulf %in, %cst_13 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %96 = linalg.generic {indexing_maps = [#map4, #map16, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%95, %22 : tensor<2x4x48x48xf32>, tensor<2x1x48x48xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %97 = tensor.empty() : tensor<2x4x48xi64>
    %98 = linalg.fill ins(%c0_i64 : i64) outs(%97 : tensor<2x4x48xi64>) -> tensor<2x4x48xi64>
    %99 = tensor.empty() : tensor<2x4x48xf32>
    %100 = linalg.fill ins(%cst_0 : f32) outs(%99 : tensor<2x4x48xf32>) -> tensor<2x4x48xf32>
    %101:2 = linalg.generic {indexing_maps = [#map4, #map17, #map17], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%96 : tensor<2x4x48x48xf32>) outs(%100, %98 : tensor<2x4x48xf32>, tensor<2x4x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_93: i64):
      %230 = linalg.index 3 : index
      %231 = arith.index_cast %230 : index to i64
      %232 = arith.maximumf %in, %out : f32
      %233 = arith.cmpf ogt, %in, %out : f32
      %234 = arith.select %233, %231, %out_93 : i64
      linalg.yield %232, %234 : f32, i64
    } -> (tensor<2x4x48xf32>, tensor<2x4x48xi64>)
    %expanded_38 = tensor.expand_shape %101#0 [[0], [1], [2, 3]] output_shape [2, 4, 48, 1] : tensor<2x4x48xf32> into tensor<2x4x48x1xf32>
    %102 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%96, %expanded_38 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.subf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %103 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%102 : tensor<2x4x48x48xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.exp %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %104 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%103 : tensor<2x4x48x48xf32>) outs(%58 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %105 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%103, %104 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.divf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %collapsed_39 = tensor.collapse_shape %105 [[0, 1], [2], [3]] : tensor<2x4x48x48xf32> into tensor<8x48x48xf32>
    %collapsed_40 = tensor.collapse_shape %89 [[0, 1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<8x48x64xf32>
    %106 = tensor.empty() : tensor<8x48x64xf32>
    %107 = linalg.fill ins(%cst : f32) outs(%106 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %108 = linalg.batch_matmul ins(%collapsed_39, %collapsed_40 : tensor<8x48x48xf32>, tensor<8x48x64xf32>) outs(%107 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %expanded_41 = tensor.expand_shape %108 [[0, 1], [2], [3]] output_shape [2, 4, 48, 64] : tensor<8x48x64xf32> into tensor<2x4x48x64xf32>
    %109 = tensor.empty() : tensor<2x48x4x64xf32>
    %transposed_42 = linalg.transpose ins(%expanded_41 : tensor<2x4x48x64xf32>) outs(%109 : tensor<2x48x4x64xf32>) permutation = [0, 2, 1, 3] 
    %110 = tensor.empty() : tensor<256x128xf32>
    %transposed_43 = linalg.transpose ins(%arg6 : tensor<128x256xf32>) outs(%110 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_44 = tensor.collapse_shape %transposed_42 [[0, 1], [2, 3]] : tensor<2x48x4x64xf32> into tensor<96x256xf32>
    %111 = linalg.matmul ins(%collapsed_44, %transposed_43 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_45 = tensor.expand_shape %111 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %112 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_45 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %113 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%112 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %114 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %115 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %116 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %117 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_45, %116 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %118 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg13 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %119 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%117, %118 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %120 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %119 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %121 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %122 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%121 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %123 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %124 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %125 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %126 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120, %125 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %127 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg14 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %128 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126, %127 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %transposed_46 = linalg.transpose ins(%arg9 : tensor<256x128xf32>) outs(%45 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_47 = tensor.collapse_shape %128 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %129 = linalg.matmul ins(%collapsed_47, %transposed_46 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%47 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_48 = tensor.expand_shape %129 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %130 = tensor.empty() : tensor<2x48x256xf32>
    %131 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_48 : tensor<2x48x256xf32>) outs(%130 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c3_i64 : f32, i64
      %231 = arith.mulf %230, %cst_1 : f32
      %232 = arith.addf %in, %231 : f32
      %233 = arith.mulf %232, %cst_2 : f32
      %234 = math.tanh %233 : f32
      %235 = arith.addf %234, %cst_3 : f32
      %236 = arith.mulf %235, %cst_4 : f32
      %237 = arith.mulf %in, %236 : f32
      linalg.yield %237 : f32
    } -> tensor<2x48x256xf32>
    %transposed_49 = linalg.transpose ins(%arg10 : tensor<256x128xf32>) outs(%45 : tensor<128x256xf32>) permutation = [1, 0] 
    %132 = linalg.matmul ins(%collapsed_47, %transposed_49 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%47 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_50 = tensor.expand_shape %132 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %133 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131, %expanded_50 : tensor<2x48x256xf32>, tensor<2x48x256xf32>) outs(%130 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x256xf32>
    %transposed_51 = linalg.transpose ins(%arg11 : tensor<128x256xf32>) outs(%110 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_52 = tensor.collapse_shape %133 [[0, 1], [2]] : tensor<2x48x256xf32> into tensor<96x256xf32>
    %134 = linalg.matmul ins(%collapsed_52, %transposed_51 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_53 = tensor.expand_shape %134 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %135 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_53 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %136 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%135 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %137 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %138 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %139 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %140 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_53, %139 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %141 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg15 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %142 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140, %141 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %143 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120, %142 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %144 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %145 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%144 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %146 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %147 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %148 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %149 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %148 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %150 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg25 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %151 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %150 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %transposed_54 = linalg.transpose ins(%arg16 : tensor<256x128xf32>) outs(%45 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_55 = tensor.collapse_shape %151 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %152 = linalg.matmul ins(%collapsed_55, %transposed_54 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%47 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_56 = tensor.expand_shape %152 [[0, 1], [2, 3]] output_shape [2, 48, 4, 64] : tensor<96x256xf32> into tensor<2x48x4x64xf32>
    %transposed_57 = linalg.transpose ins(%expanded_56 : tensor<2x48x4x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_58 = linalg.transpose ins(%arg17 : tensor<128x128xf32>) outs(%50 : tensor<128x128xf32>) permutation = [1, 0] 
    %153 = linalg.matmul ins(%collapsed_55, %transposed_58 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_59 = tensor.expand_shape %153 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_60 = linalg.transpose ins(%expanded_59 : tensor<2x48x2x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_61 = linalg.transpose ins(%arg18 : tensor<128x128xf32>) outs(%50 : tensor<128x128xf32>) permutation = [1, 0] 
    %154 = linalg.matmul ins(%collapsed_55, %transposed_61 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_62 = tensor.expand_shape %154 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_63 = linalg.transpose ins(%expanded_62 : tensor<2x48x2x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %155 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_57 : tensor<2x4x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %156 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%155 : tensor<2x4x48x64xf32>) outs(%58 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %157 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%156 : tensor<2x4x48x1xf32>) outs(%57 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_12 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %158 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%157 : tensor<2x4x48x1xf32>) outs(%57 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x4x48x1xf32>
    %159 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%158 : tensor<2x4x48x1xf32>) outs(%57 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %160 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_57, %159 : tensor<2x4x48x64xf32>, tensor<2x4x48x1xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %161 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg20 : tensor<64xf32>) outs(%64 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<64xf32>
    %162 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%160, %161 : tensor<2x4x48x64xf32>, tensor<64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %163 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_60 : tensor<2x2x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %164 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%163 : tensor<2x2x48x64xf32>) outs(%69 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x1xf32>
    %165 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%164 : tensor<2x2x48x1xf32>) outs(%68 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_12 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x1xf32>
    %166 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%165 : tensor<2x2x48x1xf32>) outs(%68 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x2x48x1xf32>
    %167 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%166 : tensor<2x2x48x1xf32>) outs(%68 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x1xf32>
    %168 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_60, %167 : tensor<2x2x48x64xf32>, tensor<2x2x48x1xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %169 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg21 : tensor<64xf32>) outs(%64 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<64xf32>
    %170 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%168, %169 : tensor<2x2x48x64xf32>, tensor<64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %expanded_64 = tensor.expand_shape %28 [[0], [1, 2], [3]] output_shape [1, 1, 48, 64] : tensor<1x48x64xf32> into tensor<1x1x48x64xf32>
    %expanded_65 = tensor.expand_shape %29 [[0], [1, 2], [3]] output_shape [1, 1, 48, 64] : tensor<1x48x64xf32> into tensor<1x1x48x64xf32>
    %171 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%162, %expanded_64 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %extracted_slice_66 = tensor.extract_slice %162[0, 0, 0, 0] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %extracted_slice_67 = tensor.extract_slice %162[0, 0, 0, 32] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %172 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_67 : tensor<2x4x48x32xf32>) outs(%78 : tensor<2x4x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.negf %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x32xf32>
    %concat_68 = tensor.concat dim(3) %172, %extracted_slice_66 : (tensor<2x4x48x32xf32>, tensor<2x4x48x32xf32>) -> tensor<2x4x48x64xf32>
    %173 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_68, %expanded_65 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %174 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%171, %173 : tensor<2x4x48x64xf32>, tensor<2x4x48x64xf32>) outs(%49 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x64xf32>
    %175 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%170, %expanded_64 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %extracted_slice_69 = tensor.extract_slice %170[0, 0, 0, 0] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %extracted_slice_70 = tensor.extract_slice %170[0, 0, 0, 32] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %176 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_70 : tensor<2x2x48x32xf32>) outs(%83 : tensor<2x2x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.negf %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x32xf32>
    %concat_71 = tensor.concat dim(3) %176, %extracted_slice_69 : (tensor<2x2x48x32xf32>, tensor<2x2x48x32xf32>) -> tensor<2x2x48x64xf32>
    %177 = linalg.generic {indexing_maps = [#map4, #map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_71, %expanded_65 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %178 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%175, %177 : tensor<2x2x48x64xf32>, tensor<2x2x48x64xf32>) outs(%54 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x2x48x64xf32>
    %179 = linalg.generic {indexing_maps = [#map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%178 : tensor<2x2x48x64xf32>) outs(%87 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %collapsed_72 = tensor.collapse_shape %179 [[0], [1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<2x4x48x64xf32>
    %180 = linalg.generic {indexing_maps = [#map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_63 : tensor<2x2x48x64xf32>) outs(%87 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %transposed_73 = linalg.transpose ins(%collapsed_72 : tensor<2x4x48x64xf32>) outs(%90 : tensor<2x4x64x48xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_74 = tensor.collapse_shape %174 [[0, 1], [2], [3]] : tensor<2x4x48x64xf32> into tensor<8x48x64xf32>
    %collapsed_75 = tensor.collapse_shape %transposed_73 [[0, 1], [2], [3]] : tensor<2x4x64x48xf32> into tensor<8x64x48xf32>
    %181 = linalg.batch_matmul ins(%collapsed_74, %collapsed_75 : tensor<8x48x64xf32>, tensor<8x64x48xf32>) outs(%92 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %expanded_76 = tensor.expand_shape %181 [[0, 1], [2], [3]] output_shape [2, 4, 48, 48] : tensor<8x48x48xf32> into tensor<2x4x48x48xf32>
    %182 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_76 : tensor<2x4x48x48xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.mulf %in, %cst_13 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %183 = linalg.generic {indexing_maps = [#map4, #map16, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%182, %14 : tensor<2x4x48x48xf32>, tensor<2x1x48x48xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %184:2 = linalg.generic {indexing_maps = [#map4, #map17, #map17], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%183 : tensor<2x4x48x48xf32>) outs(%100, %98 : tensor<2x4x48xf32>, tensor<2x4x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_93: i64):
      %230 = linalg.index 3 : index
      %231 = arith.index_cast %230 : index to i64
      %232 = arith.maximumf %in, %out : f32
      %233 = arith.cmpf ogt, %in, %out : f32
      %234 = arith.select %233, %231, %out_93 : i64
      linalg.yield %232, %234 : f32, i64
    } -> (tensor<2x4x48xf32>, tensor<2x4x48xi64>)
    %expanded_77 = tensor.expand_shape %184#0 [[0], [1], [2, 3]] output_shape [2, 4, 48, 1] : tensor<2x4x48xf32> into tensor<2x4x48x1xf32>
    %185 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%183, %expanded_77 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.subf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %186 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%185 : tensor<2x4x48x48xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.exp %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %187 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%186 : tensor<2x4x48x48xf32>) outs(%58 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x1xf32>
    %188 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%186, %187 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%94 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.divf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x4x48x48xf32>
    %collapsed_78 = tensor.collapse_shape %188 [[0, 1], [2], [3]] : tensor<2x4x48x48xf32> into tensor<8x48x48xf32>
    %collapsed_79 = tensor.collapse_shape %180 [[0, 1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<8x48x64xf32>
    %189 = linalg.batch_matmul ins(%collapsed_78, %collapsed_79 : tensor<8x48x48xf32>, tensor<8x48x64xf32>) outs(%107 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %expanded_80 = tensor.expand_shape %189 [[0, 1], [2], [3]] output_shape [2, 4, 48, 64] : tensor<8x48x64xf32> into tensor<2x4x48x64xf32>
    %transposed_81 = linalg.transpose ins(%expanded_80 : tensor<2x4x48x64xf32>) outs(%109 : tensor<2x48x4x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_82 = linalg.transpose ins(%arg19 : tensor<128x256xf32>) outs(%110 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_83 = tensor.collapse_shape %transposed_81 [[0, 1], [2, 3]] : tensor<2x48x4x64xf32> into tensor<96x256xf32>
    %190 = linalg.matmul ins(%collapsed_83, %transposed_82 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_84 = tensor.expand_shape %190 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %191 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_84 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %192 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%191 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %193 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %194 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %195 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%194 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %196 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_84, %195 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %197 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg26 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %198 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196, %197 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %199 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %198 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %200 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%199 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %201 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%200 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %202 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%201 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %203 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %204 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%203 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %205 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%199, %204 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %206 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg27 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %207 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205, %206 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %transposed_85 = linalg.transpose ins(%arg22 : tensor<256x128xf32>) outs(%45 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_86 = tensor.collapse_shape %207 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %208 = linalg.matmul ins(%collapsed_86, %transposed_85 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%47 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_87 = tensor.expand_shape %208 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %209 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_87 : tensor<2x48x256xf32>) outs(%130 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c3_i64 : f32, i64
      %231 = arith.mulf %230, %cst_1 : f32
      %232 = arith.addf %in, %231 : f32
      %233 = arith.mulf %232, %cst_2 : f32
      %234 = math.tanh %233 : f32
      %235 = arith.addf %234, %cst_3 : f32
      %236 = arith.mulf %235, %cst_4 : f32
      %237 = arith.mulf %in, %236 : f32
      linalg.yield %237 : f32
    } -> tensor<2x48x256xf32>
    %transposed_88 = linalg.transpose ins(%arg23 : tensor<256x128xf32>) outs(%45 : tensor<128x256xf32>) permutation = [1, 0] 
    %210 = linalg.matmul ins(%collapsed_86, %transposed_88 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%47 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_89 = tensor.expand_shape %210 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %211 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209, %expanded_89 : tensor<2x48x256xf32>, tensor<2x48x256xf32>) outs(%130 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x256xf32>
    %transposed_90 = linalg.transpose ins(%arg24 : tensor<128x256xf32>) outs(%110 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_91 = tensor.collapse_shape %211 [[0, 1], [2]] : tensor<2x48x256xf32> into tensor<96x256xf32>
    %212 = linalg.matmul ins(%collapsed_91, %transposed_90 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%52 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_92 = tensor.expand_shape %212 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %213 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_92 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %214 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%213 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %215 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%214 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %216 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%215 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %217 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %218 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_92, %217 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %219 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg28 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %220 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%218, %219 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %221 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%199, %220 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.addf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %222 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221 : tensor<2x48x128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %223 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%222 : tensor<2x48x128xf32>) outs(%36 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %out : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %224 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%223 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.divf %in, %cst_11 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %225 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%224 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.truncf %cst_8 : f64 to f32
      %231 = arith.addf %in, %230 : f32
      linalg.yield %231 : f32
    } -> tensor<2x48x1xf32>
    %226 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225 : tensor<2x48x1xf32>) outs(%35 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = math.rsqrt %in : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x1xf32>
    %227 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221, %226 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    %228 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg29 : tensor<128xf32>) outs(%42 : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %230 = arith.addf %in, %cst_3 : f32
      linalg.yield %230 : f32
    } -> tensor<128xf32>
    %229 = linalg.generic {indexing_maps = [#map9, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%227, %228 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%33 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_93: f32, %out: f32):
      %230 = arith.mulf %in, %in_93 : f32
      linalg.yield %230 : f32
    } -> tensor<2x48x128xf32>
    return %229 : tensor<2x48x128xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_32_torch.float32_1: "0x040000000000803F11F93F3F9AF50F3F9BE8D73E9BE8A13E23D4723E8718363E778D083ECDCCCC3D0D94993DC255663D15BA2C3DE386013D4F43C23C39AD913CF27B5A3C0AD7233CB0B9F53B9C44B83B772E8A3B383E4F3B0D691B3B2815E93A8EC9AE3A6F12833A8C94443A166A133A2517DD3960CBA53915A8783953773A3972D40B39",
      torch_tensor_32_torch.float32: "0x040000000000803FE03D263F9BE8D73E04358C3E8718363ED67FEC3D0D94993D3F76473DE386013D8B39A83CF27B5A3C2DE10D3C9C44B83B0E526F3B0D691B3B5CD7C93A6F12833A443B2A3A2517DD3972928F3953773A39E22CF238A4439D38BE3F4C38B2A204381D43AC374FBA5F37E3481137C1B0BC3670107536E4231F3679AFCE35"
    }
  }
#-}

