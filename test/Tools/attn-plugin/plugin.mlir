// Stock mlir-opt with the plug-in knows the dialects, passes and pipelines.
// RUN: mlir-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --attn-select-schedule=target=sm_80 | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(attn-to-scheduled{target=sm_80},attn-to-tiled)" \
// RUN:   | FileCheck %s --check-prefix=TILED

// CHECK: attn.attention
// CHECK-SAME: #attn.schedule<
// TILED: attn.online_attention
func.func @f(%q: tensor<1x2x96x64xf16>, %k: tensor<1x2x80x64xf16>, %v: tensor<1x2x80x64xf16>)
    -> tensor<1x2x96x64xf16> {
  %o = attn.attention %q, %k, %v
      : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>
      -> tensor<1x2x96x64xf16>
  return %o : tensor<1x2x96x64xf16>
}
