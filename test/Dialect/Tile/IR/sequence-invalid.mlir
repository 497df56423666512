// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @f(%p: !attn_tile.global<?x?x?x?xf16>, %n: index) warps(4) {
  // expected-error @+1 {{expected a tensor [rows, H, D], [H, rows] or [rows], got '!attn_tile.global<?x?x?x?xf16>'}}
  %q = attn_tile.sequence %p[%n] rows(%n) : <?x?x?x?xf16> -> <1x?xf16>
  attn_tile.return
}

// -----

attn_tile.kernel @f(%p: !attn_tile.global<?x8x64xf16>, %n: index) warps(4) {
  // expected-error @+1 {{expected a view of type '!attn_tile.global<1x8x?x64xf16>', got '!attn_tile.global<1x4x?x64xf16>'}}
  %q = attn_tile.sequence %p[%n] rows(%n) : <?x8x64xf16> -> <1x4x?x64xf16>
  attn_tile.return
}
