// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2},attn-tile-overlap-softmax,attn-tile-stage-stores,attn-tile-pipeline),canonicalize)' | FileCheck %s

!global = !attn_tile.global<?x8x?x64xf16>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!operand = !attn_tile.fragment<64x64xf16, operand_a>
!scores = !attn_tile.fragment<64x64xf32, accumulator>

// One warp loads, whose threads keep their registers. Products stay mma.sync: their operands in registers, and nobody waits for them.
// The lanes of a warp are past what they read of a stage when one of them gives it back.
// CHECK-LABEL: attn_tile.kernel @loads
// CHECK-SAME: %[[QMAP:[a-z0-9]*]]: !attn_tile.tensor_map<64x64xf16, swizzle = 128>, %[[KMAP:[a-z0-9]*]]: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4)
// CHECK-SAME: producer_warps = 1 : i64
attn_tile.kernel @loads(%q: !global, %k: !global, %o: !global, %rows: index) warps(4) attributes {
    schedule = #attn.schedule<mma = "mma_sync", producer_warps = 1>, forward} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global
  // CHECK-DAG: %[[Q:.*]] = attn_tile.alloc : <64x64xf16, swizzle = 128>
  // CHECK-DAG: %[[RING:.*]] = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
  // CHECK-DAG: %[[QFULL:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
  // CHECK-DAG: %[[FULL:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // CHECK-DAG: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
  // CHECK: attn_tile.roles producer {
  // CHECK-NEXT: attn_tile.copy_tma %[[QMAP]]{{.*}} to %[[Q]], %[[QFULL]]{{.*}} evict_first
  // CHECK: attn_tile.mbarrier_wait %[[EMPTY]]
  // CHECK: attn_tile.copy_tma %[[KMAP]]{{.*}} evict_last
  // CHECK: } consumer {
  // CHECK-NEXT: ^bb0(%{{.*}}: index):
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[QFULL]][%c0], %c0
  // CHECK: %[[QA:.*]] = attn_tile.load_operand %[[Q]]
  %zero = attn_tile.fill 0.0 : !scores
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !tile
  %qa = attn_tile.load_operand %qt : !tile -> !operand
  // One tile of the ring for both products, of which the second sums over keys. Without a tile in shared memory the output is stored as it is.
  // CHECK: scf.for
  // CHECK: attn_tile.mbarrier_wait %[[FULL]]
  // CHECK-NEXT: %[[TILE:.*]] = attn_tile.stage %[[RING]]
  // CHECK-NEXT: %[[S:.*]] = attn_tile.mma %[[QA]], %[[TILE]] transpose_b,
  // CHECK-NEXT: %[[P:.*]] = attn_tile.to_operand %[[S]]
  // CHECK-NEXT: %[[SAME:.*]] = attn_tile.stage %[[RING]]
  // CHECK-NEXT: attn_tile.clear_rows %[[SAME]]
  // CHECK-NEXT: %[[SAME:.*]] = attn_tile.stage %[[RING]]
  // CHECK-NEXT: attn_tile.mma %[[P]], %[[SAME]],
  // CHECK-NEXT: attn_tile.sync_warp
  // CHECK-NEXT: attn_tile.mbarrier_arrive %[[EMPTY]]
  // CHECK-NOT: gpu.barrier
  // CHECK: attn_tile.store %
  %sum = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] rows(%rows) : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %zero : !operand, !tile, !scores
    %p = attn_tile.to_operand %s : !scores -> !operand
    %next = attn_tile.mma %p, %kt, %acc : !operand, !tile, !scores
    scf.yield %next : !scores
  }
  attn_tile.store %sum, %o[%c0, %c0, %c0] : !scores, !global
  attn_tile.return
}

// Without a producer the warps that compute load.
// CHECK-LABEL: attn_tile.kernel @all_load
// CHECK-NOT: attn_tile.roles
// CHECK: attn_tile.copy_async
attn_tile.kernel @all_load(%k: !global) warps(4) attributes {schedule = #attn.schedule<mma = "mma_sync", producer_warps = 0>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global
  %zero = attn_tile.fill 0.0 : !scores
  %a = attn_tile.fill 1.0 : !operand
  %sum = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %a, %kt transpose_b, %acc : !operand, !tile, !scores
    scf.yield %s : !scores
  }
  attn_tile.return
}
