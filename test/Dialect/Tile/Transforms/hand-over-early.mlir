// The weights of half of a tile's keys are stored and told of before the others are computed, at a barrier of their own; the products' thread starts their
// part of P V, and the others' behind a second wait. The sum of the rows takes both parts.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,attn-tile-hand-over-early,canonicalize))' -o %t.mlir
// RUN: FileCheck %s < %t.mlir

// CHECK: %[[EARLY:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 4>
// CHECK-NEXT: %[[READY:.*]] = attn_tile.alloc_mbarrier : <1, arrivals = 4>
// CHECK-NEXT: attn_tile.init_mbarriers {{.*}}, %[[READY]], %[[EARLY]] :
// CHECK: } products {
// CHECK: scf.for
// CHECK: attn_tile.mbarrier_wait %[[EARLY]][%c0], %[[PARITY:.*]] :
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor %[[P:.*]], %[[V:.*]] into %[[O:.*]][%c0] accumulate one_thread depth = [0, 32] :
// CHECK-NEXT: attn_tile.mbarrier_wait %[[READY]][%c0], %[[PARITY]] :
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor %[[P]], %[[V]] into %[[O]][%c0], %{{.*}} accumulate one_thread depth = [32, 64] :
// CHECK: } consumer(
// CHECK: scf.for
// CHECK: %[[S:.*]] = attn_tile.update_rows
// CHECK: attn_tile.scale_tensor
// CHECK: %[[S0:.*]] = attn_tile.fragment_columns %[[S]] : <128x64xf32, accumulator> -> <128x32xf32, accumulator>
// CHECK-NEXT: %[[P0:.*]] = attn_tile.map %[[S0]],
// CHECK: math.exp2
// CHECK: %[[SUM:.*]] = attn_tile.row_reduce sum %[[P0]], %{{.*}} :
// CHECK-NEXT: %[[A0:.*]] = attn_tile.to_operand %[[P0]]
// CHECK-NEXT: attn_tile.store_tensor %[[A0]] to %[[PLACE:.*]][%[[G:.*]]] : <128x32xf16, operand_a> to <128x64xf16>
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[EARLY]][%[[G]]]
// CHECK-NEXT: %[[S1:.*]] = attn_tile.fragment_columns %[[S]] {column = 32 : i64}
// CHECK-NEXT: %[[P1:.*]] = attn_tile.map %[[S1]],
// CHECK: %[[SUMS:.*]] = attn_tile.row_reduce sum %[[P1]], %[[SUM]] :
// CHECK-NEXT: %[[A1:.*]] = attn_tile.to_operand %[[P1]]
// CHECK-NEXT: attn_tile.store_tensor %[[A1]] to %[[PLACE]][%[[G]]] {column = 32 : i64}
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.sync_warp
// CHECK-NEXT: attn_tile.mbarrier_arrive %[[READY]][%[[G]]]
// CHECK: scf.yield %{{.*}}, %[[SUMS]],

// All at once where the schedule says so, and in consumers that start their products themselves, with a remark.
// RUN: sed 's/early_keys = 32/early_keys = 0/' %s | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-specialize-products,attn-tile-hand-over-early))' \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// RUN: attn-opt %s --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-hand-over-early))' \
// RUN:   --remarks-filter=attn-tile-hand-over-early --remark-format=emitRemark --remark-policy=all 2>&1 | FileCheck %s --check-prefixes=REMARK,WHOLE
// REMARK: remark: {{.*}}weights are handed over at once: no thread of its own starts their product"
// Of dropout a map has the weights of all columns.
// RUN: sed 's/early_keys = 32/early_keys = 0/; s/%k, %k {/%k, %k dropout(%%seed, %%seed) rate(0.1) {/; s/^  %o =/  %%seed = arith.constant 7 : i64\n  %o =/' %s \
// RUN:   | attn-opt --attn-to-scheduled=target=sm_100a --attn-to-tiled --cse --convert-attn-to-tile --cse \
// RUN:   | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps,attn-tile-start-ahead,attn-tile-specialize-products,attn-tile-hand-over-early{columns=32}))' \
// RUN:   --remarks-filter=attn-tile-hand-over-early --remark-format=emitRemark --remark-policy=all 2>&1 | FileCheck %s --check-prefix=DROPOUT
// DROPOUT: remark: {{.*}}weights are handed over at once: they are not computed column by column"
// WHOLE: store_tensor {{.*}} : <128x64xf16, operand_a> to
// WHOLE-NOT: fragment_columns

func.func @forward(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "large_cache", mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, early_keys = 32>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
