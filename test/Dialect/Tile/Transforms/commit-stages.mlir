// The stages of Q and dO are given back by the products that read them last, and by the consumers, which read vectors there: 4 warps and a commit.
// Nobody waits for the sums in a step.

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
// CHECK: %[[Q:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 5>
// CHECK: %[[DO:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 5>
// CHECK: %[[T:.*]]:4 = attn_tile.alloc_tensors
// CHECK-NEXT: attn_tile.alloc_mbarrier
// CHECK-NEXT: attn_tile.alloc_mbarrier
// CHECK-NEXT: %[[SUMS:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK: } products {
// CHECK-NOT: commit_tensors
// CHECK: scf.for {{.*}} iter_args(%[[STEP:.*]] =
// CHECK: %[[STAGE:.*]] = arith.remui %[[STEP]],
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#2[%c0] accumulate one_thread :
// CHECK-NEXT: attn_tile.commit_tensors %[[DO]][%[[STAGE]]] : <2, arrivals = 5>
// CHECK-NOT: commit_tensors
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#3[%c0] accumulate one_thread :
// CHECK-NEXT: attn_tile.commit_tensors %[[Q]][%[[STAGE]]] : <2, arrivals = 5>
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
