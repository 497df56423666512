// RUN: attn-opt %s --attn-select-schedule=target=sm_80 | FileCheck %s
// RUN: attn-opt %s --attn-select-schedule="target=cpu tile-m=48 stages=3" | FileCheck %s --check-prefix=OVERRIDE

// CHECK: module attributes {attn.normal_form = #attn.normal_form<scheduled>}

// What is set on the op wins over the option, which wins over the choice.
// CHECK-LABEL: @partial
// CHECK: #attn.schedule<tile_m = {{[1-9][0-9]*}}, tile_n = 32, warps = {{[1-9]}}, stages = {{[1-9]}}>
// OVERRIDE-LABEL: @partial
// OVERRIDE: #attn.schedule<tile_m = 48, tile_n = 32, warps = 1, stages = 3>
func.func @partial(%q: tensor<1x2x96x64xf16>, %k: tensor<1x2x96x64xf16>,
                   %v: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<tile_n = 32>}
      : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>
      -> tensor<1x2x96x64xf16>
  return %o : tensor<1x2x96x64xf16>
}

// A complete schedule stays.
// CHECK-LABEL: @complete
// CHECK: #attn.schedule<kind = "split_kv", tile_m = 16, tile_n = 32, warps = 1, stages = 2>
// OVERRIDE-LABEL: @complete
// OVERRIDE: #attn.schedule<kind = "split_kv", tile_m = 16, tile_n = 32, warps = 1, stages = 2>
func.func @complete(%q: tensor<1x2x96x64xf16>, %k: tensor<1x2x96x64xf16>,
                    %v: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<
          kind = "split_kv", tile_m = 16, tile_n = 32, warps = 1, stages = 2>}
      : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>
      -> tensor<1x2x96x64xf16>
  return %o : tensor<1x2x96x64xf16>
}
