// What cannot be compiled is an error, or becomes linalg where it stands.
// RUN: not attn-opt %s --attn-outline=target=sm_80 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: attn-opt %s --attn-outline="target=sm_80 fallback" 2>&1 | FileCheck %s
// RUN: attn-opt %s --attn-outline="target=sm_80 allow-tf32" | FileCheck %s --check-prefix=TF32

// ERROR: outline-fallback.mlir:[[#@LINE+13]]:{{[0-9]+}}: error: {{.*}}f32
// CHECK: outline-fallback.mlir:[[#@LINE+12]]:{{[0-9]+}}: warning: falls back from a kernel for sm_80 to linalg: {{.*}}f32
// TF32-COUNT-2: call @

// CHECK-LABEL: func.func @f(
// CHECK: %[[A:.*]] = call @f_attention(
// CHECK: linalg.generic
// CHECK-NOT: attn.attention
// CHECK: return %[[A]]
func.func @f(%q: tensor<1x2x96x64xf16>, %w: tensor<1x2x96x64xf32>)
    -> (tensor<1x2x96x64xf16>, tensor<1x2x96x64xf32>) {
  %a = attn.attention %q, %q, %q
      : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
  %b = attn.attention %w, %w, %w
      : tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32> -> tensor<1x2x96x64xf32>
  return %a, %b : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf32>
}
