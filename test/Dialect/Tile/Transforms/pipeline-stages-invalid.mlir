// RUN: attn-opt %s --verify-diagnostics --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pipeline{stages=-1}))'
// RUN: not attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pipeline{stages=2139095040}))' 2>&1 | FileCheck %s
// CHECK: error: 'attn_tile.kernel' op expected 1 to 64 stages, got 2139095040

// expected-error @below {{expected 1 to 64 stages, got -1}}
attn_tile.kernel @stages(%k: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}
