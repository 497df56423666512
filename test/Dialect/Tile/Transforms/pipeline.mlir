// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pipeline{stages=2}))' | FileCheck %s

// Two loops over one stream of tiles: one prologue, one ring, stages carried
// from loop to loop.
// CHECK-LABEL: attn_tile.kernel @two_loops
attn_tile.kernel @two_loops(%q: !attn_tile.global<?x64xf16>,
                            %k: !attn_tile.global<?x64xf16>,
                            %o: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %middle = attn_tile.dim %q, 0 : !attn_tile.global<?x64xf16>
  %end = attn_tile.dim %k, 0 : !attn_tile.global<?x64xf16>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // CHECK: %[[Q:.*]] = attn_tile.alloc : <64x64xf16, swizzle = 128>
  // CHECK: attn_tile.copy_async %{{.*}} to %[[Q]]
  // CHECK: attn_tile.commit_group
  %qt = attn_tile.load %q[%c0] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  // CHECK: %[[RING:.*]] = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
  // CHECK: scf.if
  // CHECK: attn_tile.copy_async
  // CHECK: attn_tile.commit_group
  // CHECK: %[[FIRST:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[STAGE:.*]] = %{{.*}})
  // CHECK: attn_tile.wait_group 0
  // CHECK: gpu.barrier
  // CHECK: scf.if
  // CHECK: attn_tile.copy_async
  // CHECK: attn_tile.commit_group
  // CHECK: attn_tile.stage %[[RING]][%[[STAGE]]]
  // CHECK-NOT: attn_tile.load
  %a = scf.for %n = %c0 to %middle step %c64 iter_args(%acc = %zero) -> (!attn_tile.fragment<64x64xf32, accumulator>) {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %s = attn_tile.mma %qt, %kt transpose_b, %acc : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
    scf.yield %s : !attn_tile.fragment<64x64xf32, accumulator>
  }
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1)
  %b = scf.for %n = %middle to %end step %c64 iter_args(%acc = %a) -> (!attn_tile.fragment<64x64xf32, accumulator>) {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %s = attn_tile.mma %qt, %kt transpose_b, %acc : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
    scf.yield %s : !attn_tile.fragment<64x64xf32, accumulator>
  }
  // CHECK: attn_tile.wait_group 0
  // CHECK: attn_tile.store
  attn_tile.store %b, %o[%c0] : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.global<?x64xf16>
  attn_tile.return
}

// Static sizes that tiles divide need no bounds.
// CHECK-LABEL: attn_tile.kernel @static
// CHECK: attn_tile.copy_async {{.*}} in_bounds
attn_tile.kernel @static(%k: !attn_tile.global<128x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %n = %c0 to %c128 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<128x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}
