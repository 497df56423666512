// Stable Diffusion 2 UNet cross-attention: B=2, H=5, M=64, N=77, D=64.
// Exported by export.py with diffusers 0.42.1, torch 2.14.1, litert-torch 0.10.0, tosa-converter-for-tflite 2026.2.0; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: encoder_hidden_states
//   %arg2: to_q.weight
//   %arg3: to_k.weight
//   %arg4: to_v.weight
//   %arg5: to_out.0.weight
//   %arg6: to_out.0.bias

module {
  func.func @sd_cross_attention_tflite(%arg0: tensor<2x64x320xf32>, %arg1: tensor<2x77x1024xf32>, %arg2: tensor<320x320xf32>, %arg3: tensor<320x1024xf32>, %arg4: tensor<320x1024xf32>, %arg5: tensor<320x320xf32>, %arg6: tensor<320xf32>) -> tensor<2x64x320xf32> {
    %0 = tosa.const_shape  {values = dense<[2, 64, 320]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %1 = tosa.const_shape  {values = dense<[1, 320]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %2 = tosa.const_shape  {values = dense<[128, 320]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %3 = tosa.const_shape  {values = dense<[2, 5, 64, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %4 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %5 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %6 = tosa.const_shape  {values = dense<[10, 77, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[2, 77, 5, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %8 = tosa.const_shape  {values = dense<[10, 64, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[2, 64, 5, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %10 = tosa.const_shape  {values = dense<[320, 1, 1, 1024]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %11 = tosa.const_shape  {values = dense<[154, 1, 1, 1024]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %12 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %13 = tosa.const_shape  {values = dense<[320, 1, 1, 320]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %14 = tosa.const_shape  {values = dense<[128, 1, 1, 320]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %15 = tosa.reshape %arg0, %14 : (tensor<2x64x320xf32>, !tosa.shape<4>) -> tensor<128x1x1x320xf32>
    %16 = tosa.reshape %arg2, %13 : (tensor<320x320xf32>, !tosa.shape<4>) -> tensor<320x1x1x320xf32>
    %17 = tosa.conv2d %15, %16, %12, %12, %12 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<128x1x1x320xf32>, tensor<320x1x1x320xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<128x1x1x320xf32>
    %18 = tosa.reshape %arg1, %11 : (tensor<2x77x1024xf32>, !tosa.shape<4>) -> tensor<154x1x1x1024xf32>
    %19 = tosa.reshape %arg3, %10 : (tensor<320x1024xf32>, !tosa.shape<4>) -> tensor<320x1x1x1024xf32>
    %20 = tosa.conv2d %18, %19, %12, %12, %12 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<154x1x1x1024xf32>, tensor<320x1x1x1024xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<154x1x1x320xf32>
    %21 = tosa.reshape %arg1, %11 : (tensor<2x77x1024xf32>, !tosa.shape<4>) -> tensor<154x1x1x1024xf32>
    %22 = tosa.reshape %arg4, %10 : (tensor<320x1024xf32>, !tosa.shape<4>) -> tensor<320x1x1x1024xf32>
    %23 = tosa.conv2d %21, %22, %12, %12, %12 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<154x1x1x1024xf32>, tensor<320x1x1x1024xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<154x1x1x320xf32>
    %24 = tosa.reshape %17, %9 : (tensor<128x1x1x320xf32>, !tosa.shape<4>) -> tensor<2x64x5x64xf32>
    %25 = tosa.transpose %24 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x64x5x64xf32>) -> tensor<2x5x64x64xf32>
    %26 = tosa.reshape %25, %8 : (tensor<2x5x64x64xf32>, !tosa.shape<3>) -> tensor<10x64x64xf32>
    %27 = tosa.reshape %20, %7 : (tensor<154x1x1x320xf32>, !tosa.shape<4>) -> tensor<2x77x5x64xf32>
    %28 = tosa.transpose %27 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x77x5x64xf32>) -> tensor<2x5x77x64xf32>
    %29 = tosa.reshape %28, %6 : (tensor<2x5x77x64xf32>, !tosa.shape<3>) -> tensor<10x77x64xf32>
    %30 = tosa.reshape %23, %7 : (tensor<154x1x1x320xf32>, !tosa.shape<4>) -> tensor<2x77x5x64xf32>
    %31 = tosa.transpose %30 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x77x5x64xf32>) -> tensor<2x5x77x64xf32>
    %32 = tosa.reshape %31, %6 : (tensor<2x5x77x64xf32>, !tosa.shape<3>) -> tensor<10x77x64xf32>
    %33 = tosa.transpose %29 {perms = array<i32: 0, 2, 1>} : (tensor<10x77x64xf32>) -> tensor<10x64x77xf32>
    %34 = tosa.matmul %26, %33, %12, %12 : (tensor<10x64x64xf32>, tensor<10x64x77xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<10x64x77xf32>
    %35 = tosa.mul %34, %5, %4 : (tensor<10x64x77xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<10x64x77xf32>
    %36 = tosa.reduce_max %35 {axis = 2 : i32} : (tensor<10x64x77xf32>) -> tensor<10x64x1xf32>
    %37 = tosa.sub %35, %36 : (tensor<10x64x77xf32>, tensor<10x64x1xf32>) -> tensor<10x64x77xf32>
    %38 = tosa.exp %37 : (tensor<10x64x77xf32>) -> tensor<10x64x77xf32>
    %39 = tosa.reduce_sum %38 {axis = 2 : i32} : (tensor<10x64x77xf32>) -> tensor<10x64x1xf32>
    %40 = tosa.reciprocal %39 : (tensor<10x64x1xf32>) -> tensor<10x64x1xf32>
    %41 = tosa.mul %38, %40, %4 : (tensor<10x64x77xf32>, tensor<10x64x1xf32>, tensor<1xi8>) -> tensor<10x64x77xf32>
    %42 = tosa.matmul %41, %32, %12, %12 : (tensor<10x64x77xf32>, tensor<10x77x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<10x64x64xf32>
    %43 = tosa.reshape %42, %3 : (tensor<10x64x64xf32>, !tosa.shape<4>) -> tensor<2x5x64x64xf32>
    %44 = tosa.transpose %43 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x64x64xf32>) -> tensor<2x64x5x64xf32>
    %45 = tosa.reshape %44, %14 : (tensor<2x64x5x64xf32>, !tosa.shape<4>) -> tensor<128x1x1x320xf32>
    %46 = tosa.reshape %arg5, %13 : (tensor<320x320xf32>, !tosa.shape<4>) -> tensor<320x1x1x320xf32>
    %47 = tosa.conv2d %45, %46, %12, %12, %12 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<128x1x1x320xf32>, tensor<320x1x1x320xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<128x1x1x320xf32>
    %48 = tosa.reshape %47, %2 : (tensor<128x1x1x320xf32>, !tosa.shape<2>) -> tensor<128x320xf32>
    %49 = tosa.reshape %arg6, %1 : (tensor<320xf32>, !tosa.shape<2>) -> tensor<1x320xf32>
    %50 = tosa.add %48, %49 : (tensor<128x320xf32>, tensor<1x320xf32>) -> tensor<128x320xf32>
    %51 = tosa.reshape %50, %0 : (tensor<128x320xf32>, !tosa.shape<3>) -> tensor<2x64x320xf32>
    return %51 : tensor<2x64x320xf32>
  }
}

