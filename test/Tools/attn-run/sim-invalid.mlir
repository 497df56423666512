// What no GPU kernel can be made of.

// RUN: not attn-run %s --function none --device=sim 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: found no attention
// NONE: error: cannot compile @none for sm_80
func.func @none(%x: tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16> {
  return %x : tensor<1x2x70x64xf16>
}

// RUN: not attn-run %s --function dims --device=sim 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: error: {{.*}}expected D to be a multiple of 8, got 44
func.func @dims(%x: tensor<1x2x70x44xf16>) -> tensor<1x2x70x44xf16> {
  %b = attn.attention %x, %x, %x
      : tensor<1x2x70x44xf16>, tensor<1x2x70x44xf16>, tensor<1x2x70x44xf16>
      -> tensor<1x2x70x44xf16>
  return %b : tensor<1x2x70x44xf16>
}

// RUN: not attn-run %s --function scalar --device=sim 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: expected scalars used by an attention on the GPU to be constants or tensor sizes; pass others in a tensor
func.func @scalar(%x: tensor<1x2x70x64xf16>, %s: f32)
    -> tensor<1x2x70x64xf16> {
  %o = attn.attention %x, %x, %x
      score_mod (%r: f32, %b: index, %h: index, %i: index, %j: index) {
        %t = arith.mulf %r, %s : f32
        attn.yield %t : f32
      }
      : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>
      -> tensor<1x2x70x64xf16>
  return %o : tensor<1x2x70x64xf16>
}

// RUN: not attn-run %s --function rejects --device=sim 2>&1 | FileCheck %s --check-prefix=F32
// F32: error: {{.*}}expected f16 or bf16 inputs on a GPU, got f32; products rounded to tf32 need the option allow-tf32
func.func @rejects(%x: tensor<1x2x70x64xf32>) -> tensor<1x2x70x64xf32> {
  %o = attn.attention %x, %x, %x
      : tensor<1x2x70x64xf32>, tensor<1x2x70x64xf32>, tensor<1x2x70x64xf32>
      -> tensor<1x2x70x64xf32>
  return %o : tensor<1x2x70x64xf32>
}

// RUN: not attn-run %s --function unused --device=sim 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: sim-invalid.mlir:[[#@LINE + 2]]:1: error: expected an attention, an append or a merge whose results are used, got none
// UNUSED: error: cannot compile @unused for sm_80
func.func @unused(%x: tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16> {
  %o = attn.attention %x, %x, %x
      : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>
      -> tensor<1x2x70x64xf16>
  return %x : tensor<1x2x70x64xf16>
}
