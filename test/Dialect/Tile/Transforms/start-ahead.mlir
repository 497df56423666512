// The first product of each step is started behind the last one of the step before, of several loops (whole tiles, then the ragged one) before the first.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,canonicalize))' | FileCheck %s

// One stage: the place of a tile is free at the end of a step. A sum in registers is read behind the product, which nothing else minds.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=1},attn-tile-start-ahead,canonicalize))' | FileCheck %s --check-prefix=ONE
// RUN: sed 's/stages = 2/stages = 2, rescale_threshold = 0/' %s | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,canonicalize))' | FileCheck %s --check-prefix=REGISTERS

// CHECK: consumer
// CHECK: %[[FIRST:.*]] = arith.cmpi ugt, %[[END:.*]], %c0 : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: mbarrier_wait %[[FULL:.*]][%
// CHECK: mma_tensor %{{.*}} transpose_b into %[[S:.*]]#0
// CHECK: scf.for
// CHECK-NOT: mma_tensor
// CHECK: load_tensor %[[S]]#0
// CHECK: store_tensor
// CHECK: mma_tensor {{.*}} into %[[S]]#1{{.*}} accumulate meet
// CHECK: %[[NEXT:.*]] = arith.cmpi ult, %{{.*}}, %[[END]]
// CHECK-NEXT: scf.if %[[NEXT]] {
// CHECK: mbarrier_wait %[[FULL]][%
// CHECK: mma_tensor %{{.*}} transpose_b into %[[S]]#0
// CHECK: scf.for
// CHECK-NOT: mma_tensor
// CHECK: load_tensor %[[S]]#0
// CHECK: accumulate meet
// CHECK: arith.cmpi ult, %{{.*}}, %[[END]]
// CHECK: transpose_b into %[[S]]#0
// CHECK-NOT: mma_tensor

// ONE: consumer
// ONE-NOT: mma_tensor
// ONE: scf.for
// ONE: mma_tensor {{.*}} transpose_b
// ONE: load_tensor
// ONE: accumulate meet
// ONE-NOT: scf.if
// ONE: scf.for

// REGISTERS: consumer
// REGISTERS: mma_tensor {{.*}} transpose_b into %[[S:.*]]#0
// REGISTERS: scf.for
// REGISTERS: mma_tensor {{.*}} into %[[S]]#1{{.*}} meet
// REGISTERS: scf.if
// REGISTERS: mma_tensor {{.*}} transpose_b into %[[S]]#0
// REGISTERS: load_tensor %[[S]]#1

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 256, tile_n = 64, stages = 2>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
