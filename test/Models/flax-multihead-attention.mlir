// flax.linen.MultiHeadDotProductAttention, causal mask as input: B=2, H=4, M=N=40, D=64.
// Exported by export.py with flax 0.12.8, jax 0.10.2, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: mask
//   %arg2: key/bias
//   %arg3: key/kernel
//   %arg4: out/bias
//   %arg5: out/kernel
//   %arg6: query/bias
//   %arg7: query/kernel
//   %arg8: value/bias
//   %arg9: value/kernel

#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<() -> ()>
#map6 = affine_map<(d0, d1, d2, d3) -> ()>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2) -> ()>
#map11 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#map16 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#map18 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
module {
  func.func @flax_multihead_attention(%arg0: tensor<2x40x256xf32>, %arg1: tensor<1x1x40x40xi1>, %arg2: tensor<4x64xf32>, %arg3: tensor<256x4x64xf32>, %arg4: tensor<256xf32>, %arg5: tensor<4x64x256xf32>, %arg6: tensor<4x64xf32>, %arg7: tensor<256x4x64xf32>, %arg8: tensor<4x64xf32>, %arg9: tensor<256x4x64xf32>) -> tensor<2x40x256xf32> {
    %cst = arith.constant 8.000000e+00 : f64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %0 = tensor.empty() : tensor<2x40x4x64xf32>
    %1 = linalg.fill ins(%cst_1 : f32) outs(%0 : tensor<2x40x4x64xf32>) -> tensor<2x40x4x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg7 : tensor<2x40x256xf32>, tensor<256x4x64xf32>) outs(%1 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.mulf %in, %in_7 : f32
      %49 = arith.addf %out, %48 : f32
      linalg.yield %49 : f32
    } -> tensor<2x40x4x64xf32>
    %expanded = tensor.expand_shape %arg6 [[0, 1, 2], [3]] output_shape [1, 1, 4, 64] : tensor<4x64xf32> into tensor<1x1x4x64xf32>
    %3 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x4x64xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x4x64xf32>
    %4 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %3 : tensor<2x40x4x64xf32>, tensor<2x40x4x64xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.addf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x40x4x64xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg3 : tensor<2x40x256xf32>, tensor<256x4x64xf32>) outs(%1 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.mulf %in, %in_7 : f32
      %49 = arith.addf %out, %48 : f32
      linalg.yield %49 : f32
    } -> tensor<2x40x4x64xf32>
    %expanded_4 = tensor.expand_shape %arg2 [[0, 1, 2], [3]] output_shape [1, 1, 4, 64] : tensor<4x64xf32> into tensor<1x1x4x64xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<1x1x4x64xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x4x64xf32>
    %7 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %6 : tensor<2x40x4x64xf32>, tensor<2x40x4x64xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.addf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x40x4x64xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg9 : tensor<2x40x256xf32>, tensor<256x4x64xf32>) outs(%1 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.mulf %in, %in_7 : f32
      %49 = arith.addf %out, %48 : f32
      linalg.yield %49 : f32
    } -> tensor<2x40x4x64xf32>
    %expanded_5 = tensor.expand_shape %arg8 [[0, 1, 2], [3]] output_shape [1, 1, 4, 64] : tensor<4x64xf32> into tensor<1x1x4x64xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5 : tensor<1x1x4x64xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x4x64xf32>
    %10 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %9 : tensor<2x40x4x64xf32>, tensor<2x40x4x64xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.addf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x40x4x64xf32>
    %11 = tensor.empty() : tensor<f64>
    %12 = linalg.generic {indexing_maps = [#map5], iterator_types = []} outs(%11 : tensor<f64>) {
    ^bb0(%out: f64):
      linalg.yield %cst : f64
    } -> tensor<f64>
    %13 = tensor.empty() : tensor<f32>
    %14 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = []} ins(%12 : tensor<f64>) outs(%13 : tensor<f32>) {
    ^bb0(%in: f64, %out: f32):
      %48 = arith.truncf %in : f64 to f32
      linalg.yield %48 : f32
    } -> tensor<f32>
    %15 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<f32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x4x64xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4, %15 : tensor<2x40x4x64xf32>, tensor<2x40x4x64xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.divf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x40x4x64xf32>
    %17 = tensor.empty() : tensor<2x4x40x40xf32>
    %18 = linalg.fill ins(%cst_1 : f32) outs(%17 : tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %19 = linalg.generic {indexing_maps = [#map7, #map8, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%16, %7 : tensor<2x40x4x64xf32>, tensor<2x40x4x64xf32>) outs(%18 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.mulf %in, %in_7 : f32
      %49 = arith.addf %out, %48 : f32
      linalg.yield %49 : f32
    } -> tensor<2x4x40x40xf32>
    %20 = tensor.empty() : tensor<2x4x40x40xi1>
    %21 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x1x40x40xi1>) outs(%20 : tensor<2x4x40x40xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x4x40x40xi1>
    %22 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%17 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x40x40xf32>
    %23 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %19, %22 : tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) outs(%17 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: i1, %in_7: f32, %in_8: f32, %out: f32):
      %48 = arith.select %in, %in_7, %in_8 : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x40x40xf32>
    %24 = tensor.empty() : tensor<2x4x40xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%24 : tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %26 = linalg.generic {indexing_maps = [#map4, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<2x4x40x40xf32>) outs(%25 : tensor<2x4x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %48 = arith.maximumf %out, %in : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x40xf32>
    %27 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%24 : tensor<2x4x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x40xf32>
    %28 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %26 : tensor<2x4x40xf32>, tensor<2x4x40xf32>) outs(%24 : tensor<2x4x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.maximumf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x40xf32>
    %29 = tensor.empty() : tensor<2x4x40x1xf32>
    %30 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<2x4x40xf32>) outs(%29 : tensor<2x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x40x1xf32>
    %31 = linalg.generic {indexing_maps = [#map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<2x4x40x1xf32>) outs(%17 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x40x40xf32>
    %32 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %31 : tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) outs(%17 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.subf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x40x40xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<2x4x40x40xf32>) outs(%17 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %48 = math.exp %in : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x40x40xf32>
    %34 = linalg.fill ins(%cst_1 : f32) outs(%24 : tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<2x4x40x40xf32>) outs(%34 : tensor<2x4x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %48 = arith.addf %out, %in : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x40xf32>
    %36 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x4x40xf32>) outs(%29 : tensor<2x4x40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x40x1xf32>
    %37 = linalg.generic {indexing_maps = [#map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<2x4x40x1xf32>) outs(%17 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x40x40xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %37 : tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) outs(%17 : tensor<2x4x40x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.divf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x4x40x40xf32>
    %39 = tensor.empty() : tensor<2x4x64x40xf32>
    %40 = linalg.fill ins(%cst_1 : f32) outs(%39 : tensor<2x4x64x40xf32>) -> tensor<2x4x64x40xf32>
    %41 = linalg.generic {indexing_maps = [#map13, #map14, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%10, %38 : tensor<2x40x4x64xf32>, tensor<2x4x40x40xf32>) outs(%40 : tensor<2x4x64x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.mulf %in, %in_7 : f32
      %49 = arith.addf %out, %48 : f32
      linalg.yield %49 : f32
    } -> tensor<2x4x64x40xf32>
    %42 = linalg.generic {indexing_maps = [#map15, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41 : tensor<2x4x64x40xf32>) outs(%0 : tensor<2x40x4x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x4x64xf32>
    %43 = tensor.empty() : tensor<2x40x256xf32>
    %44 = linalg.fill ins(%cst_1 : f32) outs(%43 : tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    %45 = linalg.generic {indexing_maps = [#map14, #map16, #map17], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%42, %arg5 : tensor<2x40x4x64xf32>, tensor<4x64x256xf32>) outs(%44 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.mulf %in, %in_7 : f32
      %49 = arith.addf %out, %48 : f32
      linalg.yield %49 : f32
    } -> tensor<2x40x256xf32>
    %expanded_6 = tensor.expand_shape %arg4 [[0, 1, 2]] output_shape [1, 1, 256] : tensor<256xf32> into tensor<1x1x256xf32>
    %46 = linalg.generic {indexing_maps = [#map18, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<1x1x256xf32>) outs(%43 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x40x256xf32>
    %47 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %46 : tensor<2x40x256xf32>, tensor<2x40x256xf32>) outs(%43 : tensor<2x40x256xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %48 = arith.addf %in, %in_7 : f32
      linalg.yield %48 : f32
    } -> tensor<2x40x256xf32>
    return %47 : tensor<2x40x256xf32>
  }
}

