// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2}),canonicalize)' | FileCheck %s

!global = !attn_tile.global<?x8x?x64xf16>
!query = !attn_tile.shared<256x64xf16, swizzle = 128>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!scores = !attn_tile.fragment<256x64xf32, accumulator>
!weights = !attn_tile.fragment<256x64xf16, operand_a>

// Of each product a tile in tensor memory and a barrier for each warpgroup; the weights take the place of the scores that they
// are made of. The warps meet before the product that reads what they have stored, and that starts as soon as it is there. A sum that is
// rescaled is in registers.
// CHECK-LABEL: attn_tile.kernel @forward
attn_tile.kernel @forward(%q: !global, %k: !global) warps(8) attributes {schedule = #attn.schedule<mma = "tcgen05">} {
  // CHECK: %[[T:.*]]:2 = attn_tile.alloc_tensors : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x64xf32>
  // CHECK-NEXT: %[[S_DONE:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // CHECK-NEXT: %[[O_DONE:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // CHECK-NEXT: attn_tile.init_mbarriers {{.*}}, %[[S_DONE]], %[[O_DONE]]
  // CHECK-NEXT: attn_tile.roles producer(40)
  // CHECK: } consumer(232) {
  // CHECK-NEXT: ^bb0(%[[G:.*]]: index):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global
  %zero = attn_tile.fill 0.0 : !scores
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !query
  %qa = attn_tile.load_operand %qt : !query -> !weights
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[STEP:.*]] = %c0)
  // CHECK: %[[PARITY:.*]] = arith.andi
  // CHECK: attn_tile.mma_tensor %{{.*}}, %{{.*}} transpose_b into %[[T]]#0[%[[G]]], %[[S_DONE]] :
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[S_DONE]][%[[G]]], %[[P:.*]] :
  // CHECK-NEXT: %[[S:.*]] = attn_tile.load_tensor %[[T]]#0[%[[G]]] : <
  // CHECK-NEXT: %[[W:.*]] = attn_tile.to_operand %[[S]]
  // CHECK-NEXT: %[[PLACE:.*]] = attn_tile.narrow_tensor %[[T]]#0[%[[G]]]
  // CHECK-NEXT: attn_tile.store_tensor %[[W]] to %[[PLACE]][%[[G]]]
  // CHECK: attn_tile.mma_tensor %[[PLACE]], %{{.*}} into %[[T]]#1[%[[G]]], %[[O_DONE]] meet
  // CHECK-NEXT: %[[SCALED:.*]] = attn_tile.map %[[ACC]]
  // CHECK: attn_tile.mbarrier_wait %[[O_DONE]][%[[G]]], %[[P]] :
  // CHECK-NEXT: attn_tile.load_tensor %[[T]]#1[%[[G]]] acc(%[[SCALED]]
  // CHECK-NEXT: attn_tile.mbarrier_arrive
  // CHECK: }
  // CHECK: attn_tile.free_tensors %[[T]]#0, %[[T]]#1 :
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %zero : !weights, !tile, !scores
    %w = attn_tile.to_operand %s : !scores -> !weights
    %scaled = attn_tile.map %acc : (!scores) -> !scores {
    ^bb0(%x: f32, %row: i32, %column: i32):
      %y = arith.mulf %x, %x : f32
      attn_tile.yield %y : f32
    }
    %o = attn_tile.mma %w, %kt, %scaled : !weights, !tile, !scores
    scf.yield %o : !scores
  }
  attn_tile.store %a, %q[%c0, %c0, %c0] : !scores, !global
  attn_tile.return
}

// -----

!global = !attn_tile.global<?x8x?x64xf16>
!tile = !attn_tile.shared<128x64xf16, swizzle = 128>
!streamed = !attn_tile.shared<64x64xf16, swizzle = 128>
!scores = !attn_tile.fragment<128x64xf32, accumulator>
!weights = !attn_tile.fragment<128x64xf16, operand_a>

// S and dP start together, each operand takes the place of its scores, and the sums stay in tensor memory over both loops: zeros
// are stored before, and they are read behind, each where it is wanted. One barrier says that both are complete. The first sum's
// product starts as soon as its operand is there.
// CHECK-LABEL: attn_tile.kernel @sums
attn_tile.kernel @sums(%k: !global, %q: !global) warps(4) attributes {schedule = #attn.schedule<mma = "tcgen05">} {
  // CHECK: %[[T:.*]]:4 = attn_tile.alloc_tensors
  // CHECK-COUNT-3: attn_tile.alloc_mbarrier : <1, arrivals = 1>
  // CHECK: attn_tile.store_tensor %{{.*}} to %[[T]]#2
  // CHECK: attn_tile.store_tensor %{{.*}} to %[[T]]#3
  // CHECK: scf.for
  // CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#0[%{{.*}}], %[[S_DONE:.*]] :
  // CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#1[%{{.*}}], %[[DP_DONE:.*]] :
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[S_DONE]]
  // CHECK-NEXT: attn_tile.load_tensor %[[T]]#0
  // CHECK: attn_tile.narrow_tensor %[[T]]#0
  // CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#2[%{{.*}}] accumulate meet
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[DP_DONE]]
  // CHECK-NEXT: attn_tile.load_tensor %[[T]]#1
  // CHECK: attn_tile.narrow_tensor %[[T]]#1
  // CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#3[%{{.*}}], %[[DONE:.*]] accumulate meet
  // CHECK: attn_tile.mbarrier_wait %[[DONE]]
  // CHECK-NEXT: attn_tile.mbarrier_arrive
  // CHECK: scf.for
  // CHECK-NOT: attn_tile.store_tensor {{.*}}xf32>
  // CHECK: }
  // CHECK: %[[DV:.*]] = attn_tile.load_tensor %[[T]]#2
  // CHECK-NEXT: attn_tile.store %[[DV]]
  // CHECK-NEXT: %[[DK:.*]] = attn_tile.load_tensor %[[T]]#3
  // CHECK-NEXT: attn_tile.store %[[DK]]
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %middle = gpu.block_id x
  %end = attn_tile.dim %q, 2 : !global
  %zero = attn_tile.fill 0.0 : !scores
  %kt = attn_tile.load %k[%c0, %c0, %c0] : !global -> !tile
  %a:2 = scf.for %n = %c0 to %middle step %c64 iter_args(%acc0 = %zero, %acc1 = %zero) -> (!scores, !scores) {
    %qt = attn_tile.load %q[%c0, %c0, %n] : !global -> !streamed
    %s = attn_tile.mma %kt, %qt transpose_b, %zero : !tile, !streamed, !scores
    %dp = attn_tile.mma %kt, %qt transpose_b, %zero : !tile, !streamed, !scores
    %p = attn_tile.to_operand %s : !scores -> !weights
    %dv = attn_tile.mma %p, %qt, %acc0 : !weights, !streamed, !scores
    %ds = attn_tile.to_operand %dp : !scores -> !weights
    %dk = attn_tile.mma %ds, %qt, %acc1 : !weights, !streamed, !scores
    scf.yield %dv, %dk : !scores, !scores
  }
  %b:2 = scf.for %n = %middle to %end step %c64 iter_args(%acc0 = %a#0, %acc1 = %a#1) -> (!scores, !scores) {
    %qt = attn_tile.load %q[%c0, %c0, %n] : !global -> !streamed
    %s = attn_tile.mma %kt, %qt transpose_b, %zero : !tile, !streamed, !scores
    %dp = attn_tile.mma %kt, %qt transpose_b, %zero : !tile, !streamed, !scores
    %p = attn_tile.to_operand %s : !scores -> !weights
    %dv = attn_tile.mma %p, %qt, %acc0 : !weights, !streamed, !scores
    %ds = attn_tile.to_operand %dp : !scores -> !weights
    %dk = attn_tile.mma %ds, %qt, %acc1 : !weights, !streamed, !scores
    scf.yield %dv, %dk : !scores, !scores
  }
  attn_tile.store %b#0, %q[%c0, %c0, %c0] : !scores, !global
  attn_tile.store %b#1, %k[%c0, %c0, %c0] : !scores, !global
  attn_tile.return
}

// -----

!global = !attn_tile.global<?x8x?x64xf16>
!query = !attn_tile.shared<128x64xf16, swizzle = 128>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!scores = !attn_tile.fragment<128x64xf32, accumulator>
!weights = !attn_tile.fragment<128x64xf16, operand_a>
!rows = !attn_tile.fragment<128xf32, row>

// A sum that is rescaled under a condition stays in tensor memory, too.
// CHECK-LABEL: attn_tile.kernel @rescaled
attn_tile.kernel @rescaled(%q: !global, %k: !global, %rises: i1) warps(4) attributes {schedule = #attn.schedule<mma = "tcgen05">} {
  // CHECK: %[[T:.*]]:2 = attn_tile.alloc_tensors
  // CHECK: attn_tile.store_tensor %{{.*}} to %[[T]]#1
  // CHECK: scf.for
  // CHECK: scf.if %{{.*}} {
  // CHECK-NEXT: attn_tile.scale_tensor %[[T]]#1[%{{.*}}] by %{{.*}}
  // CHECK-NEXT: }
  // CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#1[%{{.*}}], %[[DONE:.*]] accumulate meet
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[DONE]]
  // CHECK: }
  // CHECK: attn_tile.load_tensor %[[T]]#1
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global
  %zero = attn_tile.fill 0.0 : !scores
  %decay = attn_tile.fill 0.5 : !rows
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !query
  %qa = attn_tile.load_operand %qt : !query -> !weights
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %zero : !weights, !tile, !scores
    %w = attn_tile.to_operand %s : !scores -> !weights
    %b = scf.if %rises -> (!scores) {
      %scaled = attn_tile.map %acc, %decay : (!scores, !rows) -> !scores {
      ^bb0(%x: f32, %y: f32, %row: i32, %column: i32):
        %z = arith.mulf %x, %y : f32
        attn_tile.yield %z : f32
      }
      scf.yield %scaled : !scores
    } else {
      scf.yield %acc : !scores
    }
    %o = attn_tile.mma %w, %kt, %b : !weights, !tile, !scores
    scf.yield %o : !scores
  }
  attn_tile.store %a, %q[%c0, %c0, %c0] : !scores, !global
  attn_tile.return
}

// -----

!global = !attn_tile.global<?x8x?x64xf16>
!tile = !attn_tile.shared<128x64xf16, swizzle = 128>
!scores = !attn_tile.fragment<128x128xf32, accumulator>

// A product alone: the warps meet before it.
// CHECK-LABEL: attn_tile.kernel @alone
// CHECK: attn_tile.mma_tensor {{.*}} meet
attn_tile.kernel @alone(%k: !global) warps(4) attributes {schedule = #attn.schedule<mma = "tcgen05">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = attn_tile.fill 0.0 : !scores
  %a = scf.for %n = %c0 to %c64 step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %kt, %kt transpose_b, %acc : !tile, !tile, !scores
    scf.yield %s : !scores
  }
  attn_tile.store %a, %k[%c0, %c0, %c0] : !scores, !global
  attn_tile.return
}

// -----

!tile = !attn_tile.shared<64x64xf16, swizzle = 128>

// expected-error @below {{cannot be made of tcgen05 and TMA: expected 128 rows for each 4 warps, got 64 for 4}}
attn_tile.kernel @rows(%k: !attn_tile.global<?x?x?x64xf16>) warps(4) attributes {schedule = #attn.schedule<mma = "tcgen05">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !attn_tile.global<?x?x?x64xf16> -> !tile
    %s = attn_tile.mma %kt, %kt transpose_b, %zero : !tile, !tile, !attn_tile.fragment<64x64xf32, accumulator>
  }
  attn_tile.return
}

// -----

!tile = !attn_tile.shared<256x256xf16, swizzle = 128>
!scores = !attn_tile.fragment<256x256xf32, accumulator>

// expected-error @below {{expected at most 512 columns of tensor memory, got products that need 1024: choose a smaller tile_n or tile_m}}
attn_tile.kernel @columns(%k: !attn_tile.global<?x?x?x256xf16>) warps(8) attributes {schedule = #attn.schedule<mma = "tcgen05">} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %zero = attn_tile.fill 0.0 : !scores
  scf.for %n = %c0 to %c256 step %c256 {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !attn_tile.global<?x?x?x256xf16> -> !tile
    %s = attn_tile.mma %kt, %kt transpose_b, %zero : !tile, !tile, !scores
    %o = attn_tile.mma %kt, %kt transpose_b, %zero : !tile, !tile, !scores
  }
  attn_tile.return
}
