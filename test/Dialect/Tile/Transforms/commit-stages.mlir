// The stages of Q and dO are given back by the products that read them last, and by the consumers, which read vectors there: 4 warps and a commit.
// Nobody waits for the sums in a step. CTAs in pairs share the tiles: commits arrive in both, and the producer waits for all of them before it ends.

// RUN: attn-opt %s --attn-grad=lse-gradient=true | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,attn-tile-commit-stages,canonicalize))' \
// RUN:   | FileCheck %s

// O is rescaled by those who wait for it.
// CHECK-LABEL: attn_tile.kernel @forward(
// CHECK-NOT: commit_tensors

// All products of its next step are behind the sum.
// CHECK-LABEL: attn_tile.kernel @forward_grad_dq
// CHECK-NOT: commit_tensors

// CHECK-LABEL: attn_tile.kernel @forward_grad_dkv
// CHECK: %[[Q:.*]] = attn_tile.alloc_mbarrier : <3, arrivals = 6>
// CHECK: %[[DO:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 6>
// CHECK: %[[T:.*]]:4 = attn_tile.alloc_tensors
// CHECK-NEXT: attn_tile.alloc_mbarrier
// CHECK-NEXT: attn_tile.alloc_mbarrier
// CHECK-NEXT: %[[SUMS:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK: %[[TILES:.*]] = scf.for
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: arith.remui %[[TILES]], %c2
// CHECK-COUNT-2: attn_tile.mbarrier_wait %[[DO]][
// CHECK-COUNT-3: attn_tile.mbarrier_wait %[[Q]][
// CHECK: } products {
// CHECK-NOT: commit_tensors
// CHECK: scf.for {{.*}} iter_args(%[[STEP:.*]] =
// CHECK-DAG: %[[QSTAGE:.*]] = arith.remui %[[STEP]], %c3
// CHECK-DAG: %[[DOSTAGE:.*]] = arith.remui %[[STEP]], %c2
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#2[%c0] accumulate one_thread :
// CHECK-NEXT: attn_tile.commit_tensors %[[DO]][%[[DOSTAGE]]] {ctas = 2 : i64} : <2, arrivals = 6>
// CHECK-NOT: commit_tensors
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#3[%c0] accumulate one_thread :
// CHECK-NEXT: attn_tile.commit_tensors %[[Q]][%[[QSTAGE]]] {ctas = 2 : i64} : <3, arrivals = 6>
// CHECK-NOT: commit_tensors
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: attn_tile.commit_tensors %[[SUMS]][%c0] : <1, arrivals = 1>
// CHECK: } consumer(
// CHECK: scf.for
// CHECK-NOT: mbarrier_wait %[[SUMS]]
// CHECK: attn_tile.mbarrier_arrive %[[DO]][
// CHECK-NOT: mbarrier_wait %[[SUMS]]
// CHECK: attn_tile.mbarrier_arrive %[[Q]][
// CHECK-NOT: mbarrier_wait %[[SUMS]]
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: attn_tile.mbarrier_wait %[[SUMS]][%{{.*}}], %c0 : <1, arrivals = 1>
// CHECK-NEXT: attn_tile.load_tensor %[[T]]#3

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> (tensor<1x2x?x64xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
}
