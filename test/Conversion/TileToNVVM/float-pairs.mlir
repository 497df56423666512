// Chips with tensor memory compute with pairs of f32: neighbours in a row, and what a row has for both.
// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @pairs
attn_tile.kernel @pairs(%o: !attn_tile.global<1x1x128x16xf32>) warps(4) attributes {producer_warps = 4 : i64, shared_bytes = 16 : i64} {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc_tensors {offset = 0 : i64} : !attn_tile.tensor<128x16xf32>
  attn_tile.roles producer(56) {
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %s = attn_tile.load_tensor %t[%warpgroup] : !attn_tile.tensor<128x16xf32> -> !attn_tile.fragment<128x16xf32, accumulator>
    %zero = attn_tile.fill 0.0 : !attn_tile.fragment<128xf32, row>
    // A thread has four columns of four rows: sums of the even and the odd ones of each.
    // CHECK-COUNT-4: llvm.fadd {{.*}} : vector<2xf32>
    // CHECK: llvm.fadd {{.*}} : f32
    %sum = attn_tile.row_reduce sum %s, %zero : !attn_tile.fragment<128x16xf32, accumulator>, !attn_tile.fragment<128xf32, row>
    // CHECK-COUNT-8: llvm.intr.fma({{.*}}) : (vector<2xf32>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
    // CHECK-NOT: llvm.intr.fma
    %p = attn_tile.map %s, %sum : (!attn_tile.fragment<128x16xf32, accumulator>, !attn_tile.fragment<128xf32, row>) -> !attn_tile.fragment<128x16xf32, accumulator> {
    ^bb0(%x: f32, %l: f32, %row: i32, %column: i32):
      %y = math.fma %x, %l, %l : f32
      %z = math.exp2 %y : f32
      attn_tile.yield %z : f32
    }
    attn_tile.store %p, %o[%c0, %c0, %c0] : !attn_tile.fragment<128x16xf32, accumulator>, !attn_tile.global<1x1x128x16xf32>
    attn_tile.free_tensors %t : !attn_tile.tensor<128x16xf32>
  }
  attn_tile.return
}

// CHECK-LABEL: llvm.func @single
// CHECK-NOT: llvm.fmul {{.*}} : vector<2xf32>
attn_tile.kernel @single(%q: !attn_tile.global<1x1x64x16xf16>, %o: !attn_tile.global<1x1x64x8xf32>) warps(4) attributes {shared_bytes = 0 : i64} {
  %c0 = arith.constant 0 : index
  %x = attn_tile.fill 1.0 : !attn_tile.fragment<64x8xf32, accumulator>
  %p = attn_tile.map %x : (!attn_tile.fragment<64x8xf32, accumulator>) -> !attn_tile.fragment<64x8xf32, accumulator> {
  ^bb0(%v: f32, %row: i32, %column: i32):
    %y = arith.mulf %v, %v : f32
    attn_tile.yield %y : f32
  }
  attn_tile.store %p, %o[%c0, %c0, %c0] : !attn_tile.fragment<64x8xf32, accumulator>, !attn_tile.global<1x1x64x8xf32>
  attn_tile.return
}
