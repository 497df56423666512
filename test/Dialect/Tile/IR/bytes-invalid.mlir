// Operands of 8 bits: what only copies and products take, and how products lie.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected columns to be a multiple of 32, got 48}}
attn_tile.kernel @operand(%a: !attn_tile.fragment<16x48xf8E5M2, operand_a>) warps(1) {
  attn_tile.return
}

// -----

// expected-error @below {{expected columns to be a multiple of 16, got 24}}
attn_tile.kernel @quads(%a: !attn_tile.fragment<16x24xf32, quads>) warps(1) {
  attn_tile.return
}

// -----

attn_tile.kernel @quads_of_rows() warps(1) {
  %p = attn_tile.alloc : !attn_tile.shared<16x64xf8E4M3FN, swizzle = 64>
  %k = attn_tile.alloc : !attn_tile.shared<32x64xf8E4M3FN, swizzle = 64>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x32xf32, quads>
  // expected-error @below {{expected acc to be an accumulator, or quads of an 8-bit b [k, n], got '!attn_tile.fragment<16x32xf32, quads>'}}
  %o = attn_tile.mma %p, %k transpose_b, %zero : !attn_tile.shared<16x64xf8E4M3FN, swizzle = 64>, !attn_tile.shared<32x64xf8E4M3FN, swizzle = 64>, !attn_tile.fragment<16x32xf32, quads>
  attn_tile.return
}

// -----

attn_tile.kernel @two_types() warps(1) {
  %p = attn_tile.alloc : !attn_tile.shared<16x64xi8, swizzle = 64>
  %v = attn_tile.alloc : !attn_tile.shared<64x32xf8E4M3FN, swizzle = 32>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x32xf32, quads>
  // expected-error @below {{expected a and b of one element type, or of 8-bit floats, got 'i8' and 'f8E4M3FN'}}
  %o = attn_tile.mma %p, %v, %zero : !attn_tile.shared<16x64xi8, swizzle = 64>, !attn_tile.shared<64x32xf8E4M3FN, swizzle = 32>, !attn_tile.fragment<16x32xf32, quads>
  attn_tile.return
}

// -----

attn_tile.kernel @depth() warps(4) {
  %a = attn_tile.alloc : !attn_tile.shared<8x64xf16, swizzle = 128>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // expected-error @below {{expected 16 products or a multiple, as one instruction sums of 'f16', got 8}}
  %o = attn_tile.mma %a transpose_a, %a, %zero : !attn_tile.shared<8x64xf16, swizzle = 128>, !attn_tile.shared<8x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @wgmma(%a: !attn_tile.fragment<64x64xf8E4M3FN, operand_a>) warps(4) {
  %b = attn_tile.alloc : !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>
  // expected-error @below {{expected 8-bit operands a [m, k] and b [n, k], which wgmma does not transpose}}
  %s = attn_tile.mma_async %a, %b : !attn_tile.fragment<64x64xf8E4M3FN, operand_a>, !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64> -> !attn_tile.fragment<64x64xf32, quads>
  attn_tile.return
}

// -----

attn_tile.kernel @column(%a: !attn_tile.fragment<16x32xf32, quads>, %b: !attn_tile.fragment<32xf32, column>) warps(1) {
  // expected-error @below {{what it has for each row, or for each column, got '!attn_tile.fragment<32xf32, column>'}}
  %m = attn_tile.map %a, %b : (!attn_tile.fragment<16x32xf32, quads>, !attn_tile.fragment<32xf32, column>) -> !attn_tile.fragment<16x32xf32, quads> {
  ^bb0(%x: f32, %y: f32, %i: i32, %j: i32):
    attn_tile.yield %x : f32
  }
  attn_tile.return
}

// -----

attn_tile.kernel @stored(%a: !attn_tile.fragment<16xf32, row>, %out: !attn_tile.global<16xf8E4M3FN>) warps(1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected elements of 16 bits or more, got 'f8E4M3FN'}}
  attn_tile.store %a, %out[%c0] : !attn_tile.fragment<16xf32, row>, !attn_tile.global<16xf8E4M3FN>
  attn_tile.return
}

// -----

attn_tile.kernel @scaled(%a: !attn_tile.fragment<16x32xf8E4M3FN, operand_a>, %f: !attn_tile.fragment<16xf32, row>) warps(1) {
  // expected-error @below {{expected elements of 16 bits or more, got 'f8E4M3FN'}}
  %s = attn_tile.scale_rows %a, %f : !attn_tile.fragment<16x32xf8E4M3FN, operand_a>, !attn_tile.fragment<16xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @staged(%a: !attn_tile.fragment<16x32xf32, accumulator>) warps(1) {
  %t = attn_tile.alloc : !attn_tile.shared<16x32xf8E5M2, swizzle = 32>
  // expected-error @below {{expected elements of 16 bits or more, got 'f8E5M2'}}
  attn_tile.store_shared %a to %t : !attn_tile.fragment<16x32xf32, accumulator> to !attn_tile.shared<16x32xf8E5M2, swizzle = 32>
  attn_tile.return
}

// -----

attn_tile.kernel @wide(%a: !attn_tile.fragment<64x64xf32, operand_a>) warps(4) {
  %b = attn_tile.alloc : !attn_tile.shared<64x64xf32, swizzle = 128>
  // expected-error @below {{expected operands of i8, f8E4M3FN, f8E5M2, f16 or bf16, got '!attn_tile.shared<64x64xf32, swizzle = 128>'}}
  %s = attn_tile.mma_async %a, %b transpose_b : !attn_tile.fragment<64x64xf32, operand_a>, !attn_tile.shared<64x64xf32, swizzle = 128> -> !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @pairs() warps(4) {
  %v = attn_tile.alloc : !attn_tile.shared<64x128xf16, swizzle = 128>
  // expected-error @below {{expected tiles of one 8-bit type, got 'f16' and 'f16'}}
  %vt = attn_tile.transpose_bytes %v : !attn_tile.shared<64x128xf16, swizzle = 128> -> !attn_tile.shared<128x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @ragged() warps(4) {
  %v = attn_tile.alloc : !attn_tile.shared<48x64xf8E5M2, swizzle = 64>
  // expected-error @below {{expected rows in multiples of 32, got 48}}
  %vt = attn_tile.transpose_bytes %v : !attn_tile.shared<48x64xf8E5M2, swizzle = 64> -> !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  attn_tile.return
}

// -----

attn_tile.kernel @types() warps(4) {
  %v = attn_tile.alloc : !attn_tile.shared<64x128xf8E5M2, swizzle = 128>
  %vt = attn_tile.alloc : !attn_tile.shared<128x64xf8E4M3FN, swizzle = 64>
  // expected-error @below {{expected tiles of one 8-bit type, got 'f8E5M2' and 'f8E4M3FN'}}
  attn_tile.store_transposed %v to %vt : !attn_tile.shared<64x128xf8E5M2, swizzle = 128> to !attn_tile.shared<128x64xf8E4M3FN, swizzle = 64>
  attn_tile.return
}

// -----

attn_tile.kernel @rows() warps(4) {
  %v = attn_tile.alloc : !attn_tile.shared<64x128xf8E5M2, swizzle = 128>
  %vt = attn_tile.alloc : !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  // expected-error @below {{expected rows of the result to be 128, got 64}}
  attn_tile.store_transposed %v to %vt : !attn_tile.shared<64x128xf8E5M2, swizzle = 128> to !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  attn_tile.return
}

// -----

attn_tile.kernel @columns() warps(4) {
  %v = attn_tile.alloc : !attn_tile.shared<64x128xf8E5M2, swizzle = 128>
  %vt = attn_tile.alloc : !attn_tile.shared<128x32xf8E5M2, swizzle = 32>
  // expected-error @below {{expected columns of the result to be 64, got 32}}
  attn_tile.store_transposed %v to %vt : !attn_tile.shared<64x128xf8E5M2, swizzle = 128> to !attn_tile.shared<128x32xf8E5M2, swizzle = 32>
  attn_tile.return
}

// -----

attn_tile.kernel @ring() warps(4) {
  %v = attn_tile.alloc : !attn_tile.shared<2x64x128xf8E5M2, swizzle = 128>
  %vt = attn_tile.alloc : !attn_tile.shared<128x64xf8E5M2, swizzle = 64>
  // expected-error @below {{expected tiles, got a ring}}
  attn_tile.store_transposed %v to %vt : !attn_tile.shared<2x64x128xf8E5M2, swizzle = 128> to !attn_tile.shared<128x64xf8E5M2, swizzle = 64>
  attn_tile.return
}

// -----

// A product of 16 and 8 bits reads columns of a in the order of bytes of b.
attn_tile.kernel @widened(%a: !attn_tile.fragment<16x32xf16, operand_a>) warps(1) {
  %k = attn_tile.alloc : !attn_tile.shared<16x32xf8E4M3FN, swizzle = 32>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, accumulator>
  // expected-error @below {{expected a [m, k] in shared memory or an operand_bytes fragment beside an 8-bit b [n, k], got '!attn_tile.fragment<16x32xf16, operand_a>'}}
  %s = attn_tile.mma %a, %k transpose_b, %zero : !attn_tile.fragment<16x32xf16, operand_a>, !attn_tile.shared<16x32xf8E4M3FN, swizzle = 32>, !attn_tile.fragment<16x16xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @wgmma_widened(%a: !attn_tile.fragment<64x64xbf16, operand_a>) warps(4) {
  %b = attn_tile.alloc : !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>
  // expected-error @below {{expected a and b of one element type, got 'bf16' and 'f8E4M3FN'}}
  %s = attn_tile.mma_async %a, %b transpose_b : !attn_tile.fragment<64x64xbf16, operand_a>, !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64> -> !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

// Sums of integers are integers.
attn_tile.kernel @integers() warps(1) {
  %a = attn_tile.alloc : !attn_tile.shared<16x32xi8, swizzle = 32>
  %b = attn_tile.alloc : !attn_tile.shared<16x32xi8, swizzle = 32>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, accumulator>
  // expected-error @below {{expected sums in i32 of operands of i8, and in f32 of others, got acc of 'f32' beside a of 'i8'}}
  %s = attn_tile.mma %a, %b transpose_b, %zero : !attn_tile.shared<16x32xi8, swizzle = 32>, !attn_tile.shared<16x32xi8, swizzle = 32>, !attn_tile.fragment<16x16xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @transposed(%a: !attn_tile.fragment<16x32xi8, operand_a>) warps(1) {
  %b = attn_tile.alloc : !attn_tile.shared<32x32xi8, swizzle = 32>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x32xi32, accumulator>
  // expected-error @below {{expected operands a [m, k] and b [n, k] of i8, which no instruction transposes}}
  %s = attn_tile.mma %a, %b, %zero : !attn_tile.fragment<16x32xi8, operand_a>, !attn_tile.shared<32x32xi8, swizzle = 32>, !attn_tile.fragment<16x32xi32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @fill() warps(1) {
  // expected-error @below {{expected a whole number in a fragment of i32, got 5.000000e-01}}
  %half = attn_tile.fill 0.5 : !attn_tile.fragment<16x32xi32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @wgmma_integers(%a: !attn_tile.fragment<64x64xbf16, operand_a>) warps(4) {
  %b = attn_tile.alloc : !attn_tile.shared<64x64xi8, swizzle = 64>
  // expected-error @below {{expected a and b of one element type, got 'bf16' and 'i8'}}
  %s = attn_tile.mma_async %a, %b transpose_b : !attn_tile.fragment<64x64xbf16, operand_a>, !attn_tile.shared<64x64xi8, swizzle = 64> -> !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @widen_types() warps(4) {
  %k = attn_tile.alloc : !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  // expected-error @below {{expected an 8-bit tile and one of f16 or bf16, got 'f8E5M2' and 'f8E5M2'}}
  %w = attn_tile.widen_bytes %k : !attn_tile.shared<64x64xf8E5M2, swizzle = 64> -> !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  attn_tile.return
}

// -----

attn_tile.kernel @widen_rows() warps(4) {
  %k = attn_tile.alloc : !attn_tile.shared<64x64xi8, swizzle = 64>
  // expected-error @below {{expected rows of the result to be 64, got 32}}
  %w = attn_tile.widen_bytes %k : !attn_tile.shared<64x64xi8, swizzle = 64> -> !attn_tile.shared<32x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @widen_columns() warps(4) {
  %k = attn_tile.alloc : !attn_tile.shared<64x64xi8, swizzle = 64>
  %w = attn_tile.alloc : !attn_tile.shared<64x128xbf16, swizzle = 128>
  // expected-error @below {{expected columns of the result to be 64, got 128}}
  attn_tile.store_widened %k to %w : !attn_tile.shared<64x64xi8, swizzle = 64> to !attn_tile.shared<64x128xbf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @widen_ring() warps(4) {
  %k = attn_tile.alloc : !attn_tile.shared<2x64x64xi8, swizzle = 64>
  %w = attn_tile.alloc : !attn_tile.shared<64x64xbf16, swizzle = 128>
  // expected-error @below {{expected tiles, got a ring}}
  attn_tile.store_widened %k to %w : !attn_tile.shared<2x64x64xi8, swizzle = 64> to !attn_tile.shared<64x64xbf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @no_bytes() warps(1) {
  %q = attn_tile.alloc : !attn_tile.shared<16x32xf16, swizzle = 64>
  %k = attn_tile.alloc : !attn_tile.shared<16x32xf16, swizzle = 64>
  %a = attn_tile.load_operand %q : !attn_tile.shared<16x32xf16, swizzle = 64> -> !attn_tile.fragment<16x32xf16, operand_bytes>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, accumulator>
  // expected-error @below {{expected an 8-bit b [n, k] beside an operand_bytes fragment, got '!attn_tile.shared<16x32xf16, swizzle = 64>'}}
  %s = attn_tile.mma %a, %k transpose_b, %zero : !attn_tile.fragment<16x32xf16, operand_bytes>, !attn_tile.shared<16x32xf16, swizzle = 64>, !attn_tile.fragment<16x16xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @both_orders() warps(1) {
  %q = attn_tile.alloc : !attn_tile.shared<16x16xf16, swizzle = 32>
  // expected-error @below {{expected an operand_a fragment with transpose, got '!attn_tile.fragment<16x16xf16, operand_bytes>'}}
  %a = attn_tile.load_operand %q transpose : !attn_tile.shared<16x16xf16, swizzle = 32> -> !attn_tile.fragment<16x16xf16, operand_bytes>
  attn_tile.return
}

// -----

attn_tile.kernel @order_of_bytes() warps(1) {
  %q = attn_tile.alloc : !attn_tile.shared<16x32xi8, swizzle = 32>
  // expected-error @below {{expected an operand_a fragment, or operand_bytes of 16-bit elements, got '!attn_tile.fragment<16x32xi8, operand_bytes>'}}
  %a = attn_tile.load_operand %q : !attn_tile.shared<16x32xi8, swizzle = 32> -> !attn_tile.fragment<16x32xi8, operand_bytes>
  attn_tile.return
}

// -----

attn_tile.kernel @narrow_f16() warps(1) {
  %q = attn_tile.alloc : !attn_tile.shared<16x32xf16, swizzle = 64>
  // expected-error @below {{expected a tile of bf16, got '!attn_tile.shared<16x32xf16, swizzle = 64>'}}
  %n, %f = attn_tile.narrow_rows %q : !attn_tile.shared<16x32xf16, swizzle = 64> to !attn_tile.shared<16x32xf16, swizzle = 64>, !attn_tile.fragment<16xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @narrow_type() warps(1) {
  %q = attn_tile.alloc : !attn_tile.shared<16x32xbf16, swizzle = 64>
  // expected-error @below {{expected '!attn_tile.shared<16x32xf16, swizzle = 64>' of '!attn_tile.shared<16x32xbf16, swizzle = 64>', got '!attn_tile.shared<16x32xf16, swizzle = 32>'}}
  %n, %f = attn_tile.narrow_rows %q : !attn_tile.shared<16x32xbf16, swizzle = 64> to !attn_tile.shared<16x32xf16, swizzle = 32>, !attn_tile.fragment<16xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @narrow_factor() warps(1) {
  %q = attn_tile.alloc : !attn_tile.shared<16x32xbf16, swizzle = 64>
  // expected-error @below {{expected a row fragment of 16 rows as factor, got '!attn_tile.fragment<32xf32, row>'}}
  %n, %f = attn_tile.narrow_rows %q : !attn_tile.shared<16x32xbf16, swizzle = 64> to !attn_tile.shared<16x32xf16, swizzle = 64>, !attn_tile.fragment<32xf32, row>
  attn_tile.return
}
