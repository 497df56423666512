// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @name() warps(1) {
  // expected-error @below {{expected a layout: accumulator, operand_a, operand_pairs, operand_bytes, quads, lane_row, row, column, or layout<...>, got acumulator}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, acumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @lanes() warps(1) {
  // expected-error @below {{expected a basis for each of the 5 bits of a lane, got 4}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, layout<elements = [], lanes = [[1, 0], [2, 0], [4, 0], [8, 0]]>>
  attn_tile.return
}

// -----

attn_tile.kernel @elements() warps(1) {
  // expected-error @below {{expected at most 8 bases of elements, got 9}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<16x512xf32, layout<elements = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>>
  attn_tile.return
}

// -----

attn_tile.kernel @nowhere() warps(1) {
  // expected-error @below {{expected elements that differ by row or column, got the basis [0, 0]}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<32x16xf32, layout<elements = [[0, 0]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>>
  attn_tile.return
}

// -----

attn_tile.kernel @diagonal() warps(1) {
  // expected-error @below {{expected bases of a row or of a column, got [1, 1]}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<32x16xf32, layout<elements = [[1, 1]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>>
  attn_tile.return
}

// -----

attn_tile.kernel @twice() warps(1) {
  // expected-error @below {{expected bases 1, 2, 4 and so on of rows and of columns, each once}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<32x16xf32, layout<elements = [], lanes = [[1, 0], [2, 0], [4, 0], [4, 0], [16, 0]]>>
  attn_tile.return
}

// -----

attn_tile.kernel @gap() warps(1) {
  // expected-error @below {{expected bases 1, 2, 4 and so on of rows and of columns, each once}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<64x16xf32, layout<elements = [[0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>>
  attn_tile.return
}

// -----

attn_tile.kernel @copies_of_a_matrix() warps(1) {
  // expected-error @below {{expected 1 static dimension(s) of this layout, got 2}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @rows_of_a_unit() warps(1) {
  // expected-error @below {{expected rows to be a multiple of 32, got 48}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<48x16xf32, lane_row>
  attn_tile.return
}

// -----

attn_tile.kernel @rows_of_warps() warps(4) {
  // expected-error @below {{expected a fragment of 32 rows or a multiple for each of 4 warps, got '!attn_tile.fragment<64x16xf32, lane_row>'}}
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<64x16xf32, lane_row>
  attn_tile.return
}

// -----

attn_tile.kernel @other_lanes() warps(4) {
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<128x32xf32, lane_row>
  // expected-error @below {{expected an operand whose lanes have the rows and columns of '!attn_tile.fragment<128x32xf32, lane_row>', got '!attn_tile.fragment<128x32xf16, operand_a>'}}
  %p = attn_tile.to_operand %f : !attn_tile.fragment<128x32xf32, lane_row> -> !attn_tile.fragment<128x32xf16, operand_a>
  attn_tile.return
}

// -----

attn_tile.kernel @other_shape() warps(4) {
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<128x32xf32, accumulator>
  // expected-error @below {{expected a matrix of f32 and an operand of its shape, got '!attn_tile.fragment<128x32xf32, accumulator>' and '!attn_tile.fragment<128x16xf16, operand_a>'}}
  %p = attn_tile.to_operand %f : !attn_tile.fragment<128x32xf32, accumulator> -> !attn_tile.fragment<128x16xf16, operand_a>
  attn_tile.return
}

// -----

attn_tile.kernel @rows_of_another_layout() warps(4) {
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<128x32xf32, lane_row>
  %r = attn_tile.fill 0.0 : !attn_tile.fragment<128xf32, row>
  // expected-error @below {{expected a fragment and what it has for each row, got '!attn_tile.fragment<128x32xf32, lane_row>' and '!attn_tile.fragment<128xf32, row>'}}
  %s = attn_tile.row_reduce sum %f, %r : !attn_tile.fragment<128x32xf32, lane_row>, !attn_tile.fragment<128xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @matrix() warps(4) {
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<128x32xf32, lane_row>
  // expected-error @below {{expected row fragments of one shape and element type, got '!attn_tile.fragment<128x32xf32, lane_row>' and '!attn_tile.fragment<128x32xf32, accumulator>'}}
  %s = attn_tile.convert_layout %f : !attn_tile.fragment<128x32xf32, lane_row> -> !attn_tile.fragment<128x32xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @stored(%o: !attn_tile.global<128x32xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %f = attn_tile.fill 0.0 : !attn_tile.fragment<128x32xf32, lane_row>
  // expected-error @below {{expected a row fragment, an accumulator or quads, got '!attn_tile.fragment<128x32xf32, lane_row>'}}
  attn_tile.store %f, %o[%c0] : !attn_tile.fragment<128x32xf32, lane_row>, !attn_tile.global<128x32xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @order_of_columns(%k: !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>) warps(4) {
  %a = attn_tile.load_operand %k : !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64> -> !attn_tile.fragment<64x64xf8E4M3FN, operand_a>
  %z = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, quads>
  // expected-error @below {{expected a to be an operand_pairs fragment beside a b [k, n] of 'f8E4M3FN', got '!attn_tile.fragment<64x64xf8E4M3FN, operand_a>'}}
  %o = attn_tile.mma %a, %k, %z : !attn_tile.fragment<64x64xf8E4M3FN, operand_a>, !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>, !attn_tile.fragment<64x64xf32, quads>
  attn_tile.return
}

// -----

attn_tile.kernel @order_of_f32(%k: !attn_tile.shared<64x64xf32, swizzle = 128>) warps(4) {
  %z = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %a = attn_tile.to_operand %z : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf32, operand_pairs>
  // expected-error @below {{expected a to be an operand_a fragment beside a b [n, k] of f32, got '!attn_tile.fragment<64x64xf32, operand_pairs>'}}
  %o = attn_tile.mma %a, %k transpose_b, %z : !attn_tile.fragment<64x64xf32, operand_pairs>, !attn_tile.shared<64x64xf32, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @order_of_wgmma(%q: !attn_tile.shared<64x64xf16, swizzle = 128>) warps(4) {
  %a = attn_tile.load_operand %q : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf16, operand_bytes>
  // expected-error @below {{expected a to be an operand_a or operand_pairs fragment, got '!attn_tile.fragment<64x64xf16, operand_bytes>'}}
  %o = attn_tile.mma_async %a, %q transpose_b : !attn_tile.fragment<64x64xf16, operand_bytes>, !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}
