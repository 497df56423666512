// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s
// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s --check-prefix=ELEMENTS

// 16 x 32 elements, 16 a thread: 4 calls for these and one for the head, of 10 rounds with two products.
// CHECK-LABEL: llvm.func @mask
// CHECK-COUNT-100: arith.mului_extended
// CHECK-NOT: arith.mului_extended
// CHECK: llvm.return
// ELEMENTS-LABEL: llvm.func @mask
// ELEMENTS-COUNT-16: arith.cmpi uge
// ELEMENTS-NOT: arith.cmpi uge
// ELEMENTS: llvm.return
attn_tile.kernel @mask(%o: !attn_tile.global<?x32xf32>, %seed: !attn_tile.global<i64>) warps(1) {
  %c0 = arith.constant 0 : index
  %s = attn_tile.extract %seed[] : !attn_tile.global<i64>
  %p = attn_tile.fill 1.0 : !attn_tile.fragment<16x32xf32, accumulator>
  %x = attn_tile.dropout %p, %s, %s at(%c0, %c0, %c0, %c0) threshold(429496729) : !attn_tile.fragment<16x32xf32, accumulator>
  attn_tile.store %x, %o[%c0] : !attn_tile.fragment<16x32xf32, accumulator>, !attn_tile.global<?x32xf32>
  attn_tile.return
}

// Packed heads of 4 rows: a call for two elements of a row, and one for the head of each row of a thread.
// CHECK-LABEL: llvm.func @packed
// CHECK-COUNT-200: arith.mului_extended
// CHECK-NOT: arith.mului_extended
// CHECK: llvm.return
attn_tile.kernel @packed(%o: !attn_tile.global<?x32xf32>, %seed: !attn_tile.global<i64>) warps(1) {
  %c0 = arith.constant 0 : index
  %s = attn_tile.extract %seed[] : !attn_tile.global<i64>
  %p = attn_tile.fill 1.0 : !attn_tile.fragment<16x32xf32, accumulator>
  %x = attn_tile.dropout %p, %s, %s at(%c0, %c0, %c0, %c0) threshold(429496729) {heads = 4} : !attn_tile.fragment<16x32xf32, accumulator>
  attn_tile.store %x, %o[%c0] : !attn_tile.fragment<16x32xf32, accumulator>, !attn_tile.global<?x32xf32>
  attn_tile.return
}
