// GPT-2 causal self-attention, dynamic sequence: B=2, H=4, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.15.0, torch-mlir 20261001; not edited by hand.
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
#map6 = affine_map<(d0, d1) -> (d1)>
#map7 = affine_map<(d0, d1) -> (d0, d1)>
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
      %84 = linalg.index 0 : index
      %85 = arith.index_cast %84 : index to i64
      linalg.yield %85 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_4 = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %3 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%3 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_24: i64, %out: i1):
      %84 = arith.cmpi sle, %in, %in_24 : i64
      linalg.yield %84 : i1
    } -> tensor<1x1x?x?xi1>
    %5 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %6 = tensor.empty(%dim, %dim) : tensor<2x1x?x?xi1>
    %7 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%6 : tensor<2x1x?x?xi1>) {
    ^bb0(%out: i1):
      %84 = linalg.index 2 : index
      %85 = linalg.index 3 : index
      %86 = arith.cmpi eq, %dim, %c1 : index
      %87 = arith.select %86, %c0, %84 : index
      %88 = arith.select %86, %c0, %85 : index
      %extracted = tensor.extract %4[%c0, %c0, %87, %88] : tensor<1x1x?x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<2x1x?x?xi1>
    %8 = tensor.empty(%dim, %dim) : tensor<2x1x?x?xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %cst_2, %cst_1 : tensor<2x1x?x?xi1>, tensor<f32>, tensor<f32>) outs(%8 : tensor<2x1x?x?xf32>) {
    ^bb0(%in: i1, %in_24: f32, %in_25: f32, %out: f32):
      %84 = arith.select %in, %in_24, %in_25 : f32
      linalg.yield %84 : f32
    } -> tensor<2x1x?x?xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x?x256xf32> into tensor<?x256xf32>
    %10 = affine.apply #map5()[%dim]
    %11 = tensor.empty(%10) : tensor<?x768xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<?x768xf32>) -> tensor<?x768xf32>
    %13 = linalg.matmul ins(%collapsed, %arg1 : tensor<?x256xf32>, tensor<256x768xf32>) outs(%12 : tensor<?x768xf32>) -> tensor<?x768xf32>
    %14 = arith.muli %0, %c2_i64 : i64
    %15 = arith.cmpi sge, %14, %c0_i64 : i64
    cf.assert %15, "negative values not allowed in new dimensions"
    %16 = arith.index_cast %14 : i64 to index
    %17 = tensor.empty(%16) : tensor<?x768xf32>
    %18 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<768xf32>) outs(%17 : tensor<?x768xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x768xf32>
    %19 = arith.cmpi eq, %10, %16 : index
    cf.assert %19, "mismatched size for broadcast"
    %20 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%13, %18 : tensor<?x768xf32>, tensor<?x768xf32>) outs(%11 : tensor<?x768xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %84 = arith.addf %in, %in_24 : f32
      linalg.yield %84 : f32
    } -> tensor<?x768xf32>
    %21 = arith.divsi %10, %c2 : index
    %expanded_5 = tensor.expand_shape %20 [[0, 1], [2]] output_shape [2, %21, 768] : tensor<?x768xf32> into tensor<2x?x768xf32>
    %extracted_slice = tensor.extract_slice %expanded_5[0, 0, 0] [2, %21, 256] [1, 1, 1] : tensor<2x?x768xf32> to tensor<2x?x256xf32>
    %extracted_slice_6 = tensor.extract_slice %expanded_5[0, 0, 256] [2, %21, 256] [1, 1, 1] : tensor<2x?x768xf32> to tensor<2x?x256xf32>
    %extracted_slice_7 = tensor.extract_slice %expanded_5[0, 0, 512] [2, %21, 256] [1, 1, 1] : tensor<2x?x768xf32> to tensor<2x?x256xf32>
    %22 = arith.cmpi slt, %0, %c0_i64 : i64
    %23 = arith.select %22, %c2_i64, %14 : i64
    %24 = arith.extui %22 : i1 to i64
    %25 = arith.addi %24, %c1_i64 : i64
    %26 = arith.muli %23, %c64_i64 : i64
    %27 = arith.cmpi sle, %25, %c1_i64 : i64
    cf.assert %27, "must have at most one inferred (negative) dimension"
    %28 = arith.index_cast %21 : index to i64
    %29 = arith.muli %28, %c512_i64 : i64
    %30 = arith.divsi %29, %26 : i64
    %31 = arith.select %22, %30, %0 : i64
    %from_elements = tensor.from_elements %c2_i64, %31, %30, %c64_i64 : tensor<4xi64>
    %reshape = tensor.reshape %extracted_slice_6(%from_elements) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x4x64xf32>
    %32 = arith.index_cast %31 : i64 to index
    cf.assert %27, "must have at most one inferred (negative) dimension"
    %reshape_8 = tensor.reshape %extracted_slice_7(%from_elements) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x4x64xf32>
    %33 = tensor.empty(%32) : tensor<2x4x?x64xf32>
    %transposed = linalg.transpose ins(%reshape_8 : tensor<2x?x4x64xf32>) outs(%33 : tensor<2x4x?x64xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %27, "must have at most one inferred (negative) dimension"
    %reshape_9 = tensor.reshape %extracted_slice(%from_elements) : (tensor<2x?x256xf32>, tensor<4xi64>) -> tensor<2x?x4x64xf32>
    %transposed_10 = linalg.transpose ins(%reshape_9 : tensor<2x?x4x64xf32>) outs(%33 : tensor<2x4x?x64xf32>) permutation = [0, 2, 1, 3] 
    %34 = tensor.empty(%32) : tensor<2x4x64x?xf32>
    %transposed_11 = linalg.transpose ins(%reshape : tensor<2x?x4x64xf32>) outs(%34 : tensor<2x4x64x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %35 = tensor.empty(%dim) : tensor<2x4x?x64xf32>
    %36 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%35 : tensor<2x4x?x64xf32>) {
    ^bb0(%out: f32):
      %84 = linalg.index 0 : index
      %85 = linalg.index 1 : index
      %86 = linalg.index 2 : index
      %87 = linalg.index 3 : index
      %88 = arith.cmpi eq, %32, %c1 : index
      %89 = arith.select %88, %c0, %86 : index
      %extracted = tensor.extract %transposed_10[%84, %85, %89, %87] : tensor<2x4x?x64xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x?x64xf32>
    %collapsed_12 = tensor.collapse_shape %36 [[0, 1], [2], [3]] : tensor<2x4x?x64xf32> into tensor<8x?x64xf32>
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %37 = tensor.empty(%dim) : tensor<2x4x64x?xf32>
    %38 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%37 : tensor<2x4x64x?xf32>) {
    ^bb0(%out: f32):
      %84 = linalg.index 0 : index
      %85 = linalg.index 1 : index
      %86 = linalg.index 2 : index
      %87 = linalg.index 3 : index
      %88 = arith.cmpi eq, %32, %c1 : index
      %89 = arith.select %88, %c0, %87 : index
      %extracted = tensor.extract %transposed_11[%84, %85, %86, %89] : tensor<2x4x64x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x64x?xf32>
    %collapsed_13 = tensor.collapse_shape %38 [[0, 1], [2], [3]] : tensor<2x4x64x?xf32> into tensor<8x64x?xf32>
    %39 = tensor.empty(%dim, %dim) : tensor<8x?x?xf32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
    %41 = linalg.batch_matmul ins(%collapsed_12, %collapsed_13 : tensor<8x?x64xf32>, tensor<8x64x?xf32>) outs(%40 : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
    %42 = arith.muli %0, %c8_i64 : i64
    %43 = arith.select %22, %c8_i64, %42 : i64
    %44 = arith.muli %43, %0 : i64
    %45 = arith.select %22, %c8_i64, %44 : i64
    %46 = arith.select %22, %25, %24 : i64
    %47 = arith.cmpi sle, %46, %c1_i64 : i64
    cf.assert %47, "must have at most one inferred (negative) dimension"
    %48 = arith.muli %42, %0 : i64
    %49 = arith.divsi %48, %45 : i64
    %50 = arith.select %22, %49, %0 : i64
    %from_elements_14 = tensor.from_elements %c2_i64, %c4_i64, %50, %50 : tensor<4xi64>
    %reshape_15 = tensor.reshape %41(%from_elements_14) : (tensor<8x?x?xf32>, tensor<4xi64>) -> tensor<2x4x?x?xf32>
    %51 = arith.index_cast %50 : i64 to index
    %52 = tensor.empty(%51, %51) : tensor<2x4x?x?xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_15 : tensor<2x4x?x?xf32>) outs(%52 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.mulf %in, %cst_3 : f32
      linalg.yield %84 : f32
    } -> tensor<2x4x?x?xf32>
    %54 = arith.cmpi eq, %51, %dim : index
    cf.assert %54, "mismatched size for broadcast"
    cf.assert %54, "mismatched size for broadcast"
    %55 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %9 : tensor<2x4x?x?xf32>, tensor<2x1x?x?xf32>) outs(%52 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %84 = arith.addf %in, %in_24 : f32
      linalg.yield %84 : f32
    } -> tensor<2x4x?x?xf32>
    %56 = tensor.empty(%51) : tensor<2x4x?xi64>
    %57 = linalg.fill ins(%c0_i64 : i64) outs(%56 : tensor<2x4x?xi64>) -> tensor<2x4x?xi64>
    %58 = tensor.empty(%51) : tensor<2x4x?xf32>
    %59 = linalg.fill ins(%cst_0 : f32) outs(%58 : tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
    %60:2 = linalg.generic {indexing_maps = [#map3, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%55 : tensor<2x4x?x?xf32>) outs(%59, %57 : tensor<2x4x?xf32>, tensor<2x4x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_24: i64):
      %84 = linalg.index 3 : index
      %85 = arith.index_cast %84 : index to i64
      %86 = arith.maximumf %in, %out : f32
      %87 = arith.cmpf ogt, %in, %out : f32
      %88 = arith.select %87, %85, %out_24 : i64
      linalg.yield %86, %88 : f32, i64
    } -> (tensor<2x4x?xf32>, tensor<2x4x?xi64>)
    %expanded_16 = tensor.expand_shape %60#0 [[0], [1], [2, 3]] output_shape [2, 4, %51, 1] : tensor<2x4x?xf32> into tensor<2x4x?x1xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55, %expanded_16 : tensor<2x4x?x?xf32>, tensor<2x4x?x1xf32>) outs(%52 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %84 = arith.subf %in, %in_24 : f32
      linalg.yield %84 : f32
    } -> tensor<2x4x?x?xf32>
    %62 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61 : tensor<2x4x?x?xf32>) outs(%52 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = math.exp %in : f32
      linalg.yield %84 : f32
    } -> tensor<2x4x?x?xf32>
    %63 = tensor.empty(%51) : tensor<2x4x?x1xf32>
    %64 = linalg.fill ins(%cst : f32) outs(%63 : tensor<2x4x?x1xf32>) -> tensor<2x4x?x1xf32>
    %65 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%62 : tensor<2x4x?x?xf32>) outs(%64 : tensor<2x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %out : f32
      linalg.yield %84 : f32
    } -> tensor<2x4x?x1xf32>
    %66 = linalg.generic {indexing_maps = [#map3, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62, %65 : tensor<2x4x?x?xf32>, tensor<2x4x?x1xf32>) outs(%52 : tensor<2x4x?x?xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %84 = arith.divf %in, %in_24 : f32
      linalg.yield %84 : f32
    } -> tensor<2x4x?x?xf32>
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %67 = tensor.empty(%dim, %dim) : tensor<2x4x?x?xf32>
    %68 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%67 : tensor<2x4x?x?xf32>) {
    ^bb0(%out: f32):
      %84 = linalg.index 0 : index
      %85 = linalg.index 1 : index
      %86 = linalg.index 2 : index
      %87 = linalg.index 3 : index
      %88 = arith.cmpi eq, %51, %c1 : index
      %89 = arith.select %88, %c0, %86 : index
      %90 = arith.select %88, %c0, %87 : index
      %extracted = tensor.extract %66[%84, %85, %89, %90] : tensor<2x4x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x?x?xf32>
    cf.assert %47, "must have at most one inferred (negative) dimension"
    %from_elements_17 = tensor.from_elements %c8_i64, %50, %50 : tensor<3xi64>
    %reshape_18 = tensor.reshape %68(%from_elements_17) : (tensor<2x4x?x?xf32>, tensor<3xi64>) -> tensor<8x?x?xf32>
    cf.assert %5, "unimplemented: dynamic negative broadcast sizes"
    %69 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%35 : tensor<2x4x?x64xf32>) {
    ^bb0(%out: f32):
      %84 = linalg.index 0 : index
      %85 = linalg.index 1 : index
      %86 = linalg.index 2 : index
      %87 = linalg.index 3 : index
      %88 = arith.cmpi eq, %32, %c1 : index
      %89 = arith.select %88, %c0, %86 : index
      %extracted = tensor.extract %transposed[%84, %85, %89, %87] : tensor<2x4x?x64xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x4x?x64xf32>
    %collapsed_19 = tensor.collapse_shape %69 [[0, 1], [2], [3]] : tensor<2x4x?x64xf32> into tensor<8x?x64xf32>
    %70 = arith.cmpi eq, %50, %0 : i64
    cf.assert %70, "mismatching contracting dimension"
    %71 = tensor.empty(%51) : tensor<8x?x64xf32>
    %72 = linalg.fill ins(%cst : f32) outs(%71 : tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
    %73 = linalg.batch_matmul ins(%reshape_18, %collapsed_19 : tensor<8x?x?xf32>, tensor<8x?x64xf32>) outs(%72 : tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
    %expanded_20 = tensor.expand_shape %73 [[0, 1], [2], [3]] output_shape [2, 4, %51, 64] : tensor<8x?x64xf32> into tensor<2x4x?x64xf32>
    %74 = tensor.empty(%51) : tensor<2x?x4x64xf32>
    %transposed_21 = linalg.transpose ins(%expanded_20 : tensor<2x4x?x64xf32>) outs(%74 : tensor<2x?x4x64xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_22 = tensor.collapse_shape %transposed_21 [[0, 1], [2, 3]] : tensor<2x?x4x64xf32> into tensor<?x256xf32>
    %75 = affine.apply #map5()[%51]
    %76 = tensor.empty(%75) : tensor<?x256xf32>
    %77 = linalg.fill ins(%cst : f32) outs(%76 : tensor<?x256xf32>) -> tensor<?x256xf32>
    %78 = linalg.matmul ins(%collapsed_22, %arg3 : tensor<?x256xf32>, tensor<256x256xf32>) outs(%77 : tensor<?x256xf32>) -> tensor<?x256xf32>
    cf.assert %15, "negative values not allowed in new dimensions"
    %79 = tensor.empty(%16) : tensor<?x256xf32>
    %80 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<256xf32>) outs(%79 : tensor<?x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x256xf32>
    %81 = arith.cmpi eq, %75, %16 : index
    cf.assert %81, "mismatched size for broadcast"
    %82 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%78, %80 : tensor<?x256xf32>, tensor<?x256xf32>) outs(%76 : tensor<?x256xf32>) {
    ^bb0(%in: f32, %in_24: f32, %out: f32):
      %84 = arith.addf %in, %in_24 : f32
      linalg.yield %84 : f32
    } -> tensor<?x256xf32>
    %83 = arith.divsi %75, %c2 : index
    %expanded_23 = tensor.expand_shape %82 [[0, 1], [2]] output_shape [2, %83, 256] : tensor<?x256xf32> into tensor<2x?x256xf32>
    return %expanded_23 : tensor<2x?x256xf32>
  }
}

