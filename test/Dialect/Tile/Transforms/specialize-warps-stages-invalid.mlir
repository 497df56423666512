// RUN: attn-opt %s --verify-diagnostics --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=65}))'

!global = !attn_tile.global<?x8x?x64xf16>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!operand = !attn_tile.fragment<64x64xf16, operand_a>
!scores = !attn_tile.fragment<64x64xf32, accumulator>

// expected-error @below {{expected 1 to 64 stages, got 65}}
attn_tile.kernel @stages(%q: !global, %k: !global) warps(4) attributes {schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = attn_tile.dim %k, 2 : !global
  %zero = attn_tile.fill 0.0 : !scores
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !tile
  %qa = attn_tile.load_operand %qt : !tile -> !operand
  %a = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!scores) {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !global -> !tile
    %s = attn_tile.mma %qa, %kt transpose_b, %acc : !operand, !tile, !scores
    scf.yield %s : !scores
  }
  attn_tile.return
}
