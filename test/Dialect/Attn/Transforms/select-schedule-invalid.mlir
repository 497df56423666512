// RUN: not attn-opt %s --attn-select-schedule=target=sm_81 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not attn-opt %s --attn-select-schedule="schedule='tile_x=4'" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not attn-opt %s --attn-select-schedule="target-fields='smem-bytes=much'" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not attn-opt %s --attn-select-schedule="target=sm_80 schedule='tile_m=24'" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not attn-opt %s --attn-select-schedule="target=sm_80 schedule='kind=large_cache tile_m=128 tile_n=128 tile_dv=128 stages=4'" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not attn-opt %s --attn-select-schedule="target=cpu schedule='kind=split_kv splits=2'" 2>&1 | FileCheck %s --check-prefix=SPLIT

// TARGET: select-schedule-invalid.mlir:[[#@LINE+3]]:1: error: {{.*}}sm_81
// FIELD: select-schedule-invalid.mlir:[[#@LINE+2]]:1: error: option schedule: unknown schedule field 'tile_x'
// NUMBER: select-schedule-invalid.mlir:[[#@LINE+1]]:1: error: expected a positive integer for target field smem-bytes, got 'much'
module {
  // TILE: select-schedule-invalid.mlir:[[#@LINE+5]]:10: error: 'attn.attention' op no schedule is legal with tile_m=24 on target sm_80: expected tile_m a positive multiple of 16, got 24; the nearest legal schedule is kind=large_cache
  // MEMORY: select-schedule-invalid.mlir:[[#@LINE+4]]:10: error: 'attn.attention' op no schedule is legal with kind=large_cache tile_m=128 tile_n=128 tile_dv=128 stages=4 on target sm_80: needs {{[0-9]+}} bytes of shared memory, target sm_80 has 166912; the nearest legal schedule is kind=large_cache
  // SPLIT: select-schedule-invalid.mlir:[[#@LINE+3]]:10: error: 'attn.attention' op no schedule is legal with kind=split_kv splits=2 on target cpu: the code generator has no split-KV; the nearest legal schedule is kind=large_cache
  func.func @attention(%q: tensor<1x2x4096x128xf16>, %k: tensor<1x2x4096x128xf16>,
                       %v: tensor<1x2x4096x128xf16>) -> tensor<1x2x4096x128xf16> {
    %o = attn.attention %q, %k, %v
        : tensor<1x2x4096x128xf16>, tensor<1x2x4096x128xf16>, tensor<1x2x4096x128xf16>
        -> tensor<1x2x4096x128xf16>
    return %o : tensor<1x2x4096x128xf16>
  }
}
