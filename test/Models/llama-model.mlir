// Llama, two layers: B=2, Hq=4, Hkv=2, M=N=48, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: inputs_embeds
//   %arg1: attention_mask
//   %arg2: model.embed_tokens.weight
//   %arg3: model.layers.0.self_attn.q_proj.weight
//   %arg4: model.layers.0.self_attn.k_proj.weight
//   %arg5: model.layers.0.self_attn.v_proj.weight
//   %arg6: model.layers.0.self_attn.o_proj.weight
//   %arg7: model.layers.0.mlp.gate_proj.weight
//   %arg8: model.layers.0.mlp.up_proj.weight
//   %arg9: model.layers.0.mlp.down_proj.weight
//   %arg10: model.layers.0.input_layernorm.weight
//   %arg11: model.layers.0.post_attention_layernorm.weight
//   %arg12: model.layers.1.self_attn.q_proj.weight
//   %arg13: model.layers.1.self_attn.k_proj.weight
//   %arg14: model.layers.1.self_attn.v_proj.weight
//   %arg15: model.layers.1.self_attn.o_proj.weight
//   %arg16: model.layers.1.mlp.gate_proj.weight
//   %arg17: model.layers.1.mlp.up_proj.weight
//   %arg18: model.layers.1.mlp.down_proj.weight
//   %arg19: model.layers.1.input_layernorm.weight
//   %arg20: model.layers.1.post_attention_layernorm.weight
//   %arg21: model.norm.weight

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
#map12 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @llama_model(%arg0: tensor<2x48x128xf32>, %arg1: tensor<2x48xi64>, %arg2: tensor<16x128xf32>, %arg3: tensor<256x128xf32>, %arg4: tensor<128x128xf32>, %arg5: tensor<128x128xf32>, %arg6: tensor<128x256xf32>, %arg7: tensor<256x128xf32>, %arg8: tensor<256x128xf32>, %arg9: tensor<128x256xf32>, %arg10: tensor<128xf32>, %arg11: tensor<128xf32>, %arg12: tensor<256x128xf32>, %arg13: tensor<128x128xf32>, %arg14: tensor<128x128xf32>, %arg15: tensor<128x256xf32>, %arg16: tensor<256x128xf32>, %arg17: tensor<256x128xf32>, %arg18: tensor<128x256xf32>, %arg19: tensor<128xf32>, %arg20: tensor<128xf32>, %arg21: tensor<128xf32>) -> tensor<2x48x128xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c48_i64 = arith.constant 48 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<i1>
    %cst_5 = arith.constant 9.9999999999999995E-7 : f64
    %cst_6 = arith.constant dense_resource<torch_tensor_32_torch.float32> : tensor<32xf32>
    %cst_7 = arith.constant 1.280000e+02 : f32
    %cst_8 = arith.constant 1.250000e-01 : f32
    %0 = tensor.empty() : tensor<48xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<48xi64>) {
    ^bb0(%out: i64):
      %148 = linalg.index 0 : index
      %149 = arith.index_cast %148 : index to i64
      linalg.yield %149 : i64
    } -> tensor<48xi64>
    %2 = tensor.empty() : tensor<2x48xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x48xi64>) outs(%2 : tensor<2x48xi1>) {
    ^bb0(%in: i64, %out: i1):
      %148 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %148 : i1
    } -> tensor<2x48xi1>
    %4 = tensor.empty() : tensor<2xi64>
    %5 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%4 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %148 = linalg.index 0 : index
      %149 = arith.index_cast %148 : index to i64
      linalg.yield %149 : i64
    } -> tensor<2xi64>
    %expanded = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [2, 1, 1, 1] : tensor<2xi64> into tensor<2x1x1x1xi64>
    %expanded_9 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 48, 1] : tensor<48xi64> into tensor<1x1x48x1xi64>
    %expanded_10 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 48] : tensor<48xi64> into tensor<1x1x1x48xi64>
    %6 = tensor.empty() : tensor<1x1x48x48xi1>
    %7 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_10, %expanded_9 : tensor<1x1x1x48xi64>, tensor<1x1x48x1xi64>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i64, %in_85: i64, %out: i1):
      %148 = arith.cmpi sle, %in, %in_85 : i64
      linalg.yield %148 : i1
    } -> tensor<1x1x48x48xi1>
    %8 = linalg.generic {indexing_maps = [#map5, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_4, %7 : tensor<i1>, tensor<1x1x48x48xi1>) outs(%6 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i1, %in_85: i1, %out: i1):
      %148 = arith.andi %in, %in_85 : i1
      linalg.yield %148 : i1
    } -> tensor<1x1x48x48xi1>
    %9 = tensor.empty() : tensor<2x1x1x48xi1>
    %10 = linalg.generic {indexing_maps = [#map6, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_10 : tensor<2x1x1x1xi64>, tensor<1x1x1x48xi64>) outs(%9 : tensor<2x1x1x48xi1>) {
    ^bb0(%in: i64, %in_85: i64, %out: i1):
      %148 = arith.cmpi slt, %in, %c0_i64 : i64
      %149 = arith.addi %in, %c2_i64 : i64
      %150 = arith.select %148, %149, %in : i64
      %151 = arith.index_cast %150 : i64 to index
      %152 = arith.cmpi slt, %in_85, %c0_i64 : i64
      %153 = arith.addi %in_85, %c48_i64 : i64
      %154 = arith.select %152, %153, %in_85 : i64
      %155 = arith.index_cast %154 : i64 to index
      %extracted = tensor.extract %3[%151, %155] : tensor<2x48xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x1x48xi1>
    %11 = tensor.empty() : tensor<2x1x48x48xi1>
    %12 = linalg.generic {indexing_maps = [#map8, #map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %10 : tensor<1x1x48x48xi1>, tensor<2x1x1x48xi1>) outs(%11 : tensor<2x1x48x48xi1>) {
    ^bb0(%in: i1, %in_85: i1, %out: i1):
      %148 = arith.andi %in, %in_85 : i1
      linalg.yield %148 : i1
    } -> tensor<2x1x48x48xi1>
    %13 = tensor.empty() : tensor<2x1x48x48xf32>
    %14 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %cst_3, %cst_2 : tensor<2x1x48x48xi1>, tensor<f32>, tensor<f32>) outs(%13 : tensor<2x1x48x48xf32>) {
    ^bb0(%in: i1, %in_85: f32, %in_86: f32, %out: f32):
      %148 = arith.select %in, %in_85, %in_86 : f32
      linalg.yield %148 : f32
    } -> tensor<2x1x48x48xf32>
    %expanded_11 = tensor.expand_shape %1 [[0, 1, 2]] output_shape [1, 48, 1] : tensor<48xi64> into tensor<1x48x1xi64>
    %15 = tensor.empty() : tensor<1x48x1xf32>
    %16 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_11 : tensor<1x48x1xi64>) outs(%15 : tensor<1x48x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %148 = arith.sitofp %in : i64 to f32
      linalg.yield %148 : f32
    } -> tensor<1x48x1xf32>
    %17 = tensor.empty() : tensor<1x48x32xf32>
    %18 = linalg.generic {indexing_maps = [#map10, #map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16, %cst_6 : tensor<1x48x1xf32>, tensor<32xf32>) outs(%17 : tensor<1x48x32xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<1x48x32xf32>
    %concat = tensor.concat dim(2) %18, %18 : (tensor<1x48x32xf32>, tensor<1x48x32xf32>) -> tensor<1x48x64xf32>
    %19 = tensor.empty() : tensor<1x48x64xf32>
    %20 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x48x64xf32>) outs(%19 : tensor<1x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.cos %in : f32
      linalg.yield %148 : f32
    } -> tensor<1x48x64xf32>
    %21 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x48x64xf32>) outs(%19 : tensor<1x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.sin %in : f32
      linalg.yield %148 : f32
    } -> tensor<1x48x64xf32>
    %22 = tensor.empty() : tensor<2x48x128xf32>
    %23 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %24 = tensor.empty() : tensor<2x48x1xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<2x48x1xf32>) -> tensor<2x48x1xf32>
    %26 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%23 : tensor<2x48x128xf32>) outs(%25 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.addf %in, %out : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %27 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.divf %in, %cst_7 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %28 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.truncf %cst_5 : f64 to f32
      %149 = arith.addf %in, %148 : f32
      linalg.yield %149 : f32
    } -> tensor<2x48x1xf32>
    %29 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.rsqrt %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %30 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %29 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %31 = linalg.generic {indexing_maps = [#map11, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg10, %30 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %32 = tensor.empty() : tensor<128x256xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<256x128xf32>) outs(%32 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %31 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %33 = tensor.empty() : tensor<96x256xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %35 = linalg.matmul ins(%collapsed, %transposed : tensor<96x128xf32>, tensor<128x256xf32>) outs(%34 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_12 = tensor.expand_shape %35 [[0, 1], [2, 3]] output_shape [2, 48, 4, 64] : tensor<96x256xf32> into tensor<2x48x4x64xf32>
    %36 = tensor.empty() : tensor<2x4x48x64xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<2x48x4x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) permutation = [0, 2, 1, 3] 
    %37 = tensor.empty() : tensor<128x128xf32>
    %transposed_14 = linalg.transpose ins(%arg4 : tensor<128x128xf32>) outs(%37 : tensor<128x128xf32>) permutation = [1, 0] 
    %38 = tensor.empty() : tensor<96x128xf32>
    %39 = linalg.fill ins(%cst : f32) outs(%38 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %40 = linalg.matmul ins(%collapsed, %transposed_14 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_15 = tensor.expand_shape %40 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %41 = tensor.empty() : tensor<2x2x48x64xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<2x48x2x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_17 = linalg.transpose ins(%arg5 : tensor<128x128xf32>) outs(%37 : tensor<128x128xf32>) permutation = [1, 0] 
    %42 = linalg.matmul ins(%collapsed, %transposed_17 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_18 = tensor.expand_shape %42 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<2x48x2x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_20 = tensor.expand_shape %20 [[0], [1, 2], [3]] output_shape [1, 1, 48, 64] : tensor<1x48x64xf32> into tensor<1x1x48x64xf32>
    %expanded_21 = tensor.expand_shape %21 [[0], [1, 2], [3]] output_shape [1, 1, 48, 64] : tensor<1x48x64xf32> into tensor<1x1x48x64xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_13, %expanded_20 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x64xf32>
    %extracted_slice = tensor.extract_slice %transposed_13[0, 0, 0, 0] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %extracted_slice_22 = tensor.extract_slice %transposed_13[0, 0, 0, 32] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %44 = tensor.empty() : tensor<2x4x48x32xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_22 : tensor<2x4x48x32xf32>) outs(%44 : tensor<2x4x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.negf %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x32xf32>
    %concat_23 = tensor.concat dim(3) %45, %extracted_slice : (tensor<2x4x48x32xf32>, tensor<2x4x48x32xf32>) -> tensor<2x4x48x64xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_23, %expanded_21 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x64xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %46 : tensor<2x4x48x64xf32>, tensor<2x4x48x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x64xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_16, %expanded_20 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x64xf32>
    %extracted_slice_24 = tensor.extract_slice %transposed_16[0, 0, 0, 0] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %extracted_slice_25 = tensor.extract_slice %transposed_16[0, 0, 0, 32] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %49 = tensor.empty() : tensor<2x2x48x32xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25 : tensor<2x2x48x32xf32>) outs(%49 : tensor<2x2x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.negf %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x32xf32>
    %concat_26 = tensor.concat dim(3) %50, %extracted_slice_24 : (tensor<2x2x48x32xf32>, tensor<2x2x48x32xf32>) -> tensor<2x2x48x64xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_26, %expanded_21 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x64xf32>
    %52 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %51 : tensor<2x2x48x64xf32>, tensor<2x2x48x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x64xf32>
    %53 = tensor.empty() : tensor<2x2x2x48x64xf32>
    %54 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%52 : tensor<2x2x48x64xf32>) outs(%53 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %collapsed_27 = tensor.collapse_shape %54 [[0], [1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<2x4x48x64xf32>
    %55 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_19 : tensor<2x2x48x64xf32>) outs(%53 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %56 = tensor.empty() : tensor<2x4x64x48xf32>
    %transposed_28 = linalg.transpose ins(%collapsed_27 : tensor<2x4x48x64xf32>) outs(%56 : tensor<2x4x64x48xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_29 = tensor.collapse_shape %47 [[0, 1], [2], [3]] : tensor<2x4x48x64xf32> into tensor<8x48x64xf32>
    %collapsed_30 = tensor.collapse_shape %transposed_28 [[0, 1], [2], [3]] : tensor<2x4x64x48xf32> into tensor<8x64x48xf32>
    %57 = tensor.empty() : tensor<8x48x48xf32>
    %58 = linalg.fill ins(%cst : f32) outs(%57 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %59 = linalg.batch_matmul ins(%collapsed_29, %collapsed_30 : tensor<8x48x64xf32>, tensor<8x64x48xf32>) outs(%58 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %expanded_31 = tensor.expand_shape %59 [[0, 1], [2], [3]] output_shape [2, 4, 48, 48] : tensor<8x48x48xf32> into tensor<2x4x48x48xf32>
    %60 = tensor.empty() : tensor<2x4x48x48xf32>
    %61 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_31 : tensor<2x4x48x48xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.mulf %in, %cst_8 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %62 = linalg.generic {indexing_maps = [#map4, #map15, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61, %14 : tensor<2x4x48x48xf32>, tensor<2x1x48x48xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %63 = tensor.empty() : tensor<2x4x48xi64>
    %64 = linalg.fill ins(%c0_i64 : i64) outs(%63 : tensor<2x4x48xi64>) -> tensor<2x4x48xi64>
    %65 = tensor.empty() : tensor<2x4x48xf32>
    %66 = linalg.fill ins(%cst_0 : f32) outs(%65 : tensor<2x4x48xf32>) -> tensor<2x4x48xf32>
    %67:2 = linalg.generic {indexing_maps = [#map4, #map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%62 : tensor<2x4x48x48xf32>) outs(%66, %64 : tensor<2x4x48xf32>, tensor<2x4x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_85: i64):
      %148 = linalg.index 3 : index
      %149 = arith.index_cast %148 : index to i64
      %150 = arith.maximumf %in, %out : f32
      %151 = arith.cmpf ogt, %in, %out : f32
      %152 = arith.select %151, %149, %out_85 : i64
      linalg.yield %150, %152 : f32, i64
    } -> (tensor<2x4x48xf32>, tensor<2x4x48xi64>)
    %expanded_32 = tensor.expand_shape %67#0 [[0], [1], [2, 3]] output_shape [2, 4, 48, 1] : tensor<2x4x48xf32> into tensor<2x4x48x1xf32>
    %68 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62, %expanded_32 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.subf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %69 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<2x4x48x48xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.exp %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %70 = tensor.empty() : tensor<2x4x48x1xf32>
    %71 = linalg.fill ins(%cst : f32) outs(%70 : tensor<2x4x48x1xf32>) -> tensor<2x4x48x1xf32>
    %72 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%69 : tensor<2x4x48x48xf32>) outs(%71 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.addf %in, %out : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x1xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69, %72 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.divf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %collapsed_33 = tensor.collapse_shape %73 [[0, 1], [2], [3]] : tensor<2x4x48x48xf32> into tensor<8x48x48xf32>
    %collapsed_34 = tensor.collapse_shape %55 [[0, 1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<8x48x64xf32>
    %74 = tensor.empty() : tensor<8x48x64xf32>
    %75 = linalg.fill ins(%cst : f32) outs(%74 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %76 = linalg.batch_matmul ins(%collapsed_33, %collapsed_34 : tensor<8x48x48xf32>, tensor<8x48x64xf32>) outs(%75 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %expanded_35 = tensor.expand_shape %76 [[0, 1], [2], [3]] output_shape [2, 4, 48, 64] : tensor<8x48x64xf32> into tensor<2x4x48x64xf32>
    %77 = tensor.empty() : tensor<2x48x4x64xf32>
    %transposed_36 = linalg.transpose ins(%expanded_35 : tensor<2x4x48x64xf32>) outs(%77 : tensor<2x48x4x64xf32>) permutation = [0, 2, 1, 3] 
    %78 = tensor.empty() : tensor<256x128xf32>
    %transposed_37 = linalg.transpose ins(%arg6 : tensor<128x256xf32>) outs(%78 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_38 = tensor.collapse_shape %transposed_36 [[0, 1], [2, 3]] : tensor<2x48x4x64xf32> into tensor<96x256xf32>
    %79 = linalg.matmul ins(%collapsed_38, %transposed_37 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_39 = tensor.expand_shape %79 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %80 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_39 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %81 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %82 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%81 : tensor<2x48x128xf32>) outs(%25 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.addf %in, %out : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %83 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.divf %in, %cst_7 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %84 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.truncf %cst_5 : f64 to f32
      %149 = arith.addf %in, %148 : f32
      linalg.yield %149 : f32
    } -> tensor<2x48x1xf32>
    %85 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.rsqrt %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %86 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80, %85 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %87 = linalg.generic {indexing_maps = [#map11, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11, %86 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %transposed_40 = linalg.transpose ins(%arg7 : tensor<256x128xf32>) outs(%32 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_41 = tensor.collapse_shape %87 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %88 = linalg.matmul ins(%collapsed_41, %transposed_40 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%34 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_42 = tensor.expand_shape %88 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %89 = tensor.empty() : tensor<2x48x256xf32>
    %90 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_42 : tensor<2x48x256xf32>) outs(%89 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.negf %in : f32
      %149 = math.exp %148 : f32
      %150 = arith.addf %149, %cst_1 : f32
      %151 = arith.divf %cst_1, %150 : f32
      linalg.yield %151 : f32
    } -> tensor<2x48x256xf32>
    %91 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_42, %90 : tensor<2x48x256xf32>, tensor<2x48x256xf32>) outs(%89 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x256xf32>
    %transposed_43 = linalg.transpose ins(%arg8 : tensor<256x128xf32>) outs(%32 : tensor<128x256xf32>) permutation = [1, 0] 
    %92 = linalg.matmul ins(%collapsed_41, %transposed_43 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%34 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_44 = tensor.expand_shape %92 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %93 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91, %expanded_44 : tensor<2x48x256xf32>, tensor<2x48x256xf32>) outs(%89 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x256xf32>
    %transposed_45 = linalg.transpose ins(%arg9 : tensor<128x256xf32>) outs(%78 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_46 = tensor.collapse_shape %93 [[0, 1], [2]] : tensor<2x48x256xf32> into tensor<96x256xf32>
    %94 = linalg.matmul ins(%collapsed_46, %transposed_45 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_47 = tensor.expand_shape %94 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %95 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80, %expanded_47 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %96 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %97 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%96 : tensor<2x48x128xf32>) outs(%25 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.addf %in, %out : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %98 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.divf %in, %cst_7 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %99 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.truncf %cst_5 : f64 to f32
      %149 = arith.addf %in, %148 : f32
      linalg.yield %149 : f32
    } -> tensor<2x48x1xf32>
    %100 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.rsqrt %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %101 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %100 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %102 = linalg.generic {indexing_maps = [#map11, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg19, %101 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %transposed_48 = linalg.transpose ins(%arg12 : tensor<256x128xf32>) outs(%32 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_49 = tensor.collapse_shape %102 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %103 = linalg.matmul ins(%collapsed_49, %transposed_48 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%34 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_50 = tensor.expand_shape %103 [[0, 1], [2, 3]] output_shape [2, 48, 4, 64] : tensor<96x256xf32> into tensor<2x48x4x64xf32>
    %transposed_51 = linalg.transpose ins(%expanded_50 : tensor<2x48x4x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_52 = linalg.transpose ins(%arg13 : tensor<128x128xf32>) outs(%37 : tensor<128x128xf32>) permutation = [1, 0] 
    %104 = linalg.matmul ins(%collapsed_49, %transposed_52 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_53 = tensor.expand_shape %104 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_54 = linalg.transpose ins(%expanded_53 : tensor<2x48x2x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_55 = linalg.transpose ins(%arg14 : tensor<128x128xf32>) outs(%37 : tensor<128x128xf32>) permutation = [1, 0] 
    %105 = linalg.matmul ins(%collapsed_49, %transposed_55 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_56 = tensor.expand_shape %105 [[0, 1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<96x128xf32> into tensor<2x48x2x64xf32>
    %transposed_57 = linalg.transpose ins(%expanded_56 : tensor<2x48x2x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %106 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_51, %expanded_20 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x64xf32>
    %extracted_slice_58 = tensor.extract_slice %transposed_51[0, 0, 0, 0] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %extracted_slice_59 = tensor.extract_slice %transposed_51[0, 0, 0, 32] [2, 4, 48, 32] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<2x4x48x32xf32>
    %107 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_59 : tensor<2x4x48x32xf32>) outs(%44 : tensor<2x4x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.negf %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x32xf32>
    %concat_60 = tensor.concat dim(3) %107, %extracted_slice_58 : (tensor<2x4x48x32xf32>, tensor<2x4x48x32xf32>) -> tensor<2x4x48x64xf32>
    %108 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_60, %expanded_21 : tensor<2x4x48x64xf32>, tensor<1x1x48x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x64xf32>
    %109 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%106, %108 : tensor<2x4x48x64xf32>, tensor<2x4x48x64xf32>) outs(%36 : tensor<2x4x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x64xf32>
    %110 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_54, %expanded_20 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x64xf32>
    %extracted_slice_61 = tensor.extract_slice %transposed_54[0, 0, 0, 0] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %extracted_slice_62 = tensor.extract_slice %transposed_54[0, 0, 0, 32] [2, 2, 48, 32] [1, 1, 1, 1] : tensor<2x2x48x64xf32> to tensor<2x2x48x32xf32>
    %111 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_62 : tensor<2x2x48x32xf32>) outs(%49 : tensor<2x2x48x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.negf %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x32xf32>
    %concat_63 = tensor.concat dim(3) %111, %extracted_slice_61 : (tensor<2x2x48x32xf32>, tensor<2x2x48x32xf32>) -> tensor<2x2x48x64xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_63, %expanded_21 : tensor<2x2x48x64xf32>, tensor<1x1x48x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x64xf32>
    %113 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%110, %112 : tensor<2x2x48x64xf32>, tensor<2x2x48x64xf32>) outs(%41 : tensor<2x2x48x64xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x2x48x64xf32>
    %114 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%113 : tensor<2x2x48x64xf32>) outs(%53 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %collapsed_64 = tensor.collapse_shape %114 [[0], [1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<2x4x48x64xf32>
    %115 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_57 : tensor<2x2x48x64xf32>) outs(%53 : tensor<2x2x2x48x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x64xf32>
    %transposed_65 = linalg.transpose ins(%collapsed_64 : tensor<2x4x48x64xf32>) outs(%56 : tensor<2x4x64x48xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_66 = tensor.collapse_shape %109 [[0, 1], [2], [3]] : tensor<2x4x48x64xf32> into tensor<8x48x64xf32>
    %collapsed_67 = tensor.collapse_shape %transposed_65 [[0, 1], [2], [3]] : tensor<2x4x64x48xf32> into tensor<8x64x48xf32>
    %116 = linalg.batch_matmul ins(%collapsed_66, %collapsed_67 : tensor<8x48x64xf32>, tensor<8x64x48xf32>) outs(%58 : tensor<8x48x48xf32>) -> tensor<8x48x48xf32>
    %expanded_68 = tensor.expand_shape %116 [[0, 1], [2], [3]] output_shape [2, 4, 48, 48] : tensor<8x48x48xf32> into tensor<2x4x48x48xf32>
    %117 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_68 : tensor<2x4x48x48xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.mulf %in, %cst_8 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %118 = linalg.generic {indexing_maps = [#map4, #map15, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%117, %14 : tensor<2x4x48x48xf32>, tensor<2x1x48x48xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %119:2 = linalg.generic {indexing_maps = [#map4, #map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%118 : tensor<2x4x48x48xf32>) outs(%66, %64 : tensor<2x4x48xf32>, tensor<2x4x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_85: i64):
      %148 = linalg.index 3 : index
      %149 = arith.index_cast %148 : index to i64
      %150 = arith.maximumf %in, %out : f32
      %151 = arith.cmpf ogt, %in, %out : f32
      %152 = arith.select %151, %149, %out_85 : i64
      linalg.yield %150, %152 : f32, i64
    } -> (tensor<2x4x48xf32>, tensor<2x4x48xi64>)
    %expanded_69 = tensor.expand_shape %119#0 [[0], [1], [2, 3]] output_shape [2, 4, 48, 1] : tensor<2x4x48xf32> into tensor<2x4x48x1xf32>
    %120 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%118, %expanded_69 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.subf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %121 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%120 : tensor<2x4x48x48xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.exp %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %122 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%121 : tensor<2x4x48x48xf32>) outs(%71 : tensor<2x4x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.addf %in, %out : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x1xf32>
    %123 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%121, %122 : tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) outs(%60 : tensor<2x4x48x48xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.divf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x4x48x48xf32>
    %collapsed_70 = tensor.collapse_shape %123 [[0, 1], [2], [3]] : tensor<2x4x48x48xf32> into tensor<8x48x48xf32>
    %collapsed_71 = tensor.collapse_shape %115 [[0, 1, 2], [3], [4]] : tensor<2x2x2x48x64xf32> into tensor<8x48x64xf32>
    %124 = linalg.batch_matmul ins(%collapsed_70, %collapsed_71 : tensor<8x48x48xf32>, tensor<8x48x64xf32>) outs(%75 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
    %expanded_72 = tensor.expand_shape %124 [[0, 1], [2], [3]] output_shape [2, 4, 48, 64] : tensor<8x48x64xf32> into tensor<2x4x48x64xf32>
    %transposed_73 = linalg.transpose ins(%expanded_72 : tensor<2x4x48x64xf32>) outs(%77 : tensor<2x48x4x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_74 = linalg.transpose ins(%arg15 : tensor<128x256xf32>) outs(%78 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_75 = tensor.collapse_shape %transposed_73 [[0, 1], [2, 3]] : tensor<2x48x4x64xf32> into tensor<96x256xf32>
    %125 = linalg.matmul ins(%collapsed_75, %transposed_74 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_76 = tensor.expand_shape %125 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %126 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %expanded_76 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %127 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %128 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%127 : tensor<2x48x128xf32>) outs(%25 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.addf %in, %out : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %129 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.divf %in, %cst_7 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %130 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.truncf %cst_5 : f64 to f32
      %149 = arith.addf %in, %148 : f32
      linalg.yield %149 : f32
    } -> tensor<2x48x1xf32>
    %131 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.rsqrt %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %132 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126, %131 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %133 = linalg.generic {indexing_maps = [#map11, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg20, %132 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %transposed_77 = linalg.transpose ins(%arg16 : tensor<256x128xf32>) outs(%32 : tensor<128x256xf32>) permutation = [1, 0] 
    %collapsed_78 = tensor.collapse_shape %133 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %134 = linalg.matmul ins(%collapsed_78, %transposed_77 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%34 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_79 = tensor.expand_shape %134 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %135 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_79 : tensor<2x48x256xf32>) outs(%89 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.negf %in : f32
      %149 = math.exp %148 : f32
      %150 = arith.addf %149, %cst_1 : f32
      %151 = arith.divf %cst_1, %150 : f32
      linalg.yield %151 : f32
    } -> tensor<2x48x256xf32>
    %136 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_79, %135 : tensor<2x48x256xf32>, tensor<2x48x256xf32>) outs(%89 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x256xf32>
    %transposed_80 = linalg.transpose ins(%arg17 : tensor<256x128xf32>) outs(%32 : tensor<128x256xf32>) permutation = [1, 0] 
    %137 = linalg.matmul ins(%collapsed_78, %transposed_80 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%34 : tensor<96x256xf32>) -> tensor<96x256xf32>
    %expanded_81 = tensor.expand_shape %137 [[0, 1], [2]] output_shape [2, 48, 256] : tensor<96x256xf32> into tensor<2x48x256xf32>
    %138 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136, %expanded_81 : tensor<2x48x256xf32>, tensor<2x48x256xf32>) outs(%89 : tensor<2x48x256xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x256xf32>
    %transposed_82 = linalg.transpose ins(%arg18 : tensor<128x256xf32>) outs(%78 : tensor<256x128xf32>) permutation = [1, 0] 
    %collapsed_83 = tensor.collapse_shape %138 [[0, 1], [2]] : tensor<2x48x256xf32> into tensor<96x256xf32>
    %139 = linalg.matmul ins(%collapsed_83, %transposed_82 : tensor<96x256xf32>, tensor<256x128xf32>) outs(%39 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %expanded_84 = tensor.expand_shape %139 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %140 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126, %expanded_84 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.addf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %141 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140 : tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %142 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%141 : tensor<2x48x128xf32>) outs(%25 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.addf %in, %out : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %143 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.divf %in, %cst_7 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %144 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = arith.truncf %cst_5 : f64 to f32
      %149 = arith.addf %in, %148 : f32
      linalg.yield %149 : f32
    } -> tensor<2x48x1xf32>
    %145 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<2x48x1xf32>) outs(%24 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %148 = math.rsqrt %in : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x1xf32>
    %146 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140, %145 : tensor<2x48x128xf32>, tensor<2x48x1xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    %147 = linalg.generic {indexing_maps = [#map11, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg21, %146 : tensor<128xf32>, tensor<2x48x128xf32>) outs(%22 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_85: f32, %out: f32):
      %148 = arith.mulf %in, %in_85 : f32
      linalg.yield %148 : f32
    } -> tensor<2x48x128xf32>
    return %147 : tensor<2x48x128xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_32_torch.float32: "0x040000000000803F11F93F3F9AF50F3F9BE8D73E9BE8A13E23D4723E8718363E778D083ECDCCCC3D0D94993DC255663D15BA2C3DE386013D4F43C23C39AD913CF27B5A3C0AD7233CB0B9F53B9C44B83B772E8A3B383E4F3B0D691B3B2815E93A8EC9AE3A6F12833A8C94443A166A133A2517DD3960CBA53915A8783953773A3972D40B39"
    }
  }
#-}

