// ViT-Tiny self-attention, no mask: B=1, H=3, M=N=197, D=64.
// Exported by export.py with transformers 5.23.0, torch 2.14.1, torch-mlir 20261001; not edited by hand.
// Arguments:
//   %arg0: hidden_states
//   %arg1: layer.q_proj.weight
//   %arg2: layer.q_proj.bias
//   %arg3: layer.k_proj.weight
//   %arg4: layer.k_proj.bias
//   %arg5: layer.v_proj.weight
//   %arg6: layer.v_proj.bias
//   %arg7: layer.o_proj.weight
//   %arg8: layer.o_proj.bias

module {
  func.func @vit_tosa(%arg0: tensor<1x197x192xf32>, %arg1: tensor<192x192xf32>, %arg2: tensor<192xf32>, %arg3: tensor<192x192xf32>, %arg4: tensor<192xf32>, %arg5: tensor<192x192xf32>, %arg6: tensor<192xf32>, %arg7: tensor<192x192xf32>, %arg8: tensor<192xf32>) -> tensor<1x197x192xf32> {
    %0 = tosa.const_shape  {values = dense<[197, 192]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %1 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %2 = tosa.const_shape  {values = dense<[1, 197, 192]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = tosa.const_shape  {values = dense<[1, 192, 192]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %5 = tosa.const_shape  {values = dense<[1, 192]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %6 = tosa.const_shape  {values = dense<[1, 197, 3, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %7 = tosa.const_shape  {values = dense<[3, 197, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %8 = tosa.const_shape  {values = dense<[3, 64, 197]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %9 = tosa.const_shape  {values = dense<[1, 3, 197, 197]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %10 = tosa.const_shape  {values = dense<[3, 197, 197]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %11 = tosa.const_shape  {values = dense<[1, 3, 197, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %12 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %13 = tosa.transpose %arg1 {perms = array<i32: 1, 0>} : (tensor<192x192xf32>) -> tensor<192x192xf32>
    %14 = tosa.reshape %13, %3 : (tensor<192x192xf32>, !tosa.shape<3>) -> tensor<1x192x192xf32>
    %15 = tosa.matmul %arg0, %14, %1, %1 : (tensor<1x197x192xf32>, tensor<1x192x192xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x197x192xf32>
    %16 = tosa.reshape %15, %0 : (tensor<1x197x192xf32>, !tosa.shape<2>) -> tensor<197x192xf32>
    %17 = tosa.reshape %arg2, %5 : (tensor<192xf32>, !tosa.shape<2>) -> tensor<1x192xf32>
    %18 = tosa.add %16, %17 : (tensor<197x192xf32>, tensor<1x192xf32>) -> tensor<197x192xf32>
    %19 = tosa.reshape %18, %6 : (tensor<197x192xf32>, !tosa.shape<4>) -> tensor<1x197x3x64xf32>
    %20 = tosa.transpose %19 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x197x3x64xf32>) -> tensor<1x3x197x64xf32>
    %21 = tosa.transpose %arg3 {perms = array<i32: 1, 0>} : (tensor<192x192xf32>) -> tensor<192x192xf32>
    %22 = tosa.reshape %21, %3 : (tensor<192x192xf32>, !tosa.shape<3>) -> tensor<1x192x192xf32>
    %23 = tosa.matmul %arg0, %22, %1, %1 : (tensor<1x197x192xf32>, tensor<1x192x192xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x197x192xf32>
    %24 = tosa.reshape %23, %0 : (tensor<1x197x192xf32>, !tosa.shape<2>) -> tensor<197x192xf32>
    %25 = tosa.reshape %arg4, %5 : (tensor<192xf32>, !tosa.shape<2>) -> tensor<1x192xf32>
    %26 = tosa.add %24, %25 : (tensor<197x192xf32>, tensor<1x192xf32>) -> tensor<197x192xf32>
    %27 = tosa.reshape %26, %6 : (tensor<197x192xf32>, !tosa.shape<4>) -> tensor<1x197x3x64xf32>
    %28 = tosa.transpose %arg5 {perms = array<i32: 1, 0>} : (tensor<192x192xf32>) -> tensor<192x192xf32>
    %29 = tosa.reshape %28, %3 : (tensor<192x192xf32>, !tosa.shape<3>) -> tensor<1x192x192xf32>
    %30 = tosa.matmul %arg0, %29, %1, %1 : (tensor<1x197x192xf32>, tensor<1x192x192xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x197x192xf32>
    %31 = tosa.reshape %30, %0 : (tensor<1x197x192xf32>, !tosa.shape<2>) -> tensor<197x192xf32>
    %32 = tosa.reshape %arg6, %5 : (tensor<192xf32>, !tosa.shape<2>) -> tensor<1x192xf32>
    %33 = tosa.add %31, %32 : (tensor<197x192xf32>, tensor<1x192xf32>) -> tensor<197x192xf32>
    %34 = tosa.reshape %33, %6 : (tensor<197x192xf32>, !tosa.shape<4>) -> tensor<1x197x3x64xf32>
    %35 = tosa.transpose %34 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x197x3x64xf32>) -> tensor<1x3x197x64xf32>
    %36 = tosa.transpose %27 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x197x3x64xf32>) -> tensor<1x3x64x197xf32>
    %37 = tosa.reshape %20, %7 : (tensor<1x3x197x64xf32>, !tosa.shape<3>) -> tensor<3x197x64xf32>
    %38 = tosa.reshape %36, %8 : (tensor<1x3x64x197xf32>, !tosa.shape<3>) -> tensor<3x64x197xf32>
    %39 = tosa.matmul %37, %38, %1, %1 : (tensor<3x197x64xf32>, tensor<3x64x197xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x197x197xf32>
    %40 = tosa.reshape %39, %9 : (tensor<3x197x197xf32>, !tosa.shape<4>) -> tensor<1x3x197x197xf32>
    %41 = tosa.mul %40, %12, %4 : (tensor<1x3x197x197xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x197x197xf32>
    %42 = tosa.reduce_max %41 {axis = 3 : i32} : (tensor<1x3x197x197xf32>) -> tensor<1x3x197x1xf32>
    %43 = tosa.sub %41, %42 : (tensor<1x3x197x197xf32>, tensor<1x3x197x1xf32>) -> tensor<1x3x197x197xf32>
    %44 = tosa.exp %43 : (tensor<1x3x197x197xf32>) -> tensor<1x3x197x197xf32>
    %45 = tosa.reduce_sum %44 {axis = 3 : i32} : (tensor<1x3x197x197xf32>) -> tensor<1x3x197x1xf32>
    %46 = tosa.reciprocal %45 : (tensor<1x3x197x1xf32>) -> tensor<1x3x197x1xf32>
    %47 = tosa.mul %44, %46, %4 : (tensor<1x3x197x197xf32>, tensor<1x3x197x1xf32>, tensor<1xi8>) -> tensor<1x3x197x197xf32>
    %48 = tosa.reshape %47, %10 : (tensor<1x3x197x197xf32>, !tosa.shape<3>) -> tensor<3x197x197xf32>
    %49 = tosa.reshape %35, %7 : (tensor<1x3x197x64xf32>, !tosa.shape<3>) -> tensor<3x197x64xf32>
    %50 = tosa.matmul %48, %49, %1, %1 : (tensor<3x197x197xf32>, tensor<3x197x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x197x64xf32>
    %51 = tosa.reshape %50, %11 : (tensor<3x197x64xf32>, !tosa.shape<4>) -> tensor<1x3x197x64xf32>
    %52 = tosa.transpose %51 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x3x197x64xf32>) -> tensor<1x197x3x64xf32>
    %53 = tosa.reshape %52, %2 : (tensor<1x197x3x64xf32>, !tosa.shape<3>) -> tensor<1x197x192xf32>
    %54 = tosa.transpose %arg7 {perms = array<i32: 1, 0>} : (tensor<192x192xf32>) -> tensor<192x192xf32>
    %55 = tosa.reshape %54, %3 : (tensor<192x192xf32>, !tosa.shape<3>) -> tensor<1x192x192xf32>
    %56 = tosa.matmul %53, %55, %1, %1 : (tensor<1x197x192xf32>, tensor<1x192x192xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x197x192xf32>
    %57 = tosa.reshape %56, %0 : (tensor<1x197x192xf32>, !tosa.shape<2>) -> tensor<197x192xf32>
    %58 = tosa.reshape %arg8, %5 : (tensor<192xf32>, !tosa.shape<2>) -> tensor<1x192xf32>
    %59 = tosa.add %57, %58 : (tensor<197x192xf32>, tensor<1x192xf32>) -> tensor<197x192xf32>
    %60 = tosa.reshape %59, %2 : (tensor<197x192xf32>, !tosa.shape<3>) -> tensor<1x197x192xf32>
    return %60 : tensor<1x197x192xf32>
  }
}

