// Two CTAs that multiply together: instructions of cta_group::2, copies and arrivals at the first one's barriers, commits in both.
// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

!map = !attn_tile.tensor_map<64x64xbf16, swizzle = 128>
!keys = !attn_tile.shared<128x64xbf16, swizzle = 128>
!half = !attn_tile.shared<64x64xbf16, swizzle = 128>
!full = !attn_tile.mbarrier<1, arrivals = 1>
!told = !attn_tile.mbarrier<1, arrivals = 8>
!scores = !attn_tile.tensor<128x128xf32>

// CHECK-LABEL: llvm.func @scores
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// f32, bf16, N 128 and M 256 of both CTAs.
// CHECK: %[[SHAPE:.*]] = arith.constant 270533776 : i32
attn_tile.kernel @scores(%map: !map) warps(4) attributes {producer_warps = 4 : i64, cluster_ctas = 2 : i64, cta_pairs} {
  %c0 = arith.constant 0 : index
  %row = gpu.block_id y
  %k = attn_tile.alloc {offset = 0 : i64} : !keys
  %q = attn_tile.alloc {offset = 16384 : i64} : !half
  %full = attn_tile.alloc_mbarrier {offset = 32768 : i64} : !full
  %told = attn_tile.alloc_mbarrier {offset = 32776 : i64} : !told
  %done = attn_tile.alloc_mbarrier {offset = 32784 : i64} : !full
  // CHECK: nvvm.tcgen05.alloc {{.*}} {group = #nvvm.cta_group<cta_2>}
  // CHECK-NEXT: nvvm.tcgen05.relinquish_alloc_permit {group = #nvvm.cta_group<cta_2>}
  %s = attn_tile.alloc_tensors {offset = 32792 : i64} : !scores
  attn_tile.init_mbarriers %full, %told, %done : !full, !told, !full
  attn_tile.cluster_barrier
  attn_tile.roles producer(56) {
    attn_tile.copy_tma %map[%c0, %c0, %row] to %q, %full[%c0] {first_cta} : !map to !half, !full
  } products {
    attn_tile.mma_tensor %k, %q transpose_b into %s[%c0], %done one_thread : !keys, !half into !scores, !full
  } consumer(256) {
  ^bb0(%warpgroup: index):
    attn_tile.mbarrier_arrive %told[%c0] {first_cta} : !told
    attn_tile.cluster_barrier
    attn_tile.free_tensors %s : !scores
  }
  // CHECK: attn_ptx.mbarrier_arrive_cluster %{{.*}} in %c0_i32 if %{{.*}}
  // CHECK: nvvm.cluster.wait
  // CHECK: nvvm.tcgen05.dealloc {{.*}} {group = #nvvm.cta_group<cta_2>}
  // The first one's barrier is told of the 8192 bytes of each, the other's of none.
  // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32
  // CHECK: %[[BYTES:.*]] = arith.select %[[IS_FIRST]], %c16384_i32, %c0_i32
  // CHECK: nvvm.mbarrier.arrive.expect_tx %[[OWN:.*]], %[[BYTES]]
  // CHECK: nvvm.mapa %[[OWN]], %c0_i32
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {group = #nvvm.cta_group<cta_2>}
  // CHECK: tcgen05.mma.cta_group::2.kind::f16 [$0], $2, $6, $1, adds;
  // CHECK-SAME: mov.b16 all0, 3;
  // CHECK-SAME: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [$10], all0;
  // CHECK-SAME: %[[SHAPE]]
  attn_tile.return
}
