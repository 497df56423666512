// Of dK and dV: K and Q come before V and dO, V is waited for behind S, and consumers, who read vectors of Q's and dO's stages, wait for them where they do; for K and V in front of the
// stores that take their places. A CTA without rows of its own copies V, too.

// RUN: attn-opt %s --attn-grad | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-stage-stores,attn-tile-specialize-products,attn-tile-sink-waits,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @forward_grad_dkv
// CHECK: %[[K:.*]] = attn_tile.alloc : <128x64xf16
// CHECK-NEXT: %[[KFULL:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK-NEXT: %[[V:.*]] = attn_tile.alloc : <128x64xf16
// CHECK-NEXT: %[[VFULL:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 1>
// CHECK: %[[QFULL:.*]] = attn_tile.alloc_mbarrier : <3, arrivals = 2>
// CHECK: %[[DOFULL:.*]] = attn_tile.alloc_mbarrier : <2, arrivals = 2>
// CHECK: attn_tile.roles producer(
// CHECK: attn_tile.copy_tma {{.*}} to %[[K]], %[[KFULL]][%c0]
// CHECK-NEXT: scf.for
// CHECK-NOT: copy_tma {{.*}} to %[[V]],
// CHECK: attn_tile.copy_tma {{.*}}, %[[QFULL]][
// CHECK: scf.if
// CHECK-NEXT: attn_tile.copy_tma {{.*}} to %[[V]], %[[VFULL]][%c0]
// CHECK: attn_tile.copy_tma {{.*}}, %[[DOFULL]][
// CHECK: scf.yield
// CHECK: %[[EMPTY:.*]] = arith.cmpi sge
// CHECK-NEXT: scf.if %[[EMPTY]] {
// CHECK-NEXT: attn_tile.copy_tma {{.*}} to %[[V]], %[[VFULL]][%c0]
// CHECK: } products {
// CHECK-NOT: mbarrier_wait
// CHECK: scf.if
// CHECK-NEXT: attn_tile.mbarrier_wait %[[QFULL]][
// CHECK: attn_tile.mbarrier_wait %[[KFULL]][
// CHECK-NEXT: attn_tile.mma_tensor %[[K]],
// CHECK-NEXT: attn_tile.mbarrier_wait %[[DOFULL]][
// CHECK: attn_tile.mbarrier_wait %[[VFULL]][
// CHECK-NEXT: attn_tile.mma_tensor %[[V]],
// CHECK: } consumer(
// CHECK-NOT: mbarrier_wait
// CHECK: scf.for
// CHECK: attn_tile.load_tensor
// CHECK: attn_tile.mbarrier_wait %[[QFULL]][
// CHECK-NEXT: attn_tile.load_column
// CHECK: attn_tile.load_tensor
// CHECK: attn_tile.mbarrier_wait %[[DOFULL]][
// CHECK-NEXT: attn_tile.load_column
// CHECK-NOT: mbarrier_wait %[[QFULL]][
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: attn_tile.mbarrier_wait %[[QFULL]][
// CHECK: attn_tile.mbarrier_wait %[[DOFULL]][
// CHECK: scf.yield
// CHECK: attn_tile.mbarrier_wait %[[KFULL]][
// CHECK-NEXT: attn_tile.store_shared {{.*}} to %[[K]] :
// CHECK: attn_tile.mbarrier_wait %[[VFULL]][
// CHECK-NEXT: attn_tile.store_shared {{.*}} to %[[V]] :

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> (tensor<1x2x?x64xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left) : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
}
