// Stable Diffusion VAE mid-block attention on an 8x8 image: B=1, H=1, M=N=64, D=512.
// Exported by export.py with diffusers 0.42.1, torch 2.14.1, litert-torch 0.10.0, tosa-converter-for-tflite 2026.2.0; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: group_norm.weight
//   %arg2: group_norm.bias
//   %arg3: to_q.weight
//   %arg4: to_q.bias
//   %arg5: to_k.weight
//   %arg6: to_k.bias
//   %arg7: to_v.weight
//   %arg8: to_v.bias
//   %arg9: to_out.0.weight
//   %arg10: to_out.0.bias

module {
  func.func @sd_vae_tflite(%arg0: tensor<1x512x8x8xf32>, %arg1: tensor<512xf32>, %arg2: tensor<512xf32>, %arg3: tensor<512x512xf32>, %arg4: tensor<512xf32>, %arg5: tensor<512x512xf32>, %arg6: tensor<512xf32>, %arg7: tensor<512x512xf32>, %arg8: tensor<512xf32>, %arg9: tensor<512x512xf32>, %arg10: tensor<512xf32>) -> tensor<1x512x8x8xf32> {
    %0 = tosa.const_shape  {values = dense<[1, 512, 8, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %1 = tosa.const_shape  {values = dense<[1, 64, 512]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %2 = tosa.const_shape  {values = dense<[1, 64, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = "tosa.const"() <{values = dense<0.0441941731> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %4 = tosa.const_shape  {values = dense<64> : tensor<2xindex>} : () -> !tosa.shape<2>
    %5 = tosa.const_shape  {values = dense<[1, 512]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %6 = tosa.const_shape  {values = dense<[64, 512]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %7 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %8 = tosa.const_shape  {values = dense<[512, 1, 1, 512]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %9 = tosa.const_shape  {values = dense<[64, 1, 1, 512]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %10 = tosa.const_shape  {values = dense<[1, 512, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %11 = "tosa.const"() <{values = dense<-1.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %12 = tosa.const_shape  {values = dense<[1, 32, 16, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %13 = tosa.const_shape  {values = dense<[1, 32, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %14 = "tosa.const"() <{values = dense<9.99999997E-7> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %15 = "tosa.const"() <{values = dense<9.765625E-4> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %16 = tosa.const_shape  {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %17 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %18 = "tosa.const"() <{values = dense<9.765625E-4> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %19 = tosa.const_shape  {values = dense<[1, 32, 16, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %20 = tosa.const_shape  {values = dense<[1, 512, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %21 = tosa.reshape %arg0, %20 : (tensor<1x512x8x8xf32>, !tosa.shape<3>) -> tensor<1x512x64xf32>
    %22 = tosa.reshape %arg0, %19 : (tensor<1x512x8x8xf32>, !tosa.shape<4>) -> tensor<1x32x16x64xf32>
    %23 = tosa.reduce_sum %22 {axis = 2 : i32} : (tensor<1x32x16x64xf32>) -> tensor<1x32x1x64xf32>
    %24 = tosa.reduce_sum %23 {axis = 3 : i32} : (tensor<1x32x1x64xf32>) -> tensor<1x32x1x1xf32>
    %25 = tosa.mul %24, %18, %17 : (tensor<1x32x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x32x1x1xf32>
    %26 = tosa.sub %22, %25 : (tensor<1x32x16x64xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x16x64xf32>
    %27 = tosa.mul %26, %26, %17 : (tensor<1x32x16x64xf32>, tensor<1x32x16x64xf32>, tensor<1xi8>) -> tensor<1x32x16x64xf32>
    %28 = tosa.reduce_sum %27 {axis = 2 : i32} : (tensor<1x32x16x64xf32>) -> tensor<1x32x1x64xf32>
    %29 = tosa.reduce_sum %28 {axis = 3 : i32} : (tensor<1x32x1x64xf32>) -> tensor<1x32x1x1xf32>
    %30 = tosa.reshape %29, %16 : (tensor<1x32x1x1xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
    %31 = tosa.mul %30, %15, %17 : (tensor<1x32xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x32xf32>
    %32 = tosa.add %31, %14 : (tensor<1x32xf32>, tensor<1x1xf32>) -> tensor<1x32xf32>
    %33 = tosa.reshape %32, %13 : (tensor<1x32xf32>, !tosa.shape<4>) -> tensor<1x32x1x1xf32>
    %34 = tosa.rsqrt %33 : (tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
    %35 = tosa.reshape %arg1, %12 : (tensor<512xf32>, !tosa.shape<4>) -> tensor<1x32x16x1xf32>
    %36 = tosa.mul %34, %35, %17 : (tensor<1x32x1x1xf32>, tensor<1x32x16x1xf32>, tensor<1xi8>) -> tensor<1x32x16x1xf32>
    %37 = tosa.mul %25, %11, %17 : (tensor<1x32x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x32x1x1xf32>
    %38 = tosa.mul %37, %36, %17 : (tensor<1x32x1x1xf32>, tensor<1x32x16x1xf32>, tensor<1xi8>) -> tensor<1x32x16x1xf32>
    %39 = tosa.reshape %arg2, %12 : (tensor<512xf32>, !tosa.shape<4>) -> tensor<1x32x16x1xf32>
    %40 = tosa.add %38, %39 : (tensor<1x32x16x1xf32>, tensor<1x32x16x1xf32>) -> tensor<1x32x16x1xf32>
    %41 = tosa.reshape %36, %10 : (tensor<1x32x16x1xf32>, !tosa.shape<3>) -> tensor<1x512x1xf32>
    %42 = tosa.reshape %40, %10 : (tensor<1x32x16x1xf32>, !tosa.shape<3>) -> tensor<1x512x1xf32>
    %43 = tosa.mul %21, %41, %17 : (tensor<1x512x64xf32>, tensor<1x512x1xf32>, tensor<1xi8>) -> tensor<1x512x64xf32>
    %44 = tosa.add %43, %42 : (tensor<1x512x64xf32>, tensor<1x512x1xf32>) -> tensor<1x512x64xf32>
    %45 = tosa.transpose %44 {perms = array<i32: 0, 2, 1>} : (tensor<1x512x64xf32>) -> tensor<1x64x512xf32>
    %46 = tosa.reshape %45, %9 : (tensor<1x64x512xf32>, !tosa.shape<4>) -> tensor<64x1x1x512xf32>
    %47 = tosa.reshape %arg3, %8 : (tensor<512x512xf32>, !tosa.shape<4>) -> tensor<512x1x1x512xf32>
    %48 = tosa.conv2d %46, %47, %7, %7, %7 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x1x1x512xf32>, tensor<512x1x1x512xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<64x1x1x512xf32>
    %49 = tosa.reshape %48, %6 : (tensor<64x1x1x512xf32>, !tosa.shape<2>) -> tensor<64x512xf32>
    %50 = tosa.reshape %arg4, %5 : (tensor<512xf32>, !tosa.shape<2>) -> tensor<1x512xf32>
    %51 = tosa.add %49, %50 : (tensor<64x512xf32>, tensor<1x512xf32>) -> tensor<64x512xf32>
    %52 = tosa.reshape %45, %9 : (tensor<1x64x512xf32>, !tosa.shape<4>) -> tensor<64x1x1x512xf32>
    %53 = tosa.reshape %arg5, %8 : (tensor<512x512xf32>, !tosa.shape<4>) -> tensor<512x1x1x512xf32>
    %54 = tosa.conv2d %52, %53, %7, %7, %7 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x1x1x512xf32>, tensor<512x1x1x512xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<64x1x1x512xf32>
    %55 = tosa.reshape %54, %6 : (tensor<64x1x1x512xf32>, !tosa.shape<2>) -> tensor<64x512xf32>
    %56 = tosa.reshape %arg6, %5 : (tensor<512xf32>, !tosa.shape<2>) -> tensor<1x512xf32>
    %57 = tosa.add %55, %56 : (tensor<64x512xf32>, tensor<1x512xf32>) -> tensor<64x512xf32>
    %58 = tosa.reshape %45, %9 : (tensor<1x64x512xf32>, !tosa.shape<4>) -> tensor<64x1x1x512xf32>
    %59 = tosa.reshape %arg7, %8 : (tensor<512x512xf32>, !tosa.shape<4>) -> tensor<512x1x1x512xf32>
    %60 = tosa.conv2d %58, %59, %7, %7, %7 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x1x1x512xf32>, tensor<512x1x1x512xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<64x1x1x512xf32>
    %61 = tosa.reshape %60, %6 : (tensor<64x1x1x512xf32>, !tosa.shape<2>) -> tensor<64x512xf32>
    %62 = tosa.reshape %arg8, %5 : (tensor<512xf32>, !tosa.shape<2>) -> tensor<1x512xf32>
    %63 = tosa.add %61, %62 : (tensor<64x512xf32>, tensor<1x512xf32>) -> tensor<64x512xf32>
    %64 = tosa.reshape %51, %9 : (tensor<64x512xf32>, !tosa.shape<4>) -> tensor<64x1x1x512xf32>
    %65 = tosa.reshape %57, %9 : (tensor<64x512xf32>, !tosa.shape<4>) -> tensor<64x1x1x512xf32>
    %66 = tosa.conv2d %64, %65, %7, %7, %7 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x1x1x512xf32>, tensor<64x1x1x512xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<64x1x1x64xf32>
    %67 = tosa.reshape %66, %4 : (tensor<64x1x1x64xf32>, !tosa.shape<2>) -> tensor<64x64xf32>
    %68 = tosa.mul %67, %3, %17 : (tensor<64x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<64x64xf32>
    %69 = tosa.reshape %68, %2 : (tensor<64x64xf32>, !tosa.shape<3>) -> tensor<1x64x64xf32>
    %70 = tosa.reduce_max %69 {axis = 2 : i32} : (tensor<1x64x64xf32>) -> tensor<1x64x1xf32>
    %71 = tosa.sub %69, %70 : (tensor<1x64x64xf32>, tensor<1x64x1xf32>) -> tensor<1x64x64xf32>
    %72 = tosa.exp %71 : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %73 = tosa.reduce_sum %72 {axis = 2 : i32} : (tensor<1x64x64xf32>) -> tensor<1x64x1xf32>
    %74 = tosa.reciprocal %73 : (tensor<1x64x1xf32>) -> tensor<1x64x1xf32>
    %75 = tosa.mul %72, %74, %17 : (tensor<1x64x64xf32>, tensor<1x64x1xf32>, tensor<1xi8>) -> tensor<1x64x64xf32>
    %76 = tosa.reshape %63, %1 : (tensor<64x512xf32>, !tosa.shape<3>) -> tensor<1x64x512xf32>
    %77 = tosa.matmul %75, %76, %7, %7 : (tensor<1x64x64xf32>, tensor<1x64x512xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x512xf32>
    %78 = tosa.reshape %77, %9 : (tensor<1x64x512xf32>, !tosa.shape<4>) -> tensor<64x1x1x512xf32>
    %79 = tosa.reshape %arg9, %8 : (tensor<512x512xf32>, !tosa.shape<4>) -> tensor<512x1x1x512xf32>
    %80 = tosa.conv2d %78, %79, %7, %7, %7 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x1x1x512xf32>, tensor<512x1x1x512xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<64x1x1x512xf32>
    %81 = tosa.reshape %80, %6 : (tensor<64x1x1x512xf32>, !tosa.shape<2>) -> tensor<64x512xf32>
    %82 = tosa.reshape %arg10, %5 : (tensor<512xf32>, !tosa.shape<2>) -> tensor<1x512xf32>
    %83 = tosa.add %81, %82 : (tensor<64x512xf32>, tensor<1x512xf32>) -> tensor<64x512xf32>
    %84 = tosa.reshape %83, %1 : (tensor<64x512xf32>, !tosa.shape<3>) -> tensor<1x64x512xf32>
    %85 = tosa.transpose %84 {perms = array<i32: 0, 2, 1>} : (tensor<1x64x512xf32>) -> tensor<1x512x64xf32>
    %86 = tosa.reshape %85, %0 : (tensor<1x512x64xf32>, !tosa.shape<4>) -> tensor<1x512x8x8xf32>
    %87 = tosa.add %86, %arg0 : (tensor<1x512x8x8xf32>, tensor<1x512x8x8xf32>) -> tensor<1x512x8x8xf32>
    return %87 : tensor<1x512x8x8xf32>
  }
}

