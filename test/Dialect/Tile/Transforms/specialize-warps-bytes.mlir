// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=4}),canonicalize)' | FileCheck %s

!global = !attn_tile.global<?x8x?x64xf8E4M3FN>
!tile = !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>
!operand = !attn_tile.fragment<64x64xf8E4M3FN, operand_pairs>
!scores = !attn_tile.fragment<64x64xf32, accumulator>

// V is copied to a ring of two, which the four warps of the producer read, and transposed to the ring that consumers read.
// CHECK-LABEL: attn_tile.kernel @transposed
attn_tile.kernel @transposed(%q: !global, %k: !global, %v: !global, %o: !attn_tile.global<?x8x?x64xbf16>) warps(4) attributes {
    schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global
  // CHECK: %[[K:.*]] = attn_tile.alloc : <4x64x64xf8E4M3FN, swizzle = 64>
  // CHECK: %[[RAW:.*]] = attn_tile.alloc : <2x64x64xf8E4M3FN, swizzle = 64>
  // CHECK: %[[RAWFULL:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // CHECK: %[[RAWEMPTY:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
  // CHECK: %[[V:.*]] = attn_tile.alloc : <4x64x64xf8E4M3FN, swizzle = 64>
  // CHECK: %[[FULL:.*]] = attn_tile.alloc_mbarrier : <4, arrivals = 4>
  // CHECK: %[[EMPTY:.*]] = attn_tile.alloc_mbarrier : <4, arrivals = 4>
  // CHECK: attn_tile.roles producer(56) all {
  // One thread copies.
  // CHECK: %[[THREAD:.*]] = gpu.thread_id x
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]], %c128
  // CHECK: scf.if %[[FIRST]]
  // CHECK: attn_tile.copy_tma
  // CHECK: attn_tile.sync_warp
  // CHECK: %[[LAST:.*]] = scf.for %[[N:.*]] = %c0 to %[[END:.*]] step %c64 iter_args(%[[I:.*]] = %c0)
  // CHECK: scf.if
  // CHECK: attn_tile.mbarrier_wait %[[RAWEMPTY]]
  // CHECK: attn_tile.copy_tma {{.*}}, %[[RAWFULL]]
  // CHECK: attn_tile.sync_warp
  // All transpose the tile before, when that of this step is on its way.
  // CHECK: %[[EXISTS:.*]] = arith.cmpi sgt, %[[N]], %c0
  // CHECK: scf.if %[[EXISTS]]
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.subi %[[I]], %c1
  // CHECK: attn_tile.mbarrier_wait %[[RAWFULL]]
  // CHECK: attn_tile.mbarrier_wait %[[EMPTY]]
  // CHECK: attn_tile.store_transposed
  // CHECK-NEXT: attn_tile.sync_warp
  // CHECK-NEXT: attn_tile.mbarrier_arrive %[[RAWEMPTY]]
  // CHECK-NEXT: attn_tile.mbarrier_arrive %[[FULL]]
  // CHECK: scf.yield
  // And the last one.
  // CHECK: arith.subi %[[LAST]], %c1
  // CHECK: attn_tile.store_transposed
  // CHECK: } consumer(
  // CHECK: attn_tile.mbarrier_wait %[[FULL]]
  // CHECK: attn_tile.mma_async {{.*}} transpose_b acc
  // CHECK: attn_tile.mbarrier_arrive %[[EMPTY]]
  // CHECK-NOT: transpose_bytes
  %zero = attn_tile.fill 0.0 : !scores
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !tile
  %r = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> !scores {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %vt = attn_tile.load %v[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qt, %kt transpose_b, %zero : !tile, !tile, !scores
    %p = attn_tile.to_operand %s : !scores -> !operand
    %t = attn_tile.transpose_bytes %vt : !tile -> !tile
    %next = attn_tile.mma %p, %t transpose_b, %acc : !operand, !tile, !scores
    scf.yield %next : !scores
  }
  attn_tile.store %r, %o[%c0, %c0, %c0] : !scores, !attn_tile.global<?x8x?x64xbf16>
  attn_tile.return
}

!global8 = !attn_tile.global<?x8x?x64xi8>
!global16 = !attn_tile.global<?x8x?x64xf16>
!tile16 = !attn_tile.shared<64x64xf16, swizzle = 128>
!bytes = !attn_tile.shared<64x64xi8, swizzle = 64>
!operand16 = !attn_tile.fragment<64x64xf16, operand_pairs>

// K and V are both copied to rings of two, and widened to those that consumers read.
// CHECK-LABEL: attn_tile.kernel @widened
attn_tile.kernel @widened(%q: !global16, %k: !global8, %v: !global8, %o: !global16) warps(4) attributes {
    schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global8
  // CHECK: %[[RAWK:.*]] = attn_tile.alloc : <2x64x64xi8, swizzle = 64>
  // CHECK: %[[RAWFULLK:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // CHECK: %[[RAWEMPTYK:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 4>
  // CHECK: %[[K:.*]] = attn_tile.alloc : <4x64x64xf16, swizzle = 128>
  // CHECK: %[[FULLK:.*]] = attn_tile.alloc_mbarrier : <4, arrivals = 4>
  // CHECK: %[[RAWV:.*]] = attn_tile.alloc : <2x64x64xi8, swizzle = 64>
  // CHECK: %[[V:.*]] = attn_tile.alloc : <4x64x64xf16, swizzle = 128>
  // CHECK: attn_tile.roles producer(56) all {
  // CHECK: attn_tile.copy_tma {{.*}}, %[[RAWFULLK]]
  // CHECK: attn_tile.mbarrier_wait %[[RAWFULLK]]
  // CHECK: attn_tile.store_widened
  // CHECK-NEXT: attn_tile.sync_warp
  // CHECK-NEXT: attn_tile.mbarrier_arrive %[[RAWEMPTYK]]
  // CHECK-NEXT: attn_tile.mbarrier_arrive %[[FULLK]]
  // CHECK: attn_tile.store_widened
  // CHECK: } consumer(
  // CHECK: attn_tile.mbarrier_wait %[[FULLK]]
  // CHECK-NOT: widen_bytes
  %zero = attn_tile.fill 0.0 : !scores
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global16 -> !tile16
  %r = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> !scores {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global8 -> !bytes
    %vt = attn_tile.load %v[%c0, %c0, %n] : !global8 -> !bytes
    %kw = attn_tile.widen_bytes %kt : !bytes -> !tile16
    %s = attn_tile.mma %qt, %kw transpose_b, %zero : !tile16, !tile16, !scores
    %p = attn_tile.to_operand %s : !scores -> !operand16
    %vw = attn_tile.widen_bytes %vt : !bytes -> !tile16
    %next = attn_tile.mma %p, %vw, %acc : !operand16, !tile16, !scores
    scf.yield %next : !scores
  }
  attn_tile.store %r, %o[%c0, %c0, %c0] : !scores, !global16
  attn_tile.return
}
