// GPT-2, two layers: B=2, H=2, M=N=48, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: inputs_embeds
//   %arg1: attention_mask
//   %arg2: model.wte.weight
//   %arg3: model.wpe.weight
//   %arg4: model.h.0.ln_1.weight
//   %arg5: model.h.0.ln_1.bias
//   %arg6: model.h.0.attn.c_attn.weight
//   %arg7: model.h.0.attn.c_attn.bias
//   %arg8: model.h.0.attn.c_proj.weight
//   %arg9: model.h.0.attn.c_proj.bias
//   %arg10: model.h.0.ln_2.weight
//   %arg11: model.h.0.ln_2.bias
//   %arg12: model.h.0.mlp.c_fc.weight
//   %arg13: model.h.0.mlp.c_fc.bias
//   %arg14: model.h.0.mlp.c_proj.weight
//   %arg15: model.h.0.mlp.c_proj.bias
//   %arg16: model.h.1.ln_1.weight
//   %arg17: model.h.1.ln_1.bias
//   %arg18: model.h.1.attn.c_attn.weight
//   %arg19: model.h.1.attn.c_attn.bias
//   %arg20: model.h.1.attn.c_proj.weight
//   %arg21: model.h.1.attn.c_proj.bias
//   %arg22: model.h.1.ln_2.weight
//   %arg23: model.h.1.ln_2.bias
//   %arg24: model.h.1.mlp.c_fc.weight
//   %arg25: model.h.1.mlp.c_fc.bias
//   %arg26: model.h.1.mlp.c_proj.weight
//   %arg27: model.h.1.mlp.c_proj.bias
//   %arg28: model.ln_f.weight
//   %arg29: model.ln_f.bias

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> ()>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, 0)>
#map10 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map12 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map13 = affine_map<(d0, d1, d2) -> (d2)>
#map14 = affine_map<(d0, d1) -> (d1)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @gpt2_model(%arg0: tensor<2x48x128xf32>, %arg1: tensor<2x48xi64>, %arg2: tensor<16x128xf32>, %arg3: tensor<64x128xf32>, %arg4: tensor<128xf32>, %arg5: tensor<128xf32>, %arg6: tensor<128x384xf32>, %arg7: tensor<384xf32>, %arg8: tensor<128x128xf32>, %arg9: tensor<128xf32>, %arg10: tensor<128xf32>, %arg11: tensor<128xf32>, %arg12: tensor<128x512xf32>, %arg13: tensor<512xf32>, %arg14: tensor<512x128xf32>, %arg15: tensor<128xf32>, %arg16: tensor<128xf32>, %arg17: tensor<128xf32>, %arg18: tensor<128x384xf32>, %arg19: tensor<384xf32>, %arg20: tensor<128x128xf32>, %arg21: tensor<128xf32>, %arg22: tensor<128xf32>, %arg23: tensor<128xf32>, %arg24: tensor<128x512xf32>, %arg25: tensor<512xf32>, %arg26: tensor<512x128xf32>, %arg27: tensor<128xf32>, %arg28: tensor<128xf32>, %arg29: tensor<128xf32>) -> tensor<2x48x128xf32> {
    %c3_i64 = arith.constant 3 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c48_i64 = arith.constant 48 : i64
    %c64 = arith.constant 64 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant 0.79788456080286541 : f64
    %cst_5 = arith.constant 4.471500e-02 : f64
    %cst_6 = arith.constant 1.000000e-05 : f64
    %cst_7 = arith.constant 1.280000e+02 : f32
    %cst_8 = arith.constant 1.250000e-01 : f32
    %cst_9 = arith.constant 5.000000e-01 : f32
    %cst_10 = arith.constant 1.000000e+00 : f32
    %0 = tensor.empty() : tensor<48xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<48xi64>) {
    ^bb0(%out: i64):
      %161 = linalg.index 0 : index
      %162 = arith.index_cast %161 : index to i64
      linalg.yield %162 : i64
    } -> tensor<48xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [1, 48] : tensor<48xi64> into tensor<1x48xi64>
    %2 = tensor.empty() : tensor<1x48x128xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x48xi64>) outs(%2 : tensor<1x48x128xf32>) {
    ^bb0(%in: i64, %out: f32):
      %161 = arith.index_cast %in : i64 to index
      %162 = linalg.index 2 : index
      %163 = arith.cmpi slt, %161, %c64 : index
      cf.assert %163, "index must be smaller than dim size"
      %164 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %164, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg3[%161, %162] : tensor<64x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x48x128xf32>
    %4 = tensor.empty() : tensor<2x48x128xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %3 : tensor<2x48x128xf32>, tensor<1x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %6 = tensor.empty() : tensor<2x48xi1>
    %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x48xi64>) outs(%6 : tensor<2x48xi1>) {
    ^bb0(%in: i64, %out: i1):
      %161 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %161 : i1
    } -> tensor<2x48xi1>
    %8 = tensor.empty() : tensor<2xi64>
    %9 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%8 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %161 = linalg.index 0 : index
      %162 = arith.index_cast %161 : index to i64
      linalg.yield %162 : i64
    } -> tensor<2xi64>
    %expanded_11 = tensor.expand_shape %9 [[0, 1, 2, 3]] output_shape [2, 1, 1, 1] : tensor<2xi64> into tensor<2x1x1x1xi64>
    %expanded_12 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 48, 1] : tensor<48xi64> into tensor<1x1x48x1xi64>
    %expanded_13 = tensor.expand_shape %1 [[0, 1, 2, 3]] output_shape [1, 1, 1, 48] : tensor<48xi64> into tensor<1x1x1x48xi64>
    %10 = tensor.empty() : tensor<1x1x48x48xi1>
    %11 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_13, %expanded_12 : tensor<1x1x1x48xi64>, tensor<1x1x48x1xi64>) outs(%10 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i64, %in_71: i64, %out: i1):
      %161 = arith.cmpi sle, %in, %in_71 : i64
      linalg.yield %161 : i1
    } -> tensor<1x1x48x48xi1>
    %12 = linalg.generic {indexing_maps = [#map8, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3, %11 : tensor<i1>, tensor<1x1x48x48xi1>) outs(%10 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i1, %in_71: i1, %out: i1):
      %161 = arith.andi %in, %in_71 : i1
      linalg.yield %161 : i1
    } -> tensor<1x1x48x48xi1>
    %13 = tensor.empty() : tensor<2x1x1x48xi1>
    %14 = linalg.generic {indexing_maps = [#map9, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11, %expanded_13 : tensor<2x1x1x1xi64>, tensor<1x1x1x48xi64>) outs(%13 : tensor<2x1x1x48xi1>) {
    ^bb0(%in: i64, %in_71: i64, %out: i1):
      %161 = arith.cmpi slt, %in, %c0_i64 : i64
      %162 = arith.addi %in, %c2_i64 : i64
      %163 = arith.select %161, %162, %in : i64
      %164 = arith.index_cast %163 : i64 to index
      %165 = arith.cmpi slt, %in_71, %c0_i64 : i64
      %166 = arith.addi %in_71, %c48_i64 : i64
      %167 = arith.select %165, %166, %in_71 : i64
      %168 = arith.index_cast %167 : i64 to index
      %extracted = tensor.extract %7[%164, %168] : tensor<2x48xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x1x48xi1>
    %15 = tensor.empty() : tensor<2x1x48x48xi1>
    %16 = linalg.generic {indexing_maps = [#map11, #map5, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %14 : tensor<1x1x48x48xi1>, tensor<2x1x1x48xi1>) outs(%15 : tensor<2x1x48x48xi1>) {
    ^bb0(%in: i1, %in_71: i1, %out: i1):
      %161 = arith.andi %in, %in_71 : i1
      linalg.yield %161 : i1
    } -> tensor<2x1x48x48xi1>
    %17 = tensor.empty() : tensor<2x1x48x48xf32>
    %18 = linalg.generic {indexing_maps = [#map7, #map8, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %cst_2, %cst_1 : tensor<2x1x48x48xi1>, tensor<f32>, tensor<f32>) outs(%17 : tensor<2x1x48x48xf32>) {
    ^bb0(%in: i1, %in_71: f32, %in_72: f32, %out: f32):
      %161 = arith.select %in, %in_71, %in_72 : f32
      linalg.yield %161 : f32
    } -> tensor<2x1x48x48xf32>
    %19 = tensor.empty() : tensor<2x48x1xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<2x48x1xf32>) -> tensor<2x48x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed = tensor.collapse_shape %22 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %23 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.subf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %24 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%25 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_6 : f64 to f32
      %162 = arith.addf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x1xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.rsqrt %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_14 = tensor.collapse_shape %29 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %30 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_14 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %30 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %arg4 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %arg5 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %collapsed_15 = tensor.collapse_shape %33 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %34 = tensor.empty() : tensor<96x384xf32>
    %35 = linalg.fill ins(%cst : f32) outs(%34 : tensor<96x384xf32>) -> tensor<96x384xf32>
    %36 = linalg.matmul ins(%collapsed_15, %arg6 : tensor<96x128xf32>, tensor<128x384xf32>) outs(%35 : tensor<96x384xf32>) -> tensor<96x384xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%36, %arg7 : tensor<96x384xf32>, tensor<384xf32>) outs(%34 : tensor<96x384xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x384xf32>
    %expanded_16 = tensor.expand_shape %37 [[0, 1], [2]] output_shape [2, 48, 384] : tensor<96x384xf32> into tensor<2x48x384xf32>
    %extracted_slice = tensor.extract_slice %expanded_16[0, 0, 0] [2, 48, 128] [1, 1, 1] : tensor<2x48x384xf32> to tensor<2x48x128xf32>
    %extracted_slice_17 = tensor.extract_slice %expanded_16[0, 0, 128] [2, 48, 128] [1, 1, 1] : tensor<2x48x384xf32> to tensor<2x48x128xf32>
    %extracted_slice_18 = tensor.extract_slice %expanded_16[0, 0, 256] [2, 48, 128] [1, 1, 1] : tensor<2x48x384xf32> to tensor<2x48x128xf32>
    %expanded_19 = tensor.expand_shape %extracted_slice_17 [[0], [1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<2x48x128xf32> into tensor<2x48x2x64xf32>
    %expanded_20 = tensor.expand_shape %extracted_slice_18 [[0], [1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<2x48x128xf32> into tensor<2x48x2x64xf32>
    %38 = tensor.empty() : tensor<2x2x48x64xf32>
    %transposed = linalg.transpose ins(%expanded_20 : tensor<2x48x2x64xf32>) outs(%38 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_21 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<2x48x128xf32> into tensor<2x48x2x64xf32>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<2x48x2x64xf32>) outs(%38 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %39 = tensor.empty() : tensor<2x2x64x48xf32>
    %transposed_23 = linalg.transpose ins(%expanded_19 : tensor<2x48x2x64xf32>) outs(%39 : tensor<2x2x64x48xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_24 = tensor.collapse_shape %transposed_22 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %collapsed_25 = tensor.collapse_shape %transposed_23 [[0, 1], [2], [3]] : tensor<2x2x64x48xf32> into tensor<4x64x48xf32>
    %40 = tensor.empty() : tensor<4x48x48xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<4x48x48xf32>) -> tensor<4x48x48xf32>
    %42 = linalg.batch_matmul ins(%collapsed_24, %collapsed_25 : tensor<4x48x64xf32>, tensor<4x64x48xf32>) outs(%41 : tensor<4x48x48xf32>) -> tensor<4x48x48xf32>
    %expanded_26 = tensor.expand_shape %42 [[0, 1], [2], [3]] output_shape [2, 2, 48, 48] : tensor<4x48x48xf32> into tensor<2x2x48x48xf32>
    %43 = tensor.empty() : tensor<2x2x48x48xf32>
    %44 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_26 : tensor<2x2x48x48xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.mulf %in, %cst_8 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %45 = linalg.generic {indexing_maps = [#map7, #map15, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %18 : tensor<2x2x48x48xf32>, tensor<2x1x48x48xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %46 = tensor.empty() : tensor<2x2x48xi64>
    %47 = linalg.fill ins(%c0_i64 : i64) outs(%46 : tensor<2x2x48xi64>) -> tensor<2x2x48xi64>
    %48 = tensor.empty() : tensor<2x2x48xf32>
    %49 = linalg.fill ins(%cst_0 : f32) outs(%48 : tensor<2x2x48xf32>) -> tensor<2x2x48xf32>
    %50:2 = linalg.generic {indexing_maps = [#map7, #map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%45 : tensor<2x2x48x48xf32>) outs(%49, %47 : tensor<2x2x48xf32>, tensor<2x2x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_71: i64):
      %161 = linalg.index 3 : index
      %162 = arith.index_cast %161 : index to i64
      %163 = arith.maximumf %in, %out : f32
      %164 = arith.cmpf ogt, %in, %out : f32
      %165 = arith.select %164, %162, %out_71 : i64
      linalg.yield %163, %165 : f32, i64
    } -> (tensor<2x2x48xf32>, tensor<2x2x48xi64>)
    %expanded_27 = tensor.expand_shape %50#0 [[0], [1], [2, 3]] output_shape [2, 2, 48, 1] : tensor<2x2x48xf32> into tensor<2x2x48x1xf32>
    %51 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %expanded_27 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.subf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %52 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51 : tensor<2x2x48x48xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.exp %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %53 = tensor.empty() : tensor<2x2x48x1xf32>
    %54 = linalg.fill ins(%cst : f32) outs(%53 : tensor<2x2x48x1xf32>) -> tensor<2x2x48x1xf32>
    %55 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%52 : tensor<2x2x48x48xf32>) outs(%54 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x1xf32>
    %56 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %55 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.divf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %collapsed_28 = tensor.collapse_shape %56 [[0, 1], [2], [3]] : tensor<2x2x48x48xf32> into tensor<4x48x48xf32>
    %collapsed_29 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %57 = tensor.empty() : tensor<4x48x64xf32>
    %58 = linalg.fill ins(%cst : f32) outs(%57 : tensor<4x48x64xf32>) -> tensor<4x48x64xf32>
    %59 = linalg.batch_matmul ins(%collapsed_28, %collapsed_29 : tensor<4x48x48xf32>, tensor<4x48x64xf32>) outs(%58 : tensor<4x48x64xf32>) -> tensor<4x48x64xf32>
    %expanded_30 = tensor.expand_shape %59 [[0, 1], [2], [3]] output_shape [2, 2, 48, 64] : tensor<4x48x64xf32> into tensor<2x2x48x64xf32>
    %60 = tensor.empty() : tensor<2x48x2x64xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<2x2x48x64xf32>) outs(%60 : tensor<2x48x2x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_32 = tensor.collapse_shape %transposed_31 [[0, 1], [2, 3]] : tensor<2x48x2x64xf32> into tensor<96x128xf32>
    %61 = tensor.empty() : tensor<96x128xf32>
    %62 = linalg.fill ins(%cst : f32) outs(%61 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %63 = linalg.matmul ins(%collapsed_32, %arg8 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%62 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%63, %arg9 : tensor<96x128xf32>, tensor<128xf32>) outs(%61 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x128xf32>
    %expanded_33 = tensor.expand_shape %64 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %65 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_33, %5 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %66 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%65 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %67 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_34 = tensor.collapse_shape %67 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_34 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %69 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %68 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.subf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %70 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %69 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %71 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %72 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %73 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_6 : f64 to f32
      %162 = arith.addf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x1xf32>
    %74 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.rsqrt %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_35 = tensor.collapse_shape %74 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %75 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_35 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %76 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %75 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %77 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %arg10 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %78 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %arg11 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %collapsed_36 = tensor.collapse_shape %78 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %79 = tensor.empty() : tensor<96x512xf32>
    %80 = linalg.fill ins(%cst : f32) outs(%79 : tensor<96x512xf32>) -> tensor<96x512xf32>
    %81 = linalg.matmul ins(%collapsed_36, %arg12 : tensor<96x128xf32>, tensor<128x512xf32>) outs(%80 : tensor<96x512xf32>) -> tensor<96x512xf32>
    %82 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%81, %arg13 : tensor<96x512xf32>, tensor<512xf32>) outs(%79 : tensor<96x512xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x512xf32>
    %expanded_37 = tensor.expand_shape %82 [[0, 1], [2]] output_shape [2, 48, 512] : tensor<96x512xf32> into tensor<2x48x512xf32>
    %83 = tensor.empty() : tensor<2x48x512xf32>
    %84 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_37 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.mulf %in, %cst_9 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %85 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_37 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %86 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_5 : f64 to f32
      %162 = arith.mulf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x512xf32>
    %87 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_37, %86 : tensor<2x48x512xf32>, tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %88 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_4 : f64 to f32
      %162 = arith.mulf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x512xf32>
    %89 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.tanh %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %90 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %cst_10 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %91 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84, %90 : tensor<2x48x512xf32>, tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %collapsed_38 = tensor.collapse_shape %91 [[0, 1], [2]] : tensor<2x48x512xf32> into tensor<96x512xf32>
    %92 = linalg.matmul ins(%collapsed_38, %arg14 : tensor<96x512xf32>, tensor<512x128xf32>) outs(%62 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %93 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%92, %arg15 : tensor<96x128xf32>, tensor<128xf32>) outs(%61 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x128xf32>
    %expanded_39 = tensor.expand_shape %93 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %94 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %expanded_39 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %95 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%94 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %96 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_40 = tensor.collapse_shape %96 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %97 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_40 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %98 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %97 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.subf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %99 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98, %98 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %100 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%99 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %101 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %102 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_6 : f64 to f32
      %162 = arith.addf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x1xf32>
    %103 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.rsqrt %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_41 = tensor.collapse_shape %103 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_41 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %105 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98, %104 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %106 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %arg16 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %107 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %arg17 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %collapsed_42 = tensor.collapse_shape %107 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %108 = linalg.matmul ins(%collapsed_42, %arg18 : tensor<96x128xf32>, tensor<128x384xf32>) outs(%35 : tensor<96x384xf32>) -> tensor<96x384xf32>
    %109 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%108, %arg19 : tensor<96x384xf32>, tensor<384xf32>) outs(%34 : tensor<96x384xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x384xf32>
    %expanded_43 = tensor.expand_shape %109 [[0, 1], [2]] output_shape [2, 48, 384] : tensor<96x384xf32> into tensor<2x48x384xf32>
    %extracted_slice_44 = tensor.extract_slice %expanded_43[0, 0, 0] [2, 48, 128] [1, 1, 1] : tensor<2x48x384xf32> to tensor<2x48x128xf32>
    %extracted_slice_45 = tensor.extract_slice %expanded_43[0, 0, 128] [2, 48, 128] [1, 1, 1] : tensor<2x48x384xf32> to tensor<2x48x128xf32>
    %extracted_slice_46 = tensor.extract_slice %expanded_43[0, 0, 256] [2, 48, 128] [1, 1, 1] : tensor<2x48x384xf32> to tensor<2x48x128xf32>
    %expanded_47 = tensor.expand_shape %extracted_slice_45 [[0], [1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<2x48x128xf32> into tensor<2x48x2x64xf32>
    %expanded_48 = tensor.expand_shape %extracted_slice_46 [[0], [1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<2x48x128xf32> into tensor<2x48x2x64xf32>
    %transposed_49 = linalg.transpose ins(%expanded_48 : tensor<2x48x2x64xf32>) outs(%38 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %expanded_50 = tensor.expand_shape %extracted_slice_44 [[0], [1], [2, 3]] output_shape [2, 48, 2, 64] : tensor<2x48x128xf32> into tensor<2x48x2x64xf32>
    %transposed_51 = linalg.transpose ins(%expanded_50 : tensor<2x48x2x64xf32>) outs(%38 : tensor<2x2x48x64xf32>) permutation = [0, 2, 1, 3] 
    %transposed_52 = linalg.transpose ins(%expanded_47 : tensor<2x48x2x64xf32>) outs(%39 : tensor<2x2x64x48xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_53 = tensor.collapse_shape %transposed_51 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %collapsed_54 = tensor.collapse_shape %transposed_52 [[0, 1], [2], [3]] : tensor<2x2x64x48xf32> into tensor<4x64x48xf32>
    %110 = linalg.batch_matmul ins(%collapsed_53, %collapsed_54 : tensor<4x48x64xf32>, tensor<4x64x48xf32>) outs(%41 : tensor<4x48x48xf32>) -> tensor<4x48x48xf32>
    %expanded_55 = tensor.expand_shape %110 [[0, 1], [2], [3]] output_shape [2, 2, 48, 48] : tensor<4x48x48xf32> into tensor<2x2x48x48xf32>
    %111 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_55 : tensor<2x2x48x48xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.mulf %in, %cst_8 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %112 = linalg.generic {indexing_maps = [#map7, #map15, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%111, %18 : tensor<2x2x48x48xf32>, tensor<2x1x48x48xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %113:2 = linalg.generic {indexing_maps = [#map7, #map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%112 : tensor<2x2x48x48xf32>) outs(%49, %47 : tensor<2x2x48xf32>, tensor<2x2x48xi64>) {
    ^bb0(%in: f32, %out: f32, %out_71: i64):
      %161 = linalg.index 3 : index
      %162 = arith.index_cast %161 : index to i64
      %163 = arith.maximumf %in, %out : f32
      %164 = arith.cmpf ogt, %in, %out : f32
      %165 = arith.select %164, %162, %out_71 : i64
      linalg.yield %163, %165 : f32, i64
    } -> (tensor<2x2x48xf32>, tensor<2x2x48xi64>)
    %expanded_56 = tensor.expand_shape %113#0 [[0], [1], [2, 3]] output_shape [2, 2, 48, 1] : tensor<2x2x48xf32> into tensor<2x2x48x1xf32>
    %114 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%112, %expanded_56 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.subf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %115 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%114 : tensor<2x2x48x48xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.exp %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %116 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%115 : tensor<2x2x48x48xf32>) outs(%54 : tensor<2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x1xf32>
    %117 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%115, %116 : tensor<2x2x48x48xf32>, tensor<2x2x48x1xf32>) outs(%43 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.divf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x2x48x48xf32>
    %collapsed_57 = tensor.collapse_shape %117 [[0, 1], [2], [3]] : tensor<2x2x48x48xf32> into tensor<4x48x48xf32>
    %collapsed_58 = tensor.collapse_shape %transposed_49 [[0, 1], [2], [3]] : tensor<2x2x48x64xf32> into tensor<4x48x64xf32>
    %118 = linalg.batch_matmul ins(%collapsed_57, %collapsed_58 : tensor<4x48x48xf32>, tensor<4x48x64xf32>) outs(%58 : tensor<4x48x64xf32>) -> tensor<4x48x64xf32>
    %expanded_59 = tensor.expand_shape %118 [[0, 1], [2], [3]] output_shape [2, 2, 48, 64] : tensor<4x48x64xf32> into tensor<2x2x48x64xf32>
    %transposed_60 = linalg.transpose ins(%expanded_59 : tensor<2x2x48x64xf32>) outs(%60 : tensor<2x48x2x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_61 = tensor.collapse_shape %transposed_60 [[0, 1], [2, 3]] : tensor<2x48x2x64xf32> into tensor<96x128xf32>
    %119 = linalg.matmul ins(%collapsed_61, %arg20 : tensor<96x128xf32>, tensor<128x128xf32>) outs(%62 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %120 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%119, %arg21 : tensor<96x128xf32>, tensor<128xf32>) outs(%61 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x128xf32>
    %expanded_62 = tensor.expand_shape %120 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %121 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_62, %94 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %122 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%121 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %123 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_63 = tensor.collapse_shape %123 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %124 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_63 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %125 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121, %124 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.subf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %126 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125, %125 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %127 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%126 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %128 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %129 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_6 : f64 to f32
      %162 = arith.addf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x1xf32>
    %130 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.rsqrt %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_64 = tensor.collapse_shape %130 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %131 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_64 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %132 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125, %131 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %133 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %arg22 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %134 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %arg23 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %collapsed_65 = tensor.collapse_shape %134 [[0, 1], [2]] : tensor<2x48x128xf32> into tensor<96x128xf32>
    %135 = linalg.matmul ins(%collapsed_65, %arg24 : tensor<96x128xf32>, tensor<128x512xf32>) outs(%80 : tensor<96x512xf32>) -> tensor<96x512xf32>
    %136 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%135, %arg25 : tensor<96x512xf32>, tensor<512xf32>) outs(%79 : tensor<96x512xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x512xf32>
    %expanded_66 = tensor.expand_shape %136 [[0, 1], [2]] output_shape [2, 48, 512] : tensor<96x512xf32> into tensor<2x48x512xf32>
    %137 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_66 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.mulf %in, %cst_9 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %138 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_66 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %139 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_5 : f64 to f32
      %162 = arith.mulf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x512xf32>
    %140 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_66, %139 : tensor<2x48x512xf32>, tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %141 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_4 : f64 to f32
      %162 = arith.mulf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x512xf32>
    %142 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.tanh %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %143 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142 : tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %cst_10 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %144 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137, %143 : tensor<2x48x512xf32>, tensor<2x48x512xf32>) outs(%83 : tensor<2x48x512xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x512xf32>
    %collapsed_67 = tensor.collapse_shape %144 [[0, 1], [2]] : tensor<2x48x512xf32> into tensor<96x512xf32>
    %145 = linalg.matmul ins(%collapsed_67, %arg26 : tensor<96x512xf32>, tensor<512x128xf32>) outs(%62 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %146 = linalg.generic {indexing_maps = [#map4, #map14, #map4], iterator_types = ["parallel", "parallel"]} ins(%145, %arg27 : tensor<96x128xf32>, tensor<128xf32>) outs(%61 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<96x128xf32>
    %expanded_68 = tensor.expand_shape %146 [[0, 1], [2]] output_shape [2, 48, 128] : tensor<96x128xf32> into tensor<2x48x128xf32>
    %147 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121, %expanded_68 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %148 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%147 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %149 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_69 = tensor.collapse_shape %149 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_69 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %151 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147, %150 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.subf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %152 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151, %151 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %153 = linalg.generic {indexing_maps = [#map2, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%152 : tensor<2x48x128xf32>) outs(%20 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.addf %in, %out : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %154 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.divf %in, %cst_7 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %155 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%154 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = arith.truncf %cst_6 : f64 to f32
      %162 = arith.addf %in, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<2x48x1xf32>
    %156 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155 : tensor<2x48x1xf32>) outs(%19 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %161 = math.rsqrt %in : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_70 = tensor.collapse_shape %156 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %157 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_70 : tensor<2x48xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x128xf32>
    %158 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151, %157 : tensor<2x48x128xf32>, tensor<2x48x128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %159 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158, %arg28 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.mulf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    %160 = linalg.generic {indexing_maps = [#map2, #map13, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %arg29 : tensor<2x48x128xf32>, tensor<128xf32>) outs(%4 : tensor<2x48x128xf32>) {
    ^bb0(%in: f32, %in_71: f32, %out: f32):
      %161 = arith.addf %in, %in_71 : f32
      linalg.yield %161 : f32
    } -> tensor<2x48x128xf32>
    return %160 : tensor<2x48x128xf32>
  }
}

