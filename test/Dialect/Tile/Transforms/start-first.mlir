// dS takes the place of dP: the next S, whose place no product reads and consumers have read when they tell of dS, is started in front of dQ, the next dP behind it.
// Where the product reads the place of the next one, as P V that of S and dK that of dP, nothing changes.

// RUN: attn-opt %s --attn-grad | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products))' \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-start-first,canonicalize))' | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @forward(
// CHECK: } products {
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: attn_tile.mma_tensor {{.*}} accumulate one_thread

// CHECK-LABEL: attn_tile.kernel @forward_grad_dq
// CHECK: %[[T:.*]]:3 = attn_tile.alloc_tensors
// CHECK: } products {
// CHECK: scf.for {{.*}} iter_args(%[[STEP:.*]] =
// CHECK: %[[DS:.*]] = attn_tile.narrow_tensor %[[T]]#1
// CHECK: attn_tile.mbarrier_wait
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK: %[[NEXT:.*]] = arith.addi %[[STEP]], %c1
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi ult, %[[NEXT]],
// CHECK-NEXT: scf.if %[[EXISTS]] {
// CHECK: attn_tile.mbarrier_wait
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#0[%c0],
// CHECK-NEXT: }
// CHECK-NEXT: attn_tile.mma_tensor %[[DS]], {{.*}} into %[[T]]#2[%c0], {{.*}} accumulate one_thread
// CHECK: scf.if %[[EXISTS]] {
// CHECK-NOT: into %[[T]]#0
// CHECK: attn_tile.mma_tensor {{.*}} into %[[T]]#1[%c0],

// CHECK-LABEL: attn_tile.kernel @forward_grad_dkv
// CHECK: } products {
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: attn_tile.mma_tensor {{.*}} accumulate one_thread
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: attn_tile.mma_tensor {{.*}} accumulate one_thread

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> (tensor<1x2x?x64xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
}
