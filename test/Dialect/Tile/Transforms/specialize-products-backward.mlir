// The step of dK and dV has two meetings, a barrier for each: dV and the next S behind it, which takes the place of the weights that dV reads, then dK and
// the next dP. So the tensor cores have those two products while the consumers compute dS, and these two while they compute P. Vectors come with the tiles
// of dO and Q, so that the consumers wait for these, too, for the next ones at the end of a step. dV has no mbarrier: the one of dK stands for it.

// RUN: attn-opt %s --attn-grad=lse-gradient=true | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @forward_grad_dkv
// CHECK: %[[T:.*]]:4 = attn_tile.alloc_tensors
// CHECK-NEXT: %[[S:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[DP:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[SUMS:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[WEIGHTS:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 4>
// CHECK-NEXT: %[[GRADIENTS:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 4>
// CHECK-NEXT: attn_tile.init_mbarriers {{.*}}, %[[WEIGHTS]], %[[GRADIENTS]] :
// CHECK: } products {
// CHECK: scf.for
// CHECK: %[[PARITY:.*]] = arith.andi
// CHECK-NOT: mbarrier_
// CHECK: attn_tile.mbarrier_wait %[[WEIGHTS]][%c0], %[[PARITY]]
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor {{.*}} into %[[T]]#2[%c0] accumulate one_thread
// CHECK-NOT: mbarrier_
// CHECK: scf.if
// CHECK: attn_tile.mbarrier_wait %[[Q:.*]][%{{.*}}], %{{.*}} : <3, arrivals = 2>
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#0[%c0], %[[S]] one_thread
// CHECK-NEXT: }
// CHECK-NOT: mbarrier_
// CHECK: attn_tile.mbarrier_wait %[[GRADIENTS]][%c0], %[[PARITY]]
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor {{.*}} into %[[T]]#3[%c0], %[[SUMS]] accumulate one_thread
// CHECK-NOT: mbarrier_
// CHECK: scf.if
// CHECK: attn_tile.mbarrier_wait %[[DO:.*]][%{{.*}}], %{{.*}} : <2, arrivals = 2>
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#1[%c0], %[[DP]] one_thread
// CHECK-NEXT: }
// CHECK: } consumer(
// CHECK-NOT: mma_tensor
// CHECK: scf.for
// CHECK: attn_tile.mbarrier_wait %[[S]][%[[G:.*]]], %[[PARITY:.*]] :
// CHECK: attn_tile.load_column
// CHECK: attn_tile.store_tensor
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[WEIGHTS]][%[[G]]]
// CHECK-NOT: mbarrier_
// CHECK: attn_tile.mbarrier_wait %[[DP]][%[[G]]], %[[PARITY]] :
// CHECK: attn_tile.load_column
// CHECK: attn_tile.store_tensor
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[GRADIENTS]][%[[G]]]
// CHECK: attn_tile.mbarrier_wait %[[SUMS]][%[[G]]], %[[PARITY]] :
// CHECK: scf.if
// CHECK: attn_tile.mbarrier_wait %[[Q]][
// CHECK: scf.if
// CHECK: attn_tile.mbarrier_wait %[[DO]][
// CHECK-NOT: mma_tensor

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> (tensor<1x2x?x64xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
}
