// Gemma-2 global attention, soft cap 50, cos and sin as inputs: B=1, Hq=4, Hkv=2, M=N=40, D=256.
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
  func.func @gemma2_tosa(%arg0: tensor<1x40x256xf32>, %arg1: tensor<1x40x256xf32>, %arg2: tensor<1x40x256xf32>, %arg3: tensor<1024x256xf32>, %arg4: tensor<512x256xf32>, %arg5: tensor<512x256xf32>, %arg6: tensor<256x1024xf32>) -> tensor<1x40x256xf32> {
    %0 = "tosa.const"() <{values = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]> : tensor<40xi64>}> : () -> tensor<40xi64>
    %1 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = tosa.const_shape  {values = dense<[1, 1, 40, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %3 = tosa.const_shape  {values = dense<[1, 1, 1, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %4 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %5 = tosa.const_shape  {values = dense<[1, 256, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %6 = tosa.const_shape  {values = dense<[1, 40, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[1, 40, 4, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %8 = tosa.const_shape  {values = dense<[1, 256, 512]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[1, 40, 2, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %10 = tosa.const_shape  {values = dense<[1, 1, 40, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %11 = tosa.const_shape  {values = dense<[1, 4, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %12 = tosa.const_shape  {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %13 = tosa.const_shape  {values = dense<[0, 0, 0, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %14 = tosa.const_shape  {values = dense<[1, 2, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %15 = tosa.const_shape  {values = dense<[1, 2, 1, 40, 256]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %16 = tosa.const_shape  {values = dense<[1, 1, 2, 1, 1]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %17 = tosa.const_shape  {values = dense<[1, 4, 40, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %18 = tosa.const_shape  {values = dense<[4, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %19 = tosa.const_shape  {values = dense<[4, 256, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %20 = tosa.const_shape  {values = dense<[1, 4, 40, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %21 = tosa.const_shape  {values = dense<[4, 40, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %22 = tosa.const_shape  {values = dense<[1, 1024, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %23 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %24 = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %25 = "tosa.const"() <{values = dense<6.250000e-02> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %26 = "tosa.const"() <{values = dense<2.000000e-02> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %27 = "tosa.const"() <{values = dense<5.000000e+01> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %28 = tosa.cast %0 : (tensor<40xi64>) -> tensor<40xi32>
    %29 = tosa.cast %28 : (tensor<40xi32>) -> tensor<40xi64>
    %30 = tosa.reshape %29, %2 : (tensor<40xi64>, !tosa.shape<4>) -> tensor<1x1x40x1xi64>
    %31 = tosa.reshape %29, %3 : (tensor<40xi64>, !tosa.shape<4>) -> tensor<1x1x1x40xi64>
    %32 = tosa.greater_equal %30, %31 : (tensor<1x1x40x1xi64>, tensor<1x1x1x40xi64>) -> tensor<1x1x40x40xi1>
    %33 = tosa.select %32, %23, %24 : (tensor<1x1x40x40xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x40x40xf32>
    %34 = tosa.transpose %arg3 {perms = array<i32: 1, 0>} : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %35 = tosa.reshape %34, %5 : (tensor<256x1024xf32>, !tosa.shape<3>) -> tensor<1x256x1024xf32>
    %36 = tosa.matmul %arg0, %35, %4, %4 : (tensor<1x40x256xf32>, tensor<1x256x1024xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x40x1024xf32>
    %37 = tosa.reshape %36, %7 : (tensor<1x40x1024xf32>, !tosa.shape<4>) -> tensor<1x40x4x256xf32>
    %38 = tosa.transpose %37 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x40x4x256xf32>) -> tensor<1x4x40x256xf32>
    %39 = tosa.transpose %arg4 {perms = array<i32: 1, 0>} : (tensor<512x256xf32>) -> tensor<256x512xf32>
    %40 = tosa.reshape %39, %8 : (tensor<256x512xf32>, !tosa.shape<3>) -> tensor<1x256x512xf32>
    %41 = tosa.matmul %arg0, %40, %4, %4 : (tensor<1x40x256xf32>, tensor<1x256x512xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x40x512xf32>
    %42 = tosa.reshape %41, %9 : (tensor<1x40x512xf32>, !tosa.shape<4>) -> tensor<1x40x2x256xf32>
    %43 = tosa.transpose %42 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x40x2x256xf32>) -> tensor<1x2x40x256xf32>
    %44 = tosa.transpose %arg5 {perms = array<i32: 1, 0>} : (tensor<512x256xf32>) -> tensor<256x512xf32>
    %45 = tosa.reshape %44, %8 : (tensor<256x512xf32>, !tosa.shape<3>) -> tensor<1x256x512xf32>
    %46 = tosa.matmul %arg0, %45, %4, %4 : (tensor<1x40x256xf32>, tensor<1x256x512xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x40x512xf32>
    %47 = tosa.reshape %46, %9 : (tensor<1x40x512xf32>, !tosa.shape<4>) -> tensor<1x40x2x256xf32>
    %48 = tosa.transpose %47 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x40x2x256xf32>) -> tensor<1x2x40x256xf32>
    %49 = tosa.reshape %arg1, %10 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<1x1x40x256xf32>
    %50 = tosa.reshape %arg2, %10 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<1x1x40x256xf32>
    %51 = tosa.mul %38, %49, %1 : (tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x4x40x256xf32>
    %52 = tosa.slice %38, %12, %11 : (tensor<1x4x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x40x128xf32>
    %53 = tosa.slice %38, %13, %11 : (tensor<1x4x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x40x128xf32>
    %54 = tosa.negate %53, %4, %4 : (tensor<1x4x40x128xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x40x128xf32>
    %55 = tosa.concat %54, %52 {axis = 3 : i32} : (tensor<1x4x40x128xf32>, tensor<1x4x40x128xf32>) -> tensor<1x4x40x256xf32>
    %56 = tosa.mul %55, %50, %1 : (tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x4x40x256xf32>
    %57 = tosa.add %51, %56 : (tensor<1x4x40x256xf32>, tensor<1x4x40x256xf32>) -> tensor<1x4x40x256xf32>
    %58 = tosa.mul %43, %49, %1 : (tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x2x40x256xf32>
    %59 = tosa.slice %43, %12, %14 : (tensor<1x2x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x40x128xf32>
    %60 = tosa.slice %43, %13, %14 : (tensor<1x2x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x40x128xf32>
    %61 = tosa.negate %60, %4, %4 : (tensor<1x2x40x128xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x40x128xf32>
    %62 = tosa.concat %61, %59 {axis = 3 : i32} : (tensor<1x2x40x128xf32>, tensor<1x2x40x128xf32>) -> tensor<1x2x40x256xf32>
    %63 = tosa.mul %62, %50, %1 : (tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x2x40x256xf32>
    %64 = tosa.add %58, %63 : (tensor<1x2x40x256xf32>, tensor<1x2x40x256xf32>) -> tensor<1x2x40x256xf32>
    %65 = tosa.reshape %64, %15 : (tensor<1x2x40x256xf32>, !tosa.shape<5>) -> tensor<1x2x1x40x256xf32>
    %66 = tosa.tile %65, %16 : (tensor<1x2x1x40x256xf32>, !tosa.shape<5>) -> tensor<1x2x2x40x256xf32>
    %67 = tosa.reshape %66, %17 : (tensor<1x2x2x40x256xf32>, !tosa.shape<4>) -> tensor<1x4x40x256xf32>
    %68 = tosa.reshape %48, %15 : (tensor<1x2x40x256xf32>, !tosa.shape<5>) -> tensor<1x2x1x40x256xf32>
    %69 = tosa.tile %68, %16 : (tensor<1x2x1x40x256xf32>, !tosa.shape<5>) -> tensor<1x2x2x40x256xf32>
    %70 = tosa.transpose %67 {perms = array<i32: 0, 1, 3, 2>} : (tensor<1x4x40x256xf32>) -> tensor<1x4x256x40xf32>
    %71 = tosa.reshape %57, %18 : (tensor<1x4x40x256xf32>, !tosa.shape<3>) -> tensor<4x40x256xf32>
    %72 = tosa.reshape %70, %19 : (tensor<1x4x256x40xf32>, !tosa.shape<3>) -> tensor<4x256x40xf32>
    %73 = tosa.matmul %71, %72, %4, %4 : (tensor<4x40x256xf32>, tensor<4x256x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x40x40xf32>
    %74 = tosa.reshape %73, %20 : (tensor<4x40x40xf32>, !tosa.shape<4>) -> tensor<1x4x40x40xf32>
    %75 = tosa.mul %74, %25, %1 : (tensor<1x4x40x40xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x40x40xf32>
    %76 = tosa.mul %75, %26, %1 : (tensor<1x4x40x40xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x40x40xf32>
    %77 = tosa.tanh %76 : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x40xf32>
    %78 = tosa.mul %77, %27, %1 : (tensor<1x4x40x40xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x40x40xf32>
    %79 = tosa.add %78, %33 : (tensor<1x4x40x40xf32>, tensor<1x1x40x40xf32>) -> tensor<1x4x40x40xf32>
    %80 = tosa.reduce_max %79 {axis = 3 : i32} : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x1xf32>
    %81 = tosa.sub %79, %80 : (tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>) -> tensor<1x4x40x40xf32>
    %82 = tosa.exp %81 : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x40xf32>
    %83 = tosa.reduce_sum %82 {axis = 3 : i32} : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x1xf32>
    %84 = tosa.reciprocal %83 : (tensor<1x4x40x1xf32>) -> tensor<1x4x40x1xf32>
    %85 = tosa.mul %82, %84, %1 : (tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>, tensor<1xi8>) -> tensor<1x4x40x40xf32>
    %86 = tosa.reshape %85, %21 : (tensor<1x4x40x40xf32>, !tosa.shape<3>) -> tensor<4x40x40xf32>
    %87 = tosa.reshape %69, %18 : (tensor<1x2x2x40x256xf32>, !tosa.shape<3>) -> tensor<4x40x256xf32>
    %88 = tosa.matmul %86, %87, %4, %4 : (tensor<4x40x40xf32>, tensor<4x40x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x40x256xf32>
    %89 = tosa.reshape %88, %17 : (tensor<4x40x256xf32>, !tosa.shape<4>) -> tensor<1x4x40x256xf32>
    %90 = tosa.transpose %89 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x4x40x256xf32>) -> tensor<1x40x4x256xf32>
    %91 = tosa.reshape %90, %6 : (tensor<1x40x4x256xf32>, !tosa.shape<3>) -> tensor<1x40x1024xf32>
    %92 = tosa.transpose %arg6 {perms = array<i32: 1, 0>} : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %93 = tosa.reshape %92, %22 : (tensor<1024x256xf32>, !tosa.shape<3>) -> tensor<1x1024x256xf32>
    %94 = tosa.matmul %91, %93, %4, %4 : (tensor<1x40x1024xf32>, tensor<1x1024x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x40x256xf32>
    return %94 : tensor<1x40x256xf32>
  }
}

