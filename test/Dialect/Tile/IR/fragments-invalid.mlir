// What a kernel's warps cannot hold.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @rows() warps(4) {
  // expected-error @below {{expected a fragment of 16 rows or a multiple for each of 4 warps, got '!attn_tile.fragment<48x64xf32, accumulator>'}}
  %f = attn_tile.fill 1.0 : !attn_tile.fragment<48x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @registers() warps(4) {
  // expected-error @below {{expected a fragment of at most 1024 registers a thread, got 131072 of '!attn_tile.fragment<4096x4096xf32, accumulator>'}}
  %f = attn_tile.fill 1.0 : !attn_tile.fragment<4096x4096xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @rows_of_scalars() warps(2) {
  // expected-error @below {{expected a fragment of 16 rows or a multiple for each of 2 warps, got '!attn_tile.fragment<16xf32, row>'}}
  %f = attn_tile.fill 1.0 : !attn_tile.fragment<16xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @large() warps(4) {
  // expected-error @below {{expected dimensions of 1 to 65536}}
  %f = attn_tile.fill 1.0 : !attn_tile.fragment<1048576x1048576xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @tile() warps(4) {
  // expected-error @below {{expected dimensions of 1 to 65536}}
  %f = attn_tile.alloc : !attn_tile.shared<1048576x1048576xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @ring() warps(4) {
  // expected-error @below {{expected 1 to 64 stages, got 1000000}}
  %f = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1000000, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @scale_columns() warps(4) {
  %row = attn_tile.fill 1.0 : !attn_tile.fragment<64xf32, row>
  %acc = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %a = attn_tile.to_operand %acc : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf16, operand_a>
  // expected-error @below {{expected an operand_a fragment of 16-bit elements and a column fragment}}
  %r = attn_tile.scale_columns %a, %row : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @scale_other_columns() warps(4) {
  %column = attn_tile.fill 1.0 : !attn_tile.fragment<32xf32, column>
  %acc = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %a = attn_tile.to_operand %acc : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf16, operand_a>
  // expected-error @below {{expected columns of factor to be 64, got 32}}
  %r = attn_tile.scale_columns %a, %column : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.fragment<32xf32, column>
  attn_tile.return
}

// -----

attn_tile.kernel @store_shared_both() warps(4) {
  %q = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %acc = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // expected-error @below {{expected transpose or pairs, got both}}
  attn_tile.store_shared %acc to %q transpose pairs : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @store_columns(%a: !attn_tile.fragment<64x64xf32, accumulator>) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x128xf16, swizzle = 128>
  // expected-error @below {{expected at most 128 columns, from a multiple of 16 on, got 64 from 72}}
  attn_tile.store_shared %a to %t {column = 72 : i64} : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.shared<64x128xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @store_transposed_columns(%a: !attn_tile.fragment<64x64xf32, accumulator>) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  // expected-error @below {{expected all columns of the tile with transpose or pairs, got those from 16}}
  attn_tile.store_shared %a to %t transpose {column = 16 : i64} : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}
