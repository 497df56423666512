// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @ring(%rows: index) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  // expected-error @+1 {{expected a tile of rows of 16-bit or 8-bit elements, got '!attn_tile.shared<2x64x64xf16, swizzle = 128>'}}
  attn_tile.clear_rows %t from %rows : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @words(%rows: index) warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf32, swizzle = 128>
  // expected-error @+1 {{expected a tile of rows of 16-bit or 8-bit elements, got '!attn_tile.shared<64x64xf32, swizzle = 128>'}}
  attn_tile.clear_rows %t from %rows : !attn_tile.shared<64x64xf32, swizzle = 128>
  attn_tile.return
}
