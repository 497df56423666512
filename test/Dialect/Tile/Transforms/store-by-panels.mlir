// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-store-by-panels))' | FileCheck %s

!sums = !attn_tile.tensor<128x128xf32>
!half = !attn_tile.fragment<128x64xf32, accumulator>
!map = !attn_tile.tensor_map<128x64xf16, swizzle = 128>

// Columns that come one after the other: each panel is written when the one before has been read.
// CHECK-LABEL: attn_tile.kernel @slices
// CHECK: %[[TILE:.*]] = attn_tile.alloc : <128x64xf16, swizzle = 128>
// CHECK: %[[A:.*]] = attn_tile.load_tensor
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: attn_tile.store_shared %[[A]] to %[[TILE]] : <128x64xf32, accumulator> to <128x64xf16, swizzle = 128>
// CHECK-NEXT: attn_tile.store_tma %[[TILE]][%{{.*}}] to %arg0[%c0, %c0, %c0] async : <128x64xf16
// CHECK-NEXT: %[[B:.*]] = attn_tile.load_tensor
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: attn_tile.store_shared %[[B]] to %[[TILE]] : <128x64xf32
// CHECK-NEXT: attn_tile.store_tma %[[TILE]][%{{.*}}] to %arg0[%c0, %c0, %c0] async {column = 64 : i64}
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: attn_tile.free_tensors
attn_tile.kernel @slices(%map: !map) warps(4) attributes {producer_warps = 4 : i64, schedule = #attn.schedule<output_tile = true>} {
  %c0 = arith.constant 0 : index
  %sums = attn_tile.alloc_tensors : !sums
  %tile = attn_tile.alloc : !attn_tile.shared<128x128xf16, swizzle = 128>
  attn_tile.roles producer(56) {
  } consumer(240) {
  ^bb0(%group: index):
    attn_tile.wait_stores
    %a = attn_tile.load_tensor %sums[%group] : !sums -> !half
    attn_tile.store_shared %a to %tile : !half to !attn_tile.shared<128x128xf16, swizzle = 128>
    %b = attn_tile.load_tensor %sums[%group] {column = 64 : i64} : !sums -> !half
    attn_tile.store_shared %b to %tile {column = 64 : i64} : !half to !attn_tile.shared<128x128xf16, swizzle = 128>
    attn_tile.store_tma %tile[%group] to %map[%c0, %c0, %c0] async : !attn_tile.shared<128x128xf16, swizzle = 128> to !map
    attn_tile.wait_stores
    attn_tile.free_tensors %sums : !sums
  }
  attn_tile.return
}

// A fragment of 96 columns is cut into panels of 32; two halves of a panel are copied together.
// CHECK-LABEL: attn_tile.kernel @parts
// CHECK: %[[TILE:.*]] = attn_tile.alloc : <128x32xf16, swizzle = 64>
// CHECK: attn_tile.fragment_columns %{{.*}} : <128x96xf32, accumulator> -> <128x32xf32, accumulator>
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: attn_tile.store_shared
// CHECK-NEXT: attn_tile.store_tma
// CHECK-NEXT: attn_tile.fragment_columns %{{.*}} {column = 32 : i64}
// CHECK: attn_tile.store_tma {{.*}} {column = 32 : i64}
// CHECK-NEXT: attn_tile.fragment_columns %{{.*}} {column = 64 : i64}
// CHECK: attn_tile.store_tma {{.*}} {column = 64 : i64}
attn_tile.kernel @parts(%map: !attn_tile.tensor_map<128x32xf16, swizzle = 64>) warps(4) attributes {producer_warps = 4 : i64, schedule = #attn.schedule<output_tile = true>} {
  %c0 = arith.constant 0 : index
  %sums = attn_tile.alloc_tensors : !attn_tile.tensor<128x96xf32>
  %tile = attn_tile.alloc : !attn_tile.shared<128x96xf16, swizzle = 64>
  attn_tile.roles producer(56) {
  } consumer(240) {
  ^bb0(%group: index):
    %a = attn_tile.load_tensor %sums[%group] : !attn_tile.tensor<128x96xf32> -> !attn_tile.fragment<128x96xf32, accumulator>
    attn_tile.store_shared %a to %tile : !attn_tile.fragment<128x96xf32, accumulator> to !attn_tile.shared<128x96xf16, swizzle = 64>
    attn_tile.store_tma %tile[%group] to %map[%c0, %c0, %c0] async : !attn_tile.shared<128x96xf16, swizzle = 64> to !attn_tile.tensor_map<128x32xf16, swizzle = 64>
    attn_tile.wait_stores
    attn_tile.free_tensors %sums : !attn_tile.tensor<128x96xf32>
  }
  attn_tile.return
}

// Without a tile of its own an output stays in the query's, whole.
// CHECK-LABEL: attn_tile.kernel @in_query
// CHECK: attn_tile.alloc : <128x128xf16, swizzle = 128>
// CHECK: attn_tile.store_tma
// CHECK-NOT: column
attn_tile.kernel @in_query(%map: !map) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %sums = attn_tile.alloc_tensors : !sums
  %tile = attn_tile.alloc : !attn_tile.shared<128x128xf16, swizzle = 128>
  attn_tile.roles producer(56) {
  } consumer(240) {
  ^bb0(%group: index):
    %a = attn_tile.load_tensor %sums[%group] : !sums -> !attn_tile.fragment<128x128xf32, accumulator>
    attn_tile.store_shared %a to %tile : !attn_tile.fragment<128x128xf32, accumulator> to !attn_tile.shared<128x128xf16, swizzle = 128>
    attn_tile.store_tma %tile[%group] to %map[%c0, %c0, %c0] : !attn_tile.shared<128x128xf16, swizzle = 128> to !map
    attn_tile.free_tensors %sums : !sums
  }
  attn_tile.return
}
