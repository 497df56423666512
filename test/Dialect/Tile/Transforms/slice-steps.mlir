// A wide step of dK and dV: S, its weights and their store 32 columns at a time, then dP and dS with the weights of the same columns. One fence for the
// loads of a tile, one wait for its stores; the vectors' place is given back behind the last slice.

// RUN: attn-opt %s --attn-grad=lse-gradient=true | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,canonicalize,attn-tile-slice-steps,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @forward_grad_dkv
// CHECK: } consumer(
// CHECK: scf.for
// CHECK: %[[S0:.*]] = attn_tile.load_tensor %[[T:.*]]#0[%[[G:.*]]] : <128x128xf32> -> <128x32xf32, accumulator>
// CHECK-NEXT: %[[L0:.*]] = attn_tile.load_column %{{.*}} : {{.*}} -> <32xf32, column>
// CHECK-NEXT: %[[P0:.*]] = attn_tile.map %[[S0]], %[[L0]]
// CHECK: %[[A0:.*]] = attn_tile.to_operand %[[P0]]
// CHECK-NEXT: attn_tile.store_tensor %[[A0]] to %{{.*}}[%[[G]]] {pending} : <128x32xf16, operand_a> to <128x128xf16>
// CHECK-NEXT: attn_tile.load_tensor %[[T]]#0[%[[G]]] {column = 32 : i64, fenced}
// CHECK-NEXT: attn_tile.load_column %{{.*}} {column = 32 : i64}
// CHECK: attn_tile.store_tensor {{.*}}{column = 64 : i64, pending}
// CHECK: attn_tile.store_tensor {{.*}}[%[[G]]] {column = 96 : i64}
// CHECK-NEXT: attn_tile.fence_tensors
// CHECK: attn_tile.mbarrier_wait
// CHECK: %[[DP0:.*]] = attn_tile.load_tensor %[[T]]#1[%[[G]]] : <128x128xf32> -> <128x32xf32, accumulator>
// CHECK-NEXT: %[[D0:.*]] = attn_tile.load_column
// CHECK-NEXT: attn_tile.map %[[P0]], %[[DP0]], %[[D0]]
// CHECK-NOT: mbarrier_
// CHECK: attn_tile.store_tensor {{.*}}[%[[G]]] {column = 96 : i64}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive
// CHECK-NEXT: attn_tile.fence_tensors

// The softmax of a forward needs all columns of a row.
// CHECK-LABEL: attn_tile.kernel @softmax
// CHECK: attn_tile.load_tensor {{.*}} -> <128x128xf32, accumulator>
// CHECK-NEXT: attn_tile.row_reduce max

func.func @forward(%q: tensor<1x2x?x128xf16>, %k: tensor<1x2x?x128xf16>, %v: tensor<1x2x?x128xf16>) -> (tensor<1x2x?x128xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v : tensor<1x2x?x128xf16>, tensor<1x2x?x128xf16>, tensor<1x2x?x128xf16> -> tensor<1x2x?x128xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x128xf16>, tensor<1x2x?xf32>
}

attn_tile.kernel @softmax(%n: index, %o: !attn_tile.global<128xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = attn_tile.fill 0xFF800000 : !attn_tile.fragment<128xf32, row>
  %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%before = %low) -> (!attn_tile.fragment<128xf32, row>) {
    %scores = attn_tile.load_tensor %s[%c0] : !attn_tile.tensor<128x128xf32> -> !attn_tile.fragment<128x128xf32, accumulator>
    %row = attn_tile.row_reduce max %scores, %before : !attn_tile.fragment<128x128xf32, accumulator>, !attn_tile.fragment<128xf32, row>
    %all = attn_tile.row_all_reduce max %row : !attn_tile.fragment<128xf32, row>
    attn_tile.fence_tensors
    scf.yield %all : !attn_tile.fragment<128xf32, row>
  }
  attn_tile.store %max, %o[%c0] : !attn_tile.fragment<128xf32, row>, !attn_tile.global<128xf32>
  attn_tile.free_tensors %s : !attn_tile.tensor<128x128xf32>
  attn_tile.return
}
