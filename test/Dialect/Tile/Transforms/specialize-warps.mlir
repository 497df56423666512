// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2}),canonicalize)' | FileCheck %s

!global = !attn_tile.global<?x8x?x64xf16>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!operand = !attn_tile.fragment<64x64xf16, operand_a>
!scores = !attn_tile.fragment<64x64xf32, accumulator>

// Two loops over one stream: one producer loop, rings and barriers shared by the
// consumer's loops. The query comes from shared memory whatever it was.
// CHECK-LABEL: attn_tile.kernel @two_loops
// CHECK-SAME: %[[QMAP:[a-z0-9]*]]: !attn_tile.tensor_map<64x64xf16, swizzle = 128>, %[[KMAP:[a-z0-9]*]]: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4)
// CHECK-SAME: mapped = array<i64: 0, 1>, mapped_heads = array<i64: 1, 1>
// CHECK-SAME: producer_warps = 4 : i64
attn_tile.kernel @two_loops(%q: !global, %k: !global, %o: !global) warps(4) attributes {
    schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %middle = attn_tile.dim %q, 2 : !global
  %end = attn_tile.dim %k, 2 : !global
  // CHECK-DAG: %[[Q:.*]] = attn_tile.alloc : <64x64xf16, swizzle = 128>
  // CHECK-DAG: %[[RING:.*]] = attn_tile.alloc : <2x64x64xf16, swizzle = 128>
  // CHECK-DAG: %[[QFULL:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
  // CHECK-DAG: %[[FULL:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // One arrival of each consumer warp.
  // CHECK-DAG: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
  // CHECK: attn_tile.init_mbarriers %[[QFULL]], %[[FULL]], %[[EMPTY]]
  // CHECK: attn_tile.roles producer(56) {
  // CHECK-NEXT: attn_tile.copy_tma %[[QMAP]]{{.*}} to %[[Q]], %[[QFULL]]{{.*}} evict_first
  // CHECK-NEXT: scf.for %[[N:.*]] = %c0 to %[[END:.*]] step %c64 iter_args(%[[I:.*]] = %c0)
  // CHECK-NEXT: %[[STAGE:.*]] = arith.remui %[[I]], %c2
  // CHECK: %[[PARITY:.*]] = arith.andi
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.xori %[[PARITY]], %c1
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[EMPTY]][%[[STAGE]]], %[[BEFORE]]
  // CHECK-NEXT: %[[TILE:.*]] = attn_tile.stage %[[RING]][%[[STAGE]]]
  // CHECK-NEXT: attn_tile.copy_tma %[[KMAP]][%c0, %c0, %[[N]]] to %[[TILE]], %[[FULL]][%[[STAGE]]] evict_last
  // CHECK: } consumer(256) {
  // CHECK-NEXT: ^bb0(%[[WG:.*]]: index):
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[QFULL]][%c0], %c0
  %zero = attn_tile.fill 0.0 : !scores
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !tile
  %qa = attn_tile.load_operand %qt : !tile -> !operand
  // CHECK-NOT: attn_tile.load
  // CHECK: %[[A:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[I:.*]] = %c0)
  // CHECK: attn_tile.mbarrier_wait %[[FULL]]
  // CHECK-NEXT: %[[TILE:.*]] = attn_tile.stage %[[RING]]
  // CHECK-NEXT: %[[S:.*]] = attn_tile.mma_async %[[Q]][%[[WG]]], %[[TILE]] transpose_b acc(
  // CHECK-NEXT: attn_tile.mma_wait 0, %[[S]]
  // CHECK-NEXT: attn_tile.mbarrier_arrive %[[EMPTY]]
  %a = scf.for %n = %c0 to %middle step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %acc : !operand, !tile, !scores
    scf.yield %s : !scores
  }
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[A]]#0, %{{.*}} = %[[A]]#1)
  // CHECK: attn_tile.mma_async %[[Q]][%[[WG]]]
  %b = scf.for %n = %middle to %end step %c64 iter_args(%acc = %a) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %acc : !operand, !tile, !scores
    scf.yield %s : !scores
  }
  // CHECK: attn_tile.store
  // CHECK: }
  // CHECK-NEXT: attn_tile.return
  attn_tile.store %b, %o[%c0, %c0, %c0] : !scores, !global
  attn_tile.return
}

// A cluster of two: boxes of half the rows, empty barriers of the warps of both, arrivals in both; nobody uses another's
// barriers before they are there, or ends while another may.
// CHECK-LABEL: attn_tile.kernel @cluster
// CHECK-SAME: !attn_tile.tensor_map<32x64xf16, swizzle = 128>
// CHECK-SAME: cluster_ctas = 2
attn_tile.kernel @cluster(%q: !global, %k: !global, %o: !global) warps(4) attributes {
    schedule = #attn.schedule<mma = "wgmma", cluster_m = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global
  %zero = attn_tile.fill 0.0 : !scores
  // CHECK: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 8>
  // CHECK: attn_tile.init_mbarriers
  // CHECK-NEXT: attn_tile.cluster_barrier
  // CHECK: attn_tile.copy_tma {{.*}} evict_first :
  // CHECK: attn_tile.copy_tma {{.*}} evict_last {ctas = 2 : i64}
  // CHECK: consumer
  // CHECK: attn_tile.mbarrier_arrive %[[EMPTY]]{{.*}} {ctas = 2 : i64}
  // CHECK: attn_tile.store
  // CHECK-NEXT: attn_tile.cluster_barrier
  // CHECK-NEXT: }
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !tile
  %qa = attn_tile.load_operand %qt : !tile -> !operand
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %acc : !operand, !tile, !scores
    scf.yield %s : !scores
  }
  attn_tile.store %a, %o[%c0, %c0, %c0] : !scores, !global
  attn_tile.return
}
