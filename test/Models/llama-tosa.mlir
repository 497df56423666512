// Llama causal self-attention, cos and sin as inputs: B=2, Hq=8, Hkv=2, M=N=40, D=128.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: cos
//   %arg2: sin
//   %arg3: layer.q_proj.weight
//   %arg4: layer.k_proj.weight
//   %arg5: layer.v_proj.weight
//   %arg6: layer.o_proj.weight

module {
  func.func @llama_tosa(%arg0: tensor<2x40x256xf32>, %arg1: tensor<1x40x128xf32>, %arg2: tensor<1x40x128xf32>, %arg3: tensor<1024x256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256x256xf32>, %arg6: tensor<256x1024xf32>) -> tensor<2x40x256xf32> {
    %0 = "tosa.const"() <{values = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]> : tensor<40xi64>}> : () -> tensor<40xi64>
    %1 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = tosa.const_shape  {values = dense<[1, 1, 40, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %3 = tosa.const_shape  {values = dense<[1, 1, 1, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %4 = tosa.const_shape  {values = dense<[2, 1, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %5 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %6 = tosa.const_shape  {values = dense<[1, 80, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[1, 256, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %8 = tosa.const_shape  {values = dense<[2, 40, 8, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %9 = tosa.const_shape  {values = dense<[1, 256, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %10 = tosa.const_shape  {values = dense<[2, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %11 = tosa.const_shape  {values = dense<[2, 40, 2, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %12 = tosa.const_shape  {values = dense<[1, 1, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %13 = tosa.const_shape  {values = dense<[2, 8, 40, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %14 = tosa.const_shape  {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %15 = tosa.const_shape  {values = dense<[0, 0, 0, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %16 = tosa.const_shape  {values = dense<[2, 2, 40, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %17 = tosa.const_shape  {values = dense<[2, 2, 1, 40, 128]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %18 = tosa.const_shape  {values = dense<[1, 1, 4, 1, 1]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %19 = tosa.const_shape  {values = dense<[2, 8, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %20 = tosa.const_shape  {values = dense<[16, 40, 128]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %21 = tosa.const_shape  {values = dense<[16, 128, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %22 = tosa.const_shape  {values = dense<[2, 8, 40, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %23 = tosa.const_shape  {values = dense<[16, 40, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %24 = tosa.const_shape  {values = dense<[1, 80, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %25 = tosa.const_shape  {values = dense<[1, 1024, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %26 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %27 = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %28 = "tosa.const"() <{values = dense<0.0883883461> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %29 = tosa.cast %0 : (tensor<40xi64>) -> tensor<40xi32>
    %30 = tosa.cast %29 : (tensor<40xi32>) -> tensor<40xi64>
    %31 = tosa.reshape %30, %2 : (tensor<40xi64>, !tosa.shape<4>) -> tensor<1x1x40x1xi64>
    %32 = tosa.reshape %30, %3 : (tensor<40xi64>, !tosa.shape<4>) -> tensor<1x1x1x40xi64>
    %33 = tosa.greater_equal %31, %32 : (tensor<1x1x40x1xi64>, tensor<1x1x1x40xi64>) -> tensor<1x1x40x40xi1>
    %34 = tosa.tile %33, %4 : (tensor<1x1x40x40xi1>, !tosa.shape<4>) -> tensor<2x1x40x40xi1>
    %35 = tosa.select %34, %26, %27 : (tensor<2x1x40x40xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x1x40x40xf32>
    %36 = tosa.transpose %arg3 {perms = array<i32: 1, 0>} : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %37 = tosa.reshape %arg0, %6 : (tensor<2x40x256xf32>, !tosa.shape<3>) -> tensor<1x80x256xf32>
    %38 = tosa.reshape %36, %7 : (tensor<256x1024xf32>, !tosa.shape<3>) -> tensor<1x256x1024xf32>
    %39 = tosa.matmul %37, %38, %5, %5 : (tensor<1x80x256xf32>, tensor<1x256x1024xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x1024xf32>
    %40 = tosa.reshape %39, %8 : (tensor<1x80x1024xf32>, !tosa.shape<4>) -> tensor<2x40x8x128xf32>
    %41 = tosa.transpose %40 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x8x128xf32>) -> tensor<2x8x40x128xf32>
    %42 = tosa.transpose %arg4 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %43 = tosa.reshape %42, %9 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %44 = tosa.matmul %37, %43, %5, %5 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %45 = tosa.reshape %44, %11 : (tensor<1x80x256xf32>, !tosa.shape<4>) -> tensor<2x40x2x128xf32>
    %46 = tosa.transpose %45 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x2x128xf32>) -> tensor<2x2x40x128xf32>
    %47 = tosa.transpose %arg5 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %48 = tosa.reshape %47, %9 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %49 = tosa.matmul %37, %48, %5, %5 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %50 = tosa.reshape %49, %11 : (tensor<1x80x256xf32>, !tosa.shape<4>) -> tensor<2x40x2x128xf32>
    %51 = tosa.transpose %50 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x2x128xf32>) -> tensor<2x2x40x128xf32>
    %52 = tosa.reshape %arg1, %12 : (tensor<1x40x128xf32>, !tosa.shape<4>) -> tensor<1x1x40x128xf32>
    %53 = tosa.reshape %arg2, %12 : (tensor<1x40x128xf32>, !tosa.shape<4>) -> tensor<1x1x40x128xf32>
    %54 = tosa.mul %41, %52, %1 : (tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x8x40x128xf32>
    %55 = tosa.slice %41, %14, %13 : (tensor<2x8x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x8x40x64xf32>
    %56 = tosa.slice %41, %15, %13 : (tensor<2x8x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x8x40x64xf32>
    %57 = tosa.negate %56, %5, %5 : (tensor<2x8x40x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x40x64xf32>
    %58 = tosa.concat %57, %55 {axis = 3 : i32} : (tensor<2x8x40x64xf32>, tensor<2x8x40x64xf32>) -> tensor<2x8x40x128xf32>
    %59 = tosa.mul %58, %53, %1 : (tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x8x40x128xf32>
    %60 = tosa.add %54, %59 : (tensor<2x8x40x128xf32>, tensor<2x8x40x128xf32>) -> tensor<2x8x40x128xf32>
    %61 = tosa.mul %46, %52, %1 : (tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x2x40x128xf32>
    %62 = tosa.slice %46, %14, %16 : (tensor<2x2x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x2x40x64xf32>
    %63 = tosa.slice %46, %15, %16 : (tensor<2x2x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x2x40x64xf32>
    %64 = tosa.negate %63, %5, %5 : (tensor<2x2x40x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x2x40x64xf32>
    %65 = tosa.concat %64, %62 {axis = 3 : i32} : (tensor<2x2x40x64xf32>, tensor<2x2x40x64xf32>) -> tensor<2x2x40x128xf32>
    %66 = tosa.mul %65, %53, %1 : (tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x2x40x128xf32>
    %67 = tosa.add %61, %66 : (tensor<2x2x40x128xf32>, tensor<2x2x40x128xf32>) -> tensor<2x2x40x128xf32>
    %68 = tosa.reshape %67, %17 : (tensor<2x2x40x128xf32>, !tosa.shape<5>) -> tensor<2x2x1x40x128xf32>
    %69 = tosa.tile %68, %18 : (tensor<2x2x1x40x128xf32>, !tosa.shape<5>) -> tensor<2x2x4x40x128xf32>
    %70 = tosa.reshape %69, %19 : (tensor<2x2x4x40x128xf32>, !tosa.shape<4>) -> tensor<2x8x40x128xf32>
    %71 = tosa.reshape %51, %17 : (tensor<2x2x40x128xf32>, !tosa.shape<5>) -> tensor<2x2x1x40x128xf32>
    %72 = tosa.tile %71, %18 : (tensor<2x2x1x40x128xf32>, !tosa.shape<5>) -> tensor<2x2x4x40x128xf32>
    %73 = tosa.transpose %70 {perms = array<i32: 0, 1, 3, 2>} : (tensor<2x8x40x128xf32>) -> tensor<2x8x128x40xf32>
    %74 = tosa.reshape %60, %20 : (tensor<2x8x40x128xf32>, !tosa.shape<3>) -> tensor<16x40x128xf32>
    %75 = tosa.reshape %73, %21 : (tensor<2x8x128x40xf32>, !tosa.shape<3>) -> tensor<16x128x40xf32>
    %76 = tosa.matmul %74, %75, %5, %5 : (tensor<16x40x128xf32>, tensor<16x128x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<16x40x40xf32>
    %77 = tosa.reshape %76, %22 : (tensor<16x40x40xf32>, !tosa.shape<4>) -> tensor<2x8x40x40xf32>
    %78 = tosa.mul %77, %28, %1 : (tensor<2x8x40x40xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x8x40x40xf32>
    %79 = tosa.add %78, %35 : (tensor<2x8x40x40xf32>, tensor<2x1x40x40xf32>) -> tensor<2x8x40x40xf32>
    %80 = tosa.reduce_max %79 {axis = 3 : i32} : (tensor<2x8x40x40xf32>) -> tensor<2x8x40x1xf32>
    %81 = tosa.sub %79, %80 : (tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) -> tensor<2x8x40x40xf32>
    %82 = tosa.exp %81 : (tensor<2x8x40x40xf32>) -> tensor<2x8x40x40xf32>
    %83 = tosa.reduce_sum %82 {axis = 3 : i32} : (tensor<2x8x40x40xf32>) -> tensor<2x8x40x1xf32>
    %84 = tosa.reciprocal %83 : (tensor<2x8x40x1xf32>) -> tensor<2x8x40x1xf32>
    %85 = tosa.mul %82, %84, %1 : (tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>, tensor<1xi8>) -> tensor<2x8x40x40xf32>
    %86 = tosa.reshape %85, %23 : (tensor<2x8x40x40xf32>, !tosa.shape<3>) -> tensor<16x40x40xf32>
    %87 = tosa.reshape %72, %20 : (tensor<2x2x4x40x128xf32>, !tosa.shape<3>) -> tensor<16x40x128xf32>
    %88 = tosa.matmul %86, %87, %5, %5 : (tensor<16x40x40xf32>, tensor<16x40x128xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<16x40x128xf32>
    %89 = tosa.reshape %88, %19 : (tensor<16x40x128xf32>, !tosa.shape<4>) -> tensor<2x8x40x128xf32>
    %90 = tosa.transpose %89 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x8x40x128xf32>) -> tensor<2x40x8x128xf32>
    %91 = tosa.transpose %arg6 {perms = array<i32: 1, 0>} : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %92 = tosa.reshape %90, %24 : (tensor<2x40x8x128xf32>, !tosa.shape<3>) -> tensor<1x80x1024xf32>
    %93 = tosa.reshape %91, %25 : (tensor<1024x256xf32>, !tosa.shape<3>) -> tensor<1x1024x256xf32>
    %94 = tosa.matmul %92, %93, %5, %5 : (tensor<1x80x1024xf32>, tensor<1x1024x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %95 = tosa.reshape %94, %10 : (tensor<1x80x256xf32>, !tosa.shape<3>) -> tensor<2x40x256xf32>
    return %95 : tensor<2x40x256xf32>
  }
}

