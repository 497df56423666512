// A decode step of a static cache by lax.dynamic_update_slice, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64.
// Exported by export.py with jax 0.10.2, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: query
//   %arg1: key
//   %arg2: value
//   %arg3: key_cache
//   %arg4: value_cache
//   %arg5: position

#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> ()>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0) -> (d0)>
#map7 = affine_map<(d0) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2) -> ()>
#map11 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
module {
  func.func @jax_decode(%arg0: tensor<2x4x1x64xf16>, %arg1: tensor<2x2x1x64xf16>, %arg2: tensor<2x2x1x64xf16>, %arg3: tensor<2x2x96x64xf16>, %arg4: tensor<2x2x96x64xf16>, %arg5: tensor<i32>) -> (tensor<2x4x1x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>) {
    %c64_i32 = arith.constant 64 : i32
    %c2_i32 = arith.constant 2 : i32
    %false = arith.constant false
    %cst = arith.constant 0.000000e+00 : f16
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %c95 = arith.constant 95 : index
    %c0 = arith.constant 0 : index
    %c96_i32 = arith.constant 96 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<8.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<i1>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<i1>) {
    ^bb0(%out: i1):
      linalg.yield %false : i1
    } -> tensor<i1>
    %2 = tensor.empty() : tensor<i32>
    %3 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%2 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c2_i32 : i32
    } -> tensor<i32>
    %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%1, %3 : tensor<i1>, tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i1, %in_9: i32, %out: i32):
      %55 = arith.select %in, %in_9, %c0_i32 : i32
      linalg.yield %55 : i32
    } -> tensor<i32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg5 : tensor<i32>) outs(%0 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %55 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %55 : i1
    } -> tensor<i1>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg5 : tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %55 = arith.addi %in, %c96_i32 : i32
      linalg.yield %55 : i32
    } -> tensor<i32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%5, %6, %arg5 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i1, %in_9: i32, %in_10: i32, %out: i32):
      %55 = arith.select %in, %in_9, %in_10 : i32
      linalg.yield %55 : i32
    } -> tensor<i32>
    %8 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%2 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c64_i32 : i32
    } -> tensor<i32>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%1, %8 : tensor<i1>, tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i1, %in_9: i32, %out: i32):
      %55 = arith.select %in, %in_9, %c0_i32 : i32
      linalg.yield %55 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %4[] : tensor<i32>
    %10 = arith.index_cast %extracted : i32 to index
    %11 = arith.maxsi %10, %c0 : index
    %12 = arith.minsi %11, %c0 : index
    %extracted_4 = tensor.extract %7[] : tensor<i32>
    %13 = arith.index_cast %extracted_4 : i32 to index
    %14 = arith.maxsi %13, %c0 : index
    %15 = arith.minsi %14, %c95 : index
    %extracted_5 = tensor.extract %9[] : tensor<i32>
    %16 = arith.index_cast %extracted_5 : i32 to index
    %17 = arith.maxsi %16, %c0 : index
    %18 = arith.minsi %17, %c0 : index
    %inserted_slice = tensor.insert_slice %arg1 into %arg3[%12, %12, %15, %18] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    %inserted_slice_6 = tensor.insert_slice %arg2 into %arg4[%12, %12, %15, %18] [2, 2, 1, 64] [1, 1, 1, 1] : tensor<2x2x1x64xf16> into tensor<2x2x96x64xf16>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2, 3]] : tensor<2x4x1x64xf16> into tensor<512xf16>
    %expanded = tensor.expand_shape %collapsed [[0, 1, 2, 3]] output_shape [2, 2, 2, 64] : tensor<512xf16> into tensor<2x2x2x64xf16>
    %19 = tensor.empty() : tensor<2x2x2x96xf32>
    %20 = linalg.fill ins(%cst_1 : f32) outs(%19 : tensor<2x2x2x96xf32>) -> tensor<2x2x2x96xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded, %inserted_slice : tensor<2x2x2x64xf16>, tensor<2x2x96x64xf16>) outs(%20 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f16, %in_9: f16, %out: f32):
      %55 = arith.extf %in : f16 to f32
      %56 = arith.extf %in_9 : f16 to f32
      %57 = arith.mulf %55, %56 : f32
      %58 = arith.addf %out, %57 : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x96xf32>
    %22 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x96xf32>
    %23 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %22 : tensor<2x2x2x96xf32>, tensor<2x2x2x96xf32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %55 = arith.divf %in, %in_9 : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2x96xf32>
    %24 = tensor.empty() : tensor<96xi32>
    %25 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%24 : tensor<96xi32>) {
    ^bb0(%out: i32):
      %55 = linalg.index 0 : index
      %56 = arith.index_cast %55 : index to i32
      linalg.yield %56 : i32
    } -> tensor<96xi32>
    %26 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel"]} ins(%arg5 : tensor<i32>) outs(%24 : tensor<96xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<96xi32>
    %27 = tensor.empty() : tensor<96xi1>
    %28 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%25, %26 : tensor<96xi32>, tensor<96xi32>) outs(%27 : tensor<96xi1>) {
    ^bb0(%in: i32, %in_9: i32, %out: i1):
      %55 = arith.cmpi sle, %in, %in_9 : i32
      linalg.yield %55 : i1
    } -> tensor<96xi1>
    %29 = tensor.empty() : tensor<f32>
    %30 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%29 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_0 : f32
    } -> tensor<f32>
    %31 = tensor.empty() : tensor<2x2x2x96xi1>
    %32 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<96xi1>) outs(%31 : tensor<2x2x2x96xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x2x96xi1>
    %33 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<f32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x96xf32>
    %34 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %23, %33 : tensor<2x2x2x96xi1>, tensor<2x2x2x96xf32>, tensor<2x2x2x96xf32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
      %55 = arith.select %in, %in_9, %in_10 : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2x96xf32>
    %35 = tensor.empty() : tensor<2x2x2xf32>
    %36 = linalg.fill ins(%cst_0 : f32) outs(%35 : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%34 : tensor<2x2x2x96xf32>) outs(%36 : tensor<2x2x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %55 = arith.maximumf %out, %in : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2xf32>
    %38 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%35 : tensor<2x2x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2xf32>
    %39 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38, %37 : tensor<2x2x2xf32>, tensor<2x2x2xf32>) outs(%35 : tensor<2x2x2xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %55 = arith.maximumf %in, %in_9 : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2xf32>
    %40 = tensor.empty() : tensor<2x2x2x1xf32>
    %41 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<2x2x2xf32>) outs(%40 : tensor<2x2x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x1xf32>
    %42 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41 : tensor<2x2x2x1xf32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x96xf32>
    %43 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34, %42 : tensor<2x2x2x96xf32>, tensor<2x2x2x96xf32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %55 = arith.subf %in, %in_9 : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2x96xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<2x2x2x96xf32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      %55 = math.exp %in : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2x96xf32>
    %45 = linalg.fill ins(%cst_1 : f32) outs(%35 : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
    %46 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%44 : tensor<2x2x2x96xf32>) outs(%45 : tensor<2x2x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %55 = arith.addf %out, %in : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2xf32>
    %47 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46 : tensor<2x2x2xf32>) outs(%40 : tensor<2x2x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x1xf32>
    %48 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%47 : tensor<2x2x2x1xf32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x96xf32>
    %49 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %48 : tensor<2x2x2x96xf32>, tensor<2x2x2x96xf32>) outs(%19 : tensor<2x2x2x96xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %55 = arith.divf %in, %in_9 : f32
      linalg.yield %55 : f32
    } -> tensor<2x2x2x96xf32>
    %50 = tensor.empty() : tensor<2x2x2x96xf16>
    %51 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<2x2x2x96xf32>) outs(%50 : tensor<2x2x2x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %55 = arith.truncf %in : f32 to f16
      linalg.yield %55 : f16
    } -> tensor<2x2x2x96xf16>
    %52 = tensor.empty() : tensor<2x2x2x64xf16>
    %53 = linalg.fill ins(%cst : f16) outs(%52 : tensor<2x2x2x64xf16>) -> tensor<2x2x2x64xf16>
    %54 = linalg.generic {indexing_maps = [#map1, #map13, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%51, %inserted_slice_6 : tensor<2x2x2x96xf16>, tensor<2x2x96x64xf16>) outs(%53 : tensor<2x2x2x64xf16>) {
    ^bb0(%in: f16, %in_9: f16, %out: f16):
      %55 = arith.mulf %in, %in_9 : f16
      %56 = arith.addf %out, %55 : f16
      linalg.yield %56 : f16
    } -> tensor<2x2x2x64xf16>
    %collapsed_7 = tensor.collapse_shape %54 [[0, 1, 2, 3]] : tensor<2x2x2x64xf16> into tensor<512xf16>
    %expanded_8 = tensor.expand_shape %collapsed_7 [[0, 1, 2, 3]] output_shape [2, 4, 1, 64] : tensor<512xf16> into tensor<2x4x1x64xf16>
    return %expanded_8, %inserted_slice, %inserted_slice_6 : tensor<2x4x1x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>
  }
}

