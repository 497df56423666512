// A sequence is a pointer to its first row, its rows, and the strides of what it is in; the batch does not count.
// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

// CHECK: llvm.func @dims(%[[P:[a-z0-9]+]]: !llvm.ptr<1>, %{{.*}}: i32, %[[ROW:[a-z0-9]+]]: i64, %[[HEAD:[a-z0-9]+]]: i64, %{{.*}}: !llvm.ptr<1>, %[[I:.*]]: i64, %[[H:.*]]: i64)
// CHECK-DAG: %[[FIVE:.*]] = arith.constant 20 : i64
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROW]], %[[FIVE]] : i64
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[P]][%[[BYTES]]]
// CHECK: %[[OFHEAD:.*]] = arith.muli %[[H]], %[[HEAD]] : i64
// CHECK: %[[OFROW:.*]] = arith.muli %[[I]], %[[ROW]] : i64
// CHECK: arith.addi %[[OFHEAD]], %[[OFROW]] : i64
// CHECK: llvm.getelementptr %[[FIRST]][
attn_tile.kernel @dims(%p: !attn_tile.global<?x8x64xf32>, %o: !attn_tile.global<4xf32>, %i: i64, %h: i64) warps(1) {
  %c0 = arith.constant 0 : i64
  %first = arith.constant 5 : index
  %rows = arith.constant 7 : index
  %q = attn_tile.sequence %p[%first] rows(%rows) : <?x8x64xf32> -> <1x8x?x64xf32>
  %x = attn_tile.extract %q[%c0, %h, %i, %c0] : !attn_tile.global<1x8x?x64xf32>
  attn_tile.insert %x, %o[%c0] : !attn_tile.global<4xf32>
  attn_tile.return
}
