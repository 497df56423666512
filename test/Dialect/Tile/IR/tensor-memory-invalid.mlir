// RUN: attn-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 2 static dimensions, got 1}}
func.func private @rank(!attn_tile.tensor<128xf32>)

// -----

// expected-error @below {{expected f32, i32, f16, bf16, f8E4M3FN, f8E5M2 or i8 elements, got 'f64'}}
func.func private @element(!attn_tile.tensor<128x64xf64>)

// -----

// expected-error @below {{expected 128 rows for each of up to 4 warpgroups, got 64}}
func.func private @rows(!attn_tile.tensor<64x64xf32>)

// -----

// expected-error @below {{expected 16 to 256 columns by 16, got 24}}
func.func private @columns(!attn_tile.tensor<128x24xf32>)

// -----

// expected-error @below {{expected 32 to 256 columns by 32, got 48}}
func.func private @columns_of_bytes(!attn_tile.tensor<128x48xf8E5M2>)

// -----

attn_tile.kernel @none() warps(4) {
  // expected-error @below {{expected at least one tile, got none}}
  "attn_tile.alloc_tensors"() : () -> ()
  attn_tile.return
}

// -----

attn_tile.kernel @too_many() warps(8) {
  // expected-error @below {{expected at most 512 columns of tensor memory, got tiles that need 1024}}
  %a, %b = attn_tile.alloc_tensors : !attn_tile.tensor<256x256xf32>, !attn_tile.tensor<256x16xf32>
  attn_tile.return
}

// -----

attn_tile.kernel @part() warps(4) {
  %a, %b = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>, !attn_tile.tensor<128x16xf32>
  // expected-error @below {{expected all tiles of one alloc_tensors, in order}}
  attn_tile.free_tensors %b : !attn_tile.tensor<128x16xf32>
  attn_tile.return
}

// -----

attn_tile.kernel @store_f32(%f: !attn_tile.fragment<128x64xf32, operand_a>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected the source to be '!attn_tile.fragment<128x64xf32, accumulator>' or '!attn_tile.fragment<128x64xf32, lane_row>', got '!attn_tile.fragment<128x64xf32, operand_a>'}}
  attn_tile.store_tensor %f to %t[%g] : !attn_tile.fragment<128x64xf32, operand_a> to !attn_tile.tensor<128x64xf32>
  attn_tile.return
}

// -----

attn_tile.kernel @store_other(%f: !attn_tile.fragment<128x64xbf16, operand_a>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf16>
  // expected-error @below {{expected the source to be '!attn_tile.fragment<128x64xf16, operand_a>' or '!attn_tile.fragment<128x64xf16, lane_row>', got '!attn_tile.fragment<128x64xbf16, operand_a>'}}
  attn_tile.store_tensor %f to %t[%g] : !attn_tile.fragment<128x64xbf16, operand_a> to !attn_tile.tensor<128x64xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @narrow_other(%g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected an f32 or i32 tile as one of 16 or 8 bits of its shape, got '!attn_tile.tensor<128x64xf32>' and '!attn_tile.tensor<128x32xf16>'}}
  %p = attn_tile.narrow_tensor %t[%g] : !attn_tile.tensor<128x64xf32> -> !attn_tile.tensor<128x32xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @load_f16(%g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf16>
  // expected-error @below {{expected a tile of f32 or i32, got '!attn_tile.tensor<128x64xf16>'}}
  %f = attn_tile.load_tensor %t[%g] : !attn_tile.tensor<128x64xf16> -> !attn_tile.fragment<128x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @load_other(%g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected the result to be '!attn_tile.fragment<128x64xf32, accumulator>' or '!attn_tile.fragment<128x64xf32, lane_row>', got '!attn_tile.fragment<128x64xf32, quads>'}}
  %f = attn_tile.load_tensor %t[%g] : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128x64xf32, quads>
  attn_tile.return
}

// -----

attn_tile.kernel @load_columns(%g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected at most 64 columns, got 32 from 48}}
  %f = attn_tile.load_tensor %t[%g] {column = 48 : i64} : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128x32xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @load_row(%g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected an accumulator or an operand, got '!attn_tile.fragment<128xf32, row>'}}
  %f = attn_tile.load_tensor %t[%g] : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @load_acc(%a: !attn_tile.fragment<128x32xf32, accumulator>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected acc to be of type '!attn_tile.fragment<128x64xf32, accumulator>', got '!attn_tile.fragment<128x32xf32, accumulator>'}}
  %f = attn_tile.load_tensor %t[%g] acc(%a : !attn_tile.fragment<128x32xf32, accumulator>)
      : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128x64xf32, accumulator>
  attn_tile.return
}

// -----

attn_tile.kernel @tf32(%q: !attn_tile.shared<128x32xf32, swizzle = 128>, %k: !attn_tile.shared<64x32xf32, swizzle = 128>, %m: !attn_tile.mbarrier<1, arrivals = 1>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected operands of i8, f16, bf16, f8E4M3FN or f8E5M2, got '!attn_tile.shared<64x32xf32, swizzle = 128>'}}
  attn_tile.mma_tensor %q, %k transpose_b into %t[%g], %m : !attn_tile.shared<128x32xf32, swizzle = 128>, !attn_tile.shared<64x32xf32, swizzle = 128> into !attn_tile.tensor<128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @sum16(%q: !attn_tile.shared<128x64xf16, swizzle = 128>, %k: !attn_tile.shared<64x64xf16, swizzle = 128>, %m: !attn_tile.mbarrier<1, arrivals = 1>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf16>
  // expected-error @below {{expected a tile of 'f32', got '!attn_tile.tensor<128x64xf16>'}}
  attn_tile.mma_tensor %q, %k transpose_b into %t[%g], %m : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> into !attn_tile.tensor<128x64xf16>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @elements(%q: !attn_tile.shared<128x64xbf16, swizzle = 128>, %k: !attn_tile.shared<64x64xf16, swizzle = 128>, %m: !attn_tile.mbarrier<1, arrivals = 1>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected a and b of one element type, or of 8-bit floats, got 'bf16' and 'f16'}}
  attn_tile.mma_tensor %q, %k transpose_b into %t[%g], %m : !attn_tile.shared<128x64xbf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> into !attn_tile.tensor<128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @shape(%q: !attn_tile.shared<128x64xf16, swizzle = 128>, %k: !attn_tile.shared<32x64xf16, swizzle = 128>, %m: !attn_tile.mbarrier<1, arrivals = 1>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected a tile of 128 x 32, got '!attn_tile.tensor<128x64xf32>'}}
  attn_tile.mma_tensor %q, %k transpose_b into %t[%g], %m : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<32x64xf16, swizzle = 128> into !attn_tile.tensor<128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

// Of a pair each CTA has half of the columns.
attn_tile.kernel @pair(%q: !attn_tile.shared<128x64xf16, swizzle = 128>, %k: !attn_tile.shared<64x64xf16, swizzle = 128>, %m: !attn_tile.mbarrier<1, arrivals = 1>, %g: index)
    warps(4) attributes {cluster_ctas = 2 : i64, cta_pairs} {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected a tile of 128 x 128, got '!attn_tile.tensor<128x64xf32>'}}
  attn_tile.mma_tensor %q, %k transpose_b into %t[%g], %m : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> into !attn_tile.tensor<128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @depth(%q: !attn_tile.shared<128x64xf16, swizzle = 128>, %k: !attn_tile.shared<64x128xf16, swizzle = 128>, %m: !attn_tile.mbarrier<1, arrivals = 1>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected a and b to have one depth, a multiple of 16, got 64 and 128}}
  attn_tile.mma_tensor %q, %k transpose_b into %t[%g], %m : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<64x128xf16, swizzle = 128> into !attn_tile.tensor<128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @depth_of_bytes(%q: !attn_tile.shared<128x64xf8E5M2, swizzle = 64>, %v: !attn_tile.shared<48x64xf8E5M2, swizzle = 64>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected a and b to have one depth, a multiple of 32, got 64 and 48}}
  attn_tile.mma_tensor %q, %v into %t[%g] : !attn_tile.shared<128x64xf8E5M2, swizzle = 64>, !attn_tile.shared<48x64xf8E5M2, swizzle = 64> into !attn_tile.tensor<128x64xf32>
  attn_tile.return
}

// -----

attn_tile.kernel @barrier(%q: !attn_tile.shared<128x64xf16, swizzle = 128>, %k: !attn_tile.shared<64x64xf16, swizzle = 128>, %m: !attn_tile.mbarrier<2, arrivals = 1>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected a barrier of one arrival for each of 1 warpgroups, got '!attn_tile.mbarrier<2, arrivals = 1>'}}
  attn_tile.mma_tensor %q, %k transpose_b into %t[%g], %m : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> into !attn_tile.tensor<128x64xf32>, !attn_tile.mbarrier<2, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @scale_f16(%f: !attn_tile.fragment<128xf32, row>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf16>
  // expected-error @below {{expected a tile of f32, got '!attn_tile.tensor<128x64xf16>'}}
  attn_tile.scale_tensor %t[%g] by %f : !attn_tile.tensor<128x64xf16>, !attn_tile.fragment<128xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @scale_rows(%f: !attn_tile.fragment<64xf32, row>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected an f32 for each of the 128 rows, got '!attn_tile.fragment<64xf32, row>'}}
  attn_tile.scale_tensor %t[%g] by %f : !attn_tile.tensor<128x64xf32>, !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @store_beyond(%f: !attn_tile.fragment<128x32xf16, operand_a>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf16>
  // expected-error @below {{expected at most 64 columns, got 32 from 64}}
  attn_tile.store_tensor %f to %t[%g] {column = 64 : i64} : !attn_tile.fragment<128x32xf16, operand_a> to !attn_tile.tensor<128x64xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @store_between(%f: !attn_tile.fragment<128x32xf16, operand_a>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf16>
  // expected-error @below {{expected columns from a multiple of 32 on, got 16}}
  attn_tile.store_tensor %f to %t[%g] {column = 16 : i64} : !attn_tile.fragment<128x32xf16, operand_a> to !attn_tile.tensor<128x64xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @part_of_product(%a: !attn_tile.shared<128x64xf16, swizzle = 128>, %b: !attn_tile.shared<64x64xf16, swizzle = 128>, %g: index) warps(4) {
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  // expected-error @below {{expected depth [from, to] in multiples of 16 up to 64, got [48, 80]}}
  attn_tile.mma_tensor %a, %b transpose_b into %t[%g] depth = [48, 80]
      : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> into !attn_tile.tensor<128x64xf32>
  attn_tile.return
}
