// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

!map = !attn_tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = !attn_tile.shared<64x128xbf16, swizzle = 128>
!ring = !attn_tile.shared<2x64x128xbf16, swizzle = 128>
!full = !attn_tile.mbarrier<2, arrivals = 1>
!empty = !attn_tile.mbarrier<2, arrivals = 4>
!scores = !attn_tile.fragment<64x64xf32, accumulator>
!output = !attn_tile.fragment<64x128xf32, accumulator>

// A tensor map is 128 bytes by value; threads of both roles are asked for.
// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: %[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i32, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME: nvvm.reqntid = array<i32: 256>
attn_tile.kernel @kernel(%map: !map, %o: !map) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %row = gpu.block_id x
  %stage = gpu.block_id y
  %parity = gpu.block_id z
  %q = attn_tile.alloc {offset = 0 : i64} : !tile
  %k = attn_tile.alloc {offset = 16384 : i64} : !ring
  %full = attn_tile.alloc_mbarrier {offset = 49152 : i64} : !full
  %empty = attn_tile.alloc_mbarrier {offset = 49168 : i64} : !empty
  // CHECK-DAG: %[[MINUS:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x range <i32, 0, 256>
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
  // CHECK-NEXT: scf.if %[[FIRST]]
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c1_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c4_i32
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.barrier0
  attn_tile.init_mbarriers %full, %empty : !full, !empty
  // The number of a warp is the same in all its lanes, and ptxas can see it.
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %[[MINUS]]
  // CHECK-NEXT: %[[CONSUMES:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32
  // CHECK-NEXT: scf.if %[[CONSUMES]]
  // CHECK-NEXT: nvvm.setmaxregister increase 256
  attn_tile.roles producer(56) {
    %t = attn_tile.stage %k[%stage] : !ring
    attn_tile.copy_tma %map[%c0, %c0, %row] to %t, %full[%stage] evict_last : !map to !tile, !full
  } consumer(256) {
  ^bb0(%warpgroup: index):
    // CHECK: nvvm.mbarrier.try_wait.parity
    attn_tile.mbarrier_wait %full[%stage], %parity : !full
    %t = attn_tile.stage %k[%stage] : !ring
    // K-major, 128-byte swizzle: stride 1024, mode 1 = 4611686293305360384; 128
    // columns are 8 products.
    // CHECK: arith.ori %{{.*}}, %c4611686293305360384_i64 : i64
    // CHECK: %[[S:.*]] = attn_ptx.wgmma bf16 a_descriptors(%{{([^,]*, ){7}[^,]*}}) b(%{{([^,]*, ){7}[^,]*}}) : !llvm.struct<(f32,
    // CHECK: nvvm.wgmma.commit.group.sync.aligned
    %s = attn_tile.mma_async %q[%warpgroup], %t transpose_b : !tile, !tile -> !scores
    // CHECK: attn_ptx.wgmma_wait 0, %[[S]]
    %w = attn_tile.mma_wait 0, %s : !scores
    // CHECK: attn_ptx.mbarrier_arrive %{{.*}} if %{{.*}} : <3>
    attn_tile.mbarrier_arrive %empty[%stage] : !empty
    %p = attn_tile.to_operand %w : !scores -> !attn_tile.fragment<64x64xbf16, operand_a>
    // MN-major: 4 products of 16 keys.
    // CHECK: %[[PV:.*]] = attn_ptx.wgmma bf16 a_registers(%{{([^,]*, ){15}[^,]*}}) b(%{{([^,]*, ){3}[^,]*}}) b_mn_major :
    %pv = attn_tile.mma_async %p, %t : !attn_tile.fragment<64x64xbf16, operand_a>, !tile -> !output
    %o1 = attn_tile.mma_wait 0, %pv : !output
    %max = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, row>
    %any = attn_tile.any %max : !attn_tile.fragment<64xf32, row>
    // The warpgroup meets, 128 columns are 8 x 16, the proxy fence, the barrier,
    // two panels by one thread.
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
    // CHECK-COUNT-8: nvvm.stmatrix
    // CHECK-NOT: nvvm.stmatrix
    // CHECK: nvvm.fence.proxy {{.*}}async.shared
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
    // CHECK: scf.if
    // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta
    // CHECK: nvvm.cp.async.bulk.commit.group
    // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    attn_tile.store_shared %o1 to %q : !output to !tile
    attn_tile.store_tma %q[%warpgroup] to %o[%c0, %c0, %row] : !tile to !map
  }
  // CHECK: } else {
  // CHECK-NEXT: nvvm.setmaxregister decrease 56
  // CHECK: nvvm.elect.sync
  // CHECK: scf.if
  // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} l2_cache_hint
  attn_tile.return
}

// Turns: of two warpgroups, on barriers of 256 threads.
// CHECK-LABEL: llvm.func @turns
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c256_i32
// CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %c256_i32
attn_tile.kernel @turns() warps(8) attributes {producer_warps = 4 : i64} {
  attn_tile.roles producer(24) {
    %c = arith.constant 0 : index
  } consumer(240) {
  ^bb0(%warpgroup: index):
    attn_tile.take_turn %warpgroup
    attn_tile.pass_turn %warpgroup
  }
  attn_tile.return
}
