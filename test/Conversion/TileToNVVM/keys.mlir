// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s

// A key that a map compares is the thread's first one, hidden from LLVM, plus a
// constant; here the tile begins at an argument of the kernel.
// CHECK-LABEL: llvm.func @keys
attn_tile.kernel @keys(%q: !attn_tile.global<?x16xbf16>, %o: !attn_tile.global<?x16xbf16>, %first: i32) warps(1) {
  %c0 = arith.constant 0 : index
  %s = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, accumulator>
  %cst = arith.constant 0.0 : f32
  // CHECK: %[[SUM:.*]] = arith.addi %arg{{[0-9]+}}, %{{.*}} : i32
  // CHECK: %[[FIRST:.*]] = llvm.inline_asm "mov.b32 $0, $1;", "=r,r" %[[SUM]]
  // CHECK: arith.cmpi sle, %[[FIRST]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %{{.*}} : i32
  // CHECK: arith.cmpi sle, %[[NEXT]]
  // CHECK-NOT: mov.b32
  %p = attn_tile.map %s : (!attn_tile.fragment<16x16xf32, accumulator>) -> !attn_tile.fragment<16x16xf32, accumulator> {
  ^bb0(%x: f32, %i: i32, %j: i32):
    %key = arith.addi %first, %j : i32
    %seen = arith.cmpi sle, %key, %i : i32
    %e = arith.select %seen, %x, %cst : f32
    attn_tile.yield %e : f32
  }
  attn_tile.store %p, %o[%c0] : !attn_tile.fragment<16x16xf32, accumulator>, !attn_tile.global<?x16xbf16>
  attn_tile.return
}
