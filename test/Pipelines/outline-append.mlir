// In a module without an attention appends become calls; beside one that does not read it, an append stays as it is.
// RUN: attn-opt %s --split-input-file --attn-outline=target=sm_80 | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: %[[POOL:.*]] = call @step_append(%arg0, %arg1, %arg2)
// CHECK: return %[[POOL]]
// CHECK: func.func private @step_append({{.*}}) -> tensor<1x1x96x64xf16> attributes {attn.kernel = {manifest = "{{.*}}\22role\22: \22inout\22
func.func @step(%new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> tensor<1x1x96x64xf16> {
  %0 = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  return %0 : tensor<1x1x96x64xf16>
}

// -----

// CHECK-LABEL: func.func @beside
// CHECK: attn.append
// CHECK: call @beside_attention(%arg0)
func.func @beside(%q: tensor<1x1x64x64xf16>, %new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> (tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>) {
  %0 = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  %o = attn.attention %q, %q, %q : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o, %0 : tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>
}
