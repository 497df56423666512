// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @ring() warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  // expected-error @+1 {{expected a tile of elements of 16 bits or more, got '!attn_tile.shared<2x64x64xf16, swizzle = 128>'}}
  attn_tile.change_rows %t : !attn_tile.shared<2x64x64xf16, swizzle = 128> {
  ^bb0(%row: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @none() warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  // expected-error @+1 {{expected arguments of type index, got}}
  attn_tile.change_rows %t : !attn_tile.shared<64x64xf16, swizzle = 128> {
  ^bb0(%row: i32):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @rows() warps(4) {
  %t = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  // expected-error @+1 {{expected rows for each of 4 warps, 3 at once, got 64}}
  attn_tile.change_rows %t : !attn_tile.shared<64x64xf16, swizzle = 128> {
  ^bb0(%a: index, %b: index, %c: index):
  }
  attn_tile.return
}
