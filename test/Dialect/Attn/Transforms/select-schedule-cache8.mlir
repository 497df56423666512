// Keys and values of 8 bits beside a query of 16 have kernels of mma_sync alone, on all targets; the query stays in shared memory.
// RUN: attn-opt %s --attn-select-schedule=target=sm_80 | FileCheck %s
// RUN: attn-opt %s --attn-select-schedule=target=sm_90a 2>&1 | FileCheck %s --check-prefixes=CHECK,WARN
// RUN: not attn-opt %s --attn-select-schedule='target=sm_90a schedule="mma=wgmma"' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-opt %s --attn-select-schedule='target=sm_90a schedule="kind=large_cache query_in_registers=true"' 2>&1 | FileCheck %s --check-prefix=QUERY

// WARN: warning: falls back from wgmma to the mma_sync kernels of sm_80: 8-bit keys and values are widened in registers, and wgmma reads them from shared memory
// CHECK: mma = "mma_sync"{{.*}} query_in_registers = false
// NONE: error: {{.*}}the code generator has no wgmma kernels
// QUERY: error: {{.*}}the code generator has no query tile in registers
func.func @f(%q: tensor<1x8x4096x128xbf16>, %k: tensor<1x2x4096x128xf8E4M3FN>) -> tensor<1x8x4096x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x8x4096x128xbf16>, tensor<1x2x4096x128xf8E4M3FN>, tensor<1x2x4096x128xf8E4M3FN> -> tensor<1x8x4096x128xbf16>
  return %o : tensor<1x8x4096x128xbf16>
}
