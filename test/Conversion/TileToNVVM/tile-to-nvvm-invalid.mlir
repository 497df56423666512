// RUN: attn-opt %s --convert-attn-tile-to-nvvm --split-input-file --verify-diagnostics

attn_tile.kernel @math() warps(1) {
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16xf32, row>
  %p = attn_tile.map %zero : (!attn_tile.fragment<16xf32, row>) -> !attn_tile.fragment<16xf32, row> {
  ^bb0(%x: f32, %i: i32):
    // expected-error @below {{expected an integer's absi or a function of f32 that is computed on a GPU}}
    %e = math.ctlz %i : i32
    %f = arith.sitofp %e : i32 to f32
    attn_tile.yield %f : f32
  }
  attn_tile.return
}

// -----

attn_tile.kernel @allocation() warps(1) {
  // expected-error @below {{failed to legalize operation 'attn_tile.alloc'}}
  %t = attn_tile.alloc : !attn_tile.shared<16x64xbf16, swizzle = 128>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, accumulator>
  %s = attn_tile.mma %t, %t transpose_b, %zero : !attn_tile.shared<16x64xbf16, swizzle = 128>, !attn_tile.shared<16x64xbf16, swizzle = 128>, !attn_tile.fragment<16x16xf32, accumulator>
  attn_tile.return
}

// -----

// Only what reads its product from tensor memory has it as an accumulator.
attn_tile.kernel @accumulator() warps(1) {
  %p = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<16x64xf8E4M3FN, swizzle = 64>
  %v = attn_tile.alloc {offset = 1024 : i64} : !attn_tile.shared<64x32xf8E4M3FN, swizzle = 32>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x32xf32, accumulator>
  // expected-error @below {{failed to legalize operation 'attn_tile.mma'}}
  %o = attn_tile.mma %p, %v, %zero : !attn_tile.shared<16x64xf8E4M3FN, swizzle = 64>, !attn_tile.shared<64x32xf8E4M3FN, swizzle = 32>, !attn_tile.fragment<16x32xf32, accumulator>
  attn_tile.return
}
