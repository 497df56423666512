// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

!query = !attn_tile.shared<256x64xbf16, swizzle = 128>
!keys = !attn_tile.shared<64x64xbf16, swizzle = 128>
!ring = !attn_tile.shared<2x64x64xbf16, swizzle = 128>
!done = !attn_tile.mbarrier<2, arrivals = 1>
!scores = !attn_tile.tensor<256x64xf32>
!weights = !attn_tile.tensor<256x64xbf16>

// One warp allocates 64 + 32 + 64 columns for each of two warpgroups, rounded up to a power of two.
// CHECK-LABEL: llvm.func @kernel
attn_tile.kernel @kernel(%o: !attn_tile.global<?x8x?x64xbf16>) warps(8) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %stage = gpu.block_id y
  %parity = gpu.block_id z
  %q = attn_tile.alloc {offset = 0 : i64} : !query
  %k = attn_tile.alloc {offset = 32768 : i64} : !ring
  %done = attn_tile.alloc_mbarrier {offset = 49152 : i64} : !done
  // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 512 : i32
  // CHECK-DAG: %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[49168]
  // CHECK: scf.if
  // CHECK-NEXT: nvvm.tcgen05.alloc %[[PLACE]], %[[COLUMNS]]
  // CHECK-NEXT: nvvm.tcgen05.relinquish_alloc_permit
  // CHECK-NEXT: }
  // All columns begin at 0: nobody loads the address.
  // CHECK-NOT: llvm.load
  %s, %p, %t = attn_tile.alloc_tensors {offset = 49168 : i64} : !scores, !weights, !scores
  attn_tile.roles producer(24) {
  } consumer(240) {
  ^bb0(%g: index):
    %kt = attn_tile.stage %k[%stage] : !ring
    // Each warpgroup has its columns, and one thread of its first warp starts the product: four of 16 k, whose descriptors
    // are 32 bytes apart; swizzle 2, constant 1, a stride of 1024 bytes. f32, bf16, N 64, M 128.
    // CHECK: %[[SG:.*]] = arith.muli %{{.*}}, %c64_i32 : i32
    // CHECK-NOT: nvvm.tcgen05.fence
    // CHECK: scf.if
    // CHECK: nvvm.elect.sync
    // CHECK-NEXT: scf.if
    // CHECK: arith.ori %{{.*}}, %c4611756662049538048_i64
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: mov.pred adds, 0;
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$0], $2, $6, $1, adds;
    // CHECK-SAME: mov.pred adds, -1;
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$0], $3, $7, $1, adds;
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$0], $5, $9, $1, adds;
    // CHECK-SAME: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$10];
    // CHECK-SAME: "r,r,l,l,l,l,l,l,l,l,r" %[[SG]], %c135267472_i32
    attn_tile.mma_tensor %q, %kt transpose_b into %s[%g], %done : !query, !keys into !scores, !done
    // CHECK: nvvm.mbarrier.try_wait.parity
    attn_tile.mbarrier_wait %done[%g], %parity : !done
    // Rows 0 to 15 of a warp and 16 to 31, and a wait that is tied to them.
    // CHECK: nvvm.tcgen05.fence <after>
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: tcgen05.ld.sync.aligned.16x256b.x8.b32 {{.*}}, [$32+0];
    // CHECK-SAME: tcgen05.wait::ld.sync.aligned;
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: tcgen05.ld.sync.aligned.16x256b.x8.b32 {{.*}}, [$32+1048576];
    %f = attn_tile.load_tensor %s[%g] : !scores -> !attn_tile.fragment<256x64xf32, accumulator>
    %w = attn_tile.to_operand %f
        : !attn_tile.fragment<256x64xf32, accumulator> -> !attn_tile.fragment<256x64xbf16, operand_a>
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: tcgen05.st.sync.aligned.16x128b.x8.b32 [$0+0], {$1,
    // CHECK-SAME: tcgen05.st.sync.aligned.16x128b.x8.b32 [$0+1048576], {$17,
    // CHECK-SAME: tcgen05.wait::st.sync.aligned;
    attn_tile.store_tensor %w to %p[%g] : !attn_tile.fragment<256x64xbf16, operand_a> to !weights
    // V is MN-major: 16 k are 2048 bytes, and of P 8 columns.
    // CHECK: nvvm.tcgen05.fence <before>
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
    // CHECK: scf.if
    // CHECK: nvvm.elect.sync
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: nvvm.tcgen05.fence <after>
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$0], [$2], $6, $1, adds;
    // CHECK-SAME: %c135333008_i32
    attn_tile.mma_tensor %p, %kt into %t[%g], %done meet : !weights, !keys into !scores, !done
    attn_tile.mbarrier_wait %done[%g], %parity : !done
    // CHECK: tcgen05.ld.sync.aligned.16x256b.x8.b32
    // CHECK: llvm.fadd
    %sum = attn_tile.load_tensor %t[%g] acc(%f : !attn_tile.fragment<256x64xf32, accumulator>)
        : !scores -> !attn_tile.fragment<256x64xf32, accumulator>
    attn_tile.store %sum, %o[%c0, %c0, %c0] : !attn_tile.fragment<256x64xf32, accumulator>, !attn_tile.global<?x8x?x64xbf16>
    // Scores as the weights' place: of a warpgroup's 64 columns the first 32. A sum is stored as it is read, and added to without a
    // commit of its own.
    // CHECK: arith.muli %{{.*}}, %c32_i32
    %place = attn_tile.narrow_tensor %s[%g] : !scores -> !weights
    // CHECK: tcgen05.st.sync.aligned.16x256b.x8.b32 [$0+0], {$1,
    // CHECK-SAME: tcgen05.st.sync.aligned.16x256b.x8.b32 [$0+1048576], {$33,
    attn_tile.store_tensor %sum to %t[%g] : !attn_tile.fragment<256x64xf32, accumulator> to !scores
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: mov.pred adds, -1;
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$0], [$2], $6, $1, adds;
    // CHECK-NOT: tcgen05.commit
    attn_tile.mma_tensor %place, %kt into %t[%g] accumulate meet : !weights, !keys into !scores
    // Rows times a factor, 64 columns at a time: two rows of a thread in each block of 16.
    // CHECK: tcgen05.ld.sync.aligned.16x256b.x8.b32 {{.*}}, [$32+0];
    // CHECK: %[[FACTORS:.*]] = llvm.fmul
    // CHECK: tcgen05.st.sync.aligned.16x256b.x8.b32 [$0+0], {$1,
    // CHECK: tcgen05.ld.sync.aligned.16x256b.x8.b32 {{.*}}, [$32+1048576];
    // CHECK: tcgen05.st.sync.aligned.16x256b.x8.b32 [$0+1048576], {$1,
    // CHECK: tcgen05.wait::st.sync.aligned;
    %factor = attn_tile.fill 2.0 : !attn_tile.fragment<256xf32, row>
    attn_tile.scale_tensor %t[%g] by %factor : !scores, !attn_tile.fragment<256xf32, row>
    // CHECK: nvvm.barrier id = %c7_i32 number_of_threads = %c256_i32
    // CHECK: scf.if
    // CHECK: nvvm.tcgen05.dealloc %{{.*}}, %[[COLUMNS]]
    attn_tile.free_tensors %s, %p, %t : !scores, !weights, !scores
  }
  attn_tile.return
}
