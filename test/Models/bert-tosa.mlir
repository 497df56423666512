// BERT self-attention, additive key mask as input: B=2, H=4, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
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
  func.func @bert_tosa(%arg0: tensor<2x40x256xf32>, %arg1: tensor<2x1x1x40xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256x256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256x256xf32>, %arg9: tensor<256xf32>, %arg10: tensor<256xf32>, %arg11: tensor<256xf32>) -> tensor<2x40x256xf32> {
    %0 = tosa.const_shape  {values = dense<[80, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %1 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %2 = tosa.const_shape  {values = dense<[1, 80, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = tosa.const_shape  {values = dense<[1, 256, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %5 = tosa.const_shape  {values = dense<[1, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %6 = tosa.const_shape  {values = dense<[2, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[2, 40, 4, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %8 = tosa.const_shape  {values = dense<[8, 40, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[8, 64, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %10 = tosa.const_shape  {values = dense<[2, 4, 40, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %11 = tosa.const_shape  {values = dense<[8, 40, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %12 = tosa.const_shape  {values = dense<[2, 4, 40, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %13 = tosa.const_shape  {values = dense<[1, 1, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %14 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %15 = "tosa.const"() <{values = dense<3.906250e-03> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %16 = "tosa.const"() <{values = dense<9.99999996E-13> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %17 = tosa.transpose %arg2 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %18 = tosa.reshape %arg0, %2 : (tensor<2x40x256xf32>, !tosa.shape<3>) -> tensor<1x80x256xf32>
    %19 = tosa.reshape %17, %3 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %20 = tosa.matmul %18, %19, %1, %1 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %21 = tosa.reshape %20, %0 : (tensor<1x80x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %22 = tosa.reshape %arg3, %5 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %23 = tosa.add %21, %22 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %24 = tosa.reshape %23, %7 : (tensor<80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %25 = tosa.transpose %24 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x40x64xf32>
    %26 = tosa.transpose %arg4 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %27 = tosa.reshape %26, %3 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %28 = tosa.matmul %18, %27, %1, %1 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %29 = tosa.reshape %28, %0 : (tensor<1x80x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %30 = tosa.reshape %arg5, %5 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %31 = tosa.add %29, %30 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %32 = tosa.reshape %31, %7 : (tensor<80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %33 = tosa.transpose %arg6 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %34 = tosa.reshape %33, %3 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %35 = tosa.matmul %18, %34, %1, %1 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %36 = tosa.reshape %35, %0 : (tensor<1x80x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %37 = tosa.reshape %arg7, %5 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %38 = tosa.add %36, %37 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %39 = tosa.reshape %38, %7 : (tensor<80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %40 = tosa.transpose %39 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x40x64xf32>
    %41 = tosa.transpose %32 {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x64x40xf32>
    %42 = tosa.reshape %25, %8 : (tensor<2x4x40x64xf32>, !tosa.shape<3>) -> tensor<8x40x64xf32>
    %43 = tosa.reshape %41, %9 : (tensor<2x4x64x40xf32>, !tosa.shape<3>) -> tensor<8x64x40xf32>
    %44 = tosa.matmul %42, %43, %1, %1 : (tensor<8x40x64xf32>, tensor<8x64x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x40x40xf32>
    %45 = tosa.reshape %44, %10 : (tensor<8x40x40xf32>, !tosa.shape<4>) -> tensor<2x4x40x40xf32>
    %46 = tosa.mul %45, %14, %4 : (tensor<2x4x40x40xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x4x40x40xf32>
    %47 = tosa.add %46, %arg1 : (tensor<2x4x40x40xf32>, tensor<2x1x1x40xf32>) -> tensor<2x4x40x40xf32>
    %48 = tosa.reduce_max %47 {axis = 3 : i32} : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x1xf32>
    %49 = tosa.sub %47, %48 : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %50 = tosa.exp %49 : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %51 = tosa.reduce_sum %50 {axis = 3 : i32} : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x1xf32>
    %52 = tosa.reciprocal %51 : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %53 = tosa.mul %50, %52, %4 : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>, tensor<1xi8>) -> tensor<2x4x40x40xf32>
    %54 = tosa.reshape %53, %11 : (tensor<2x4x40x40xf32>, !tosa.shape<3>) -> tensor<8x40x40xf32>
    %55 = tosa.reshape %40, %8 : (tensor<2x4x40x64xf32>, !tosa.shape<3>) -> tensor<8x40x64xf32>
    %56 = tosa.matmul %54, %55, %1, %1 : (tensor<8x40x40xf32>, tensor<8x40x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x40x64xf32>
    %57 = tosa.reshape %56, %12 : (tensor<8x40x64xf32>, !tosa.shape<4>) -> tensor<2x4x40x64xf32>
    %58 = tosa.transpose %57 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x4x40x64xf32>) -> tensor<2x40x4x64xf32>
    %59 = tosa.transpose %arg8 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %60 = tosa.reshape %58, %2 : (tensor<2x40x4x64xf32>, !tosa.shape<3>) -> tensor<1x80x256xf32>
    %61 = tosa.reshape %59, %3 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %62 = tosa.matmul %60, %61, %1, %1 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %63 = tosa.reshape %62, %0 : (tensor<1x80x256xf32>, !tosa.shape<2>) -> tensor<80x256xf32>
    %64 = tosa.reshape %arg9, %5 : (tensor<256xf32>, !tosa.shape<2>) -> tensor<1x256xf32>
    %65 = tosa.add %63, %64 : (tensor<80x256xf32>, tensor<1x256xf32>) -> tensor<80x256xf32>
    %66 = tosa.reshape %65, %6 : (tensor<80x256xf32>, !tosa.shape<3>) -> tensor<2x40x256xf32>
    %67 = tosa.add %66, %arg0 : (tensor<2x40x256xf32>, tensor<2x40x256xf32>) -> tensor<2x40x256xf32>
    %68 = tosa.reduce_sum %67 {axis = 2 : i32} : (tensor<2x40x256xf32>) -> tensor<2x40x1xf32>
    %69 = tosa.mul %68, %15, %4 : (tensor<2x40x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x40x1xf32>
    %70 = tosa.sub %67, %69 : (tensor<2x40x256xf32>, tensor<2x40x1xf32>) -> tensor<2x40x256xf32>
    %71 = tosa.mul %70, %70, %4 : (tensor<2x40x256xf32>, tensor<2x40x256xf32>, tensor<1xi8>) -> tensor<2x40x256xf32>
    %72 = tosa.reduce_sum %71 {axis = 2 : i32} : (tensor<2x40x256xf32>) -> tensor<2x40x1xf32>
    %73 = tosa.mul %72, %15, %4 : (tensor<2x40x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x40x1xf32>
    %74 = tosa.add %73, %16 : (tensor<2x40x1xf32>, tensor<1x1x1xf32>) -> tensor<2x40x1xf32>
    %75 = tosa.rsqrt %74 : (tensor<2x40x1xf32>) -> tensor<2x40x1xf32>
    %76 = tosa.mul %70, %75, %4 : (tensor<2x40x256xf32>, tensor<2x40x1xf32>, tensor<1xi8>) -> tensor<2x40x256xf32>
    %77 = tosa.reshape %arg10, %13 : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
    %78 = tosa.mul %76, %77, %4 : (tensor<2x40x256xf32>, tensor<1x1x256xf32>, tensor<1xi8>) -> tensor<2x40x256xf32>
    %79 = tosa.reshape %arg11, %13 : (tensor<256xf32>, !tosa.shape<3>) -> tensor<1x1x256xf32>
    %80 = tosa.add %78, %79 : (tensor<2x40x256xf32>, tensor<1x1x256xf32>) -> tensor<2x40x256xf32>
    return %80 : tensor<2x40x256xf32>
  }
}

