// GPT-2 causal self-attention: B=2, H=4, M=N=48, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.c_attn.weight
//   %arg2: layer.c_attn.bias
//   %arg3: layer.c_proj.weight
//   %arg4: layer.c_proj.bias

module {
  func.func @gpt2_tosa(%arg0: tensor<2x48x256xf32>, %arg1: tensor<256x768xf32>, %arg2: tensor<768xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256xf32>) -> tensor<2x48x256xf32> {
    %0 = "tosa.const"() <{values = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]> : tensor<48xi64>}> : () -> tensor<48xi64>
    %1 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = tosa.const_shape  {values = dense<[1, 1, 48, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %3 = tosa.const_shape  {values = dense<[1, 1, 1, 48]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %4 = tosa.const_shape  {values = dense<[2, 1, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %5 = tosa.const_shape  {values = dense<[96, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %6 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %7 = tosa.const_shape  {values = dense<[1, 96, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %8 = tosa.const_shape  {values = dense<[1, 256, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[96, 768]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %10 = tosa.const_shape  {values = dense<[1, 768]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %11 = tosa.const_shape  {values = dense<[2, 48, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %12 = tosa.const_shape  {values = dense<[2, 48, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %13 = tosa.const_shape  {values = dense<0> : tensor<3xindex>} : () -> !tosa.shape<3>
    %14 = tosa.const_shape  {values = dense<[0, 0, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %15 = tosa.const_shape  {values = dense<[0, 0, 512]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %16 = tosa.const_shape  {values = dense<[2, 48, 4, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %17 = tosa.const_shape  {values = dense<[8, 48, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %18 = tosa.const_shape  {values = dense<[8, 64, 48]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %19 = tosa.const_shape  {values = dense<[2, 4, 48, 48]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %20 = tosa.const_shape  {values = dense<[8, 48, 48]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %21 = tosa.const_shape  {values = dense<[2, 4, 48, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %22 = tosa.const_shape  {values = dense<[1, 256, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %23 = tosa.const_shape  {values = dense<[1, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %24 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %25 = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %26 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %27 = tosa.cast %0 : (tensor<48xi64>) -> tensor<48xi32>
    %28 = tosa.cast %27 : (tensor<48xi32>) -> tensor<48xi64>
    %29 = tosa.reshape %28, %2 : (tensor<48xi64>, !tosa.shape<4>) -> tensor<1x1x48x1xi64>
    %30 = tosa.reshape %28, %3 : (tensor<48xi64>, !tosa.shape<4>) -> tensor<1x1x1x48xi64>
    %31 = tosa.greater_equal %29, %30 : (tensor<1x1x48x1xi64>, tensor<1x1x1x48xi64>) -> tensor<1x1x48x48xi1>
    %32 = tosa.tile %31, %4 : (tensor<1x1x48x48xi1>, !tosa.shape<4>) -> tensor<2x1x48x48xi1>
    %33 = tosa.select %32, %24, %25 : (tensor<2x1x48x48xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x1x48x48xf32>
    %34 = tosa.reshape %arg0, %7 : (tensor<2x48x256xf32>, !tosa.shape<3>) -> tensor<1x96x256xf32>
    %35 = tosa.reshape %arg1, %8 : (tensor<256x768xf32>, !tosa.shape<3>) -> tensor<1x256x768xf32>
    %36 = tosa.matmul %34, %35, %6, %6 : (tensor<1x96x256xf32>, tensor<1x256x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x96x768xf32>
    %37 = tosa.reshape %36, %9 : (tensor<1x96x768xf32>, !tosa.shape<2>) -> tensor<96x768xf32>
    %38 = tosa.reshape %arg2, %10 : (tensor<768xf32>, !tosa.shape<2>) -> tensor<1x768xf32>
    %39 = tosa.add %37, %38 : (tensor<96x768xf32>, tensor<1x768xf32>) -> tensor<96x768xf32>
    %40 = tosa.reshape %39, %11 : (tensor<96x768xf32>, !tosa.shape<3>) -> tensor<2x48x768xf32>
    %41 = tosa.slice %40, %13, %12 : (tensor<2x48x768xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    %42 = tosa.slice %40, %14, %12 : (tensor<2x48x768xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    %43 = tosa.slice %40, %15, %12 : (tensor<2x48x768xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    %44 = tosa.reshape %42, %16 : (tensor<2x48x256xf32>, !tosa.shape<4>) -> tensor<2x48x4x64xf32>
    %45 = tosa.reshape %43, %16 : (tensor<2x48x256xf32>, !tosa.shape<4>) -> tensor<2x48x4x64xf32>
    %46 = tosa.transpose %45 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x48x4x64xf32>) -> tensor<2x4x48x64xf32>
    %47 = tosa.reshape %41, %16 : (tensor<2x48x256xf32>, !tosa.shape<4>) -> tensor<2x48x4x64xf32>
    %48 = tosa.transpose %47 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x48x4x64xf32>) -> tensor<2x4x48x64xf32>
    %49 = tosa.transpose %44 {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x48x4x64xf32>) -> tensor<2x4x64x48xf32>
    %50 = tosa.reshape %48, %17 : (tensor<2x4x48x64xf32>, !tosa.shape<3>) -> tensor<8x48x64xf32>
    %51 = tosa.reshape %49, %18 : (tensor<2x4x64x48xf32>, !tosa.shape<3>) -> tensor<8x64x48xf32>
    %52 = tosa.matmul %50, %51, %6, %6 : (tensor<8x48x64xf32>, tensor<8x64x48xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x48x48xf32>
    %53 = tosa.reshape %52, %19 : (tensor<8x48x48xf32>, !tosa.shape<4>) -> tensor<2x4x48x48xf32>
    %54 = tosa.mul %53, %26, %1 : (tensor<2x4x48x48xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x4x48x48xf32>
    %55 = tosa.add %54, %33 : (tensor<2x4x48x48xf32>, tensor<2x1x48x48xf32>) -> tensor<2x4x48x48xf32>
    %56 = tosa.reduce_max %55 {axis = 3 : i32} : (tensor<2x4x48x48xf32>) -> tensor<2x4x48x1xf32>
    %57 = tosa.sub %55, %56 : (tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) -> tensor<2x4x48x48xf32>
    %58 = tosa.exp %57 : (tensor<2x4x48x48xf32>) -> tensor<2x4x48x48xf32>
    %59 = tosa.reduce_sum %58 {axis = 3 : i32} : (tensor<2x4x48x48xf32>) -> tensor<2x4x48x1xf32>
    %60 = tosa.reciprocal %59 : (tensor<2x4x48x1xf32>) -> tensor<2x4x48x1xf32>
    %61 = tosa.mul %58, %60, %1 : (tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>, tensor<1xi8>) -> tensor<2x4x48x48xf32>
    %62 = tosa.reshape %61, %20 : (tensor<2x4x48x48xf32>, !tosa.shape<3>) -> tensor<8x48x48xf32>
    %63 = tosa.reshape %46, %17 : (tensor<2x4x48x64xf32>, !tosa.shape<3>) -> tensor<8x48x64xf32>
    %64 = tosa.matmul %62, %63, %6, %6 : (tensor<8x48x48xf32>, tensor<8x48x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x48x64xf32>
    %65 = tosa.reshape %64, %21 : (tensor<8x48x64xf32>, !tosa.shape<4>) -> tensor<2x4x48x64xf32>
    %66 = tosa.transpose %65 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x4x48x64xf32>) -> tensor<2x48x4x64xf32>
    %67 = tosa.reshape %66, %7 : (tensor<2x48x4x64xf32>, !tosa.shape<3>) -> tensor<1x96x256xf32>
    %68 = tosa.reshape %arg3, %22 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %69 = tosa.matmul %67, %68, %6, %6 : (tensor<1x96x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x96x256xf32>
    %70 = tosa.reshape %69, %5 : (tensor<1x96x256xf32>, !tosa.shape<2>) -> tensor<96x256xf32>
    %71 = tosa.reshape %arg4, %23 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %72 = tosa.add %70, %71 : (tensor<96x256xf32>, tensor<1x256xf32>) -> tensor<96x256xf32>
    %73 = tosa.reshape %72, %12 : (tensor<96x256xf32>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    return %73 : tensor<2x48x256xf32>
  }
}

