// Of dK and dV the weights are stored 32 rows after the other as it is: of 96 of 128 rows the products' thread is told before the last are computed, and starts their part of dV.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,attn-tile-slice-steps,attn-tile-hand-over-early,canonicalize))' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// All at once where the schedule says so.
// RUN: sed 's/early_rows = 96/early_rows = 0/' %s | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,attn-tile-slice-steps,attn-tile-hand-over-early,canonicalize))' \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// WHOLE-NOT: depth

// CHECK-LABEL: attn_tile.kernel @backward_dkv
// CHECK: %[[T:.*]]:4 = attn_tile.alloc_tensors
// CHECK: %[[EARLY:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 4>
// CHECK-NEXT: %[[READY:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 4>
// CHECK: } products {
// CHECK: scf.for
// CHECK: attn_tile.mbarrier_wait %[[EARLY]][%c0], %[[PARITY:.*]] :
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor %[[P:.*]], %[[DO:.*]] into %[[T]]#2[%c0] accumulate one_thread depth = [0, 96] :
// CHECK-NEXT: attn_tile.mbarrier_wait %[[READY]][%c0], %[[PARITY]] :
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor %[[P]], %[[DO]] into %[[T]]#2[%c0] accumulate one_thread depth = [96, 128] :
// CHECK-NOT: depth
// CHECK: } consumer(
// CHECK: scf.for
// CHECK: attn_tile.store_tensor %{{.*}} to %[[PLACE:.*]][%[[G:.*]]] {pending} :
// CHECK: attn_tile.store_tensor %{{.*}} to %[[PLACE]][%[[G]]] {column = 32 : i64, pending} :
// CHECK: attn_tile.store_tensor %{{.*}} to %[[PLACE]][%[[G]]] {column = 64 : i64} :
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[EARLY]][%[[G]]]
// CHECK: attn_tile.store_tensor %{{.*}} to %[[PLACE]][%[[G]]] {column = 96 : i64} :
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[READY]][%[[G]]]
func.func @backward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %o: tensor<1x2x?x64xf16>,
                    %lse: tensor<1x2x?xf32>, %do: tensor<1x2x?x64xf16>) -> (tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x2x?x64xf16>) lse(%lse : tensor<1x2x?xf32>) d_output(%do : tensor<1x2x?x64xf16>)
      {key_schedule = #attn.schedule<tile_m = 128, tile_n = 128, early_rows = 96>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
  return %d#0, %d#1, %d#2 : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
}
