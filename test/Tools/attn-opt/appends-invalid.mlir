// Without an attention there is one program, of the function that appends; one whose result nobody has does nothing.
// RUN: not attn-opt %s --target=sm_80 -o - 2>&1 | FileCheck %s
// CHECK: appends-invalid.mlir:[[#@LINE + 7]]:8: error: 'attn.append' op expected one function that appends, or merges, in a module without an attention
func.func @one(%new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> tensor<1x1x96x64xf16> {
  %0 = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  return %0 : tensor<1x1x96x64xf16>
}

func.func @two(%new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> tensor<1x1x96x64xf16> {
  %0 = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  return %0 : tensor<1x1x96x64xf16>
}
