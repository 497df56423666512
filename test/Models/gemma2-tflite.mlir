// Gemma-2 global attention, soft cap 50, cos and sin as inputs: B=1, Hq=4, Hkv=2, M=N=40, D=256.
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
  func.func @gemma2_tflite(%arg0: tensor<1x40x256xf32>, %arg1: tensor<1x40x256xf32>, %arg2: tensor<1x40x256xf32>, %arg3: tensor<1024x256xf32>, %arg4: tensor<512x256xf32>, %arg5: tensor<512x256xf32>, %arg6: tensor<256x1024xf32>) -> tensor<1x40x256xf32> {
    %0 = tosa.const_shape  {values = dense<[1, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %1 = tosa.const_shape  {values = dense<[256, 1, 1, 1024]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %2 = tosa.const_shape  {values = dense<[40, 1, 1, 1024]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %3 = tosa.const_shape  {values = dense<[4, 40, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = tosa.const_shape  {values = dense<[1, 4, 40, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %5 = "tosa.const"() <{values = dense<5.000000e+01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %6 = "tosa.const"() <{values = dense<2.000000e-02> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %7 = "tosa.const"() <{values = dense<6.250000e-02> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %8 = tosa.const_shape  {values = dense<[4, 256, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[4, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %10 = tosa.const_shape  {values = dense<[1, 4, 40, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %11 = "tosa.const"() <{values = dense<-0.000000e+00> : tensor<1x2x2x40x256xf32>}> : () -> tensor<1x2x2x40x256xf32>
    %12 = tosa.const_shape  {values = dense<[1, 2, 1, 40, 256]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %13 = tosa.const_shape  {values = dense<[1, 2, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %14 = "tosa.const"() <{values = dense<-1.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %15 = tosa.const_shape  {values = dense<[0, 0, 0, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %16 = tosa.const_shape  {values = dense<[1, 4, 40, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %17 = tosa.const_shape  {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %18 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %19 = tosa.const_shape  {values = dense<[1, 1, 40, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %20 = tosa.const_shape  {values = dense<[1, 40, 2, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %21 = tosa.const_shape  {values = dense<[512, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %22 = tosa.const_shape  {values = dense<[1, 40, 4, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %23 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %24 = tosa.const_shape  {values = dense<[1024, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %25 = tosa.const_shape  {values = dense<[40, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %26 = "tosa.const"() <{values = dense<"0x0100000000030000000007000000000F000000001F000000003F000000007F00000000FF00000000FF01000000FF03000000FF07000000FF0F000000FF1F000000FF3F000000FF7F000000FFFF000000FFFF010000FFFF030000FFFF070000FFFF0F0000FFFF1F0000FFFF3F0000FFFF7F0000FFFFFF0000FFFFFF0100FFFFFF0300FFFFFF0700FFFFFF0F00FFFFFF1F00FFFFFF3F00FFFFFF7F00FFFFFFFF00FFFFFFFF01FFFFFFFF03FFFFFFFF07FFFFFFFF0FFFFFFFFF1FFFFFFFFF3FFFFFFFFF7FFFFFFFFFFF"> : tensor<1x1x40x40xi1>}> : () -> tensor<1x1x40x40xi1>
    %27 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %28 = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %29 = tosa.select %26, %27, %28 : (tensor<1x1x40x40xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x40x40xf32>
    %30 = tosa.reshape %arg0, %25 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<40x1x1x256xf32>
    %31 = tosa.reshape %arg3, %24 : (tensor<1024x256xf32>, !tosa.shape<4>) -> tensor<1024x1x1x256xf32>
    %32 = tosa.conv2d %30, %31, %23, %23, %23 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<40x1x1x256xf32>, tensor<1024x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<40x1x1x1024xf32>
    %33 = tosa.reshape %32, %22 : (tensor<40x1x1x1024xf32>, !tosa.shape<4>) -> tensor<1x40x4x256xf32>
    %34 = tosa.transpose %33 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x40x4x256xf32>) -> tensor<1x4x40x256xf32>
    %35 = tosa.reshape %arg0, %25 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<40x1x1x256xf32>
    %36 = tosa.reshape %arg4, %21 : (tensor<512x256xf32>, !tosa.shape<4>) -> tensor<512x1x1x256xf32>
    %37 = tosa.conv2d %35, %36, %23, %23, %23 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<40x1x1x256xf32>, tensor<512x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<40x1x1x512xf32>
    %38 = tosa.reshape %37, %20 : (tensor<40x1x1x512xf32>, !tosa.shape<4>) -> tensor<1x40x2x256xf32>
    %39 = tosa.transpose %38 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x40x2x256xf32>) -> tensor<1x2x40x256xf32>
    %40 = tosa.reshape %arg0, %25 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<40x1x1x256xf32>
    %41 = tosa.reshape %arg5, %21 : (tensor<512x256xf32>, !tosa.shape<4>) -> tensor<512x1x1x256xf32>
    %42 = tosa.conv2d %40, %41, %23, %23, %23 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<40x1x1x256xf32>, tensor<512x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<40x1x1x512xf32>
    %43 = tosa.reshape %42, %20 : (tensor<40x1x1x512xf32>, !tosa.shape<4>) -> tensor<1x40x2x256xf32>
    %44 = tosa.transpose %43 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x40x2x256xf32>) -> tensor<1x2x40x256xf32>
    %45 = tosa.reshape %arg1, %19 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<1x1x40x256xf32>
    %46 = tosa.mul %34, %45, %18 : (tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x4x40x256xf32>
    %47 = tosa.slice %34, %17, %16 : (tensor<1x4x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x40x128xf32>
    %48 = tosa.slice %34, %15, %16 : (tensor<1x4x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x40x128xf32>
    %49 = tosa.mul %48, %14, %18 : (tensor<1x4x40x128xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x40x128xf32>
    %50 = tosa.concat %49, %47 {axis = 3 : i32} : (tensor<1x4x40x128xf32>, tensor<1x4x40x128xf32>) -> tensor<1x4x40x256xf32>
    %51 = tosa.reshape %arg2, %19 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<1x1x40x256xf32>
    %52 = tosa.mul %50, %51, %18 : (tensor<1x4x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x4x40x256xf32>
    %53 = tosa.add %46, %52 : (tensor<1x4x40x256xf32>, tensor<1x4x40x256xf32>) -> tensor<1x4x40x256xf32>
    %54 = tosa.reshape %arg1, %19 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<1x1x40x256xf32>
    %55 = tosa.mul %39, %54, %18 : (tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x2x40x256xf32>
    %56 = tosa.slice %39, %17, %13 : (tensor<1x2x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x40x128xf32>
    %57 = tosa.slice %39, %15, %13 : (tensor<1x2x40x256xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x40x128xf32>
    %58 = tosa.mul %57, %14, %18 : (tensor<1x2x40x128xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x40x128xf32>
    %59 = tosa.concat %58, %56 {axis = 3 : i32} : (tensor<1x2x40x128xf32>, tensor<1x2x40x128xf32>) -> tensor<1x2x40x256xf32>
    %60 = tosa.reshape %arg2, %19 : (tensor<1x40x256xf32>, !tosa.shape<4>) -> tensor<1x1x40x256xf32>
    %61 = tosa.mul %59, %60, %18 : (tensor<1x2x40x256xf32>, tensor<1x1x40x256xf32>, tensor<1xi8>) -> tensor<1x2x40x256xf32>
    %62 = tosa.add %55, %61 : (tensor<1x2x40x256xf32>, tensor<1x2x40x256xf32>) -> tensor<1x2x40x256xf32>
    %63 = tosa.reshape %62, %12 : (tensor<1x2x40x256xf32>, !tosa.shape<5>) -> tensor<1x2x1x40x256xf32>
    %64 = tosa.add %63, %11 : (tensor<1x2x1x40x256xf32>, tensor<1x2x2x40x256xf32>) -> tensor<1x2x2x40x256xf32>
    %65 = tosa.reshape %64, %10 : (tensor<1x2x2x40x256xf32>, !tosa.shape<4>) -> tensor<1x4x40x256xf32>
    %66 = tosa.reshape %44, %12 : (tensor<1x2x40x256xf32>, !tosa.shape<5>) -> tensor<1x2x1x40x256xf32>
    %67 = tosa.add %66, %11 : (tensor<1x2x1x40x256xf32>, tensor<1x2x2x40x256xf32>) -> tensor<1x2x2x40x256xf32>
    %68 = tosa.transpose %65 {perms = array<i32: 0, 1, 3, 2>} : (tensor<1x4x40x256xf32>) -> tensor<1x4x256x40xf32>
    %69 = tosa.reshape %53, %9 : (tensor<1x4x40x256xf32>, !tosa.shape<3>) -> tensor<4x40x256xf32>
    %70 = tosa.reshape %68, %8 : (tensor<1x4x256x40xf32>, !tosa.shape<3>) -> tensor<4x256x40xf32>
    %71 = tosa.matmul %69, %70, %23, %23 : (tensor<4x40x256xf32>, tensor<4x256x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x40x40xf32>
    %72 = tosa.mul %71, %7, %18 : (tensor<4x40x40xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<4x40x40xf32>
    %73 = tosa.mul %72, %6, %18 : (tensor<4x40x40xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<4x40x40xf32>
    %74 = tosa.tanh %73 : (tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
    %75 = tosa.mul %74, %5, %18 : (tensor<4x40x40xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<4x40x40xf32>
    %76 = tosa.reshape %75, %4 : (tensor<4x40x40xf32>, !tosa.shape<4>) -> tensor<1x4x40x40xf32>
    %77 = tosa.add %76, %29 : (tensor<1x4x40x40xf32>, tensor<1x1x40x40xf32>) -> tensor<1x4x40x40xf32>
    %78 = tosa.reduce_max %77 {axis = 3 : i32} : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x1xf32>
    %79 = tosa.sub %77, %78 : (tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>) -> tensor<1x4x40x40xf32>
    %80 = tosa.exp %79 : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x40xf32>
    %81 = tosa.reduce_sum %80 {axis = 3 : i32} : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x1xf32>
    %82 = tosa.reciprocal %81 : (tensor<1x4x40x1xf32>) -> tensor<1x4x40x1xf32>
    %83 = tosa.mul %80, %82, %18 : (tensor<1x4x40x40xf32>, tensor<1x4x40x1xf32>, tensor<1xi8>) -> tensor<1x4x40x40xf32>
    %84 = tosa.reshape %83, %3 : (tensor<1x4x40x40xf32>, !tosa.shape<3>) -> tensor<4x40x40xf32>
    %85 = tosa.reshape %67, %9 : (tensor<1x2x2x40x256xf32>, !tosa.shape<3>) -> tensor<4x40x256xf32>
    %86 = tosa.matmul %84, %85, %23, %23 : (tensor<4x40x40xf32>, tensor<4x40x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x40x256xf32>
    %87 = tosa.reshape %86, %10 : (tensor<4x40x256xf32>, !tosa.shape<4>) -> tensor<1x4x40x256xf32>
    %88 = tosa.transpose %87 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x4x40x256xf32>) -> tensor<1x40x4x256xf32>
    %89 = tosa.reshape %88, %2 : (tensor<1x40x4x256xf32>, !tosa.shape<4>) -> tensor<40x1x1x1024xf32>
    %90 = tosa.reshape %arg6, %1 : (tensor<256x1024xf32>, !tosa.shape<4>) -> tensor<256x1x1x1024xf32>
    %91 = tosa.conv2d %89, %90, %23, %23, %23 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<40x1x1x1024xf32>, tensor<256x1x1x1024xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<40x1x1x256xf32>
    %92 = tosa.reshape %91, %0 : (tensor<40x1x1x256xf32>, !tosa.shape<3>) -> tensor<1x40x256xf32>
    return %92 : tensor<1x40x256xf32>
  }
}

