// Llama causal self-attention, cos and sin as inputs: B=2, Hq=8, Hkv=2, M=N=40, D=128.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, litert-torch 0.10.0, tosa-converter-for-tflite 2026.2.0; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: cos
//   %arg2: sin
//   %arg3: layer.q_proj.weight
//   %arg4: layer.k_proj.weight
//   %arg5: layer.v_proj.weight
//   %arg6: layer.o_proj.weight

module {
  func.func @llama_tflite(%arg0: tensor<2x40x256xf32>, %arg1: tensor<1x40x128xf32>, %arg2: tensor<1x40x128xf32>, %arg3: tensor<1024x256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256x256xf32>, %arg6: tensor<256x1024xf32>) -> tensor<2x40x256xf32> {
    %0 = tosa.const_shape  {values = dense<[2, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %1 = tosa.const_shape  {values = dense<[256, 1, 1, 1024]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %2 = tosa.const_shape  {values = dense<[80, 1, 1, 1024]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %3 = tosa.const_shape  {values = dense<[16, 40, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = tosa.const_shape  {values = dense<[2, 8, 40, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %5 = "tosa.const"() <{values = dense<0.0883883461> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %6 = tosa.const_shape  {values = dense<[16, 128, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[16, 40, 128]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %8 = tosa.const_shape  {values = dense<[2, 8, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %9 = "tosa.const"() <{values = dense<-0.000000e+00> : tensor<2x2x4x40x128xf32>}> : () -> tensor<2x2x4x40x128xf32>
    %10 = tosa.const_shape  {values = dense<[2, 2, 1, 40, 128]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %11 = tosa.const_shape  {values = dense<[2, 2, 40, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %12 = "tosa.const"() <{values = dense<-1.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %13 = tosa.const_shape  {values = dense<[0, 0, 0, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %14 = tosa.const_shape  {values = dense<[2, 8, 40, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %15 = tosa.const_shape  {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %16 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %17 = tosa.const_shape  {values = dense<[1, 1, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %18 = tosa.const_shape  {values = dense<[2, 40, 2, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %19 = tosa.const_shape  {values = dense<[256, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %20 = tosa.const_shape  {values = dense<[2, 40, 8, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %21 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %22 = tosa.const_shape  {values = dense<[1024, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %23 = tosa.const_shape  {values = dense<[80, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %24 = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %25 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %26 = "tosa.const"() <{values = dense<"0x0100000000030000000007000000000F000000001F000000003F000000007F00000000FF00000000FF01000000FF03000000FF07000000FF0F000000FF1F000000FF3F000000FF7F000000FFFF000000FFFF010000FFFF030000FFFF070000FFFF0F0000FFFF1F0000FFFF3F0000FFFF7F0000FFFFFF0000FFFFFF0100FFFFFF0300FFFFFF0700FFFFFF0F00FFFFFF1F00FFFFFF3F00FFFFFF7F00FFFFFFFF00FFFFFFFF01FFFFFFFF03FFFFFFFF07FFFFFFFF0FFFFFFFFF1FFFFFFFFF3FFFFFFFFF7FFFFFFFFFFF"> : tensor<1x1x40x40xi1>}> : () -> tensor<1x1x40x40xi1>
    %27 = "tosa.const"() <{values = dense<false> : tensor<2x1x40x40xi1>}> : () -> tensor<2x1x40x40xi1>
    %28 = tosa.logical_or %26, %27 : (tensor<1x1x40x40xi1>, tensor<2x1x40x40xi1>) -> tensor<2x1x40x40xi1>
    %29 = tosa.select %28, %25, %24 : (tensor<2x1x40x40xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x1x40x40xf32>
    %30 = tosa.reshape %arg0, %23 : (tensor<2x40x256xf32>, !tosa.shape<4>) -> tensor<80x1x1x256xf32>
    %31 = tosa.reshape %arg3, %22 : (tensor<1024x256xf32>, !tosa.shape<4>) -> tensor<1024x1x1x256xf32>
    %32 = tosa.conv2d %30, %31, %21, %21, %21 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x256xf32>, tensor<1024x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x1024xf32>
    %33 = tosa.reshape %32, %20 : (tensor<80x1x1x1024xf32>, !tosa.shape<4>) -> tensor<2x40x8x128xf32>
    %34 = tosa.transpose %33 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x8x128xf32>) -> tensor<2x8x40x128xf32>
    %35 = tosa.reshape %arg0, %23 : (tensor<2x40x256xf32>, !tosa.shape<4>) -> tensor<80x1x1x256xf32>
    %36 = tosa.reshape %arg4, %19 : (tensor<256x256xf32>, !tosa.shape<4>) -> tensor<256x1x1x256xf32>
    %37 = tosa.conv2d %35, %36, %21, %21, %21 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x256xf32>, tensor<256x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x256xf32>
    %38 = tosa.reshape %37, %18 : (tensor<80x1x1x256xf32>, !tosa.shape<4>) -> tensor<2x40x2x128xf32>
    %39 = tosa.transpose %38 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x2x128xf32>) -> tensor<2x2x40x128xf32>
    %40 = tosa.reshape %arg0, %23 : (tensor<2x40x256xf32>, !tosa.shape<4>) -> tensor<80x1x1x256xf32>
    %41 = tosa.reshape %arg5, %19 : (tensor<256x256xf32>, !tosa.shape<4>) -> tensor<256x1x1x256xf32>
    %42 = tosa.conv2d %40, %41, %21, %21, %21 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x256xf32>, tensor<256x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x256xf32>
    %43 = tosa.reshape %42, %18 : (tensor<80x1x1x256xf32>, !tosa.shape<4>) -> tensor<2x40x2x128xf32>
    %44 = tosa.transpose %43 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x2x128xf32>) -> tensor<2x2x40x128xf32>
    %45 = tosa.reshape %arg1, %17 : (tensor<1x40x128xf32>, !tosa.shape<4>) -> tensor<1x1x40x128xf32>
    %46 = tosa.mul %34, %45, %16 : (tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x8x40x128xf32>
    %47 = tosa.slice %34, %15, %14 : (tensor<2x8x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x8x40x64xf32>
    %48 = tosa.slice %34, %13, %14 : (tensor<2x8x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x8x40x64xf32>
    %49 = tosa.mul %48, %12, %16 : (tensor<2x8x40x64xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x8x40x64xf32>
    %50 = tosa.concat %49, %47 {axis = 3 : i32} : (tensor<2x8x40x64xf32>, tensor<2x8x40x64xf32>) -> tensor<2x8x40x128xf32>
    %51 = tosa.reshape %arg2, %17 : (tensor<1x40x128xf32>, !tosa.shape<4>) -> tensor<1x1x40x128xf32>
    %52 = tosa.mul %50, %51, %16 : (tensor<2x8x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x8x40x128xf32>
    %53 = tosa.add %46, %52 : (tensor<2x8x40x128xf32>, tensor<2x8x40x128xf32>) -> tensor<2x8x40x128xf32>
    %54 = tosa.reshape %arg1, %17 : (tensor<1x40x128xf32>, !tosa.shape<4>) -> tensor<1x1x40x128xf32>
    %55 = tosa.mul %39, %54, %16 : (tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x2x40x128xf32>
    %56 = tosa.slice %39, %15, %11 : (tensor<2x2x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x2x40x64xf32>
    %57 = tosa.slice %39, %13, %11 : (tensor<2x2x40x128xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x2x40x64xf32>
    %58 = tosa.mul %57, %12, %16 : (tensor<2x2x40x64xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x40x64xf32>
    %59 = tosa.concat %58, %56 {axis = 3 : i32} : (tensor<2x2x40x64xf32>, tensor<2x2x40x64xf32>) -> tensor<2x2x40x128xf32>
    %60 = tosa.reshape %arg2, %17 : (tensor<1x40x128xf32>, !tosa.shape<4>) -> tensor<1x1x40x128xf32>
    %61 = tosa.mul %59, %60, %16 : (tensor<2x2x40x128xf32>, tensor<1x1x40x128xf32>, tensor<1xi8>) -> tensor<2x2x40x128xf32>
    %62 = tosa.add %55, %61 : (tensor<2x2x40x128xf32>, tensor<2x2x40x128xf32>) -> tensor<2x2x40x128xf32>
    %63 = tosa.reshape %62, %10 : (tensor<2x2x40x128xf32>, !tosa.shape<5>) -> tensor<2x2x1x40x128xf32>
    %64 = tosa.add %63, %9 : (tensor<2x2x1x40x128xf32>, tensor<2x2x4x40x128xf32>) -> tensor<2x2x4x40x128xf32>
    %65 = tosa.reshape %64, %8 : (tensor<2x2x4x40x128xf32>, !tosa.shape<4>) -> tensor<2x8x40x128xf32>
    %66 = tosa.reshape %44, %10 : (tensor<2x2x40x128xf32>, !tosa.shape<5>) -> tensor<2x2x1x40x128xf32>
    %67 = tosa.add %66, %9 : (tensor<2x2x1x40x128xf32>, tensor<2x2x4x40x128xf32>) -> tensor<2x2x4x40x128xf32>
    %68 = tosa.transpose %65 {perms = array<i32: 0, 1, 3, 2>} : (tensor<2x8x40x128xf32>) -> tensor<2x8x128x40xf32>
    %69 = tosa.reshape %53, %7 : (tensor<2x8x40x128xf32>, !tosa.shape<3>) -> tensor<16x40x128xf32>
    %70 = tosa.reshape %68, %6 : (tensor<2x8x128x40xf32>, !tosa.shape<3>) -> tensor<16x128x40xf32>
    %71 = tosa.matmul %69, %70, %21, %21 : (tensor<16x40x128xf32>, tensor<16x128x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<16x40x40xf32>
    %72 = tosa.mul %71, %5, %16 : (tensor<16x40x40xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<16x40x40xf32>
    %73 = tosa.reshape %72, %4 : (tensor<16x40x40xf32>, !tosa.shape<4>) -> tensor<2x8x40x40xf32>
    %74 = tosa.add %73, %29 : (tensor<2x8x40x40xf32>, tensor<2x1x40x40xf32>) -> tensor<2x8x40x40xf32>
    %75 = tosa.reduce_max %74 {axis = 3 : i32} : (tensor<2x8x40x40xf32>) -> tensor<2x8x40x1xf32>
    %76 = tosa.sub %74, %75 : (tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>) -> tensor<2x8x40x40xf32>
    %77 = tosa.exp %76 : (tensor<2x8x40x40xf32>) -> tensor<2x8x40x40xf32>
    %78 = tosa.reduce_sum %77 {axis = 3 : i32} : (tensor<2x8x40x40xf32>) -> tensor<2x8x40x1xf32>
    %79 = tosa.reciprocal %78 : (tensor<2x8x40x1xf32>) -> tensor<2x8x40x1xf32>
    %80 = tosa.mul %77, %79, %16 : (tensor<2x8x40x40xf32>, tensor<2x8x40x1xf32>, tensor<1xi8>) -> tensor<2x8x40x40xf32>
    %81 = tosa.reshape %80, %3 : (tensor<2x8x40x40xf32>, !tosa.shape<3>) -> tensor<16x40x40xf32>
    %82 = tosa.reshape %67, %7 : (tensor<2x2x4x40x128xf32>, !tosa.shape<3>) -> tensor<16x40x128xf32>
    %83 = tosa.matmul %81, %82, %21, %21 : (tensor<16x40x40xf32>, tensor<16x40x128xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<16x40x128xf32>
    %84 = tosa.reshape %83, %8 : (tensor<16x40x128xf32>, !tosa.shape<4>) -> tensor<2x8x40x128xf32>
    %85 = tosa.transpose %84 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x8x40x128xf32>) -> tensor<2x40x8x128xf32>
    %86 = tosa.reshape %85, %2 : (tensor<2x40x8x128xf32>, !tosa.shape<4>) -> tensor<80x1x1x1024xf32>
    %87 = tosa.reshape %arg6, %1 : (tensor<256x1024xf32>, !tosa.shape<4>) -> tensor<256x1x1x1024xf32>
    %88 = tosa.conv2d %86, %87, %21, %21, %21 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x1024xf32>, tensor<256x1x1x1024xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x256xf32>
    %89 = tosa.reshape %88, %0 : (tensor<80x1x1x256xf32>, !tosa.shape<3>) -> tensor<2x40x256xf32>
    return %89 : tensor<2x40x256xf32>
  }
}

