// A row in each lane: what moves between tensor memory and registers, and what lanes do not exchange.
// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s

!scores = !attn_tile.tensor<128x96xf32>

// CHECK-LABEL: llvm.func @scores
attn_tile.kernel @scores(%l: !attn_tile.global<128xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  %s, %o = attn_tile.alloc_tensors {offset = 0 : i64} : !scores, !attn_tile.tensor<128x16xf32>
  // 32 columns at once, which are as many registers.
  // CHECK-COUNT-3: tcgen05.ld.sync.aligned.32x32b.x32.b32
  %x = attn_tile.load_tensor %s[%c0] : !scores -> !attn_tile.fragment<128x96xf32, lane_row>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<128xf32, lane_row>
  // Four parts of the row, which do not wait for each other.
  // CHECK-COUNT-96: llvm.intr.maxnum
  // CHECK-NOT: llvm.intr.maxnum
  // CHECK-NOT: nvvm.shfl
  %m = attn_tile.row_reduce max %x, %zero : !attn_tile.fragment<128x96xf32, lane_row>, !attn_tile.fragment<128xf32, lane_row>
  %max = attn_tile.row_all_reduce max %m : !attn_tile.fragment<128xf32, lane_row>
  // Neighbours share a register, as cells of tensor memory have them: no byte goes to another lane.
  // CHECK: cvt.rn.satfinite.e4m3x2.f32 %half0, $25, $24;
  // CHECK-SAME: cvt.rn.satfinite.e4m3x2.f32 %half1, $27, $26;
  // CHECK-SAME: mov.b32 $0, {%half0, %half1};
  %p = attn_tile.to_operand %x : !attn_tile.fragment<128x96xf32, lane_row> -> !attn_tile.fragment<128x96xf8E4M3FN, lane_row>
  %place = attn_tile.narrow_tensor %s[%c0] : !scores -> !attn_tile.tensor<128x96xf8E4M3FN>
  // CHECK-NOT: shfl
  // CHECK: tcgen05.st.sync.aligned.32x32b.x16.b32 [$0+0], {{.*}};{{.*}}tcgen05.st.sync.aligned.32x32b.x8.b32 [$0+16]
  attn_tile.store_tensor %p to %place[%c0] : !attn_tile.fragment<128x96xf8E4M3FN, lane_row> to !attn_tile.tensor<128x96xf8E4M3FN>
  // CHECK: tcgen05.ld.sync.aligned.32x32b.x16.b32
  // CHECK-COUNT-16: llvm.fmul
  // CHECK: tcgen05.st.sync.aligned.32x32b.x16.b32
  attn_tile.scale_tensor %o[%c0] by %max : !attn_tile.tensor<128x16xf32>, !attn_tile.fragment<128xf32, lane_row>
  // One lane has the row, and stores it.
  // CHECK-COUNT-1: llvm.store
  // CHECK-NOT: llvm.store
  attn_tile.store %max, %l[%c0] : !attn_tile.fragment<128xf32, lane_row>, !attn_tile.global<128xf32>
  attn_tile.free_tensors %s, %o : !scores, !attn_tile.tensor<128x16xf32>
  attn_tile.return
}

// Lane 4g + t wants the rows g and g + 8 of each 16, which lanes of those numbers have.
// CHECK-LABEL: llvm.func @to_quads
// CHECK-COUNT-4: nvvm.shfl.sync {{ *}}idx
// CHECK-NOT: arith.select
attn_tile.kernel @to_quads(%l: !attn_tile.global<32xf32>) warps(1) {
  %c0 = arith.constant 0 : index
  %x = attn_tile.load_row %l[%c0] : !attn_tile.global<32xf32> -> !attn_tile.fragment<32xf32, lane_row>
  %y = attn_tile.convert_layout %x : !attn_tile.fragment<32xf32, lane_row> -> !attn_tile.fragment<32xf32, row>
  attn_tile.store %y, %l[%c0] : !attn_tile.fragment<32xf32, row>, !attn_tile.global<32xf32>
  attn_tile.return
}

// The way back: a lane's row is one of four registers of another lane.
// CHECK-LABEL: llvm.func @to_lanes
// CHECK: nvvm.shfl.sync {{ *}}idx
// CHECK-COUNT-3: arith.select
// CHECK-COUNT-1: llvm.store
attn_tile.kernel @to_lanes(%l: !attn_tile.global<32xf32>) warps(1) {
  %c0 = arith.constant 0 : index
  %x = attn_tile.load_row %l[%c0] {first_lane} : !attn_tile.global<32xf32> -> !attn_tile.fragment<32xf32, row>
  %y = attn_tile.convert_layout %x : !attn_tile.fragment<32xf32, row> -> !attn_tile.fragment<32xf32, lane_row>
  attn_tile.store %y, %l[%c0] : !attn_tile.fragment<32xf32, lane_row>, !attn_tile.global<32xf32>
  attn_tile.return
}
