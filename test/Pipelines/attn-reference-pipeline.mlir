// RUN: attn-opt %s --attn-reference-pipeline | FileCheck %s --check-prefixes=CHECK,F64
// RUN: attn-opt %s --attn-reference-pipeline=promote=false | FileCheck %s --check-prefixes=CHECK,F16

// Nothing but the LLVM dialect is left; the C interface is there.

// CHECK-NOT: attn.
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.func @f(
// F64-NOT: f16
// F64: llvm.intr.exp(%{{.*}}) : (f64) -> f64
// F16: llvm.intr.exp(%{{.*}}) : (f32) -> f32
// F16: llvm.fptrunc %{{.*}} : f32 to f16
// CHECK: llvm.func @_mlir_ciface_f(
func.func @f(%q: tensor<1x2x?x16xf16>, %k: tensor<1x2x?x16xf16>,
             %v: tensor<1x2x?x16xf16>) -> tensor<1x2x?x16xf16> {
  %o = attn.attention %q, %k, %v
      : tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>
      -> tensor<1x2x?x16xf16>
  return %o : tensor<1x2x?x16xf16>
}
