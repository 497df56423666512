// T5 encoder self-attention, relative bias as input, no scale: B=2, H=4, M=N=40, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: position_bias
//   %arg2: layer.q.weight
//   %arg3: layer.k.weight
//   %arg4: layer.v.weight
//   %arg5: layer.o.weight

module {
  func.func @t5_later_layer_tosa(%arg0: tensor<2x40x256xf32>, %arg1: tensor<1x4x40x40xf32>, %arg2: tensor<256x256xf32>, %arg3: tensor<256x256xf32>, %arg4: tensor<256x256xf32>, %arg5: tensor<256x256xf32>) -> tensor<2x40x256xf32> {
    %0 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %1 = tosa.const_shape  {values = dense<[1, 80, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %2 = tosa.const_shape  {values = dense<[1, 256, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = tosa.const_shape  {values = dense<[2, 40, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = tosa.const_shape  {values = dense<[2, 40, 4, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %5 = tosa.const_shape  {values = dense<[8, 40, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %6 = tosa.const_shape  {values = dense<[8, 64, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[2, 4, 40, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %8 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %9 = tosa.const_shape  {values = dense<[8, 40, 40]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %10 = tosa.const_shape  {values = dense<[2, 4, 40, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %11 = tosa.transpose %arg2 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %12 = tosa.reshape %arg0, %1 : (tensor<2x40x256xf32>, !tosa.shape<3>) -> tensor<1x80x256xf32>
    %13 = tosa.reshape %11, %2 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %14 = tosa.matmul %12, %13, %0, %0 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %15 = tosa.reshape %14, %4 : (tensor<1x80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %16 = tosa.transpose %15 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x40x64xf32>
    %17 = tosa.transpose %arg3 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %18 = tosa.reshape %17, %2 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %19 = tosa.matmul %12, %18, %0, %0 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %20 = tosa.reshape %19, %4 : (tensor<1x80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %21 = tosa.transpose %arg4 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %22 = tosa.reshape %21, %2 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %23 = tosa.matmul %12, %22, %0, %0 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %24 = tosa.reshape %23, %4 : (tensor<1x80x256xf32>, !tosa.shape<4>) -> tensor<2x40x4x64xf32>
    %25 = tosa.transpose %24 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x40x64xf32>
    %26 = tosa.transpose %20 {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x40x4x64xf32>) -> tensor<2x4x64x40xf32>
    %27 = tosa.reshape %16, %5 : (tensor<2x4x40x64xf32>, !tosa.shape<3>) -> tensor<8x40x64xf32>
    %28 = tosa.reshape %26, %6 : (tensor<2x4x64x40xf32>, !tosa.shape<3>) -> tensor<8x64x40xf32>
    %29 = tosa.matmul %27, %28, %0, %0 : (tensor<8x40x64xf32>, tensor<8x64x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x40x40xf32>
    %30 = tosa.reshape %29, %7 : (tensor<8x40x40xf32>, !tosa.shape<4>) -> tensor<2x4x40x40xf32>
    %31 = tosa.add %30, %arg1 : (tensor<2x4x40x40xf32>, tensor<1x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %32 = tosa.reduce_max %31 {axis = 3 : i32} : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x1xf32>
    %33 = tosa.sub %31, %32 : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %34 = tosa.exp %33 : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %35 = tosa.reduce_sum %34 {axis = 3 : i32} : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x1xf32>
    %36 = tosa.reciprocal %35 : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %37 = tosa.mul %34, %36, %8 : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>, tensor<1xi8>) -> tensor<2x4x40x40xf32>
    %38 = tosa.reshape %37, %9 : (tensor<2x4x40x40xf32>, !tosa.shape<3>) -> tensor<8x40x40xf32>
    %39 = tosa.reshape %25, %5 : (tensor<2x4x40x64xf32>, !tosa.shape<3>) -> tensor<8x40x64xf32>
    %40 = tosa.matmul %38, %39, %0, %0 : (tensor<8x40x40xf32>, tensor<8x40x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x40x64xf32>
    %41 = tosa.reshape %40, %10 : (tensor<8x40x64xf32>, !tosa.shape<4>) -> tensor<2x4x40x64xf32>
    %42 = tosa.transpose %41 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x4x40x64xf32>) -> tensor<2x40x4x64xf32>
    %43 = tosa.transpose %arg5 {perms = array<i32: 1, 0>} : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %44 = tosa.reshape %42, %1 : (tensor<2x40x4x64xf32>, !tosa.shape<3>) -> tensor<1x80x256xf32>
    %45 = tosa.reshape %43, %2 : (tensor<256x256xf32>, !tosa.shape<3>) -> tensor<1x256x256xf32>
    %46 = tosa.matmul %44, %45, %0, %0 : (tensor<1x80x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x80x256xf32>
    %47 = tosa.reshape %46, %3 : (tensor<1x80x256xf32>, !tosa.shape<3>) -> tensor<2x40x256xf32>
    return %47 : tensor<2x40x256xf32>
  }
}

