// Stable Diffusion 2 UNet cross-attention: B=2, H=5, M=64, N=77, D=64.
// Exported by export.py with diffusers 0.42.1, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: encoder_hidden_states
//   %arg2: to_q.weight
//   %arg3: to_k.weight
//   %arg4: to_v.weight
//   %arg5: to_out.0.weight
//   %arg6: to_out.0.bias

module {
  func.func @sd_cross_attention_tosa(%arg0: tensor<2x64x320xf32>, %arg1: tensor<2x77x1024xf32>, %arg2: tensor<320x320xf32>, %arg3: tensor<320x1024xf32>, %arg4: tensor<320x1024xf32>, %arg5: tensor<320x320xf32>, %arg6: tensor<320xf32>) -> tensor<2x64x320xf32> {
    %0 = tosa.const_shape  {values = dense<[128, 320]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %1 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %2 = tosa.const_shape  {values = dense<[1, 128, 320]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = tosa.const_shape  {values = dense<[1, 320, 320]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = tosa.const_shape  {values = dense<[2, 64, 320]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %5 = tosa.const_shape  {values = dense<[1, 154, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %6 = tosa.const_shape  {values = dense<[1, 1024, 320]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[2, 64, 5, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %8 = tosa.const_shape  {values = dense<[10, 64, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[2, 77, 5, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %10 = tosa.const_shape  {values = dense<[10, 77, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %11 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %12 = tosa.const_shape  {values = dense<[2, 5, 64, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %13 = tosa.const_shape  {values = dense<[1, 320]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %14 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %15 = tosa.transpose %arg2 {perms = array<i32: 1, 0>} : (tensor<320x320xf32>) -> tensor<320x320xf32>
    %16 = tosa.reshape %arg0, %2 : (tensor<2x64x320xf32>, !tosa.shape<3>) -> tensor<1x128x320xf32>
    %17 = tosa.reshape %15, %3 : (tensor<320x320xf32>, !tosa.shape<3>) -> tensor<1x320x320xf32>
    %18 = tosa.matmul %16, %17, %1, %1 : (tensor<1x128x320xf32>, tensor<1x320x320xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x128x320xf32>
    %19 = tosa.transpose %arg3 {perms = array<i32: 1, 0>} : (tensor<320x1024xf32>) -> tensor<1024x320xf32>
    %20 = tosa.reshape %arg1, %5 : (tensor<2x77x1024xf32>, !tosa.shape<3>) -> tensor<1x154x1024xf32>
    %21 = tosa.reshape %19, %6 : (tensor<1024x320xf32>, !tosa.shape<3>) -> tensor<1x1024x320xf32>
    %22 = tosa.matmul %20, %21, %1, %1 : (tensor<1x154x1024xf32>, tensor<1x1024x320xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x154x320xf32>
    %23 = tosa.transpose %arg4 {perms = array<i32: 1, 0>} : (tensor<320x1024xf32>) -> tensor<1024x320xf32>
    %24 = tosa.reshape %23, %6 : (tensor<1024x320xf32>, !tosa.shape<3>) -> tensor<1x1024x320xf32>
    %25 = tosa.matmul %20, %24, %1, %1 : (tensor<1x154x1024xf32>, tensor<1x1024x320xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x154x320xf32>
    %26 = tosa.reshape %18, %7 : (tensor<1x128x320xf32>, !tosa.shape<4>) -> tensor<2x64x5x64xf32>
    %27 = tosa.transpose %26 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x64x5x64xf32>) -> tensor<2x5x64x64xf32>
    %28 = tosa.reshape %27, %8 : (tensor<2x5x64x64xf32>, !tosa.shape<3>) -> tensor<10x64x64xf32>
    %29 = tosa.reshape %22, %9 : (tensor<1x154x320xf32>, !tosa.shape<4>) -> tensor<2x77x5x64xf32>
    %30 = tosa.transpose %29 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x77x5x64xf32>) -> tensor<2x5x77x64xf32>
    %31 = tosa.reshape %30, %10 : (tensor<2x5x77x64xf32>, !tosa.shape<3>) -> tensor<10x77x64xf32>
    %32 = tosa.reshape %25, %9 : (tensor<1x154x320xf32>, !tosa.shape<4>) -> tensor<2x77x5x64xf32>
    %33 = tosa.transpose %32 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x77x5x64xf32>) -> tensor<2x5x77x64xf32>
    %34 = tosa.reshape %33, %10 : (tensor<2x5x77x64xf32>, !tosa.shape<3>) -> tensor<10x77x64xf32>
    %35 = tosa.transpose %31 {perms = array<i32: 0, 2, 1>} : (tensor<10x77x64xf32>) -> tensor<10x64x77xf32>
    %36 = tosa.matmul %28, %35, %1, %1 : (tensor<10x64x64xf32>, tensor<10x64x77xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<10x64x77xf32>
    %37 = tosa.mul %36, %14, %11 : (tensor<10x64x77xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<10x64x77xf32>
    %38 = tosa.reduce_max %37 {axis = 2 : i32} : (tensor<10x64x77xf32>) -> tensor<10x64x1xf32>
    %39 = tosa.sub %37, %38 : (tensor<10x64x77xf32>, tensor<10x64x1xf32>) -> tensor<10x64x77xf32>
    %40 = tosa.exp %39 : (tensor<10x64x77xf32>) -> tensor<10x64x77xf32>
    %41 = tosa.reduce_sum %40 {axis = 2 : i32} : (tensor<10x64x77xf32>) -> tensor<10x64x1xf32>
    %42 = tosa.reciprocal %41 : (tensor<10x64x1xf32>) -> tensor<10x64x1xf32>
    %43 = tosa.mul %40, %42, %11 : (tensor<10x64x77xf32>, tensor<10x64x1xf32>, tensor<1xi8>) -> tensor<10x64x77xf32>
    %44 = tosa.matmul %43, %34, %1, %1 : (tensor<10x64x77xf32>, tensor<10x77x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<10x64x64xf32>
    %45 = tosa.reshape %44, %12 : (tensor<10x64x64xf32>, !tosa.shape<4>) -> tensor<2x5x64x64xf32>
    %46 = tosa.transpose %45 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x64x64xf32>) -> tensor<2x64x5x64xf32>
    %47 = tosa.transpose %arg5 {perms = array<i32: 1, 0>} : (tensor<320x320xf32>) -> tensor<320x320xf32>
    %48 = tosa.reshape %46, %2 : (tensor<2x64x5x64xf32>, !tosa.shape<3>) -> tensor<1x128x320xf32>
    %49 = tosa.reshape %47, %3 : (tensor<320x320xf32>, !tosa.shape<3>) -> tensor<1x320x320xf32>
    %50 = tosa.matmul %48, %49, %1, %1 : (tensor<1x128x320xf32>, tensor<1x320x320xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x128x320xf32>
    %51 = tosa.reshape %50, %0 : (tensor<1x128x320xf32>, !tosa.shape<2>) -> tensor<128x320xf32>
    %52 = tosa.reshape %arg6, %13 : (tensor<320xf32>, !tosa.shape<2>) -> tensor<1x320xf32>
    %53 = tosa.add %51, %52 : (tensor<128x320xf32>, tensor<1x320xf32>) -> tensor<128x320xf32>
    %54 = tosa.reshape %53, %4 : (tensor<128x320xf32>, !tosa.shape<3>) -> tensor<2x64x320xf32>
    return %54 : tensor<2x64x320xf32>
  }
}

