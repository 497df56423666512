// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @load(%q: !attn_tile.global<?x8x?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected heads to divide the 64 rows of the tile, got 3}}
  %t = attn_tile.load %q[%c0, %c0, %c0] {heads = 3 : i64} : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

attn_tile.kernel @head(%q: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected an index of the first head}}
  %t = attn_tile.load %q[%c0] {heads = 2 : i64} : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}
