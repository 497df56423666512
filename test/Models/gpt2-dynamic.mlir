// GPT-2 causal self-attention, dynamic sequence: B=2, H=4, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.c_attn.weight
//   %arg2: layer.c_attn.bias
//   %arg3: layer.c_proj.weight
//   %arg4: layer.c_proj.bias

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> ()>
#map5 = affine_map<()[s0] -> (s0 * 2)>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1) -> (d1)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @gpt2_dynamic(%arg0: tensor<2x?x256xf32>, %arg1: tensor<256x768xf32>, %arg2: tensor<768xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256xf32>) -> tensor<2x?x256xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c64_i64 = arith.constant 64 : i64
    %c4_i64 = arith.constant 4 : i64
    %c8_i64 = arith.constant 8 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %c512_i64 = arith.constant 512 : i64
    %cst_3 = arith.constant 1.250000e-01 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<2x?x256xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty(%dim) : tensor<?xi64>
    %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%1 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %76 = linalg.index 0 : index
      %77 = arith.index_cast %76 : index to i64
      linalg.yield %77 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_4 = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %3 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%3 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_24: i64, %out: i1):
      %76 = arith.cmpi sle, %in, %in_24 : i64
      linalg.yield %76 : i1
    } -> tensor<1x1x?x?xi1>
    %5 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %6 = tensor.empty(%dim, %dim) : tensor<2x1x?x?xi1>
    %7 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%6 : tensor<2x1x?x?xi1>) {
    ^bb0(%out: i1):
      %76 = linalg.index 2 : index
      %77 = linalg.index 3 : index
      %78 = arith.cmpi eq, %dim, %c1 : index
      %79 = arith.select %78, %c0, %76 : index
      %80 = arith.select %78, %c0, %77 : index
      %extracted = tensor.extract %4[%c0, %c0, %79, %80] : tensor<1x1x?x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x?x?xi1>
    %8 = tensor.empty(%dim, %dim) : tensor<2x1x?x?xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %cst_2, %cst_1 : tensor<2x1x?x?xi1>, tensor<f32>, tensor<f32>) outs(%8 : tensor<2x1x?x?xf32>) {
    ^bb0(%in: i1, %in_24: f32, %in_25: f32, %out: f32):
      %76 = arith.select %in, %in_24, %in_25 : f32
      linalg.yield %76 : f32
    } -> tensor<2x1x?x?xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x?x256xf32> into tensor<?x256xf32>
    %10 = affine.apply #map5()[%dim]
    %11 = tensor.empty(%10) : tensor<?x768xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<?x768xf32>) -> tensor<?x768xf32>
    %13 = linalg.matmul ins(%collapsed, %arg1 : tensor<?x256xf32>, tensor<256x768xf32>) outs(%12 : tensor<?x768xf32>) -> tensor<?x768xf32>
    %14 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%13, %arg2 : tensor<?x768xf32>, tensor<768xf32>) outs(%11 : tensor<?x768xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %76 = arith.addf %in, %in_24 : f32
      linalg.yield %76 : f32
    } -> tensor<?x768xf32>
    %15 = arith.divsi %10, %c2 : index
    %expanded_5 = tensor.expand_shape %14 [[0, 1], [2]] output_shape [2, %15, 768] : tensor<?x768xf32> into tensor<2x?x768xf32>
    %extracted_slice = tensor.extract_slice %expanded_5[0, 0, 0] [2, %15, 256] [1, 1, 1] : tensor<2x?x768xf32> to tensor<2x?x256xf32>
    %extracted_slice_6 = tensor.extract_slice %expanded_5[0, 0, 256] [2, %15, 256] [1, 1, 1] : tensor<2x?x768xf32> to tensor<2x?x256xf32>
    %extracted_slice_7 = tensor.extract_slice %expanded_5[0, 0, 512] [2, %15, 256] [1, 1, 1] : tensor<2x?x768xf32> to tensor<2x?x256xf32>
    %16 = arith.muli %0, %c2_i64 : i64
    %17 = arith.cmpi slt, %0, %c0_i64 : i64
    %18 = arith.select %17, %c2_i64, %16 : i64
    %19 = arith.extui %17 : i1 to i64
    %20 = arith.addi %19, %c1_i64 : i64
    %21 = arith.muli %18, %c64_i64 : i64
    %22 = arith.cmpi sle, %20, %c1_i64 : i64
    cf.assert %22, "must have at most one inferred (negative) dimension"
    %23 = arith.index_cast %15 : index to i64
    %24 = arith.muli %23, %c512_i64 : i64
    %25 = arith.divsi %24, %21 : i64
    %26 = arith.select %17, %25, %0 : i64
    %from_elements = tensor.from_elements %c2_i64, %26, %25, %c64_i64 : tensor<4xi64>
    %reshape = tensor.reshape %extracted_slice_6(%from_elements) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x4x64xf32>
    %27 = arith.index_cast %26 : i64 to index
    cf.assert %22, "must have at most one inferred (negative) dimension"
    %reshape_8 = tensor.reshape %extracted_slice_7(%from_elements) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x4x64xf32>
    %28 = tensor.empty(%27) : tensor<2x4x?x64xf32>
    %transposed = linalg.transpose ins(%reshape_8 : tensor<2x?x4x64xf32>) outs(%28 : tensor<2x4x?x64xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %22, "must have at most one inferred (negative) dimension"
    %reshape_9 = tensor.reshape %extracted_slice(%from_elements) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x4x64xf32>
    %transposed_10 = linalg.transpose ins(%reshape_9 : tensor<2x?x4x64xf32>) outs(%28 : tensor<2x4x?x64xf32>) permutation = [0, 2, 1, 3] 
    %29 = tensor.empty(%27) : tensor<2x4x64x?xf32>
    %transposed_11 = linalg.transpose ins(%reshape : tensor<2x?x4x64xf32>) outs(%29 : tensor<2x4x64x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %30 = tensor.empty(%dim) : tensor<2x4x?x64xf32>
    %31 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%30 : tensor<2x4x?x64xf32>) {
    ^bb0(%out: f32):
      %76 = linalg.index 0 : index
      %77 = linalg.index 1 : index
      %78 = linalg.index 2 : index
      %79 = linalg.index 3 : index
      %80 = arith.cmpi eq, %27, %c1 : index
      %81 = arith.select %80, %c0, %78 : index
      %extracted = tensor.extract %transposed_10[%76, %77, %81, %79] : tensor<2x4x?x64xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x?x64xf32>
    %collapsed_12 = tensor.collapse_shape %31 [[0, 1], [2], [3]] : tensor<2x4x?x64xf32> into tensor<8x?x64xf32>
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %32 = tensor.empty(%dim) : tensor<2x4x64x?xf32>
    %33 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%32 : tensor<2x4x64x?xf32>) {
    ^bb0(%out: f32):
      %76 = linalg.index 0 : index
      %77 = linalg.index 1 : index
      %78 = linalg.index 2 : index
      %79 = linalg.index 3 : index
      %80 = arith.cmpi eq, %27, %c1 : index
      %81 = arith.select %80, %c0, %79 : index
      %extracted = tensor.extract %transposed_11[%76, %77, %78, %81] : tensor<2x4x64x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x64x?xf32>
    %collapsed_13 = tensor.collapse_shape %33 [[0, 1], [2], [3]] : tensor<2x4x64x?xf32> into tensor<8x64x?xf32>
    %34 = tensor.empty(%dim, %dim) : tensor<8x?x?xf32>
    %35 = linalg.fill ins(%cst : f32) outs(%34 : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
    %36 = linalg.batch_matmul ins(%collapsed_12, %collapsed_13 : tensor<8x?x64xf32>, tensor<8x64x?xf32>) outs(%35 : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
    %37 = arith.muli %0, %c8_i64 : i64
    %38 = arith.select %17, %c8_i64, %37 : i64
    %39 = arith.muli %38, %0 : i64
    %40 = arith.select %17, %c8_i64, %39 : i64
    %41 = arith.select %17, %20, %19 : i64
    %42 = arith.cmpi sle, %41, %c1_i64 : i64
    cf.assert %42, "must have at most one inferred (negative) dimension"
    %43 = arith.muli %37, %0 : i64
    %44 = arith.divsi %43, %40 : i64
    %45 = arith.select %17, %44, %0 : i64
    %from_elements_14 = tensor.from_elements %c2_i64, %c4_i64, %45, %45 : tensor<4xi64>
    %reshape_15 = tensor.reshape %36(%from_elements_14) : (tensor<8x?x?xf32>, tensor<4xi64>) -> tensor<2x4x?x?xf32>
    %46 = arith.index_cast %45 : i64 to index
    %47 = tensor.empty(%46, %46) : tensor<2x4x?x?xf32>
    %48 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_15 : tensor<2x4x?x?xf32>) outs(%47 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.mulf %in, %cst_3 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x?x?xf32>
    %49 = arith.cmpi eq, %46, %dim : index
    cf.assert %49, "mismatched size for broadcast"
    cf.assert %49, "mismatched size for broadcast"
    %50 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %9 : tensor<2x4x?x?xf32>, tensor<2x1x?x?xf32>) outs(%47 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %76 = arith.addf %in, %in_24 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x?x?xf32>
    %51 = tensor.empty(%46) : tensor<2x4x?xi64>
    %52 = linalg.fill ins(%c0_i64 : i64) outs(%51 : tensor<2x4x?xi64>) -> tensor<2x4x?xi64>
    %53 = tensor.empty(%46) : tensor<2x4x?xf32>
    %54 = linalg.fill ins(%cst_0 : f32) outs(%53 : tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
    %55:2 = linalg.generic {indexing_maps = [#map3, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%50 : tensor<2x4x?x?xf32>) outs(%54, %52 : tensor<2x4x?xf32>, tensor<2x4x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_24: i64):
      %76 = linalg.index 3 : index
      %77 = arith.index_cast %76 : index to i64
      %78 = arith.maximumf %in, %out : f32
      %79 = arith.cmpf ogt, %in, %out : f32
      %80 = arith.select %79, %77, %out_24 : i64
      linalg.yield %78, %80 : f32, i64
    } -> (tensor<2x4x?xf32>, tensor<2x4x?xi64>)
    %expanded_16 = tensor.expand_shape %55#0 [[0], [1], [2, 3]] output_shape [2, 4, %46, 1] : tensor<2x4x?xf32> into tensor<2x4x?x1xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %expanded_16 : tensor<2x4x?x?xf32>, tensor<2x4x?x1xf32>) outs(%47 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %76 = arith.subf %in, %in_24 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x?x?xf32>
    %57 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56 : tensor<2x4x?x?xf32>) outs(%47 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.exp %in : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x?x?xf32>
    %58 = tensor.empty(%46) : tensor<2x4x?x1xf32>
    %59 = linalg.fill ins(%cst : f32) outs(%58 : tensor<2x4x?x1xf32>) -> tensor<2x4x?x1xf32>
    %60 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%57 : tensor<2x4x?x?xf32>) outs(%59 : tensor<2x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x?x1xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57, %60 : tensor<2x4x?x?xf32>, tensor<2x4x?x1xf32>) outs(%47 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %76 = arith.divf %in, %in_24 : f32
      linalg.yield %76 : f32
    } -> tensor<2x4x?x?xf32>
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %62 = tensor.empty(%dim, %dim) : tensor<2x4x?x?xf32>
    %63 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%62 : tensor<2x4x?x?xf32>) {
    ^bb0(%out: f32):
      %76 = linalg.index 0 : index
      %77 = linalg.index 1 : index
      %78 = linalg.index 2 : index
      %79 = linalg.index 3 : index
      %80 = arith.cmpi eq, %46, %c1 : index
      %81 = arith.select %80, %c0, %78 : index
      %82 = arith.select %80, %c0, %79 : index
      %extracted = tensor.extract %61[%76, %77, %81, %82] : tensor<2x4x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x?x?xf32>
    cf.assert %42, "must have at most one inferred (negative) dimension"
    %from_elements_17 = tensor.from_elements %c8_i64, %45, %45 : tensor<3xi64>
    %reshape_18 = tensor.reshape %63(%from_elements_17) : (tensor<2x4x?x?xf32>, tensor<3xi64>) -> tensor<8x?x?xf32>
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %64 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%30 : tensor<2x4x?x64xf32>) {
    ^bb0(%out: f32):
      %76 = linalg.index 0 : index
      %77 = linalg.index 1 : index
      %78 = linalg.index 2 : index
      %79 = linalg.index 3 : index
      %80 = arith.cmpi eq, %27, %c1 : index
      %81 = arith.select %80, %c0, %78 : index
      %extracted = tensor.extract %transposed[%76, %77, %81, %79] : tensor<2x4x?x64xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x?x64xf32>
    %collapsed_19 = tensor.collapse_shape %64 [[0, 1], [2], [3]] : tensor<2x4x?x64xf32> into tensor<8x?x64xf32>
    %65 = arith.cmpi eq, %45, %0 : i64
    cf.assert %65, "mismatching contracting dimension"
    %66 = tensor.empty(%46) : tensor<8x?x64xf32>
    %67 = linalg.fill ins(%cst : f32) outs(%66 : tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
    %68 = linalg.batch_matmul ins(%reshape_18, %collapsed_19 : tensor<8x?x?xf32>, tensor<8x?x64xf32>) outs(%67 : tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
    %expanded_20 = tensor.expand_shape %68 [[0, 1], [2], [3]] output_shape [2, 4, %46, 64] : tensor<8x?x64xf32> into tensor<2x4x?x64xf32>
    %69 = tensor.empty(%46) : tensor<2x?x4x64xf32>
    %transposed_21 = linalg.transpose ins(%expanded_20 : tensor<2x4x?x64xf32>) outs(%69 : tensor<2x?x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_22 = tensor.collapse_shape %transposed_21 [[0, 1], [2, 3]] : tensor<2x?x4x64xf32> into tensor<?x256xf32>
    %70 = affine.apply #map5()[%46]
    %71 = tensor.empty(%70) : tensor<?x256xf32>
    %72 = linalg.fill ins(%cst : f32) outs(%71 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %73 = linalg.matmul ins(%collapsed_22, %arg3 : tensor<?x256xf32>, tensor<256x256xf32>) outs(%72 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %74 = linalg.generic {indexing_maps = [#map6, #map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%73, %arg4 : tensor<?x256xf32>, tensor<256xf32>) outs(%71 : tensor<?x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %76 = arith.addf %in, %in_24 : f32
      linalg.yield %76 : f32
    } -> tensor<?x256xf32>
    %75 = arith.divsi %70, %c2 : index
    %expanded_23 = tensor.expand_shape %74 [[0, 1], [2]] output_shape [2, %75, 256] : tensor<?x256xf32> into tensor<2x?x256xf32>
    return %expanded_23 : tensor<2x?x256xf32>
  }
}

