// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-assign-layouts))' | FileCheck %s

!scores = !attn_tile.tensor<128x64xf32>
!acc = !attn_tile.fragment<128x64xf32, accumulator>
!row = !attn_tile.fragment<128xf32, row>
!global = !attn_tile.global<?xf32>
!matrix = !attn_tile.global<?x64xf16>

// A loop with a maximum and a sum, weights that go back, an output that is stored as tensor cores have it.
// CHECK-LABEL: attn_tile.kernel @softmax
attn_tile.kernel @softmax(%n: index, %o: !matrix, %l: !global) warps(4) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s:2 = attn_tile.alloc_tensors : !scores, !scores
  // CHECK: %[[ZERO:.*]] = attn_tile.fill 0.000000e+00 : <128x64xf32, accumulator>
  // CHECK: attn_tile.store_tensor %[[ZERO]] to %{{.*}} : <128x64xf32, accumulator>
  %zero = attn_tile.fill 0.0 : !acc
  attn_tile.store_tensor %zero to %s#1[%c0] : <128x64xf32, accumulator> to <128x64xf32>
  // CHECK: %[[LOW:.*]] = attn_tile.fill 0xFF800000 : <128xf32, lane_row>
  %low = attn_tile.fill 0xFF800000 : !row
  %none = attn_tile.fill 0.0 : !row
  // CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} -> (!attn_tile.fragment<128xf32, lane_row>, !attn_tile.fragment<128xf32, lane_row>)
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%before = %low, %total = %none) -> (!row, !row) {
    // CHECK: attn_tile.load_tensor {{.*}} -> <128x64xf32, lane_row>
    %scores = attn_tile.load_tensor %s#0[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
    %part = attn_tile.row_reduce max %scores, %before : !acc, !row
    // CHECK: %[[MAX:.*]] = attn_tile.row_all_reduce max %{{.*}} : <128xf32, lane_row>
    %max = attn_tile.row_all_reduce max %part : !row
    // CHECK-NOT: convert_layout
    // CHECK: attn_tile.map %{{.*}}, %[[MAX]] : (!attn_tile.fragment<128x64xf32, lane_row>, !attn_tile.fragment<128xf32, lane_row>)
    %weights = attn_tile.map %scores, %max : (!acc, !row) -> !acc {
    ^bb0(%x: f32, %m: f32, %row: i32, %column: i32):
      %d = arith.subf %x, %m : f32
      %e = math.exp2 %d : f32
      attn_tile.yield %e : f32
    }
    %sum = attn_tile.row_reduce sum %weights, %total : !acc, !row
    // CHECK: attn_tile.to_operand %{{.*}} : <128x64xf32, lane_row> -> <128x64xf16, lane_row>
    %p = attn_tile.to_operand %weights : !acc -> !attn_tile.fragment<128x64xf16, operand_a>
    %place = attn_tile.narrow_tensor %s#0[%c0] : <128x64xf32> -> <128x64xf16>
    // CHECK: attn_tile.store_tensor %{{.*}} : <128x64xf16, lane_row> to <128x64xf16>
    attn_tile.store_tensor %p to %place[%c0] : <128x64xf16, operand_a> to <128x64xf16>
    // CHECK: attn_tile.scale_tensor %{{.*}} by %[[MAX]] : <128x64xf32>, <128xf32, lane_row>
    attn_tile.scale_tensor %s#1[%c0] by %max : <128x64xf32>, <128xf32, row>
    scf.yield %max, %sum : !row, !row
  }
  // CHECK: %[[SUM:.*]] = attn_tile.row_all_reduce sum %[[LOOP]]#1 : <128xf32, lane_row>
  // CHECK: %[[CONVERTED:.*]] = attn_tile.convert_layout %[[SUM]] : <128xf32, lane_row> -> <128xf32, row>
  %all = attn_tile.row_all_reduce sum %r#1 : !row
  // CHECK: %[[O:.*]] = attn_tile.load_tensor {{.*}} -> <128x64xf32, accumulator>
  %output = attn_tile.load_tensor %s#1[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
  // CHECK: attn_tile.map %[[O]], %[[CONVERTED]]
  %scaled = attn_tile.map %output, %all : (!acc, !row) -> !acc {
  ^bb0(%x: f32, %sum: f32, %row: i32, %column: i32):
    %q = arith.divf %x, %sum : f32
    attn_tile.yield %q : f32
  }
  // CHECK: attn_tile.store %{{.*}} : <128x64xf32, accumulator>
  attn_tile.store %scaled, %o[%c0] : !acc, !matrix
  // CHECK: attn_tile.store %[[SUM]], %{{.*}} : <128xf32, lane_row>
  attn_tile.store %all, %l[%c0] : !row, !global
  attn_tile.free_tensors %s#0, %s#1 : !scores, !scores
  attn_tile.return
}

// What is added to a sum that is stored, and rows that it is reduced to, stay; a branch gives what both of its sides give.
// CHECK-LABEL: attn_tile.kernel @stored
// CHECK: attn_tile.row_reduce sum %{{.*}} : <128x64xf32, accumulator>, <128xf32, row>
// CHECK: scf.if %{{.*}} -> (!attn_tile.fragment<128xf32, row>)
// CHECK-NOT: lane_row
attn_tile.kernel @stored(%c: i1, %o: !matrix, %l: !global) warps(4) {
  %c0 = arith.constant 0 : index
  %s = attn_tile.alloc_tensors : !scores
  %x = attn_tile.load_tensor %s[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
  %zero = attn_tile.fill 0.0 : !row
  %sum = attn_tile.row_reduce sum %x, %zero : !acc, !row
  %choice = scf.if %c -> !row {
    scf.yield %sum : !row
  } else {
    scf.yield %zero : !row
  }
  attn_tile.store %x, %o[%c0] : !acc, !matrix
  attn_tile.store %choice, %l[%c0] : !row, !global
  attn_tile.free_tensors %s : !scores
  attn_tile.return
}

// Rows that come in the lanes of another op, for scores whose rows are in lanes.
// CHECK-LABEL: attn_tile.kernel @factors
// CHECK: %[[NARROW:.*]], %[[FACTOR:.*]] = attn_tile.narrow_rows
// CHECK-NEXT: %[[CONVERTED:.*]] = attn_tile.convert_layout %[[FACTOR]] : <128xf32, row> -> <128xf32, lane_row>
// CHECK: attn_tile.map %{{.*}}, %[[CONVERTED]] : (!attn_tile.fragment<128x64xf32, lane_row>, !attn_tile.fragment<128xf32, lane_row>)
attn_tile.kernel @factors(%q: !attn_tile.shared<128x64xbf16, swizzle = 128>, %l: !global) warps(4) {
  %c0 = arith.constant 0 : index
  %s = attn_tile.alloc_tensors : !scores
  %narrow, %factor = attn_tile.narrow_rows %q : !attn_tile.shared<128x64xbf16, swizzle = 128> to !attn_tile.shared<128x64xf16, swizzle = 128>, !row
  %x = attn_tile.load_tensor %s[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
  %y = attn_tile.map %x, %factor : (!acc, !row) -> !acc {
  ^bb0(%a: f32, %b: f32, %row: i32, %column: i32):
    %product = arith.mulf %a, %b : f32
    attn_tile.yield %product : f32
  }
  %zero = attn_tile.fill 0.0 : !row
  %sum = attn_tile.row_reduce sum %y, %zero : !acc, !row
  attn_tile.store %sum, %l[%c0] : !row, !global
  attn_tile.free_tensors %s : !scores
  attn_tile.return
}

// A number for each column, and one that each element reads, are for the lanes of an accumulator.
// CHECK-LABEL: attn_tile.kernel @columns
// CHECK-NOT: lane_row
attn_tile.kernel @columns(%c: !attn_tile.shared<1x64xf32, swizzle = 128>, %b: !attn_tile.global<?x?xf32>, %l: !global) warps(4) {
  %c0 = arith.constant 0 : index
  %s:2 = attn_tile.alloc_tensors : !scores, !scores
  %column = attn_tile.load_column %c : !attn_tile.shared<1x64xf32, swizzle = 128> -> <64xf32, column>
  %x = attn_tile.load_tensor %s#0[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
  %y = attn_tile.map %x, %column : (!acc, !attn_tile.fragment<64xf32, column>) -> !acc {
  ^bb0(%e: f32, %f: f32, %row: i32, %col: i32):
    %sum = arith.addf %e, %f : f32
    attn_tile.yield %sum : f32
  }
  %z = attn_tile.load_tensor %s#1[%c0] : <128x64xf32> -> <128x64xf32, accumulator>
  %w = attn_tile.map %z : (!acc) -> !acc {
  ^bb0(%e: f32, %row: i32, %col: i32):
    %i = arith.extsi %row : i32 to i64
    %j = arith.extsi %col : i32 to i64
    %bias = attn_tile.extract %b[%i, %j] : !attn_tile.global<?x?xf32>
    %sum = arith.addf %e, %bias : f32
    attn_tile.yield %sum : f32
  }
  %zero = attn_tile.fill 0.0 : !row
  %sum = attn_tile.row_reduce sum %y, %zero : !acc, !row
  %both = attn_tile.row_reduce sum %w, %sum : !acc, !row
  attn_tile.store %both, %l[%c0] : !row, !global
  attn_tile.free_tensors %s#0, %s#1 : !scores, !scores
  attn_tile.return
}
