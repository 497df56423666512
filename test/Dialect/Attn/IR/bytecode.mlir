// Every op and attribute of the dialect survives bytecode, here through stock
// mlir-opt with the plug-in.
// RUN: attn-opt %S/ops.mlir -o %t.mlir
// RUN: attn-opt %S/ops.mlir --emit-bytecode -o %t.bc
// RUN: mlir-opt --load-dialect-plugin=%plugin %t.bc | diff - %t.mlir
// RUN: attn-opt %S/backward.mlir -o %t.backward.mlir
// RUN: attn-opt %S/backward.mlir --emit-bytecode | attn-opt - | diff - %t.backward.mlir

// The compiler takes bytecode too.
// RUN: attn-opt %s --emit-bytecode -o %t.input.bc
// RUN: attn-opt %t.input.bc --target=sm_80 -o - | FileCheck %s
// CHECK: .target sm_80

// A schedule and a normal form.
// RUN: attn-opt %s --attn-to-scheduled -o %t.scheduled.mlir
// RUN: attn-opt %s --attn-to-scheduled --emit-bytecode | attn-opt - | diff - %t.scheduled.mlir
// RUN: attn-opt %s --attn-pipeline -o %t.nvvm.mlir
// RUN: attn-opt %s --attn-pipeline --emit-bytecode | attn-opt - | diff - %t.nvvm.mlir
func.func @f(%q: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
  %a = attn.attention %q, %q, %q
      : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
  return %a : tensor<1x2x96x64xf16>
}
