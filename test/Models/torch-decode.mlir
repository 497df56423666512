// A decode step of a static cache by index_copy, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64.
// Exported by export.py with torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: query
//   %arg1: key
//   %arg2: value
//   %arg3: key_cache
//   %arg4: value_cache
//   %arg5: position

#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0) -> ()>
#map6 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @torch_decode(%arg0: tensor<2x4x1x64xf16>, %arg1: tensor<2x2x1x64xf16>, %arg2: tensor<2x2x1x64xf16>, %arg3: tensor<2x2x96x64xf16>, %arg4: tensor<2x2x96x64xf16>, %arg5: tensor<i64>) -> (tensor<2x4x1x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>) {
    %c96_i64 = arith.constant 96 : i64
    %c95_i64 = arith.constant 95 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant 8.000000e+00 : f16
    %extracted = tensor.extract %arg5[] : tensor<i64>
    %0 = arith.cmpi sge, %extracted, %c0_i64 : i64
    cf.assert %0, "Runtime assertion failed for expression u0 >= 0 on node 'ge_2'"
    %1 = arith.cmpi sle, %extracted, %c95_i64 : i64
    cf.assert %1, "Runtime assertion failed for expression u0 <= 95 on node 'le'"
    %2 = arith.cmpi slt, %extracted, %c96_i64 : i64
    cf.assert %2, "Runtime assertion failed for expression u0 < 96 on node 'lt_2'"
    %3 = arith.addi %extracted, %c96_i64 : i64
    %4 = arith.cmpi sge, %extracted, %c0_i64 : i64
    %5 = arith.select %4, %extracted, %3 : i64
    %6 = arith.maxsi %5, %c0_i64 : i64
    %7 = arith.minsi %6, %c96_i64 : i64
    %8 = arith.index_cast %7 : i64 to index
    %inserted_slice = tensor.insert_slice %arg1 into %arg3[0, 0, %8, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    cf.assert %0, "Runtime assertion failed for expression u1 >= 0 on node 'ge_3'"
    cf.assert %1, "Runtime assertion failed for expression u1 <= 95 on node 'le_1'"
    cf.assert %2, "Runtime assertion failed for expression u1 < 96 on node 'lt_3'"
    %inserted_slice_3 = tensor.insert_slice %arg2 into %arg4[0, 0, %8, 0] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    %9 = tensor.empty() : tensor<2x2x2x96x64xf16>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice : tensor<2x2x96x64xf16>) outs(%9 : tensor<2x2x2x96x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x96x64xf16>
    %collapsed = tensor.collapse_shape %10 [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x64xf16> into tensor<2x4x96x64xf16>
    %11 = tensor.empty() : tensor<2x4x64x96xf16>
    %transposed = linalg.transpose ins(%collapsed : tensor<2x4x96x64xf16>) outs(%11 : tensor<2x4x64x96xf16>) permutation = [0, 1, 3, 2] 
    %collapsed_4 = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x4x1x64xf16> into tensor<8x1x64xf16>
    %collapsed_5 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x4x64x96xf16> into tensor<8x64x96xf16>
    %12 = tensor.empty() : tensor<8x1x96xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<8x1x96xf32>) -> tensor<8x1x96xf32>
    %14 = linalg.batch_matmul ins(%collapsed_4, %collapsed_5 : tensor<8x1x64xf16>, tensor<8x64x96xf16>) outs(%13 : tensor<8x1x96xf32>) -> tensor<8x1x96xf32>
    %15 = tensor.empty() : tensor<8x1x96xf16>
    %16 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<8x1x96xf32>) outs(%15 : tensor<8x1x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %44 = arith.truncf %in : f32 to f16
      linalg.yield %44 : f16
    } -> tensor<8x1x96xf16>
    %expanded = tensor.expand_shape %16 [[0, 1], [2], [3]] output_shape [2, 4, 1, 96] : tensor<8x1x96xf16> into tensor<2x4x1x96xf16>
    %17 = tensor.empty() : tensor<2x4x1x96xf16>
    %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x4x1x96xf16>) outs(%17 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f16, %out: f16):
      %44 = arith.divf %in, %cst_2 : f16
      linalg.yield %44 : f16
    } -> tensor<2x4x1x96xf16>
    %19 = tensor.empty() : tensor<96xi64>
    %20 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%19 : tensor<96xi64>) {
    ^bb0(%out: i64):
      %44 = linalg.index 0 : index
      %45 = arith.index_cast %44 : index to i64
      linalg.yield %45 : i64
    } -> tensor<96xi64>
    %21 = tensor.empty() : tensor<96xi1>
    %22 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel"]} ins(%20, %arg5 : tensor<96xi64>, tensor<i64>) outs(%21 : tensor<96xi1>) {
    ^bb0(%in: i64, %in_10: i64, %out: i1):
      %44 = arith.cmpi sgt, %in, %in_10 : i64
      linalg.yield %44 : i1
    } -> tensor<96xi1>
    %23 = tensor.empty() : tensor<2x4x1x96xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<2x4x1x96xf16>) outs(%23 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f16, %out: f32):
      %44 = arith.extf %in : f16 to f32
      linalg.yield %44 : f32
    } -> tensor<2x4x1x96xf32>
    %25 = linalg.generic {indexing_maps = [#map6, #map7, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %cst_1, %24 : tensor<96xi1>, tensor<f32>, tensor<2x4x1x96xf32>) outs(%23 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: i1, %in_10: f32, %in_11: f32, %out: f32):
      %44 = arith.select %in, %in_10, %in_11 : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x1x96xf32>
    %26 = tensor.empty() : tensor<2x4x1xi64>
    %27 = linalg.fill ins(%c0_i64 : i64) outs(%26 : tensor<2x4x1xi64>) -> tensor<2x4x1xi64>
    %28 = tensor.empty() : tensor<2x4x1xf32>
    %29 = linalg.fill ins(%cst_0 : f32) outs(%28 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
    %30:2 = linalg.generic {indexing_maps = [#map3, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<2x4x1x96xf32>) outs(%29, %27 : tensor<2x4x1xf32>, tensor<2x4x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_10: i64):
      %44 = linalg.index 3 : index
      %45 = arith.index_cast %44 : index to i64
      %46 = arith.maximumf %in, %out : f32
      %47 = arith.cmpf ogt, %in, %out : f32
      %48 = arith.select %47, %45, %out_10 : i64
      linalg.yield %46, %48 : f32, i64
    } -> (tensor<2x4x1xf32>, tensor<2x4x1xi64>)
    %expanded_6 = tensor.expand_shape %30#0 [[0], [1], [2, 3]] output_shape [2, 4, 1, 1] : tensor<2x4x1xf32> into tensor<2x4x1x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %expanded_6 : tensor<2x4x1x96xf32>, tensor<2x4x1x1xf32>) outs(%23 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %44 = arith.subf %in, %in_10 : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x1x96xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<2x4x1x96xf32>) outs(%23 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.exp %in : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x1x96xf32>
    %33 = tensor.empty() : tensor<2x4x1x1xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<2x4x1x96xf32>) outs(%34 : tensor<2x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.addf %in, %out : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x1x1xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<2x4x1x96xf32>, tensor<2x4x1x1xf32>) outs(%23 : tensor<2x4x1x96xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %44 = arith.divf %in, %in_10 : f32
      linalg.yield %44 : f32
    } -> tensor<2x4x1x96xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<2x4x1x96xf32>) outs(%17 : tensor<2x4x1x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %44 = arith.truncf %in : f32 to f16
      linalg.yield %44 : f16
    } -> tensor<2x4x1x96xf16>
    %38 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice_3 : tensor<2x2x96x64xf16>) outs(%9 : tensor<2x2x2x96x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x96x64xf16>
    %collapsed_7 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<2x4x1x96xf16> into tensor<8x1x96xf16>
    %collapsed_8 = tensor.collapse_shape %38 [[0, 1, 2], [3], [4]] : tensor<2x2x2x96x64xf16> into tensor<8x96x64xf16>
    %39 = tensor.empty() : tensor<8x1x64xf32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %41 = linalg.batch_matmul ins(%collapsed_7, %collapsed_8 : tensor<8x1x96xf16>, tensor<8x96x64xf16>) outs(%40 : tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
    %42 = tensor.empty() : tensor<8x1x64xf16>
    %43 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<8x1x64xf32>) outs(%42 : tensor<8x1x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %44 = arith.truncf %in : f32 to f16
      linalg.yield %44 : f16
    } -> tensor<8x1x64xf16>
    %expanded_9 = tensor.expand_shape %43 [[0, 1], [2], [3]] output_shape [2, 4, 1, 64] : tensor<8x1x64xf16> into tensor<2x4x1x64xf16>
    return %expanded_9, %inserted_slice, %inserted_slice_3 : tensor<2x4x1x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>
  }
}

