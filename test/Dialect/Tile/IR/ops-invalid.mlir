// RUN: attn-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 1 to 32 warps, got 33 and 0 that load}}
attn_tile.kernel @warps() warps(33) {
  attn_tile.return
}

// -----

// expected-error @below {{expected 1 to 32 warps, got -9223372036854775808 and 0 that load}}
attn_tile.kernel @least() warps(-9223372036854775808) {
  attn_tile.return
}

// -----

// expected-error @below {{expected sharing to divide 4 warps, got 3}}
attn_tile.kernel @sharing() warps(4) attributes {sharing = 3 : i64} {
  attn_tile.return
}

// -----

// expected-error @below {{expected the body to end in attn_tile.return}}
attn_tile.kernel @terminator() warps(4) {
  %c = arith.constant 0 : index
}

// -----

// expected-error @below {{expected i8, f8E4M3FN, f8E5M2, f16, bf16 or f32 elements, got 'f64'}}
func.func private @element(!attn_tile.shared<64x64xf64, swizzle = 128>)

// -----

// expected-error @below {{expected swizzle to be 32, 64 or 128 bytes, got 16}}
func.func private @swizzle(!attn_tile.shared<64x64xf16, swizzle = 16>)

// -----

// expected-error @below {{expected columns to be a multiple of 64 (swizzle 128), got 96}}
func.func private @cols(!attn_tile.shared<64x96xf16, swizzle = 128>)

// -----

// expected-error @below {{expected rows to be 1 or a multiple of 8, got 12}}
func.func private @rows(!attn_tile.shared<12x64xf16, swizzle = 128>)

// -----

// expected-error @below {{expected rows x cols or stages x rows x cols, got 1 dimensions}}
func.func private @rank(!attn_tile.shared<64xf16, swizzle = 128>)

// -----

// expected-error @below {{expected a static shape}}
func.func private @dynamic(!attn_tile.shared<?x64xf16, swizzle = 128>)

// -----

// expected-error @below {{expected an integer or float element type, got 'index'}}
func.func private @global(!attn_tile.global<4xindex>)

// -----

// expected-error @below {{expected 1 static dimension(s) of this layout, got 2}}
func.func private @row_rank(!attn_tile.fragment<16x16xf32, row>)

// -----

// expected-error @below {{expected rows to be a multiple of 16, got 8}}
func.func private @fragment_rows(!attn_tile.fragment<8xf32, row>)

// -----

// expected-error @below {{expected columns to be a multiple of 16, got 8}}
func.func private @operand_cols(!attn_tile.fragment<16x8xf16, operand_a>)

// -----

// expected-error @below {{expected f32 or i32 elements, got 'f16'}}
func.func private @accumulator_element(!attn_tile.fragment<16x16xf16, accumulator>)

// -----

attn_tile.kernel @load_element(%q: !attn_tile.global<?x64xbf16>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected element type 'bf16', got 'f16'}}
  %t = attn_tile.load %q[%c0] : !attn_tile.global<?x64xbf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @load_indices(%q: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected the number of indices to be 1, got 3}}
  %t = attn_tile.load %q[%c0, %c0, %c0] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @load_columns(%q: !attn_tile.global<?x128xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected 128 tile columns or the index of the first column, got 64 columns}}
  %t = attn_tile.load %q[%c0] : !attn_tile.global<?x128xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @copy_ring(%q: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %ring = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  // expected-error @below {{expected one tile, got a ring}}
  attn_tile.copy_async %q[%c0] to %ring : !attn_tile.global<?x64xf16> to !attn_tile.shared<2x64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @operand_layout(%q: !attn_tile.global<?x64xf16>) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  // expected-error @below {{expected an operand_a fragment, or operand_bytes of 16-bit elements, got '!attn_tile.fragment<64x64xf32, accumulator>'}}
  %a = attn_tile.load_operand %t : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @mma_shape(%q: !attn_tile.global<?x64xf16>) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x32xf32, accumulator>
  // expected-error @below {{expected columns of acc to be 64, got 32}}
  %s = attn_tile.mma %t, %t transpose_b, %zero : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x32xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @map_arguments() warps(4) {
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, row>
  // expected-error @below {{expected the region to take 2 arguments: elements, then coordinates as i32}}
  %s = attn_tile.map %zero : (!attn_tile.fragment<64xf32, row>) -> !attn_tile.fragment<64xf32, row> {
  ^bb0(%x: f32):
    attn_tile.yield %x : f32
  }
  attn_tile.return
}

// -----

attn_tile.kernel @map_yield() warps(4) {
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, row>
  // expected-error @below {{expected the region to yield 'f32'}}
  %s = attn_tile.map %zero : (!attn_tile.fragment<64xf32, row>) -> !attn_tile.fragment<64xf32, row> {
  ^bb0(%x: f32, %i: i32):
    attn_tile.yield %i : i32
  }
  attn_tile.return
}

// -----

attn_tile.kernel @map_inputs() warps(4) {
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<32xf32, row>
  // expected-error @below {{what it has for each row, or for each column, got '!attn_tile.fragment<32xf32, row>'}}
  %s = attn_tile.map %zero : (!attn_tile.fragment<32xf32, row>) -> !attn_tile.fragment<64xf32, row> {
  ^bb0(%x: f32, %i: i32):
    attn_tile.yield %x : f32
  }
  attn_tile.return
}

// -----

attn_tile.kernel @reduce() warps(4) {
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, row>
  // expected-error @below {{expected a fragment and what it has for each row, got}}
  %s = attn_tile.row_reduce max %zero, %zero : !attn_tile.fragment<64xf32, row>, !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @store(%o: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x32xf32, accumulator>
  // expected-error @below {{expected 64 tile columns or the index of the first column, got 32 columns}}
  attn_tile.store %zero, %o[%c0] : !attn_tile.fragment<64x32xf32, accumulator>, !attn_tile.global<?x64xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @tensor_map(%map: !attn_tile.tensor_map<32x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  // expected-error @below {{expected a tensor map of the tile's panels, '!attn_tile.tensor_map<64x64xf16, swizzle = 128>'}}
  attn_tile.copy_tma %map[%c0, %c0, %c0] to %t, %full[%c0] : !attn_tile.tensor_map<32x64xf16, swizzle = 128> to !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @multicast(%map: !attn_tile.tensor_map<8x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  // expected-error @below {{expected ctas to divide the tile's 64 rows into multiples of 8, got 16}}
  attn_tile.copy_tma %map[%c0, %c0, %c0] to %t, %full[%c0] {ctas = 16 : i64} : !attn_tile.tensor_map<8x64xf16, swizzle = 128> to !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @copy_of_no_pair(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  // expected-error @below {{expected cta_pairs of the kernel with first_cta}}
  attn_tile.copy_tma %map[%c0, %c0, %c0] to %t, %full[%c0] {first_cta} : !attn_tile.tensor_map<64x64xf16, swizzle = 128> to !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @arrival_in_both(%full: !attn_tile.mbarrier<1, arrivals = 1>) warps(4) attributes {cluster_ctas = 2 : i64, cta_pairs} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected ctas = 1 with first_cta, got 2}}
  attn_tile.mbarrier_arrive %full[%c0] {ctas = 2 : i64, first_cta} : !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

// expected-error @below {{expected cluster_ctas = 2 with cta_pairs, got 1}}
attn_tile.kernel @lone_pair() warps(4) attributes {cta_pairs} {
  attn_tile.return
}

// -----

attn_tile.kernel @pages(%map: !attn_tile.tensor_map<8x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<24x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  // expected-error @below {{expected pages to divide the tile's 24 rows, of one CTA, into multiples of 8, got 2 with ctas = 1}}
  attn_tile.copy_tma %map[%c0, %c0] pages(%c0, %c0) to %t, %full[%c0] : !attn_tile.tensor_map<8x64xf16, swizzle = 128> to !attn_tile.shared<24x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @pages_of_batches(%map: !attn_tile.tensor_map<8x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<16x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  // expected-error @below {{expected 2 or 3 indices, got 4}}
  attn_tile.copy_tma %map[%c0, %c0, %c0, %c0] pages(%c0, %c0) to %t, %full[%c0] : !attn_tile.tensor_map<8x64xf16, swizzle = 128> to !attn_tile.shared<16x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @tma_rows(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  // expected-error @below {{expected rows [from, to] in multiples of 8 up to 64, of one CTA, got [60, 64]}}
  attn_tile.copy_tma %map[%c0, %c0, %c0] to %t, %full[%c0] rows = [60, 64] : !attn_tile.tensor_map<64x64xf16, swizzle = 128> to !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @eviction(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  // expected-error @below {{expected evict_first or evict_last, got both}}
  attn_tile.copy_tma %map[%c0, %c0, %c0] to %t, %full[%c0] evict_first evict_last : !attn_tile.tensor_map<64x64xf16, swizzle = 128> to !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

// expected-error @below {{expected a box of 1 to 256 elements in each dimension, got 512 x 64}}
attn_tile.kernel @box(%map: !attn_tile.tensor_map<512x64xf16, swizzle = 128>) warps(4) {
  attn_tile.return
}

// -----

attn_tile.kernel @stages() warps(4) {
  // expected-error @below {{expected 1 to 64 stages, got 0}}
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<0, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @arrivals() warps(4) {
  // expected-error @below {{expected 1 to 2^20 - 1 arrivals, got 0}}
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 0>
  attn_tile.return
}

// -----

attn_tile.kernel @registers() warps(4) {
  // expected-error @below {{expected registers to be a multiple of 8 from 24 to 256, got 20}}
  attn_tile.roles producer(20) {
    %c0 = arith.constant 0 : index
  } consumer(240) {
  ^bb0(%warpgroup: index):
    %c0 = arith.constant 0 : index
  }
  attn_tile.return
}

// -----

attn_tile.kernel @registers_of_one() warps(4) {
  // expected-error @below {{expected registers to be a multiple of 8 from 24 to 256, got 0}}
  attn_tile.roles producer(24) {
    %c0 = arith.constant 0 : index
  } consumer {
  ^bb0(%warpgroup: index):
    %c0 = arith.constant 0 : index
  }
  attn_tile.return
}

// -----

attn_tile.kernel @consumer() warps(4) {
  // expected-error @below {{expected the consumer to take the number of its warpgroup, an index}}
  attn_tile.roles producer(24) {
    %c0 = arith.constant 0 : index
  } consumer(240) {
    %c0 = arith.constant 0 : index
  }
  attn_tile.return
}

// -----

attn_tile.kernel @warpgroup() warps(4) {
  %q = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  // expected-error @below {{expected a warpgroup with a shared tile, and only with one}}
  %s = attn_tile.mma_async %q, %q transpose_b : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @acc_type() warps(4) {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %acc = attn_tile.fill 0.0 : !attn_tile.fragment<64x32xf32, accumulator>
  // expected-error @below {{expected acc to be of type '!attn_tile.fragment<64x64xf32, accumulator>', got '!attn_tile.fragment<64x32xf32, accumulator>'}}
  %s = attn_tile.mma_async %q[%c0], %q transpose_b acc(%acc : !attn_tile.fragment<64x32xf32, accumulator>) : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @any() warps(4) {
  %acc = attn_tile.fill 0.0 : !attn_tile.fragment<64x32xf32, accumulator>
  // expected-error @below {{expected a row fragment, got '!attn_tile.fragment<64x32xf32, accumulator>'}}
  %any = attn_tile.any %acc : !attn_tile.fragment<64x32xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @store_shared() warps(4) {
  %q = attn_tile.alloc : !attn_tile.shared<64x32xf16, swizzle = 64>
  %acc = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // expected-error @below {{expected at most 32 columns, from a multiple of 16 on, got 64 from 0}}
  attn_tile.store_shared %acc to %q : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.shared<64x32xf16, swizzle = 64>
  attn_tile.return
}

// -----

attn_tile.kernel @store_shared_layout() warps(4) {
  %q = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %row = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, row>
  // expected-error @below {{expected an accumulator, got '!attn_tile.fragment<64xf32, row>'}}
  attn_tile.store_shared %row to %q : !attn_tile.fragment<64xf32, row> to !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @store_tma(%map: !attn_tile.tensor_map<128x64xf16, swizzle = 128>) warps(8) {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !attn_tile.shared<128x64xf16, swizzle = 128>
  // expected-error @below {{expected a tensor map of 64 rows of the tile's panels, '!attn_tile.tensor_map<64x64xf16, swizzle = 128>'}}
  attn_tile.store_tma %q[%c0] to %map[%c0, %c0, %c0] : !attn_tile.shared<128x64xf16, swizzle = 128> to !attn_tile.tensor_map<128x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @lookup() warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a vector of entries, got 'tensor<1x2xi32>'}}
  %n = attn_tile.lookup dense<[[0, 1]]> : tensor<1x2xi32>[%c0]
  attn_tile.return
}

// -----

attn_tile.kernel @load_row(%l: !attn_tile.global<?xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a row fragment of 'f16'}}
  %r = attn_tile.load_row %l[%c0] : !attn_tile.global<?xf16> -> !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @load_row_indices(%l: !attn_tile.global<?x?xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected the number of indices to be 2, got 1}}
  %r = attn_tile.load_row %l[%c0] : !attn_tile.global<?x?xf32> -> !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @update_rows(%c: i1) warps(4) {
  %row = attn_tile.fill 1.0 : !attn_tile.fragment<64xf32, row>
  // expected-error @below {{expected a fragment of f32 and what it has for each row, got}}
  %r = attn_tile.update_rows subtract %row, %row if %c : !attn_tile.fragment<64xf32, row>, !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @update_other_rows(%c: i1) warps(4) {
  %row = attn_tile.fill 1.0 : !attn_tile.fragment<64xf32, row>
  %acc = attn_tile.fill 1.0 : !attn_tile.fragment<128x16xf32, accumulator>
  // expected-error @below {{expected a fragment of f32 and what it has for each row, got '!attn_tile.fragment<128x16xf32, accumulator>' and '!attn_tile.fragment<64xf32, row>'}}
  %r = attn_tile.update_rows subtract %acc, %row if %c : !attn_tile.fragment<128x16xf32, accumulator>, !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @scale_rows() warps(4) {
  %row = attn_tile.fill 1.0 : !attn_tile.fragment<64xf32, row>
  %acc = attn_tile.fill 1.0 : !attn_tile.fragment<64x16xf32, accumulator>
  // expected-error @below {{expected an operand_a fragment and a row fragment}}
  %r = attn_tile.scale_rows %acc, %row : !attn_tile.fragment<64x16xf32, accumulator>, !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @scale_other_rows(%q: !attn_tile.global<?x64xf16>) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %a = attn_tile.load_operand %t : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf16, operand_a>
  %row = attn_tile.fill 1.0 : !attn_tile.fragment<32xf32, row>
  // expected-error @below {{expected rows of factor to be 64, got 32}}
  %r = attn_tile.scale_rows %a, %row : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.fragment<32xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @column(%d: !attn_tile.global<?xf32>, %t: !attn_tile.shared<1x64xf32, swizzle = 128>) warps(4) {
  // expected-error @below {{expected at most 64 columns, got 32 from 48}}
  %a = attn_tile.load_column %t {column = 48 : i64} : !attn_tile.shared<1x64xf32, swizzle = 128> -> !attn_tile.fragment<32xf32, column>
  attn_tile.return
}

// -----

attn_tile.kernel @row(%t: !attn_tile.shared<1x64xf32, swizzle = 128>) warps(4) {
  // expected-error @below {{expected a column fragment or an accumulator, got '!attn_tile.fragment<64xf32, row>'}}
  %a = attn_tile.load_column %t : !attn_tile.shared<1x64xf32, swizzle = 128> -> !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @tile(%t: !attn_tile.shared<8x64xf32, swizzle = 128>) warps(4) {
  // expected-error @below {{expected a tile of one row of f32, got '!attn_tile.shared<8x64xf32, swizzle = 128>'}}
  %a = attn_tile.load_column %t : !attn_tile.shared<8x64xf32, swizzle = 128> -> !attn_tile.fragment<64xf32, column>
  attn_tile.return
}

// -----

attn_tile.kernel @bulk(%d: !attn_tile.global<?xf32>, %t: !attn_tile.shared<8x64xf32, swizzle = 128>, %b: !attn_tile.mbarrier<1, arrivals = 1>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected one tile of one row, got '!attn_tile.shared<8x64xf32, swizzle = 128>'}}
  attn_tile.copy_bulk %d[%c0] to %t, %b[%c0] : !attn_tile.global<?xf32> to !attn_tile.shared<8x64xf32, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

// expected-error @below {{expected columns to be a multiple of 8, got 12}}
attn_tile.kernel @columns(%f: !attn_tile.fragment<12xf32, column>) warps(4) {
  attn_tile.return
}

// -----

attn_tile.kernel @transposed_operand(%b: !attn_tile.shared<64x64xf16, swizzle = 128>) warps(4) {
  %a = attn_tile.load_operand %b : !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf16, operand_a>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // expected-error @below {{expected a shared tile with transpose_a, got '!attn_tile.fragment<64x64xf16, operand_a>'}}
  %d = attn_tile.mma %a transpose_a, %b, %zero : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @transposed_rows(%a: !attn_tile.shared<64x128xf16, swizzle = 128>, %b: !attn_tile.shared<64x64xf16, swizzle = 128>) warps(4) {
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // expected-error @below {{expected rows of acc to be 128, got 64}}
  %d = attn_tile.mma %a transpose_a, %b, %zero : !attn_tile.shared<64x128xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @shared_transpose() warps(8) {
  %ds = attn_tile.fill 0.0 : !attn_tile.fragment<128x64xf32, accumulator>
  // expected-error @below {{expected rows to be 64, got 128}}
  %t = attn_tile.share %ds : !attn_tile.fragment<128x64xf32, accumulator> -> !attn_tile.shared<128x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @sums_type(%sums: !attn_tile.global<1x1x64x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %dq = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // expected-error @below {{expected sums in f32, got '!attn_tile.global<1x1x64x64xf16>'}}
  attn_tile.accumulate %dq to %sums[%c0, %c0, %c0] : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.global<1x1x64x64xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @sums_indices(%sums: !attn_tile.global<1x1x64x64xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  %dq = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // expected-error @below {{expected the number of indices to be 3, got 2}}
  attn_tile.accumulate %dq to %sums[%c0, %c0] : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.global<1x1x64x64xf32>
  attn_tile.return
}

// -----

attn_tile.kernel @sums_staging(%sums: !attn_tile.global<1x1x64x64xf32>, %wg: index) warps(4) {
  %c0 = arith.constant 0 : index
  %dq = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %staging = attn_tile.alloc : !attn_tile.shared<1x4096xf16, swizzle = 128>
  // expected-error @below {{expected staging to be one row of f32, got '!attn_tile.shared<1x4096xf16, swizzle = 128>'}}
  attn_tile.accumulate_bulk %dq through %staging[%wg] to %sums[%c0, %c0, %c0] : !attn_tile.fragment<64x64xf32, accumulator> through !attn_tile.shared<1x4096xf16, swizzle = 128> to !attn_tile.global<1x1x64x64xf32>
  attn_tile.return
}

// -----

attn_tile.kernel @sums_staging_size(%sums: !attn_tile.global<1x1x64x64xf32>, %wg: index) warps(4) {
  %c0 = arith.constant 0 : index
  %dq = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %staging = attn_tile.alloc : !attn_tile.shared<1x2048xf32, swizzle = 128>
  // expected-error @below {{expected columns of staging to be 4096, got 2048}}
  attn_tile.accumulate_bulk %dq through %staging[%wg] to %sums[%c0, %c0, %c0] : !attn_tile.fragment<64x64xf32, accumulator> through !attn_tile.shared<1x2048xf32, swizzle = 128> to !attn_tile.global<1x1x64x64xf32>
  attn_tile.return
}

// -----

attn_tile.kernel @transposed(%q: !attn_tile.global<?x64xf32>) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<16x64xf32, swizzle = 128>
  // expected-error @below {{expected elements of 16 bits with transpose, got 'f32'}}
  %a = attn_tile.load_operand %t transpose : !attn_tile.shared<16x64xf32, swizzle = 128> -> !attn_tile.fragment<64x16xf32, operand_a>
  attn_tile.return
}

// -----

attn_tile.kernel @transposed() warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<16x64xf16, swizzle = 128>
  // expected-error @below {{expected rows to be 64, got 16}}
  %a = attn_tile.load_operand %t transpose : !attn_tile.shared<16x64xf16, swizzle = 128> -> !attn_tile.fragment<16x64xf16, operand_a>
  attn_tile.return
}

// -----

// expected-error @+1 {{expected mapped and mapped_heads for each of the 1 tensor maps}}
attn_tile.kernel @maps(%q: !attn_tile.global<4x64xf16>, %m: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) attributes {
    mapped = array<i64: 0>} {
  attn_tile.return
}

// -----

// expected-error @+1 {{expected mapped to have numbers of tensors, got 1}}
attn_tile.kernel @maps(%q: !attn_tile.global<4x64xf16>, %m: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) attributes {
    mapped = array<i64: 1>, mapped_heads = array<i64: 1>} {
  attn_tile.return
}

// -----

attn_tile.kernel @pages(%p: !attn_tile.global<?x8x16x64xf16>, %t: !attn_tile.global<?x?xi32>, %i: index) warps(4) {
  // expected-error @below {{expected the number of rows with pages}}
  %l = attn_tile.load %p[%i, %i, %i] pages(%t : !attn_tile.global<?x?xi32>) : !attn_tile.global<?x8x16x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @first(%k: !attn_tile.global<?x8x?x64xf16>, %i: index) warps(4) {
  // expected-error @below {{expected the number of rows with a first one}}
  %l = attn_tile.load %k[%i, %i, %i] from(%i) : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @page_size(%p: !attn_tile.global<?x8x?x64xf16>, %t: !attn_tile.global<?x?xi32>, %i: index) warps(4) {
  // expected-error @below {{expected a pool of rank 4 with a static page size, got '!attn_tile.global<?x8x?x64xf16>'}}
  %l = attn_tile.load %p[%i, %i, %i] pages(%t : !attn_tile.global<?x?xi32>) rows(%i) : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @table(%p: !attn_tile.global<?x8x16x64xf16>, %t: !attn_tile.global<?xi32>, %i: index) warps(4) {
  // expected-error @below {{expected a table of rank 2 of i32 or i64, got '!attn_tile.global<?xi32>'}}
  %l = attn_tile.load %p[%i, %i, %i] pages(%t : !attn_tile.global<?xi32>) rows(%i) : !attn_tile.global<?x8x16x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @counted(%p: !attn_tile.global<?x8x?x64xf16>, %i: index) warps(4) {
  // expected-error @below {{expected one head of a tile whose rows are counted, got 2}}
  %l = attn_tile.load %p[%i, %i, %i] rows(%i) {heads = 2 : i64} : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @sizes(%g: !attn_tile.global<?x4xi64>) warps(1) {
  // expected-error @+1 {{expected a dimension from 0 to 1, got 2}}
  %x = attn_tile.dim %g, 2 : !attn_tile.global<?x4xi64>
  attn_tile.return
}

// -----

attn_tile.kernel @sizes(%g: !attn_tile.global<?x4xi64>) warps(1) {
  // expected-error @+1 {{expected a dimension from 0 to 1, got -1}}
  %x = attn_tile.dim %g, -1 : !attn_tile.global<?x4xi64>
  attn_tile.return
}

// -----

attn_tile.kernel @elements(%g: !attn_tile.global<?x4xi64>, %i: !attn_tile.global<?xi64>) warps(1) {
  %c0 = arith.constant 0 : i64
  // expected-error @+1 {{expected the number of indices to be 2, got 1}}
  %x = attn_tile.extract %g[%c0] : !attn_tile.global<?x4xi64>
  attn_tile.return
}

// -----

attn_tile.kernel @elements(%g: !attn_tile.global<?xi64>) warps(1) {
  %c0 = arith.constant 0 : i64
  // expected-error @+1 {{expected the number of indices to be 1, got 2}}
  attn_tile.insert %c0, %g[%c0, %c0] : !attn_tile.global<?xi64>
  attn_tile.return
}

// -----

attn_tile.kernel @elements(%g: !attn_tile.global<?xi64>) warps(1) {
  %c0 = arith.constant 0 : i64
  // expected-error @+1 {{expected the number of indices to be 1, got 0}}
  attn_tile.atomic_add %c0, %g[] : !attn_tile.global<?xi64>
  attn_tile.return
}

// -----

attn_tile.kernel @columns_of_operand(%f: !attn_tile.fragment<16x64xf16, operand_a>) warps(1) {
  // expected-error @below {{expected accumulators of one element type and as many rows, got '!attn_tile.fragment<16x64xf16, operand_a>' and '!attn_tile.fragment<16x32xf16, operand_a>'}}
  %part = attn_tile.fragment_columns %f : !attn_tile.fragment<16x64xf16, operand_a> -> !attn_tile.fragment<16x32xf16, operand_a>
  attn_tile.return
}

// -----

attn_tile.kernel @columns_beyond(%f: !attn_tile.fragment<16x64xf32, accumulator>) warps(1) {
  // expected-error @below {{expected columns from a multiple of 16 on, of 64, got 32 from 48}}
  %part = attn_tile.fragment_columns %f {column = 48 : i64} : !attn_tile.fragment<16x64xf32, accumulator> -> !attn_tile.fragment<16x32xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @store_tma_column(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  // expected-error @below {{expected a column from 0 on, got -64}}
  attn_tile.store_tma %q[%c0] to %map[%c0, %c0, %c0] {column = -64 : i64} : !attn_tile.shared<64x64xf16, swizzle = 128> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
  attn_tile.return
}
