// RUN: attn-opt %s --attn-select-schedule=target=sm_90a | FileCheck %s --check-prefix=WGMMA
// RUN: attn-opt %s --attn-select-schedule=target=sm_89 | FileCheck %s --check-prefix=MMA
// RUN: attn-opt %s --attn-select-schedule=target=sm_120 | FileCheck %s --check-prefix=MMA
// RUN: not attn-opt %s --attn-select-schedule=target=sm_80 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-opt %s --attn-select-schedule='target=sm_89 schedule="kind=small_cache"' 2>&1 | FileCheck %s --check-prefix=SMALL

// The maximum does not lag behind, and CTAs share no tiles that each transposes.
// WGMMA: mma = "wgmma"{{.*}} rescale_threshold = 0, {{.*}} cluster_m = 1
// MMA: mma = "mma_sync"
// NONE: select-schedule-float8.mlir:[[#@LINE+4]]:8: error: {{.*}}target sm_80 has no mma_sync for f8E4M3FN
// SMALL: select-schedule-float8.mlir:[[#@LINE+3]]:8: error: {{.*}}the code generator has no small-cache kernels
func.func @f(%q: tensor<1x8x4096x128xf8E4M3FN>, %k: tensor<1x2x4096x128xf8E4M3FN>) -> tensor<1x8x4096x128xbf16> {
  // The element type of the inputs, not that of the output, decides.
  %o = attn.attention %q, %k, %k : tensor<1x8x4096x128xf8E4M3FN>, tensor<1x2x4096x128xf8E4M3FN>, tensor<1x2x4096x128xf8E4M3FN> -> tensor<1x8x4096x128xbf16>
  return %o : tensor<1x8x4096x128xbf16>
}
