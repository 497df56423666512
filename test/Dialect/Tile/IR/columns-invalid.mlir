// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @rows() warps(1) {
  %c = arith.constant 0 : index
  %k = attn_tile.alloc : !attn_tile.shared<16x576xf16, swizzle = 128>
  // expected-error @+1 {{expected a tile with the rows, elements and swizzle of the other, got '!attn_tile.shared<16x576xf16, swizzle = 128>' and '!attn_tile.shared<32x256xf16, swizzle = 128>'}}
  %v = attn_tile.columns %k[%c] : !attn_tile.shared<16x576xf16, swizzle = 128> to !attn_tile.shared<32x256xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @panels() warps(1) {
  %c = arith.constant 32 : index
  %k = attn_tile.alloc : !attn_tile.shared<16x576xf16, swizzle = 128>
  // expected-error @+1 {{expected whole panels of 64 columns, got 32 and 256}}
  %v = attn_tile.columns %k[%c] : !attn_tile.shared<16x576xf16, swizzle = 128> to !attn_tile.shared<16x256xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @end() warps(1) {
  %c = arith.constant 384 : index
  %k = attn_tile.alloc : !attn_tile.shared<16x576xf16, swizzle = 128>
  // expected-error @+1 {{expected at most 576 columns, got up to 640}}
  %v = attn_tile.columns %k[%c] : !attn_tile.shared<16x576xf16, swizzle = 128> to !attn_tile.shared<16x256xf16, swizzle = 128>
  attn_tile.return
}
