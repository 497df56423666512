// Keys and values of 8 bits beside a query of 16: kernels of mma_sync widen them in registers; the
// producers of wgmma and tcgen05 in shared memory, where CTAs share none.
// RUN: attn-opt %s --attn-select-schedule=target=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: attn-opt %s --attn-select-schedule=target=sm_90a 2>&1 | FileCheck %s --check-prefix=SM90A --implicit-check-not=warning
// RUN: attn-opt %s --attn-select-schedule=target=sm_100a 2>&1 | FileCheck %s --check-prefix=SM100A --implicit-check-not=warning
// RUN: not attn-opt %s --attn-select-schedule='target=sm_90a schedule="mma=wgmma tile_m=128 tile_n=128 stages=2 warps=8 cluster_m=2"' 2>&1 | FileCheck %s --check-prefix=CLUSTER

// SM80: mma = "mma_sync"{{.*}} query_in_registers =
// SM90A: mma = "wgmma"{{.*}} producer_warps = 4{{.*}} cluster_m = 1
// SM100A: mma = "tcgen05"{{.*}} producer_warps = 4{{.*}} persistent_ctas =
// CLUSTER: error: {{.*}}the code generator has no
func.func @f(%q: tensor<1x8x4096x128xbf16>, %k: tensor<1x2x4096x128xf8E4M3FN>) -> tensor<1x8x4096x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x8x4096x128xbf16>, tensor<1x2x4096x128xf8E4M3FN>, tensor<1x2x4096x128xf8E4M3FN> -> tensor<1x8x4096x128xbf16>
  return %o : tensor<1x8x4096x128xbf16>
}
