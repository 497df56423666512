// jax.nn.dot_product_attention with bias and boolean mask, BNHD layout: B=2, H=4, M=32, N=48, D=64.
// Exported by export.py with jax 0.10.2, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: query
//   %arg1: key
//   %arg2: value
//   %arg3: bias
//   %arg4: mask

#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d3, d5)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0, d4)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d0, d3, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, d4)>
#map9 = affine_map<(d0, d1, d2, d3) -> ()>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, 0, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map15 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d2)>
#map16 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d4, d5)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2, d4)>
module {
  func.func @jax_dot_product_attention_bias(%arg0: tensor<2x32x4x64xf32>, %arg1: tensor<2x48x4x64xf32>, %arg2: tensor<2x48x4x64xf32>, %arg3: tensor<1x4x32x48xf32>, %arg4: tensor<2x1x1x48xi1>) -> tensor<2x32x4x64xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant dense<-2.38197633E+38> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant dense<1.250000e-01> : tensor<f32>
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [2, 32, 4, 1, 64] : tensor<2x32x4x64xf32> into tensor<2x32x4x1x64xf32>
    %expanded_5 = tensor.expand_shape %arg3 [[0], [1], [2, 3], [4]] output_shape [1, 4, 1, 32, 48] : tensor<1x4x32x48xf32> into tensor<1x4x1x32x48xf32>
    %0 = tensor.empty() : tensor<2x1x1x1x48xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<2x1x1x48xi1>) outs(%0 : tensor<2x1x1x1x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x1x1x48xi1>
    %2 = tensor.empty() : tensor<2x4x32x1x48xf32>
    %3 = linalg.fill ins(%cst_0 : f32) outs(%2 : tensor<2x4x32x1x48xf32>) -> tensor<2x4x32x1x48xf32>
    %4 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded, %arg1 : tensor<2x32x4x1x64xf32>, tensor<2x48x4x64xf32>) outs(%3 : tensor<2x4x32x1x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %47 = arith.mulf %in, %in_6 : f32
      %48 = arith.addf %out, %47 : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x32x1x48xf32>
    %5 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%2 : tensor<2x4x32x1x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x1x48xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%4, %5 : tensor<2x4x32x1x48xf32>, tensor<2x4x32x1x48xf32>) outs(%2 : tensor<2x4x32x1x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %47 = arith.mulf %in, %in_6 : f32
      linalg.yield %47 : f32
    } -> tensor<2x4x32x1x48xf32>
    %7 = tensor.empty() : tensor<1x2x4x32x48xf32>
    %8 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<2x4x32x1x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32x48xf32>
    %9 = tensor.empty() : tensor<1x1x4x32x48xf32>
    %10 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5 : tensor<1x4x1x32x48xf32>) outs(%9 : tensor<1x1x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x4x32x48xf32>
    %11 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<1x1x4x32x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32x48xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%8, %11 : tensor<1x2x4x32x48xf32>, tensor<1x2x4x32x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %47 = arith.addf %in, %in_6 : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32x48xf32>
    %13 = tensor.empty() : tensor<2x4x32x48xi1>
    %14 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<i1>) outs(%13 : tensor<2x4x32x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x4x32x48xi1>
    %15 = tensor.empty() : tensor<1x2x4x32x48xi1>
    %16 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<2x4x32x48xi1>) outs(%15 : tensor<1x2x4x32x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x4x32x48xi1>
    %17 = tensor.empty() : tensor<1x2x1x1x48xi1>
    %18 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<2x1x1x1x48xi1>) outs(%17 : tensor<1x2x1x1x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x1x1x48xi1>
    %19 = linalg.generic {indexing_maps = [#map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<1x2x1x1x48xi1>) outs(%15 : tensor<1x2x4x32x48xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x4x32x48xi1>
    %20 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%16, %19 : tensor<1x2x4x32x48xi1>, tensor<1x2x4x32x48xi1>) outs(%15 : tensor<1x2x4x32x48xi1>) {
    ^bb0(%in: i1, %in_6: i1, %out: i1):
      %47 = arith.andi %in, %in_6 : i1
      linalg.yield %47 : i1
    } -> tensor<1x2x4x32x48xi1>
    %21 = tensor.empty() : tensor<2x4x32x48xf32>
    %22 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%21 : tensor<2x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x48xf32>
    %23 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<2x4x32x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32x48xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%20, %12, %23 : tensor<1x2x4x32x48xi1>, tensor<1x2x4x32x48xf32>, tensor<1x2x4x32x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: i1, %in_6: f32, %in_7: f32, %out: f32):
      %47 = arith.select %in, %in_6, %in_7 : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32x48xf32>
    %25 = tensor.empty() : tensor<1x2x4x32xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<1x2x4x32xf32>) -> tensor<1x2x4x32xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%24 : tensor<1x2x4x32x48xf32>) outs(%26 : tensor<1x2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.maximumf %out, %in : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32xf32>
    %28 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%25 : tensor<1x2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32xf32>
    %29 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %27 : tensor<1x2x4x32xf32>, tensor<1x2x4x32xf32>) outs(%25 : tensor<1x2x4x32xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %47 = arith.maximumf %in, %in_6 : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32xf32>
    %30 = tensor.empty() : tensor<1x2x4x32x1xf32>
    %31 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<1x2x4x32xf32>) outs(%30 : tensor<1x2x4x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32x1xf32>
    %32 = linalg.generic {indexing_maps = [#map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<1x2x4x32x1xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32x48xf32>
    %33 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%24, %32 : tensor<1x2x4x32x48xf32>, tensor<1x2x4x32x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %47 = arith.subf %in, %in_6 : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32x48xf32>
    %34 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%33 : tensor<1x2x4x32x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = math.exp %in : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32x48xf32>
    %35 = linalg.fill ins(%cst_0 : f32) outs(%25 : tensor<1x2x4x32xf32>) -> tensor<1x2x4x32xf32>
    %36 = linalg.generic {indexing_maps = [#map1, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%34 : tensor<1x2x4x32x48xf32>) outs(%35 : tensor<1x2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.addf %out, %in : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32xf32>
    %37 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<1x2x4x32xf32>) outs(%30 : tensor<1x2x4x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32x1xf32>
    %38 = linalg.generic {indexing_maps = [#map14, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%37 : tensor<1x2x4x32x1xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x4x32x48xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%34, %38 : tensor<1x2x4x32x48xf32>, tensor<1x2x4x32x48xf32>) outs(%7 : tensor<1x2x4x32x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %47 = arith.divf %in, %in_6 : f32
      linalg.yield %47 : f32
    } -> tensor<1x2x4x32x48xf32>
    %40 = tensor.empty() : tensor<2x4x64x1x32xf32>
    %41 = linalg.fill ins(%cst_0 : f32) outs(%40 : tensor<2x4x64x1x32xf32>) -> tensor<2x4x64x1x32xf32>
    %42 = linalg.generic {indexing_maps = [#map15, #map16, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg2, %39 : tensor<2x48x4x64xf32>, tensor<1x2x4x32x48xf32>) outs(%41 : tensor<2x4x64x1x32xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %47 = arith.mulf %in, %in_6 : f32
      %48 = arith.addf %out, %47 : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x64x1x32xf32>
    %43 = tensor.empty() : tensor<1x2x32x4x64xf32>
    %44 = linalg.generic {indexing_maps = [#map17, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<2x4x64x1x32xf32>) outs(%43 : tensor<1x2x32x4x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x32x4x64xf32>
    %45 = tensor.empty() : tensor<2x32x4x1x64xf32>
    %46 = linalg.generic {indexing_maps = [#map18, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%44 : tensor<1x2x32x4x64xf32>) outs(%45 : tensor<2x32x4x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x4x1x64xf32>
    %collapsed = tensor.collapse_shape %46 [[0], [1], [2], [3, 4]] : tensor<2x32x4x1x64xf32> into tensor<2x32x4x64xf32>
    return %collapsed : tensor<2x32x4x64xf32>
  }
}

