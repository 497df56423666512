// Llama causal self-attention, dynamic sequence: B=2, Hq=8, Hkv=2, D=128.
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
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<()[s0] -> (s0 * 2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @llama_dynamic(%arg0: tensor<2x?x256xf32>, %arg1: tensor<1024x256xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256x1024xf32>) -> tensor<2x?x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c128_i64 = arith.constant 128 : i64
    %c8_i64 = arith.constant 8 : i64
    %c16_i64 = arith.constant 16 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 0.088388347648318447 : f64
    %cst_4 = arith.constant dense_resource<torch_tensor_64_torch.float32> : tensor<64xf32>
    %c2048_i64 = arith.constant 2048 : i64
    %c512_i64 = arith.constant 512 : i64
    %dim = tensor.dim %arg0, %c1 : tensor<2x?x256xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty(%dim) : tensor<?xi64>
    %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%1 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %117 = linalg.index 0 : index
      %118 = arith.index_cast %117 : index to i64
      linalg.yield %118 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %2 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %3 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x?x1xi64>) outs(%3 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %117 = arith.sitofp %in : i64 to f32
      linalg.yield %117 : f32
    } -> tensor<1x?x1xf32>
    %5 = tensor.empty(%dim) : tensor<1x?x64xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %cst_4 : tensor<1x?x1xf32>, tensor<64xf32>) outs(%5 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.mulf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<1x?x64xf32>
    %concat = tensor.concat dim(2) %6, %6 : (tensor<1x?x64xf32>, tensor<1x?x64xf32>) -> tensor<1x?x128xf32>
    %dim_5 = tensor.dim %6, %c1 : tensor<1x?x64xf32>
    %7 = tensor.empty(%dim_5) : tensor<1x?x128xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x128xf32>) outs(%7 : tensor<1x?x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %117 = math.cos %in : f32
      linalg.yield %117 : f32
    } -> tensor<1x?x128xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x128xf32>) outs(%7 : tensor<1x?x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %117 = math.sin %in : f32
      linalg.yield %117 : f32
    } -> tensor<1x?x128xf32>
    %expanded_6 = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_7 = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %10 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %11 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7, %expanded_6 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%10 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_48: i64, %out: i1):
      %117 = arith.cmpi sle, %in, %in_48 : i64
      linalg.yield %117 : i1
    } -> tensor<1x1x?x?xi1>
    %12 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %13 = tensor.empty(%dim, %dim) : tensor<2x1x?x?xi1>
    %14 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%13 : tensor<2x1x?x?xi1>) {
    ^bb0(%out: i1):
      %117 = linalg.index 2 : index
      %118 = linalg.index 3 : index
      %119 = arith.cmpi eq, %dim, %c1 : index
      %120 = arith.select %119, %c0, %117 : index
      %121 = arith.select %119, %c0, %118 : index
      %extracted = tensor.extract %11[%c0, %c0, %120, %121] : tensor<1x1x?x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x?x?xi1>
    %15 = tensor.empty(%dim, %dim) : tensor<2x1x?x?xf32>
    %16 = linalg.generic {indexing_maps = [#map6, #map7, #map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %cst_2, %cst_1 : tensor<2x1x?x?xi1>, tensor<f32>, tensor<f32>) outs(%15 : tensor<2x1x?x?xf32>) {
    ^bb0(%in: i1, %in_48: f32, %in_49: f32, %out: f32):
      %117 = arith.select %in, %in_48, %in_49 : f32
      linalg.yield %117 : f32
    } -> tensor<2x1x?x?xf32>
    %17 = tensor.empty() : tensor<256x1024xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<1024x256xf32>) outs(%17 : tensor<256x1024xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x?x256xf32> into tensor<?x256xf32>
    %18 = affine.apply #map8()[%dim]
    %19 = tensor.empty(%18) : tensor<?x1024xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    %21 = linalg.matmul ins(%collapsed, %transposed : tensor<?x256xf32>, tensor<256x1024xf32>) outs(%20 : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    %22 = arith.divsi %18, %c2 : index
    %expanded_8 = tensor.expand_shape %21 [[0, 1], [2]] output_shape [2, %22, 1024] : tensor<?x1024xf32> into tensor<2x?x1024xf32>
    %23 = arith.muli %0, %c2_i64 : i64
    %24 = arith.cmpi slt, %0, %c0_i64 : i64
    %25 = arith.select %24, %c2_i64, %23 : i64
    %26 = arith.extui %24 : i1 to i64
    %27 = arith.addi %26, %c1_i64 : i64
    %28 = arith.muli %25, %c128_i64 : i64
    %29 = arith.cmpi sle, %27, %c1_i64 : i64
    cf.assert %29, "must have at most one inferred (negative) dimension"
    %30 = arith.index_cast %22 : index to i64
    %31 = arith.muli %30, %c2048_i64 : i64
    %32 = arith.divsi %31, %28 : i64
    %33 = arith.select %24, %32, %0 : i64
    %from_elements = tensor.from_elements %c2_i64, %33, %32, %c128_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_8(%from_elements) : (tensor<2x?x1024xf32>, tensor<4xi64>) -> tensor<2x?x8x128xf32>
    %34 = arith.index_cast %33 : i64 to index
    %35 = tensor.empty(%34) : tensor<2x8x?x128xf32>
    %transposed_9 = linalg.transpose ins(%reshape : tensor<2x?x8x128xf32>) outs(%35 : tensor<2x8x?x128xf32>) permutation = [0, 2, 1, 3] 
    %36 = tensor.empty() : tensor<256x256xf32>
    %transposed_10 = linalg.transpose ins(%arg2 : tensor<256x256xf32>) outs(%36 : tensor<256x256xf32>) permutation = [1, 0] 
    %37 = tensor.empty(%18) : tensor<?x256xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%37 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %39 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<?x256xf32>, tensor<256x256xf32>) outs(%38 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %expanded_11 = tensor.expand_shape %39 [[0, 1], [2]] output_shape [2, %22, 256] : tensor<?x256xf32> into tensor<2x?x256xf32>
    cf.assert %29, "must have at most one inferred (negative) dimension"
    %40 = arith.muli %30, %c512_i64 : i64
    %41 = arith.divsi %40, %28 : i64
    %42 = arith.select %24, %41, %0 : i64
    %from_elements_12 = tensor.from_elements %c2_i64, %42, %41, %c128_i64 : tensor<4xi64>
    %reshape_13 = tensor.reshape %expanded_11(%from_elements_12) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x2x128xf32>
    %43 = arith.index_cast %42 : i64 to index
    %44 = tensor.empty(%43) : tensor<2x2x?x128xf32>
    %transposed_14 = linalg.transpose ins(%reshape_13 : tensor<2x?x2x128xf32>) outs(%44 : tensor<2x2x?x128xf32>) permutation = [0, 2, 1, 3] 
    %transposed_15 = linalg.transpose ins(%arg3 : tensor<256x256xf32>) outs(%36 : tensor<256x256xf32>) permutation = [1, 0] 
    %45 = linalg.matmul ins(%collapsed, %transposed_15 : tensor<?x256xf32>, tensor<256x256xf32>) outs(%38 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %expanded_16 = tensor.expand_shape %45 [[0, 1], [2]] output_shape [2, %22, 256] : tensor<?x256xf32> into tensor<2x?x256xf32>
    cf.assert %29, "must have at most one inferred (negative) dimension"
    %reshape_17 = tensor.reshape %expanded_16(%from_elements_12) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x2x128xf32>
    %transposed_18 = linalg.transpose ins(%reshape_17 : tensor<2x?x2x128xf32>) outs(%44 : tensor<2x2x?x128xf32>) permutation = [0, 2, 1, 3] 
    %expanded_19 = tensor.expand_shape %8 [[0], [1, 2], [3]] output_shape [1, 1, %dim_5, 128] : tensor<1x?x128xf32> into tensor<1x1x?x128xf32>
    %expanded_20 = tensor.expand_shape %9 [[0], [1, 2], [3]] output_shape [1, 1, %dim_5, 128] : tensor<1x?x128xf32> into tensor<1x1x?x128xf32>
    %46 = arith.cmpi eq, %34, %dim_5 : index
    cf.assert %46, "mismatched size for broadcast"
    %47 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9, %expanded_19 : tensor<2x8x?x128xf32>, tensor<1x1x?x128xf32>) outs(%35 : tensor<2x8x?x128xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.mulf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x128xf32>
    %extracted_slice = tensor.extract_slice %transposed_9[0, 0, 0, 0] [2, 8, %34, 64] [1, 1, 1, 1] : tensor<2x8x?x128xf32> to tensor<2x8x?x64xf32>
    %extracted_slice_21 = tensor.extract_slice %transposed_9[0, 0, 0, 64] [2, 8, %34, 64] [1, 1, 1, 1] : tensor<2x8x?x128xf32> to tensor<2x8x?x64xf32>
    %48 = tensor.empty(%34) : tensor<2x8x?x64xf32>
    %49 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21 : tensor<2x8x?x64xf32>) outs(%48 : tensor<2x8x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %117 = arith.negf %in : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x64xf32>
    %concat_22 = tensor.concat dim(3) %49, %extracted_slice : (tensor<2x8x?x64xf32>, tensor<2x8x?x64xf32>) -> tensor<2x8x?x128xf32>
    %dim_23 = tensor.dim %49, %c2 : tensor<2x8x?x64xf32>
    %50 = arith.cmpi eq, %dim_23, %dim_5 : index
    cf.assert %50, "mismatched size for broadcast"
    %51 = tensor.empty(%dim_23) : tensor<2x8x?x128xf32>
    %52 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_22, %expanded_20 : tensor<2x8x?x128xf32>, tensor<1x1x?x128xf32>) outs(%51 : tensor<2x8x?x128xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.mulf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x128xf32>
    %53 = arith.cmpi eq, %34, %dim_23 : index
    cf.assert %53, "mismatched size for broadcast"
    %54 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%47, %52 : tensor<2x8x?x128xf32>, tensor<2x8x?x128xf32>) outs(%35 : tensor<2x8x?x128xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.addf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x128xf32>
    %55 = arith.cmpi eq, %43, %dim_5 : index
    cf.assert %55, "mismatched size for broadcast"
    %56 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_14, %expanded_19 : tensor<2x2x?x128xf32>, tensor<1x1x?x128xf32>) outs(%44 : tensor<2x2x?x128xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.mulf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x2x?x128xf32>
    %extracted_slice_24 = tensor.extract_slice %transposed_14[0, 0, 0, 0] [2, 2, %43, 64] [1, 1, 1, 1] : tensor<2x2x?x128xf32> to tensor<2x2x?x64xf32>
    %extracted_slice_25 = tensor.extract_slice %transposed_14[0, 0, 0, 64] [2, 2, %43, 64] [1, 1, 1, 1] : tensor<2x2x?x128xf32> to tensor<2x2x?x64xf32>
    %57 = tensor.empty(%43) : tensor<2x2x?x64xf32>
    %58 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25 : tensor<2x2x?x64xf32>) outs(%57 : tensor<2x2x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %117 = arith.negf %in : f32
      linalg.yield %117 : f32
    } -> tensor<2x2x?x64xf32>
    %concat_26 = tensor.concat dim(3) %58, %extracted_slice_24 : (tensor<2x2x?x64xf32>, tensor<2x2x?x64xf32>) -> tensor<2x2x?x128xf32>
    %dim_27 = tensor.dim %58, %c2 : tensor<2x2x?x64xf32>
    %59 = arith.cmpi eq, %dim_27, %dim_5 : index
    cf.assert %59, "mismatched size for broadcast"
    %60 = tensor.empty(%dim_27) : tensor<2x2x?x128xf32>
    %61 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_26, %expanded_20 : tensor<2x2x?x128xf32>, tensor<1x1x?x128xf32>) outs(%60 : tensor<2x2x?x128xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.mulf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x2x?x128xf32>
    %62 = arith.cmpi eq, %43, %dim_27 : index
    cf.assert %62, "mismatched size for broadcast"
    %63 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56, %61 : tensor<2x2x?x128xf32>, tensor<2x2x?x128xf32>) outs(%44 : tensor<2x2x?x128xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.addf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x2x?x128xf32>
    %expanded_28 = tensor.expand_shape %63 [[0], [1], [2, 3], [4]] output_shape [2, 2, 1, %43, 128] : tensor<2x2x?x128xf32> into tensor<2x2x1x?x128xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %64 = tensor.empty(%dim) : tensor<2x2x4x?x128xf32>
    %65 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%64 : tensor<2x2x4x?x128xf32>) {
    ^bb0(%out: f32):
      %117 = linalg.index 0 : index
      %118 = linalg.index 1 : index
      %119 = linalg.index 3 : index
      %120 = linalg.index 4 : index
      %121 = arith.cmpi eq, %43, %c1 : index
      %122 = arith.select %121, %c0, %119 : index
      %extracted = tensor.extract %expanded_28[%117, %118, %c0, %122, %120] : tensor<2x2x1x?x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x2x4x?x128xf32>
    %collapsed_29 = tensor.collapse_shape %65 [[0], [1, 2], [3], [4]] : tensor<2x2x4x?x128xf32> into tensor<2x8x?x128xf32>
    %expanded_30 = tensor.expand_shape %transposed_18 [[0], [1], [2, 3], [4]] output_shape [2, 2, 1, %43, 128] : tensor<2x2x?x128xf32> into tensor<2x2x1x?x128xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %66 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%64 : tensor<2x2x4x?x128xf32>) {
    ^bb0(%out: f32):
      %117 = linalg.index 0 : index
      %118 = linalg.index 1 : index
      %119 = linalg.index 3 : index
      %120 = linalg.index 4 : index
      %121 = arith.cmpi eq, %43, %c1 : index
      %122 = arith.select %121, %c0, %119 : index
      %extracted = tensor.extract %expanded_30[%117, %118, %c0, %122, %120] : tensor<2x2x1x?x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x2x4x?x128xf32>
    %collapsed_31 = tensor.collapse_shape %66 [[0], [1, 2], [3], [4]] : tensor<2x2x4x?x128xf32> into tensor<2x8x?x128xf32>
    %67 = tensor.empty(%dim) : tensor<2x8x128x?xf32>
    %transposed_32 = linalg.transpose ins(%collapsed_29 : tensor<2x8x?x128xf32>) outs(%67 : tensor<2x8x128x?xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %68 = tensor.empty(%dim) : tensor<2x8x?x128xf32>
    %69 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%68 : tensor<2x8x?x128xf32>) {
    ^bb0(%out: f32):
      %117 = linalg.index 0 : index
      %118 = linalg.index 1 : index
      %119 = linalg.index 2 : index
      %120 = linalg.index 3 : index
      %121 = arith.cmpi eq, %34, %c1 : index
      %122 = arith.select %121, %c0, %119 : index
      %extracted = tensor.extract %54[%117, %118, %122, %120] : tensor<2x8x?x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x8x?x128xf32>
    %collapsed_33 = tensor.collapse_shape %69 [[0, 1], [2], [3]] : tensor<2x8x?x128xf32> into tensor<16x?x128xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %70 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%67 : tensor<2x8x128x?xf32>) {
    ^bb0(%out: f32):
      %117 = linalg.index 0 : index
      %118 = linalg.index 1 : index
      %119 = linalg.index 2 : index
      %120 = linalg.index 3 : index
      %121 = arith.cmpi eq, %dim, %c1 : index
      %122 = arith.select %121, %c0, %120 : index
      %extracted = tensor.extract %transposed_32[%117, %118, %119, %122] : tensor<2x8x128x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x8x128x?xf32>
    %collapsed_34 = tensor.collapse_shape %70 [[0, 1], [2], [3]] : tensor<2x8x128x?xf32> into tensor<16x128x?xf32>
    %71 = tensor.empty(%dim, %dim) : tensor<16x?x?xf32>
    %72 = linalg.fill ins(%cst : f32) outs(%71 : tensor<16x?x?xf32>) -> tensor<16x?x?xf32>
    %73 = linalg.batch_matmul ins(%collapsed_33, %collapsed_34 : tensor<16x?x128xf32>, tensor<16x128x?xf32>) outs(%72 : tensor<16x?x?xf32>) -> tensor<16x?x?xf32>
    %74 = arith.muli %0, %c16_i64 : i64
    %75 = arith.select %24, %c16_i64, %74 : i64
    %76 = arith.muli %75, %0 : i64
    %77 = arith.select %24, %c16_i64, %76 : i64
    %78 = arith.select %24, %27, %26 : i64
    %79 = arith.cmpi sle, %78, %c1_i64 : i64
    cf.assert %79, "must have at most one inferred (negative) dimension"
    %80 = arith.muli %74, %0 : i64
    %81 = arith.divsi %80, %77 : i64
    %82 = arith.select %24, %81, %0 : i64
    %from_elements_35 = tensor.from_elements %c2_i64, %c8_i64, %82, %82 : tensor<4xi64>
    %reshape_36 = tensor.reshape %73(%from_elements_35) : (tensor<16x?x?xf32>, tensor<4xi64>) -> tensor<2x8x?x?xf32>
    %83 = arith.index_cast %82 : i64 to index
    %84 = tensor.empty(%83, %83) : tensor<2x8x?x?xf32>
    %85 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_36 : tensor<2x8x?x?xf32>) outs(%84 : tensor<2x8x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %117 = arith.truncf %cst_3 : f64 to f32
      %118 = arith.mulf %in, %117 : f32
      linalg.yield %118 : f32
    } -> tensor<2x8x?x?xf32>
    %86 = arith.cmpi eq, %83, %dim : index
    cf.assert %86, "mismatched size for broadcast"
    cf.assert %86, "mismatched size for broadcast"
    %87 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%85, %16 : tensor<2x8x?x?xf32>, tensor<2x1x?x?xf32>) outs(%84 : tensor<2x8x?x?xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.addf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x?xf32>
    %88 = tensor.empty(%83) : tensor<2x8x?xi64>
    %89 = linalg.fill ins(%c0_i64 : i64) outs(%88 : tensor<2x8x?xi64>) -> tensor<2x8x?xi64>
    %90 = tensor.empty(%83) : tensor<2x8x?xf32>
    %91 = linalg.fill ins(%cst_0 : f32) outs(%90 : tensor<2x8x?xf32>) -> tensor<2x8x?xf32>
    %92:2 = linalg.generic {indexing_maps = [#map6, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%87 : tensor<2x8x?x?xf32>) outs(%91, %89 : tensor<2x8x?xf32>, tensor<2x8x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_48: i64):
      %117 = linalg.index 3 : index
      %118 = arith.index_cast %117 : index to i64
      %119 = arith.maximumf %in, %out : f32
      %120 = arith.cmpf ogt, %in, %out : f32
      %121 = arith.select %120, %118, %out_48 : i64
      linalg.yield %119, %121 : f32, i64
    } -> (tensor<2x8x?xf32>, tensor<2x8x?xi64>)
    %expanded_37 = tensor.expand_shape %92#0 [[0], [1], [2, 3]] output_shape [2, 8, %83, 1] : tensor<2x8x?xf32> into tensor<2x8x?x1xf32>
    %93 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%87, %expanded_37 : tensor<2x8x?x?xf32>, tensor<2x8x?x1xf32>) outs(%84 : tensor<2x8x?x?xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.subf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x?xf32>
    %94 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%93 : tensor<2x8x?x?xf32>) outs(%84 : tensor<2x8x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %117 = math.exp %in : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x?xf32>
    %95 = tensor.empty(%83) : tensor<2x8x?x1xf32>
    %96 = linalg.fill ins(%cst : f32) outs(%95 : tensor<2x8x?x1xf32>) -> tensor<2x8x?x1xf32>
    %97 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%94 : tensor<2x8x?x?xf32>) outs(%96 : tensor<2x8x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %117 = arith.addf %in, %out : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x1xf32>
    %98 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%94, %97 : tensor<2x8x?x?xf32>, tensor<2x8x?x1xf32>) outs(%84 : tensor<2x8x?x?xf32>) {
    ^bb0(%in: f32, %in_48: f32, %out: f32):
      %117 = arith.divf %in, %in_48 : f32
      linalg.yield %117 : f32
    } -> tensor<2x8x?x?xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %99 = tensor.empty(%dim, %dim) : tensor<2x8x?x?xf32>
    %100 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%99 : tensor<2x8x?x?xf32>) {
    ^bb0(%out: f32):
      %117 = linalg.index 0 : index
      %118 = linalg.index 1 : index
      %119 = linalg.index 2 : index
      %120 = linalg.index 3 : index
      %121 = arith.cmpi eq, %83, %c1 : index
      %122 = arith.select %121, %c0, %119 : index
      %123 = arith.select %121, %c0, %120 : index
      %extracted = tensor.extract %98[%117, %118, %122, %123] : tensor<2x8x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x8x?x?xf32>
    cf.assert %79, "must have at most one inferred (negative) dimension"
    %from_elements_38 = tensor.from_elements %c16_i64, %82, %82 : tensor<3xi64>
    %reshape_39 = tensor.reshape %100(%from_elements_38) : (tensor<2x8x?x?xf32>, tensor<3xi64>) -> tensor<16x?x?xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %101 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%68 : tensor<2x8x?x128xf32>) {
    ^bb0(%out: f32):
      %117 = linalg.index 0 : index
      %118 = linalg.index 1 : index
      %119 = linalg.index 2 : index
      %120 = linalg.index 3 : index
      %121 = arith.cmpi eq, %dim, %c1 : index
      %122 = arith.select %121, %c0, %119 : index
      %extracted = tensor.extract %collapsed_31[%117, %118, %122, %120] : tensor<2x8x?x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x8x?x128xf32>
    %collapsed_40 = tensor.collapse_shape %101 [[0, 1], [2], [3]] : tensor<2x8x?x128xf32> into tensor<16x?x128xf32>
    %102 = arith.cmpi eq, %82, %0 : i64
    cf.assert %102, "mismatching contracting dimension"
    %103 = tensor.empty(%83) : tensor<16x?x128xf32>
    %104 = linalg.fill ins(%cst : f32) outs(%103 : tensor<16x?x128xf32>) -> tensor<16x?x128xf32>
    %105 = linalg.batch_matmul ins(%reshape_39, %collapsed_40 : tensor<16x?x?xf32>, tensor<16x?x128xf32>) outs(%104 : tensor<16x?x128xf32>) -> tensor<16x?x128xf32>
    %expanded_41 = tensor.expand_shape %105 [[0, 1], [2], [3]] output_shape [2, 8, %83, 128] : tensor<16x?x128xf32> into tensor<2x8x?x128xf32>
    %106 = tensor.empty(%83) : tensor<2x?x8x128xf32>
    %transposed_42 = linalg.transpose ins(%expanded_41 : tensor<2x8x?x128xf32>) outs(%106 : tensor<2x?x8x128xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %29, "must have at most one inferred (negative) dimension"
    %107 = arith.muli %82, %c2048_i64 : i64
    %108 = arith.divsi %107, %25 : i64
    %109 = arith.select %24, %108, %0 : i64
    %from_elements_43 = tensor.from_elements %c2_i64, %109, %108 : tensor<3xi64>
    %reshape_44 = tensor.reshape %transposed_42(%from_elements_43) : (tensor<2x?x8x128xf32>, tensor<3xi64>) -> tensor<2x?x1024xf32>
    %110 = tensor.empty() : tensor<1024x256xf32>
    %transposed_45 = linalg.transpose ins(%arg4 : tensor<256x1024xf32>) outs(%110 : tensor<1024x256xf32>) permutation = [1, 0] 
    %collapsed_46 = tensor.collapse_shape %reshape_44 [[0, 1], [2]] : tensor<2x?x1024xf32> into tensor<?x1024xf32>
    %111 = arith.index_cast %109 : i64 to index
    %112 = affine.apply #map8()[%111]
    %113 = tensor.empty(%112) : tensor<?x256xf32>
    %114 = linalg.fill ins(%cst : f32) outs(%113 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %115 = linalg.matmul ins(%collapsed_46, %transposed_45 : tensor<?x1024xf32>, tensor<1024x256xf32>) outs(%114 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %116 = arith.divsi %112, %c2 : index
    %expanded_47 = tensor.expand_shape %115 [[0, 1], [2]] output_shape [2, %116, 256] : tensor<?x256xf32> into tensor<2x?x256xf32>
    return %expanded_47 : tensor<2x?x256xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_64_torch.float32: "0x040000000000803FD7AF5D3F11F93F3FE03D263F9AF50F3FCF53F93E9BE8D73E1BF8BA3E9BE8A13E04358C3E23D4723EED47523E8718363E40B01D3E778D083ED67FEC3DCDCCCC3D7859B13D0D94993D4DFE843DC255663D3F76473D15BA2C3D4893153DE386013DD254E03C4F43C23C8B39A83C39AD913C334D7C3CF27B5A3C11333D3C0AD7233C2DE10D3CB0B9F53B15CAD43B9C44B83BCC919F3B772E8A3B0E526F3B383E4F3B0F77333B0D691B3B6F94063B2815E93A5CD7C93A8EC9AE3A0E5C973A6F12833AE201633A8C94443A443B2A3A166A133AAC4FFF392517DD39D774BF3960CBA53972928F3915A87839E453573953773A391679213972D40B39E22CF238"
    }
  }
#-}

