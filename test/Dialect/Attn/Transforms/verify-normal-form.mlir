// RUN: attn-opt %s --attn-verify-normal-form=form=tensor
// RUN: attn-opt %s --attn-select-schedule --attn-verify-normal-form | FileCheck %s
// RUN: attn-opt %s --attn-select-schedule --attn-convert-to-online --attn-tile \
// RUN:   --attn-insert-block-skipping --attn-verify-normal-form | FileCheck %s --check-prefix=TILED

// CHECK: attn.normal_form = #attn.normal_form<scheduled>
// TILED: attn.normal_form = #attn.normal_form<tiled>
func.func @causal(%q: tensor<2x4x?x64xf16>, %k: tensor<2x4x?x64xf16>)
    -> tensor<2x4x?x64xf16> {
  %o = attn.attention %q, %k, %k mask_mod causal(bottom_right)
      : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>
      -> tensor<2x4x?x64xf16>
  return %o : tensor<2x4x?x64xf16>
}
