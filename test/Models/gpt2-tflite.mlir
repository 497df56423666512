// GPT-2 causal self-attention: B=2, H=4, M=N=48, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, litert-torch 0.10.0, tosa-converter-for-tflite 2026.2.0; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.c_attn.weight
//   %arg2: layer.c_attn.bias
//   %arg3: layer.c_proj.weight
//   %arg4: layer.c_proj.bias

module {
  func.func @gpt2_tflite(%arg0: tensor<2x48x256xf32>, %arg1: tensor<256x768xf32>, %arg2: tensor<768xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256xf32>) -> tensor<2x48x256xf32> {
    %0 = tosa.const_shape  {values = dense<[1, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %1 = tosa.const_shape  {values = dense<[96, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %2 = tosa.const_shape  {values = dense<[1, 256, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = tosa.const_shape  {values = dense<[2, 4, 48, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %4 = tosa.const_shape  {values = dense<[8, 48, 48]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %5 = tosa.const_shape  {values = dense<[2, 4, 48, 48]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %6 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %7 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %8 = tosa.const_shape  {values = dense<[8, 64, 48]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[8, 48, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %10 = tosa.const_shape  {values = dense<[2, 48, 4, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %11 = tosa.const_shape  {values = dense<[0, 0, 512]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %12 = tosa.const_shape  {values = dense<[0, 0, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %13 = tosa.const_shape  {values = dense<[2, 48, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %14 = tosa.const_shape  {values = dense<0> : tensor<3xindex>} : () -> !tosa.shape<3>
    %15 = tosa.const_shape  {values = dense<[2, 48, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %16 = tosa.const_shape  {values = dense<[1, 768]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %17 = tosa.const_shape  {values = dense<[96, 768]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %18 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %19 = tosa.const_shape  {values = dense<[1, 256, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %20 = tosa.const_shape  {values = dense<[1, 96, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %21 = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %22 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %23 = "tosa.const"() <{values = dense<"0x0100000000000300000000000700000000000F00000000001F00000000003F00000000007F0000000000FF0000000000FF0100000000FF0300000000FF0700000000FF0F00000000FF1F00000000FF3F00000000FF7F00000000FFFF00000000FFFF01000000FFFF03000000FFFF07000000FFFF0F000000FFFF1F000000FFFF3F000000FFFF7F000000FFFFFF000000FFFFFF010000FFFFFF030000FFFFFF070000FFFFFF0F0000FFFFFF1F0000FFFFFF3F0000FFFFFF7F0000FFFFFFFF0000FFFFFFFF0100FFFFFFFF0300FFFFFFFF0700FFFFFFFF0F00FFFFFFFF1F00FFFFFFFF3F00FFFFFFFF7F00FFFFFFFFFF00FFFFFFFFFF01FFFFFFFFFF03FFFFFFFFFF07FFFFFFFFFF0FFFFFFFFFFF1FFFFFFFFFFF3FFFFFFFFFFF7FFFFFFFFFFFFF"> : tensor<1x1x48x48xi1>}> : () -> tensor<1x1x48x48xi1>
    %24 = "tosa.const"() <{values = dense<false> : tensor<2x1x48x48xi1>}> : () -> tensor<2x1x48x48xi1>
    %25 = tosa.logical_or %23, %24 : (tensor<1x1x48x48xi1>, tensor<2x1x48x48xi1>) -> tensor<2x1x48x48xi1>
    %26 = tosa.select %25, %22, %21 : (tensor<2x1x48x48xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x1x48x48xf32>
    %27 = tosa.reshape %arg0, %20 : (tensor<2x48x256xf32>, !tosa.shape<3>) -> tensor<1x96x256xf32>
    %28 = tosa.reshape %arg1, %19 : (tensor<256x768xf32>, !tosa.shape<3>) -> tensor<1x256x768xf32>
    %29 = tosa.matmul %27, %28, %18, %18 : (tensor<1x96x256xf32>, tensor<1x256x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x96x768xf32>
    %30 = tosa.reshape %29, %17 : (tensor<1x96x768xf32>, !tosa.shape<2>) -> tensor<96x768xf32>
    %31 = tosa.reshape %arg2, %16 : (tensor<768xf32>, !tosa.shape<2>) -> tensor<1x768xf32>
    %32 = tosa.add %30, %31 : (tensor<96x768xf32>, tensor<1x768xf32>) -> tensor<96x768xf32>
    %33 = tosa.reshape %32, %15 : (tensor<96x768xf32>, !tosa.shape<3>) -> tensor<2x48x768xf32>
    %34 = tosa.slice %33, %14, %13 : (tensor<2x48x768xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    %35 = tosa.slice %33, %12, %13 : (tensor<2x48x768xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    %36 = tosa.slice %33, %11, %13 : (tensor<2x48x768xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    %37 = tosa.reshape %35, %10 : (tensor<2x48x256xf32>, !tosa.shape<4>) -> tensor<2x48x4x64xf32>
    %38 = tosa.reshape %36, %10 : (tensor<2x48x256xf32>, !tosa.shape<4>) -> tensor<2x48x4x64xf32>
    %39 = tosa.transpose %38 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x48x4x64xf32>) -> tensor<2x4x48x64xf32>
    %40 = tosa.reshape %34, %10 : (tensor<2x48x256xf32>, !tosa.shape<4>) -> tensor<2x48x4x64xf32>
    %41 = tosa.transpose %40 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x48x4x64xf32>) -> tensor<2x4x48x64xf32>
    %42 = tosa.transpose %37 {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x48x4x64xf32>) -> tensor<2x4x64x48xf32>
    %43 = tosa.reshape %41, %9 : (tensor<2x4x48x64xf32>, !tosa.shape<3>) -> tensor<8x48x64xf32>
    %44 = tosa.reshape %42, %8 : (tensor<2x4x64x48xf32>, !tosa.shape<3>) -> tensor<8x64x48xf32>
    %45 = tosa.matmul %43, %44, %18, %18 : (tensor<8x48x64xf32>, tensor<8x64x48xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x48x48xf32>
    %46 = tosa.mul %45, %7, %6 : (tensor<8x48x48xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<8x48x48xf32>
    %47 = tosa.reshape %46, %5 : (tensor<8x48x48xf32>, !tosa.shape<4>) -> tensor<2x4x48x48xf32>
    %48 = tosa.add %47, %26 : (tensor<2x4x48x48xf32>, tensor<2x1x48x48xf32>) -> tensor<2x4x48x48xf32>
    %49 = tosa.reduce_max %48 {axis = 3 : i32} : (tensor<2x4x48x48xf32>) -> tensor<2x4x48x1xf32>
    %50 = tosa.sub %48, %49 : (tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>) -> tensor<2x4x48x48xf32>
    %51 = tosa.exp %50 : (tensor<2x4x48x48xf32>) -> tensor<2x4x48x48xf32>
    %52 = tosa.reduce_sum %51 {axis = 3 : i32} : (tensor<2x4x48x48xf32>) -> tensor<2x4x48x1xf32>
    %53 = tosa.reciprocal %52 : (tensor<2x4x48x1xf32>) -> tensor<2x4x48x1xf32>
    %54 = tosa.mul %51, %53, %6 : (tensor<2x4x48x48xf32>, tensor<2x4x48x1xf32>, tensor<1xi8>) -> tensor<2x4x48x48xf32>
    %55 = tosa.reshape %54, %4 : (tensor<2x4x48x48xf32>, !tosa.shape<3>) -> tensor<8x48x48xf32>
    %56 = tosa.reshape %39, %9 : (tensor<2x4x48x64xf32>, !tosa.shape<3>) -> tensor<8x48x64xf32>
    %57 = tosa.matmul %55, %56, %18, %18 : (tensor<8x48x48xf32>, tensor<8x48x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x48x64xf32>
    %58 = tosa.reshape %57, %3 : (tensor<8x48x64xf32>, !tosa.shape<4>) -> tensor<2x4x48x64xf32>
    %59 = tosa.transpose %58 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x4x48x64xf32>) -> tensor<2x48x4x64xf32>
    %60 = tosa.reshape %59, %20 : (tensor<2x48x4x64xf32>, !tosa.shape<3>) -> tensor<1x96x256xf32>
    %61 = tosa.reshape %arg3, %2 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %62 = tosa.matmul %60, %61, %18, %18 : (tensor<1x96x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x96x256xf32>
    %63 = tosa.reshape %62, %1 : (tensor<1x96x256xf32>, !tosa.shape<2>) -> tensor<96x256xf32>
    %64 = tosa.reshape %arg4, %0 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %65 = tosa.add %63, %64 : (tensor<96x256xf32>, tensor<1x256xf32>) -> tensor<96x256xf32>
    %66 = tosa.reshape %65, %13 : (tensor<96x256xf32>, !tosa.shape<3>) -> tensor<2x48x256xf32>
    return %66 : tensor<2x48x256xf32>
  }
}

