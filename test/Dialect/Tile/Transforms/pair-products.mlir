// The CTAs of dK and dV become a pair. Of Q and dO each has half of the rows, which S and dP read, and half of the columns, which the gradients read.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled=target=sm_100a --attn-to-tile=target=sm_100a | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @backward_dq(
// CHECK-NOT: cta_pairs
// CHECK-LABEL: attn_tile.kernel @backward_dkv(
// CHECK-SAME: %[[ROWS:[a-z0-9]*]]: !attn_tile.tensor_map<64x64xf16, swizzle = 128>
// CHECK-SAME: %[[COLUMNS:[a-z0-9]*]]: !attn_tile.tensor_map<128x32xf16, swizzle = 64>, %{{[a-z0-9]*}}: !attn_tile.tensor_map<128x32xf16, swizzle = 64>)
// CHECK-SAME: cluster_ctas = 2 : i64, cta_pairs,
// CHECK: %[[K:.*]] = attn_tile.alloc {{.*}} <128x64xf16, swizzle = 128>
// CHECK: %[[QROWS:.*]] = attn_tile.alloc {{.*}} <3x64x64xf16, swizzle = 128>
// CHECK: %[[QCOLUMNS:.*]] = attn_tile.alloc {{.*}} <3x128x32xf16, swizzle = 64>
// Two copies and LSE; four warps that have read LSE, and one commit.
// CHECK: %[[FULL:.*]] = attn_tile.alloc_mbarrier {{.*}} <3, arrivals = 3>
// CHECK: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier {{.*}} <3, arrivals = 5>
// CHECK: attn_tile.cluster_barrier
// CHECK-NEXT: attn_tile.roles producer

// CHECK: gpu.block_id x
// CHECK: %[[RANK:.*]] = arith.andi %{{.*}}, %c1
// CHECK: attn_tile.copy_tma %{{.*}} to %[[K]], %{{.*}} evict_first {first_cta}
// CHECK: scf.for %[[ROW:[a-z0-9]*]] = %c0
// CHECK: %[[FIRST:.*]] = arith.muli %[[RANK]], %c64
// CHECK: %[[HALF:.*]] = arith.addi %[[ROW]], %[[FIRST]]
// CHECK: attn_tile.copy_tma %[[ROWS]][%{{.*}}, %{{.*}}, %[[HALF]]] to %{{.*}}, %[[FULL]][%{{.*}}] evict_last {first_cta}
// CHECK: %[[COLUMN:.*]] = arith.muli %[[RANK]], %c32
// CHECK: attn_tile.copy_tma %[[COLUMNS]][%{{.*}}, %{{.*}}, %[[ROW]], %[[COLUMN]]] to %{{.*}}, %[[FULL]][%{{.*}}] evict_last {first_cta}
// CHECK: attn_tile.copy_bulk {{.*}} %[[FULL]]

// CHECK: } products {
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: %[[STAGE:.*]] = attn_tile.stage %[[QROWS]]
// CHECK: attn_tile.mma_tensor %[[K]], %[[STAGE]] transpose_b
// CHECK: scf.for
// CHECK: attn_tile.mbarrier_wait %[[STORED:.*]][%c0], %{{.*}} : <1, arrivals = 8>
// CHECK: attn_tile.stage %[[QCOLUMNS]]
// CHECK: attn_tile.commit_tensors %[[EMPTY]][%{{.*}}] {ctas = 2 : i64} : <3, arrivals = 5>
// CHECK: attn_tile.commit_tensors %[[SUMS:.*]][%c0] {ctas = 2 : i64} : <1, arrivals = 1>

// CHECK: } consumer(
// CHECK: attn_tile.mbarrier_arrive %[[STORED]][%{{.*}}] {first_cta} : <1, arrivals = 8>
// What a CTA has read of its own vectors it says to its own producer.
// CHECK: attn_tile.mbarrier_arrive %[[EMPTY]][%{{.*}}] : <3, arrivals = 5>
// CHECK: attn_tile.mbarrier_wait %[[SUMS]]
// CHECK: attn_tile.cluster_barrier
// CHECK-NEXT: attn_tile.free_tensors

!q = tensor<1x2x256x64xf16>
!k = tensor<1x2x512x64xf16>
!lse = tensor<1x2x256xf32>
func.func @backward(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !lse) d_output(%do : !q)
      {key_schedule = #attn.schedule<tile_m = 128, tile_n = 128, cluster_n = 2, cta_pair = true>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}
