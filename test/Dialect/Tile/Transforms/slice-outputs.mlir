// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-slice-outputs))' | FileCheck %s

!sum = !attn_tile.fragment<128x192xf32, accumulator>
!row = !attn_tile.fragment<128xf32, row>
!tile = !attn_tile.tensor<128x192xf32>

// What is computed of a slice sees the columns of the whole, a reduction goes from one slice to the next, and what combines its lanes follows the last.
// CHECK-LABEL: attn_tile.kernel @output
// CHECK: %[[T:.*]] = attn_tile.alloc_tensors
// CHECK: %[[FACTOR:.*]] = attn_tile.fill 2.0
// CHECK: %[[FIRST:.*]] = attn_tile.load_tensor %[[T]][%{{.*}}] : <128x192xf32> -> <128x64xf32, accumulator>
// CHECK: %[[SCALED:.*]] = attn_tile.map %[[FIRST]], %[[FACTOR]] : (!attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.fragment<128xf32, row>) -> !attn_tile.fragment<128x64xf32, accumulator>
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: i32, %[[C:.*]]: i32):
// CHECK-NEXT: arith.sitofp %[[C]]
// CHECK: %[[R0:.*]] = attn_tile.row_reduce maximum %[[SCALED]], %[[ZERO:.*]] : <128x64xf32, accumulator>, <128xf32, row>
// CHECK: attn_tile.store %[[SCALED]], %arg0[%[[C0:.*]], %[[C0]], %[[C0]], %{{.*}}] : <128x64xf32, accumulator>
// CHECK: %[[SECOND:.*]] = attn_tile.load_tensor %[[T]][%{{.*}}] {column = 64 : i64} : <128x192xf32> -> <128x64xf32, accumulator>
// CHECK: attn_tile.map %[[SECOND]], %[[FACTOR]]
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: i32, %[[C:.*]]: i32):
// CHECK: %[[BEGIN:.*]] = arith.constant 64 : i32
// CHECK: %[[COLUMN:.*]] = arith.addi %[[C]], %[[BEGIN]]
// CHECK: arith.sitofp %[[COLUMN]]
// CHECK: %[[R1:.*]] = attn_tile.row_reduce maximum %{{.*}}, %[[R0]]
// CHECK: %[[AT:.*]] = arith.constant 64 : index
// CHECK: attn_tile.store %{{.*}}, %arg0[%[[C0]], %[[C0]], %[[C0]], %[[AT]]]
// CHECK: attn_tile.load_tensor %[[T]][%{{.*}}] {column = 128 : i64}
// CHECK: %[[R2:.*]] = attn_tile.row_reduce maximum %{{.*}}, %[[R1]]
// CHECK: attn_tile.store %{{.*}}, %arg0[
// CHECK: %[[ALL:.*]] = attn_tile.row_all_reduce maximum %[[R2]]
// CHECK: attn_tile.store %[[ALL]], %arg1
attn_tile.kernel @output(%o: !attn_tile.global<2x8x?x192xf32>, %amax: !attn_tile.global<2x8x?xf32>, %warpgroup: index) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc_tensors : !tile
  %factor = attn_tile.fill 2.0 : !row
  %zero = attn_tile.fill 0.0 : !row
  %sum = attn_tile.load_tensor %t[%warpgroup] : !tile -> !sum
  %scaled = attn_tile.map %sum, %factor : (!sum, !row) -> !sum {
  ^bb0(%x: f32, %f: f32, %r: i32, %c: i32):
    %n = arith.sitofp %c : i32 to f32
    %y = arith.mulf %x, %f : f32
    %z = arith.addf %y, %n : f32
    attn_tile.yield %z : f32
  }
  %part = attn_tile.row_reduce maximum %scaled, %zero : !sum, !row
  %rows = attn_tile.row_all_reduce maximum %part : !row
  attn_tile.store %scaled, %o[%c0, %c0, %c0] : !sum, !attn_tile.global<2x8x?x192xf32>
  attn_tile.store %rows, %amax[%c0, %c0, %c0] : !row, !attn_tile.global<2x8x?xf32>
  attn_tile.free_tensors %t : !tile
  attn_tile.return
}

// To shared memory with their column; the index of a column that there is already goes on from it. Where tensors are read slices have half as many.
// CHECK-LABEL: attn_tile.kernel @staged
// CHECK: attn_tile.load_tensor %{{.*}} : <128x192xf32> -> <128x32xf32, accumulator>
// CHECK: attn_tile.store_shared %{{.*}} to %[[OUT:.*]] : <128x32xf32, accumulator> to <128x192xbf16, swizzle = 128>
// CHECK: attn_tile.load_tensor %{{.*}} {column = 32 : i64}
// CHECK: attn_tile.store_shared %{{.*}} to %[[OUT]] {column = 32 : i64}
// CHECK: %[[AT:.*]] = arith.constant 32 : index
// CHECK: %[[COLUMN:.*]] = arith.addi %arg2, %[[AT]]
// CHECK: attn_tile.store %{{.*}}, %arg0[%arg2, %arg2, %arg2, %[[COLUMN]]]
// CHECK: attn_tile.store_shared %{{.*}} to %[[OUT]] {column = 160 : i64}
attn_tile.kernel @staged(%o: !attn_tile.global<2x8x?x?xf32>, %gate: !attn_tile.global<?xf32>, %at: index) warps(4) {
  %t = attn_tile.alloc_tensors : !tile
  %out = attn_tile.alloc : !attn_tile.shared<128x192xbf16, swizzle = 128>
  %sum = attn_tile.load_tensor %t[%at] : !tile -> !sum
  %gated = attn_tile.map %sum : (!sum) -> !sum {
  ^bb0(%x: f32, %r: i32, %c: i32):
    %i = arith.extsi %c : i32 to i64
    %g = attn_tile.extract %gate[%i] : !attn_tile.global<?xf32>
    %y = arith.mulf %x, %g : f32
    attn_tile.yield %y : f32
  }
  attn_tile.store_shared %gated to %out : !sum to !attn_tile.shared<128x192xbf16, swizzle = 128>
  attn_tile.store %gated, %o[%at, %at, %at, %at] : !sum, !attn_tile.global<2x8x?x?xf32>
  attn_tile.free_tensors %t : !tile
  attn_tile.return
}

// A product reads it, it is added to what is in registers, or has 64 columns: whole.
// CHECK-LABEL: attn_tile.kernel @whole
// CHECK: attn_tile.load_tensor %{{.*}} : <128x192xf32> -> <128x192xf32, accumulator>
// CHECK: attn_tile.load_tensor %{{.*}} acc(
// CHECK: attn_tile.load_tensor %{{.*}} : <128x64xf32> -> <128x64xf32, accumulator>
// CHECK-NOT: attn_tile.load_tensor
attn_tile.kernel @whole(%o: !attn_tile.global<2x8x?x192xf32>, %y: !attn_tile.global<2x8x?x64xf32>, %at: index) warps(4) {
  %t:2 = attn_tile.alloc_tensors : !tile, !attn_tile.tensor<128x64xf32>
  %sum = attn_tile.load_tensor %t#0[%at] : !tile -> !sum
  %p = attn_tile.to_operand %sum : !sum -> !attn_tile.fragment<128x192xf16, operand_a>
  %more = attn_tile.load_tensor %t#0[%at] acc(%sum : !sum) : !tile -> !sum
  attn_tile.store %more, %o[%at, %at, %at] : !sum, !attn_tile.global<2x8x?x192xf32>
  %few = attn_tile.load_tensor %t#1[%at] : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128x64xf32, accumulator>
  attn_tile.store %few, %y[%at, %at, %at] : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<2x8x?x64xf32>
  attn_tile.free_tensors %t#0, %t#1 : !tile, !attn_tile.tensor<128x64xf32>
  attn_tile.return
}

// The last slice has what is left.
// CHECK-LABEL: attn_tile.kernel @rest
// CHECK: attn_tile.load_tensor %{{.*}} : <128x80xf32> -> <128x64xf32, accumulator>
// CHECK: attn_tile.store %{{.*}} : <128x64xf32, accumulator>
// CHECK: attn_tile.load_tensor %{{.*}} {column = 64 : i64} : <128x80xf32> -> <128x16xf32, accumulator>
// CHECK: attn_tile.store %{{.*}} : <128x16xf32, accumulator>
attn_tile.kernel @rest(%o: !attn_tile.global<2x8x?x80xf32>, %at: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x80xf32>
  %sum = attn_tile.load_tensor %t[%at] : !attn_tile.tensor<128x80xf32> -> !attn_tile.fragment<128x80xf32, accumulator>
  attn_tile.store %sum, %o[%at, %at, %at] : !attn_tile.fragment<128x80xf32, accumulator>, !attn_tile.global<2x8x?x80xf32>
  attn_tile.free_tensors %t : !attn_tile.tensor<128x80xf32>
  attn_tile.return
}

// Its tile is written before it is stored.
// CHECK-LABEL: attn_tile.kernel @overwritten
// CHECK: attn_tile.load_tensor %{{.*}} : <128x192xf32> -> <128x192xf32, accumulator>
// CHECK-NEXT: attn_tile.store_tensor
// CHECK-NEXT: attn_tile.store
attn_tile.kernel @overwritten(%o: !attn_tile.global<2x8x?x192xf32>, %at: index) warps(4) {
  %t = attn_tile.alloc_tensors : !tile
  %zero = attn_tile.fill 0.0 : !sum
  %sum = attn_tile.load_tensor %t[%at] : !tile -> !sum
  attn_tile.store_tensor %zero to %t[%at] : !sum to !tile
  attn_tile.store %sum, %o[%at, %at, %at] : !sum, !attn_tile.global<2x8x?x192xf32>
  attn_tile.free_tensors %t : !tile
  attn_tile.return
}
