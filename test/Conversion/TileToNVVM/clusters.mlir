// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

!map = !attn_tile.tensor_map<32x64xbf16, swizzle = 128>
!tile = !attn_tile.shared<64x128xbf16, swizzle = 128>
!full = !attn_tile.mbarrier<1, arrivals = 1>
!empty = !attn_tile.mbarrier<1, arrivals = 8>

// Each CTA of two brings its 32 of the 64 rows of both panels to both, and announces all 64 rows at its own barrier.
// CHECK-LABEL: llvm.func @multicast
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
attn_tile.kernel @multicast(%map: !map) warps(4) attributes {producer_warps = 4 : i64, cluster_ctas = 2 : i64} {
  %c0 = arith.constant 0 : index
  %row = gpu.block_id x
  %k = attn_tile.alloc {offset = 0 : i64} : !tile
  %full = attn_tile.alloc_mbarrier {offset = 16384 : i64} : !full
  %empty = attn_tile.alloc_mbarrier {offset = 16392 : i64} : !empty
  // CHECK-DAG: %[[BOTH:.*]] = llvm.mlir.constant(3 : i16)
  // CHECK: nvvm.mbarrier.init %{{.*}}, %c8_i32
  // CHECK: nvvm.barrier0
  // CHECK-NEXT: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  attn_tile.init_mbarriers %full, %empty : !full, !empty
  attn_tile.cluster_barrier
  attn_tile.roles producer(56) {
    attn_tile.copy_tma %map[%c0, %c0, %row] to %k, %full[%c0] {ctas = 2 : i64} : !map to !tile, !full
  } consumer(256) {
  ^bb0(%warpgroup: index):
    attn_tile.mbarrier_wait %full[%c0], %c0 : !full
    // Lanes 0 and 1 arrive in the CTAs of ranks 0 and 1.
    // CHECK: %[[ISFIRST:.*]] = arith.cmpi ult, %[[LANE:.*]], %c2_i32
    // CHECK: %[[RANK:.*]] = arith.{{andi|remui}} %[[LANE]], %{{c1|c2}}_i32
    // CHECK: attn_ptx.mbarrier_arrive_cluster %{{.*}} in %[[RANK]] if %[[ISFIRST]] : <3>
    attn_tile.mbarrier_arrive %empty[%c0] {ctas = 2 : i64} : !empty
    // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    attn_tile.wait_stores
  }
  // CHECK: } else {
  // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
  // CHECK: %[[CTA:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: %[[FIRST:.*]] = arith.muli %[[CTA]], %c32_i32
  // CHECK: arith.addi %{{.*}}, %[[FIRST]]
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %[[BOTH]]
  // CHECK-NOT: nvvm.cp.async.bulk.tensor
  attn_tile.return
}

// Two of 16 elements: the first and the eighth are polynomials.
// CHECK-LABEL: llvm.func @exp2_on_fma
// CHECK-COUNT-5: llvm.intr.fma
// CHECK-COUNT-7: ex2.approx
// CHECK-COUNT-5: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-7: ex2.approx
attn_tile.kernel @exp2_on_fma(%o: !attn_tile.global<1x1x16x32xf16>) warps(1) {
  %c0 = arith.constant 0 : index
  %x = attn_tile.fill 1.0 : !attn_tile.fragment<16x32xf32, accumulator>
  %p = attn_tile.map %x : (!attn_tile.fragment<16x32xf32, accumulator>) -> !attn_tile.fragment<16x32xf32, accumulator> {
  ^bb0(%e: f32, %i: i32, %j: i32):
    %column = arith.sitofp %j : i32 to f32
    %y = math.exp2 %column : f32
    attn_tile.yield %y : f32
  } {exp2_on_fma = 2 : i64}
  attn_tile.store %p, %o[%c0, %c0, %c0] : !attn_tile.fragment<16x32xf32, accumulator>, !attn_tile.global<1x1x16x32xf16>
  attn_tile.return
}
