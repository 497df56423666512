// RUN: attn-opt %s --attn-select-schedule=target=sm_80 | FileCheck %s
// RUN: attn-opt %s --attn-select-schedule="target=sm_80 schedule='tile_m=32 tile_n=64 warps=2 stages=2'" | FileCheck %s --check-prefix=OVERRIDE
// RUN: attn-opt %s --attn-select-schedule="target=sm_80 target-fields='smem-bytes=49152'" | FileCheck %s --check-prefix=SMALL
// RUN: attn-opt %s --attn-select-schedule=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: attn-opt %s --attn-select-schedule=target=sm_80 --remarks-filter=attn-select-schedule \
// RUN:     --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// CHECK: module attributes {attn.normal_form = #attn.normal_form<scheduled>}

// What is set on the op wins over the option, which wins over the choice.
// CHECK-LABEL: @partial
// CHECK: #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = {{[1-9][0-9]*}}, tile_n = 32, tile_d = 64, tile_dv = 64, stages = {{[1-9]}}, warps = {{[1-9]}}, query_in_registers = {{true|false}}, rescale_threshold = 0, pack_gqa = false>
// OVERRIDE-LABEL: @partial
// OVERRIDE: tile_m = 32, tile_n = 32, tile_d = 64, tile_dv = 64, stages = 2, warps = 2
// CPU-LABEL: @partial
// CPU: kind = "large_cache", mma = "none", tile_m = {{[1-9][0-9]*}}, tile_n = 32, {{.*}}stages = 1, warps = 1

// The first remark for each op says what was chosen; then who lost, and why.
// REMARK: select-schedule.mlir:[[#@LINE+5]]:8: remark: [Passed] schedule-chosen | Category:attn-select-schedule {{.*}}kind=large_cache mma=mma_sync {{.*}}tile_n=32{{.*}}: predicted {{[0-9.]+ [mun]?s}}, {{[0-9.]+ [KMG]iB}} between L2 and SMs
// REMARK: remark: [Missed] schedule-lost | Category:attn-select-schedule {{.*}}: {{as fast|[0-9.]+x slower}}
// REMARK: remark: [Missed] schedule-rejected | Category:attn-select-schedule {{.*}}: needs {{[0-9]+}} bytes of shared memory, target sm_80 has 166912
func.func @partial(%q: tensor<1x2x96x64xf16>, %k: tensor<1x2x96x64xf16>,
                   %v: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<tile_n = 32>}
      : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>
      -> tensor<1x2x96x64xf16>
  return %o : tensor<1x2x96x64xf16>
}

// Sizes that are not known do not hinder. 48 KiB leave no room for what is
// chosen with more.
// CHECK-LABEL: @dynamic
// CHECK: tile_m = 128, tile_n = 32, {{.*}}stages = 2, warps = 8
// SMALL-LABEL: @dynamic
// SMALL: tile_m = 64, tile_n = 16,
func.func @dynamic(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>,
                   %v: tensor<?x?x?x256xf16>) -> tensor<?x?x?x256xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache">}
      : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>
      -> tensor<?x?x?x256xf16>
  return %o : tensor<?x?x?x256xf16>
}
