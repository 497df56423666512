// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2}),canonicalize)' | FileCheck %s

!global = !attn_tile.global<?x8x?x64xf16>
!query = !attn_tile.shared<256x64xf16, swizzle = 128>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!scores = !attn_tile.fragment<256x64xf32, accumulator>
!weights = !attn_tile.fragment<256x64xf16, operand_a>

// Of each product a tile in tensor memory and a barrier for each warpgroup; the weights go there too. The warps meet
// before the product that reads what they have stored.
// CHECK-LABEL: attn_tile.kernel @forward
attn_tile.kernel @forward(%q: !global, %k: !global) warps(8) attributes {schedule = #attn.schedule<mma = "tcgen05">} {
  // CHECK: %[[T:.*]]:3 = attn_tile.alloc_tensors : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x64xf16>, !attn_tile.tensor<256x64xf32>
  // CHECK-NEXT: %[[S_DONE:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // CHECK-NEXT: %[[O_DONE:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  // CHECK-NEXT: attn_tile.init_mbarriers {{.*}}, %[[S_DONE]], %[[O_DONE]]
  // CHECK-NEXT: attn_tile.roles producer(24)
  // CHECK: } consumer(240) {
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
  // CHECK: attn_tile.store_tensor %[[W]] to %[[T]]#1[%[[G]]]
  // CHECK-NEXT: attn_tile.mma_tensor %[[T]]#1, %{{.*}} into %[[T]]#2[%[[G]]], %[[O_DONE]] meet
  // CHECK-NEXT: attn_tile.mbarrier_wait %[[O_DONE]][%[[G]]], %[[P]] :
  // CHECK-NEXT: attn_tile.load_tensor %[[T]]#2[%[[G]]] acc(%[[ACC]]
  // CHECK-NEXT: attn_tile.mbarrier_arrive
  // CHECK: }
  // CHECK: attn_tile.free_tensors %[[T]]#0, %[[T]]#1, %[[T]]#2
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %zero : !weights, !tile, !scores
    %w = attn_tile.to_operand %s : !scores -> !weights
    %o = attn_tile.mma %w, %kt, %acc : !weights, !tile, !scores
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
