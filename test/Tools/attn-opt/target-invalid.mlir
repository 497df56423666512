// What a target cannot run is one error at the attention.
// RUN: rm -rf %t && split-file %s %t
// RUN: not attn-opt %t/f32.mlir --target=sm_80 -o %t/out 2>&1 | FileCheck %s --check-prefix=F32
// RUN: not attn-opt %t/odd.mlir --target=sm_80 -o %t/out 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not attn-opt %t/dynamic.mlir --target=sm_80 -o %t/out 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not attn-opt %t/none.mlir --target=sm_80 -o %t/out 2>&1 | FileCheck %s --check-prefixes=NONE,MISS
// RUN: not attn-opt %t/empty.mlir --target=sm_80 -o %t/out 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ls %t/out.ptx

// F32: f32.mlir:2:8: error: {{.*}}expected f16 or bf16 inputs on a GPU, got f32; products rounded to tf32 need the option allow-tf32
// ODD: odd.mlir:2:8: error: {{.*}}expected D to be a multiple of 8, got 20
// DYNAMIC: dynamic.mlir:2:8: error: {{.*}}static
// NONE: error: found no attention: looked for softmax
// MISS: none.mlir:2:8: note: nearest miss

//--- f32.mlir
func.func @f(%q: tensor<1x2x96x64xf32>) -> tensor<1x2x96x64xf32> {
  %o = attn.attention %q, %q, %q
      : tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32> -> tensor<1x2x96x64xf32>
  return %o : tensor<1x2x96x64xf32>
}
//--- odd.mlir
func.func @f(%q: tensor<1x2x96x20xf16>) -> tensor<1x2x96x20xf16> {
  %o = attn.attention %q, %q, %q
      : tensor<1x2x96x20xf16>, tensor<1x2x96x20xf16>, tensor<1x2x96x20xf16> -> tensor<1x2x96x20xf16>
  return %o : tensor<1x2x96x20xf16>
}
//--- dynamic.mlir
func.func @f(%q: tensor<1x2x96x?xf16>) -> tensor<1x2x96x?xf16> {
  %o = attn.attention %q, %q, %q
      : tensor<1x2x96x?xf16>, tensor<1x2x96x?xf16>, tensor<1x2x96x?xf16> -> tensor<1x2x96x?xf16>
  return %o : tensor<1x2x96x?xf16>
}
//--- none.mlir
func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
//--- empty.mlir
