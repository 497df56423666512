// BERT self-attention, additive key mask as input: B=2, H=4, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, litert-torch 0.10.0, tosa-converter-for-tflite 2026.2.0; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: attention_mask
//   %arg2: layer.self.query.weight
//   %arg3: layer.self.query.bias
//   %arg4: layer.self.key.weight
//   %arg5: layer.self.key.bias
//   %arg6: layer.self.value.weight
//   %arg7: layer.self.value.bias
//   %arg8: layer.output.dense.weight
//   %arg9: layer.output.dense.bias
//   %arg10: layer.output.LayerNorm.weight
//   %arg11: layer.output.LayerNorm.bias

module {
  func.func @bert_tflite(%arg0: tensor<2x40x256xf32>, %arg1: tensor<2x1x1x40xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256x256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256x256xf32>, %arg9: tensor<256xf32>, %arg10: tensor<256xf32>, %arg11: tensor<256xf32>) -> tensor<2x40x256xf32> {
    %0 = tosa.const_shape  {values = dense<[1, 1, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %1 = "tosa.const"() <{values = dense<9.99999996E-13> : tensor<1xf32>}> : () -> tensor<1xf32>
    %2 = tosa.const_shape  {values = dense<[1, 80, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = "tosa.const"() <{values = dense<3.906250e-03> : tensor<1xf32>}> : () -> tensor<1xf32>
    %4 = tosa.const_shape  {values = dense<80> : tensor<1xindex>} : () -> !tosa.shape<1>
    %5 = tosa.const_shape  {values = dense<[1, 80, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %6 = tosa.const_shape  {values = dense<[2, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[2, 4, 40, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %8 = tosa.const_shape  {values = dense<[8, 40, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[2, 4, 40, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %10 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %11 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %12 = tosa.const_shape  {values = dense<[8, 64, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %13 = tosa.const_shape  {values = dense<[8, 40, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %14 = tosa.const_shape  {values = dense<[2, 40, 4, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %15 = tosa.const_shape  {values = dense<[1, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %16 = tosa.const_shape  {values = dense<[80, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %17 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %18 = tosa.const_shape  {values = dense<[256, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %19 = tosa.const_shape  {values = dense<[80, 1, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %20 = tosa.reshape %arg0, %19 : (tensor<2x40x256xf32>, !tosa.shape<4>) -> tensor<80x1x1x256xf32>
    %21 = tosa.reshape %arg2, %18 : (tensor<256x256xf32>, !tosa.shape<4>) -> tensor<256x1x1x256xf32>
    %22 = tosa.conv2d %20, %21, %17, %17, %17 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x256xf32>, tensor<256x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x256xf32>
    %23 = tosa.reshape %22, %16 : (tensor<80x1x1x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %24 = tosa.reshape %arg3, %15 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %25 = tosa.add %23, %24 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %26 = tosa.reshape %25, %14 : (tensor<80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %27 = tosa.transpose %26 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x40x64xf32>
    %28 = tosa.reshape %arg0, %19 : (tensor<2x40x256xf32>, !tosa.shape<4>) -> tensor<80x1x1x256xf32>
    %29 = tosa.reshape %arg4, %18 : (tensor<256x256xf32>, !tosa.shape<4>) -> tensor<256x1x1x256xf32>
    %30 = tosa.conv2d %28, %29, %17, %17, %17 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x256xf32>, tensor<256x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x256xf32>
    %31 = tosa.reshape %30, %16 : (tensor<80x1x1x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %32 = tosa.reshape %arg5, %15 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %33 = tosa.add %31, %32 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %34 = tosa.reshape %33, %14 : (tensor<80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %35 = tosa.reshape %arg0, %19 : (tensor<2x40x256xf32>, !tosa.shape<4>) -> tensor<80x1x1x256xf32>
    %36 = tosa.reshape %arg6, %18 : (tensor<256x256xf32>, !tosa.shape<4>) -> tensor<256x1x1x256xf32>
    %37 = tosa.conv2d %35, %36, %17, %17, %17 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x256xf32>, tensor<256x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x256xf32>
    %38 = tosa.reshape %37, %16 : (tensor<80x1x1x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %39 = tosa.reshape %arg7, %15 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %40 = tosa.add %38, %39 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %41 = tosa.reshape %40, %14 : (tensor<80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %42 = tosa.transpose %41 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x40x64xf32>
    %43 = tosa.transpose %34 {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x64x40xf32>
    %44 = tosa.reshape %27, %13 : (tensor<2x4x40x64xf32>, !tosa.shape<3>) -> tensor<8x40x64xf32>
    %45 = tosa.reshape %43, %12 : (tensor<2x4x64x40xf32>, !tosa.shape<3>) -> tensor<8x64x40xf32>
    %46 = tosa.matmul %44, %45, %17, %17 : (tensor<8x40x64xf32>, tensor<8x64x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x40x40xf32>
    %47 = tosa.mul %46, %11, %10 : (tensor<8x40x40xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<8x40x40xf32>
    %48 = tosa.reshape %47, %9 : (tensor<8x40x40xf32>, !tosa.shape<4>) -> tensor<2x4x40x40xf32>
    %49 = tosa.add %48, %arg1 : (tensor<2x4x40x40xf32>, tensor<2x1x1x40xf32>) -> tensor<2x4x40x40xf32>
    %50 = tosa.reduce_max %49 {axis = 3 : i32} : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x1xf32>
    %51 = tosa.sub %49, %50 : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %52 = tosa.exp %51 : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %53 = tosa.reduce_sum %52 {axis = 3 : i32} : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x1xf32>
    %54 = tosa.reciprocal %53 : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %55 = tosa.mul %52, %54, %10 : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>, tensor<1xi8>) -> tensor<2x4x40x40xf32>
    %56 = tosa.reshape %55, %8 : (tensor<2x4x40x40xf32>, !tosa.shape<3>) -> tensor<8x40x40xf32>
    %57 = tosa.reshape %42, %13 : (tensor<2x4x40x64xf32>, !tosa.shape<3>) -> tensor<8x40x64xf32>
    %58 = tosa.matmul %56, %57, %17, %17 : (tensor<8x40x40xf32>, tensor<8x40x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x40x64xf32>
    %59 = tosa.reshape %58, %7 : (tensor<8x40x64xf32>, !tosa.shape<4>) -> tensor<2x4x40x64xf32>
    %60 = tosa.transpose %59 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x4x40x64xf32>) -> tensor<2x40x4x64xf32>
    %61 = tosa.reshape %60, %19 : (tensor<2x40x4x64xf32>, !tosa.shape<4>) -> tensor<80x1x1x256xf32>
    %62 = tosa.reshape %arg8, %18 : (tensor<256x256xf32>, !tosa.shape<4>) -> tensor<256x1x1x256xf32>
    %63 = tosa.conv2d %61, %62, %17, %17, %17 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<80x1x1x256xf32>, tensor<256x1x1x256xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<80x1x1x256xf32>
    %64 = tosa.reshape %63, %16 : (tensor<80x1x1x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %65 = tosa.reshape %arg9, %15 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %66 = tosa.add %64, %65 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %67 = tosa.reshape %66, %6 : (tensor<80x256xf32>, !tosa.shape<3>) -> tensor<2x40x256xf32>
    %68 = tosa.add %67, %arg0 : (tensor<2x40x256xf32>, tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    %69 = tosa.reshape %68, %5 : (tensor<2x40x256xf32>, !tosa.shape<3>) -> tensor<1x80x256xf32>
    %70 = tosa.reduce_sum %69 {axis = 2 : i32} : (tensor<1x80x256xf32>) -> tensor<1x80x1xf32>
    %71 = tosa.reshape %70, %4 : (tensor<1x80x1xf32>, !tosa.shape<1>) -> tensor<80xf32>
    %72 = tosa.mul %71, %3, %10 : (tensor<80xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<80xf32>
    %73 = tosa.reshape %72, %2 : (tensor<80xf32>, !tosa.shape<3>) -> tensor<1x80x1xf32>
    %74 = tosa.sub %69, %73 : (tensor<1x80x256xf32>, tensor<1x80x1xf32>) -> tensor<1x80x256xf32>
    %75 = tosa.mul %74, %74, %10 : (tensor<1x80x256xf32>, tensor<1x80x256xf32>, tensor<1xi8>) -> tensor<1x80x256xf32>
    %76 = tosa.reduce_sum %75 {axis = 2 : i32} : (tensor<1x80x256xf32>) -> tensor<1x80x1xf32>
    %77 = tosa.reshape %76, %4 : (tensor<1x80x1xf32>, !tosa.shape<1>) -> tensor<80xf32>
    %78 = tosa.mul %77, %3, %10 : (tensor<80xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<80xf32>
    %79 = tosa.add %78, %1 : (tensor<80xf32>, tensor<1xf32>) -> tensor<80xf32>
    %80 = tosa.rsqrt %79 : (tensor<80xf32>) -> tensor<80xf32>
    %81 = tosa.mul %80, %72, %10 : (tensor<80xf32>, tensor<80xf32>, tensor<1xi8>) -> tensor<80xf32>
    %82 = tosa.sub %17, %81 : (tensor<1xf32>, tensor<80xf32>) -> tensor<80xf32>
    %83 = tosa.reshape %80, %2 : (tensor<80xf32>, !tosa.shape<3>) -> tensor<1x80x1xf32>
    %84 = tosa.mul %69, %83, %10 : (tensor<1x80x256xf32>, tensor<1x80x1xf32>, tensor<1xi8>) -> tensor<1x80x256xf32>
    %85 = tosa.reshape %82, %2 : (tensor<80xf32>, !tosa.shape<3>) -> tensor<1x80x1xf32>
    %86 = tosa.add %84, %85 : (tensor<1x80x256xf32>, tensor<1x80x1xf32>) -> tensor<1x80x256xf32>
    %87 = tosa.reshape %86, %6 : (tensor<1x80x256xf32>, !tosa.shape<3>) -> tensor<2x40x256xf32>
    %88 = tosa.reshape %arg10, %0 : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
    %89 = tosa.mul %88, %87, %10 : (tensor<1x1x256xf32>, tensor<2x40x256xf32>, tensor<1xi8>) -> tensor<2x40x256xf32>
    %90 = tosa.reshape %arg11, %0 : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
    %91 = tosa.add %90, %89 : (tensor<1x1x256xf32>, tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    return %91 : tensor<2x40x256xf32>
  }
}

