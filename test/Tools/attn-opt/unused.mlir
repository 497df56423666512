// An attention that nothing needs leaves nothing to compile.
// RUN: not attn-opt %s --target=sm_80 -o - 2>&1 | FileCheck %s
// CHECK: unused.mlir:[[#@LINE + 1]]:1: error: expected an attention, an append or a merge whose results are used, got none
func.func @unused(%x: tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16> {
  %o = attn.attention %x, %x, %x
      : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16> -> tensor<1x2x70x64xf16>
  return %x : tensor<1x2x70x64xf16>
}
