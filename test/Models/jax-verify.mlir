// Three guessed tokens over a static cache, as jax-decode, each of which sees those before it: B=2, Hq=4, Hkv=2, M=3, N=96, D=64.
// Exported by export.py with jax 0.10.2, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: query
//   %arg1: key
//   %arg2: value
//   %arg3: key_cache
//   %arg4: value_cache
//   %arg5: position

#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map6 = affine_map<(d0) -> (d0)>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1) -> (d0, d1)>
#map9 = affine_map<(d0, d1) -> ()>
#map10 = affine_map<(d0, d1) -> (d1)>
#map11 = affine_map<(d0, d1) -> (0, d1)>
#map12 = affine_map<(d0, d1) -> (d0, 0)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map15 = affine_map<(d0, d1, d2, d3) -> ()>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map18 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d4)>
module {
  func.func @jax_verify(%arg0: tensor<2x4x3x64xf16>, %arg1: tensor<2x2x3x64xf16>, %arg2: tensor<2x2x3x64xf16>, %arg3: tensor<2x2x96x64xf16>, %arg4: tensor<2x2x96x64xf16>, %arg5: tensor<i32>) -> (tensor<2x4x3x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>) {
    %c64_i32 = arith.constant 64 : i32
    %c2_i32 = arith.constant 2 : i32
    %false = arith.constant false
    %cst = arith.constant 0.000000e+00 : f16
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %c93 = arith.constant 93 : index
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
    ^bb0(%in: i1, %in_7: i32, %out: i32):
      %65 = arith.select %in, %in_7, %c0_i32 : i32
      linalg.yield %65 : i32
    } -> tensor<i32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg5 : tensor<i32>) outs(%0 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %65 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %65 : i1
    } -> tensor<i1>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg5 : tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %65 = arith.addi %in, %c96_i32 : i32
      linalg.yield %65 : i32
    } -> tensor<i32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%5, %6, %arg5 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i1, %in_7: i32, %in_8: i32, %out: i32):
      %65 = arith.select %in, %in_7, %in_8 : i32
      linalg.yield %65 : i32
    } -> tensor<i32>
    %8 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%2 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c64_i32 : i32
    } -> tensor<i32>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%1, %8 : tensor<i1>, tensor<i32>) outs(%2 : tensor<i32>) {
    ^bb0(%in: i1, %in_7: i32, %out: i32):
      %65 = arith.select %in, %in_7, %c0_i32 : i32
      linalg.yield %65 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %4[] : tensor<i32>
    %10 = arith.index_cast %extracted : i32 to index
    %11 = arith.maxsi %10, %c0 : index
    %12 = arith.minsi %11, %c0 : index
    %extracted_4 = tensor.extract %7[] : tensor<i32>
    %13 = arith.index_cast %extracted_4 : i32 to index
    %14 = arith.maxsi %13, %c0 : index
    %15 = arith.minsi %14, %c93 : index
    %extracted_5 = tensor.extract %9[] : tensor<i32>
    %16 = arith.index_cast %extracted_5 : i32 to index
    %17 = arith.maxsi %16, %c0 : index
    %18 = arith.minsi %17, %c0 : index
    %inserted_slice = tensor.insert_slice %arg1 into %arg3[%12, %12, %15, %18] [2, 2, 3, 64] [1, 1, 1, 1] : tensor<2x2x3x64xf16> into tensor<2x2x96x64xf16>
    %inserted_slice_6 = tensor.insert_slice %arg2 into %arg4[%12, %12, %15, %18] [2, 2, 3, 64] [1, 1, 1, 1] : tensor<2x2x3x64xf16> into tensor<2x2x96x64xf16>
    %expanded = tensor.expand_shape %arg0 [[0], [1, 2], [3], [4]] output_shape [2, 2, 2, 3, 64] : tensor<2x4x3x64xf16> into tensor<2x2x2x3x64xf16>
    %19 = tensor.empty() : tensor<2x2x2x3x96xf32>
    %20 = linalg.fill ins(%cst_1 : f32) outs(%19 : tensor<2x2x2x3x96xf32>) -> tensor<2x2x2x3x96xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded, %inserted_slice : tensor<2x2x2x3x64xf16>, tensor<2x2x96x64xf16>) outs(%20 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f16, %in_7: f16, %out: f32):
      %65 = arith.extf %in : f16 to f32
      %66 = arith.extf %in_7 : f16 to f32
      %67 = arith.mulf %65, %66 : f32
      %68 = arith.addf %out, %67 : f32
      linalg.yield %68 : f32
    } -> tensor<2x2x2x3x96xf32>
    %22 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x3x96xf32>
    %23 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%21, %22 : tensor<2x2x2x3x96xf32>, tensor<2x2x2x3x96xf32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %65 = arith.divf %in, %in_7 : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3x96xf32>
    %24 = tensor.empty() : tensor<96xi32>
    %25 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%24 : tensor<96xi32>) {
    ^bb0(%out: i32):
      %65 = linalg.index 0 : index
      %66 = arith.index_cast %65 : index to i32
      linalg.yield %66 : i32
    } -> tensor<96xi32>
    %26 = tensor.empty() : tensor<3xi32>
    %27 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%26 : tensor<3xi32>) {
    ^bb0(%out: i32):
      %65 = linalg.index 0 : index
      %66 = arith.index_cast %65 : index to i32
      linalg.yield %66 : i32
    } -> tensor<3xi32>
    %28 = tensor.empty() : tensor<3x1xi32>
    %29 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<3xi32>) outs(%28 : tensor<3x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<3x1xi32>
    %30 = linalg.generic {indexing_maps = [#map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<i32>) outs(%28 : tensor<3x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<3x1xi32>
    %31 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%30, %29 : tensor<3x1xi32>, tensor<3x1xi32>) outs(%28 : tensor<3x1xi32>) {
    ^bb0(%in: i32, %in_7: i32, %out: i32):
      %65 = arith.addi %in, %in_7 : i32
      linalg.yield %65 : i32
    } -> tensor<3x1xi32>
    %32 = tensor.empty() : tensor<1x96xi32>
    %33 = linalg.generic {indexing_maps = [#map10, #map8], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<96xi32>) outs(%32 : tensor<1x96xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x96xi32>
    %34 = tensor.empty() : tensor<3x96xi32>
    %35 = linalg.generic {indexing_maps = [#map11, #map8], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<1x96xi32>) outs(%34 : tensor<3x96xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<3x96xi32>
    %36 = linalg.generic {indexing_maps = [#map12, #map8], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<3x1xi32>) outs(%34 : tensor<3x96xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<3x96xi32>
    %37 = tensor.empty() : tensor<3x96xi1>
    %38 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%35, %36 : tensor<3x96xi32>, tensor<3x96xi32>) outs(%37 : tensor<3x96xi1>) {
    ^bb0(%in: i32, %in_7: i32, %out: i1):
      %65 = arith.cmpi sle, %in, %in_7 : i32
      linalg.yield %65 : i1
    } -> tensor<3x96xi1>
    %39 = tensor.empty() : tensor<f32>
    %40 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%39 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_0 : f32
    } -> tensor<f32>
    %41 = tensor.empty() : tensor<2x2x2x3x96xi1>
    %42 = linalg.generic {indexing_maps = [#map13, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<3x96xi1>) outs(%41 : tensor<2x2x2x3x96xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x2x3x96xi1>
    %43 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<f32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x3x96xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%42, %23, %43 : tensor<2x2x2x3x96xi1>, tensor<2x2x2x3x96xf32>, tensor<2x2x2x3x96xf32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: i1, %in_7: f32, %in_8: f32, %out: f32):
      %65 = arith.select %in, %in_7, %in_8 : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3x96xf32>
    %45 = tensor.empty() : tensor<2x2x2x3xf32>
    %46 = linalg.fill ins(%cst_0 : f32) outs(%45 : tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    %47 = linalg.generic {indexing_maps = [#map5, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%44 : tensor<2x2x2x3x96xf32>) outs(%46 : tensor<2x2x2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %65 = arith.maximumf %out, %in : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3xf32>
    %48 = linalg.generic {indexing_maps = [#map15, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%45 : tensor<2x2x2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x3xf32>
    %49 = linalg.generic {indexing_maps = [#map16, #map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %47 : tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) outs(%45 : tensor<2x2x2x3xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %65 = arith.maximumf %in, %in_7 : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3xf32>
    %50 = tensor.empty() : tensor<2x2x2x3x1xf32>
    %51 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<2x2x2x3xf32>) outs(%50 : tensor<2x2x2x3x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x3x1xf32>
    %52 = linalg.generic {indexing_maps = [#map17, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%51 : tensor<2x2x2x3x1xf32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x3x96xf32>
    %53 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%44, %52 : tensor<2x2x2x3x96xf32>, tensor<2x2x2x3x96xf32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %65 = arith.subf %in, %in_7 : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3x96xf32>
    %54 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%53 : tensor<2x2x2x3x96xf32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      %65 = math.exp %in : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3x96xf32>
    %55 = linalg.fill ins(%cst_1 : f32) outs(%45 : tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%54 : tensor<2x2x2x3x96xf32>) outs(%55 : tensor<2x2x2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %65 = arith.addf %out, %in : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3xf32>
    %57 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%56 : tensor<2x2x2x3xf32>) outs(%50 : tensor<2x2x2x3x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x3x1xf32>
    %58 = linalg.generic {indexing_maps = [#map17, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%57 : tensor<2x2x2x3x1xf32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x3x96xf32>
    %59 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%54, %58 : tensor<2x2x2x3x96xf32>, tensor<2x2x2x3x96xf32>) outs(%19 : tensor<2x2x2x3x96xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %65 = arith.divf %in, %in_7 : f32
      linalg.yield %65 : f32
    } -> tensor<2x2x2x3x96xf32>
    %60 = tensor.empty() : tensor<2x2x2x3x96xf16>
    %61 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%59 : tensor<2x2x2x3x96xf32>) outs(%60 : tensor<2x2x2x3x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %65 = arith.truncf %in : f32 to f16
      linalg.yield %65 : f16
    } -> tensor<2x2x2x3x96xf16>
    %62 = tensor.empty() : tensor<2x2x2x3x64xf16>
    %63 = linalg.fill ins(%cst : f16) outs(%62 : tensor<2x2x2x3x64xf16>) -> tensor<2x2x2x3x64xf16>
    %64 = linalg.generic {indexing_maps = [#map1, #map18, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%61, %inserted_slice_6 : tensor<2x2x2x3x96xf16>, tensor<2x2x96x64xf16>) outs(%63 : tensor<2x2x2x3x64xf16>) {
    ^bb0(%in: f16, %in_7: f16, %out: f16):
      %65 = arith.mulf %in, %in_7 : f16
      %66 = arith.addf %out, %65 : f16
      linalg.yield %66 : f16
    } -> tensor<2x2x2x3x64xf16>
    %collapsed = tensor.collapse_shape %64 [[0], [1, 2], [3], [4]] : tensor<2x2x2x3x64xf16> into tensor<2x4x3x64xf16>
    return %collapsed, %inserted_slice, %inserted_slice_6 : tensor<2x4x3x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x64xf16>
  }
}

