// Two tiles of keys, known when the kernel is compiled: the backend unrolls the loop, and must not write a constant
// accumulator behind wgmma.fence.
// RUN: attn-run %s --device=sim:sm_90a --random 1 --verify --schedules 2 | FileCheck %s
// CHECK: verify: PASS
func.func @f(%q: tensor<1x2x512x32xf16>, %k: tensor<1x2x128x32xf16>, %v: tensor<1x2x128x32xf16>) -> tensor<1x2x512x32xf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<mma = "wgmma", tile_n = 64>}
      : tensor<1x2x512x32xf16>, tensor<1x2x128x32xf16>, tensor<1x2x128x32xf16> -> tensor<1x2x512x32xf16>
  return %o : tensor<1x2x512x32xf16>
}
