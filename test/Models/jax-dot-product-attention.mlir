// jax.nn.dot_product_attention, causal, BNHD layout: B=2, Hq=4, Hkv=2, M=N=48, D=64.
// Exported by export.py with jax 0.10.2, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: query
//   %arg1: key
//   %arg2: value

#map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d3, d5)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map5 = affine_map<(d0, d1, d2, d3) -> ()>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1) -> ()>
#map8 = affine_map<(d0, d1) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map15 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d2)>
#map16 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d4, d5)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2, d4)>
module {
  func.func @jax_dot_product_attention(%arg0: tensor<2x48x4x64xf32>, %arg1: tensor<2x48x2x64xf32>, %arg2: tensor<2x48x2x64xf32>) -> tensor<2x48x4x64xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant dense<0> : tensor<i64>
    %cst_2 = arith.constant dense<false> : tensor<i1>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<-2.38197633E+38> : tensor<f32>
    %cst_5 = arith.constant dense<true> : tensor<i1>
    %cst_6 = arith.constant dense<1.250000e-01> : tensor<f32>
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3], [4]] output_shape [2, 48, 2, 2, 64] : tensor<2x48x4x64xf32> into tensor<2x48x2x2x64xf32>
    %0 = tensor.empty() : tensor<2x2x48x2x48xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<2x2x48x2x48xf32>) -> tensor<2x2x48x2x48xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded, %arg1 : tensor<2x48x2x2x64xf32>, tensor<2x48x2x64xf32>) outs(%1 : tensor<2x2x48x2x48xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %51 = arith.mulf %in, %in_7 : f32
      %52 = arith.addf %out, %51 : f32
      linalg.yield %52 : f32
    } -> tensor<2x2x48x2x48xf32>
    %3 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%0 : tensor<2x2x48x2x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x48x2x48xf32>
    %4 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%2, %3 : tensor<2x2x48x2x48xf32>, tensor<2x2x48x2x48xf32>) outs(%0 : tensor<2x2x48x2x48xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %51 = arith.mulf %in, %in_7 : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x48x2x48xf32>
    %5 = tensor.empty() : tensor<2x2x48x48xi1>
    %6 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<i1>) outs(%5 : tensor<2x2x48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x48x48xi1>
    %7 = tensor.empty() : tensor<48x48xi1>
    %8 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<i1>) outs(%7 : tensor<48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<48x48xi1>
    %9 = tensor.empty() : tensor<48x48xi64>
    %10 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel"]} outs(%9 : tensor<48x48xi64>) {
    ^bb0(%out: i64):
      %51 = linalg.index 0 : index
      %52 = arith.index_cast %51 : index to i64
      linalg.yield %52 : i64
    } -> tensor<48x48xi64>
    %11 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<i64>) outs(%9 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<48x48xi64>
    %12 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%10, %11 : tensor<48x48xi64>, tensor<48x48xi64>) outs(%9 : tensor<48x48xi64>) {
    ^bb0(%in: i64, %in_7: i64, %out: i64):
      %51 = arith.addi %in, %in_7 : i64
      linalg.yield %51 : i64
    } -> tensor<48x48xi64>
    %13 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel"]} outs(%9 : tensor<48x48xi64>) {
    ^bb0(%out: i64):
      %51 = linalg.index 1 : index
      %52 = arith.index_cast %51 : index to i64
      linalg.yield %52 : i64
    } -> tensor<48x48xi64>
    %14 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%12, %13 : tensor<48x48xi64>, tensor<48x48xi64>) outs(%7 : tensor<48x48xi1>) {
    ^bb0(%in: i64, %in_7: i64, %out: i1):
      %51 = arith.cmpi sge, %in, %in_7 : i64
      linalg.yield %51 : i1
    } -> tensor<48x48xi1>
    %15 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<i1>) outs(%7 : tensor<48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<48x48xi1>
    %16 = linalg.generic {indexing_maps = [#map8, #map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%14, %8, %15 : tensor<48x48xi1>, tensor<48x48xi1>, tensor<48x48xi1>) outs(%7 : tensor<48x48xi1>) {
    ^bb0(%in: i1, %in_7: i1, %in_8: i1, %out: i1):
      %51 = arith.select %in, %in_7, %in_8 : i1
      linalg.yield %51 : i1
    } -> tensor<48x48xi1>
    %17 = tensor.empty() : tensor<1x1x48x48xi1>
    %18 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<48x48xi1>) outs(%17 : tensor<1x1x48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x48x48xi1>
    %19 = linalg.generic {indexing_maps = [#map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<1x1x48x48xi1>) outs(%5 : tensor<2x2x48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x48x48xi1>
    %20 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %19 : tensor<2x2x48x48xi1>, tensor<2x2x48x48xi1>) outs(%5 : tensor<2x2x48x48xi1>) {
    ^bb0(%in: i1, %in_7: i1, %out: i1):
      %51 = arith.andi %in, %in_7 : i1
      linalg.yield %51 : i1
    } -> tensor<2x2x48x48xi1>
    %21 = tensor.empty() : tensor<2x2x48x48xf32>
    %22 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%21 : tensor<2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x48x48xf32>
    %23 = tensor.empty() : tensor<2x2x2x48x48xi1>
    %24 = linalg.generic {indexing_maps = [#map11, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x2x48x48xi1>) outs(%23 : tensor<2x2x2x48x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x2x48x48xi1>
    %25 = tensor.empty() : tensor<2x2x2x48x48xf32>
    %26 = linalg.generic {indexing_maps = [#map11, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<2x2x48x48xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x48xf32>
    %27 = linalg.generic {indexing_maps = [#map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<2x2x48x2x48xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x48xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%24, %27, %26 : tensor<2x2x2x48x48xi1>, tensor<2x2x2x48x48xf32>, tensor<2x2x2x48x48xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: i1, %in_7: f32, %in_8: f32, %out: f32):
      %51 = arith.select %in, %in_7, %in_8 : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x2x48x48xf32>
    %29 = tensor.empty() : tensor<2x2x2x48xf32>
    %30 = linalg.fill ins(%cst : f32) outs(%29 : tensor<2x2x2x48xf32>) -> tensor<2x2x2x48xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<2x2x2x48x48xf32>) outs(%30 : tensor<2x2x2x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.maximumf %out, %in : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x2x48xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%29 : tensor<2x2x2x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48xf32>
    %33 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %31 : tensor<2x2x2x48xf32>, tensor<2x2x2x48xf32>) outs(%29 : tensor<2x2x2x48xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %51 = arith.maximumf %in, %in_7 : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x2x48xf32>
    %34 = tensor.empty() : tensor<2x2x2x48x1xf32>
    %35 = linalg.generic {indexing_maps = [#map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%33 : tensor<2x2x2x48xf32>) outs(%34 : tensor<2x2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x1xf32>
    %36 = linalg.generic {indexing_maps = [#map14, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x2x2x48x1xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x48xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%28, %36 : tensor<2x2x2x48x48xf32>, tensor<2x2x2x48x48xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %51 = arith.subf %in, %in_7 : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x2x48x48xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%37 : tensor<2x2x2x48x48xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = math.exp %in : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x2x48x48xf32>
    %39 = linalg.fill ins(%cst_0 : f32) outs(%29 : tensor<2x2x2x48xf32>) -> tensor<2x2x2x48xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%38 : tensor<2x2x2x48x48xf32>) outs(%39 : tensor<2x2x2x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %out, %in : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x2x48xf32>
    %41 = linalg.generic {indexing_maps = [#map13, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<2x2x2x48xf32>) outs(%34 : tensor<2x2x2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x1xf32>
    %42 = linalg.generic {indexing_maps = [#map14, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%41 : tensor<2x2x2x48x1xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x48x48xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%38, %42 : tensor<2x2x2x48x48xf32>, tensor<2x2x2x48x48xf32>) outs(%25 : tensor<2x2x2x48x48xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %51 = arith.divf %in, %in_7 : f32
      linalg.yield %51 : f32
    } -> tensor<2x2x2x48x48xf32>
    %44 = tensor.empty() : tensor<2x2x64x2x48xf32>
    %45 = linalg.fill ins(%cst_0 : f32) outs(%44 : tensor<2x2x64x2x48xf32>) -> tensor<2x2x64x2x48xf32>
    %46 = linalg.generic {indexing_maps = [#map15, #map16, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg2, %43 : tensor<2x48x2x64xf32>, tensor<2x2x2x48x48xf32>) outs(%45 : tensor<2x2x64x2x48xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %51 = arith.mulf %in, %in_7 : f32
      %52 = arith.addf %out, %51 : f32
      linalg.yield %52 : f32
    } -> tensor<2x2x64x2x48xf32>
    %47 = tensor.empty() : tensor<2x2x48x2x64xf32>
    %48 = linalg.generic {indexing_maps = [#map17, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%46 : tensor<2x2x64x2x48xf32>) outs(%47 : tensor<2x2x48x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x48x2x64xf32>
    %49 = tensor.empty() : tensor<2x48x2x2x64xf32>
    %50 = linalg.generic {indexing_maps = [#map18, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%48 : tensor<2x2x48x2x64xf32>) outs(%49 : tensor<2x48x2x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x48x2x2x64xf32>
    %collapsed = tensor.collapse_shape %50 [[0], [1], [2, 3], [4]] : tensor<2x48x2x2x64xf32> into tensor<2x48x4x64xf32>
    return %collapsed : tensor<2x48x4x64xf32>
  }
}

