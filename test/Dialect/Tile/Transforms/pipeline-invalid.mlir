// RUN: attn-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pipeline))'

// expected-error @below {{expected key loops with attn_tile.load}}
attn_tile.kernel @nothing() warps(4) {
  attn_tile.return
}

// -----

attn_tile.kernel @row(%k: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    // expected-error @below {{expected indices that are computed from the loop's induction variable}}
    %kt = attn_tile.load %k[%c0] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

attn_tile.kernel @gap(%k: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  // expected-error @below {{expected to start where the loop before it ends}}
  scf.for %n = %c128 to %c128 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

attn_tile.kernel @count(%k: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  // expected-error @below {{expected 1 loads as in the first loop, got 2}}
  scf.for %n = %c64 to %c64 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
    %vt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

attn_tile.kernel @tile(%k: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  scf.for %n = %c64 to %c64 step %c64 {
    // expected-error @below {{expected the same tile as in the first loop}}
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<32x64xf16, swizzle = 128>
  }
  attn_tile.return
}
