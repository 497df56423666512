// Layouts of fragments by name and written out, which is one and the same.
// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @names
attn_tile.kernel @names(%t: !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>, %u: !attn_tile.shared<64x64xf16, swizzle = 128>) warps(2) {
  // CHECK: -> <64x64xf8E4M3FN, operand_a>
  %a = attn_tile.load_operand %t : !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64> -> !attn_tile.fragment<64x64xf8E4M3FN, operand_a>
  // CHECK: -> <64x64xf16, operand_bytes>
  %b = attn_tile.load_operand %u : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf16, operand_bytes>
  // CHECK: : <64x64xf32, accumulator>
  %s = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, layout<elements = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]>>
  // In 16 bits a lane's columns of an accumulator are those of an operand.
  // CHECK: -> <64x64xbf16, operand_a>
  %p = attn_tile.to_operand %s : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xbf16, operand_pairs>
  // CHECK: -> <64x64xf8E5M2, operand_pairs>
  %q = attn_tile.to_operand %s : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf8E5M2, operand_pairs>
  // CHECK: -> <64x64xf32, operand_pairs>
  %r = attn_tile.to_operand %s : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf32, operand_pairs>
  // CHECK: : <64x64xf32, quads>
  %v = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, quads>
  // CHECK: : <64x64xf32, lane_row>
  %w = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, lane_row>
  // CHECK: -> <64x64xf8E4M3FN, lane_row>
  %x = attn_tile.to_operand %w : !attn_tile.fragment<64x64xf32, lane_row> -> !attn_tile.fragment<64x64xf8E4M3FN, lane_row>
  attn_tile.return
}

// What there is for each row, and for each column, is the layout without the rest.
// CHECK-LABEL: attn_tile.kernel @vectors
attn_tile.kernel @vectors() warps(2) {
  // CHECK: : <64xf32, row>
  %r = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, layout<elements = [[8, 0]], lanes = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]]>>
  // CHECK: : <64xf32, column>
  %c = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, layout<elements = [[0, 1]], lanes = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 0]]>>
  // CHECK: : <64xf32, lane_row>
  %l = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, lane_row>
  %s = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, quads>
  // CHECK: attn_tile.row_reduce sum %{{.*}} : <64x64xf32, quads>, <64xf32, row>
  %m = attn_tile.row_reduce sum %s, %r : !attn_tile.fragment<64x64xf32, quads>, !attn_tile.fragment<64xf32, row>
  // CHECK: attn_tile.convert_layout %{{.*}} : <64xf32, row> -> <64xf32, lane_row>
  %k = attn_tile.convert_layout %m : !attn_tile.fragment<64xf32, row> -> !attn_tile.fragment<64xf32, lane_row>
  attn_tile.return
}

// Eight lanes for a row, each with four columns and two rows.
// CHECK-LABEL: attn_tile.kernel @written_out
attn_tile.kernel @written_out() warps(1) {
  // CHECK: !attn_tile.fragment<8x32xf32, layout<elements = [{{\[}}0, 1], [0, 2], [4, 0]], lanes = [{{\[}}0, 4], [0, 8], [0, 16], [1, 0], [2, 0]]>>
  %s = attn_tile.map : () -> !attn_tile.fragment<8x32xf32, layout<elements = [[0, 1], [0, 2], [4, 0]], lanes = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]]>> {
  ^bb0(%row: i32, %column: i32):
    %x = arith.sitofp %column : i32 to f32
    attn_tile.yield %x : f32
  }
  attn_tile.return
}

// CHECK: attn_tile.kernel @attribute() warps(1) attributes {layout = #attn_tile.layout<elements = [], lanes = [{{\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>}
attn_tile.kernel @attribute() warps(1) attributes {layout = #attn_tile.layout<elements = [], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>} {
  attn_tile.return
}
