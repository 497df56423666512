// RUN: attn-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps))'

// expected-error @below {{expected key loops with attn_tile.load}}
attn_tile.kernel @nothing() warps(4) attributes {schedule = #attn.schedule<mma = "wgmma">} {
  attn_tile.return
}

// -----

// expected-error @below {{cannot be made of wgmma and TMA: expected warps to be 4 for each of up to 3 warpgroups, got 2}}
attn_tile.kernel @warps(%k: !attn_tile.global<?x?x?x64xf16>) warps(2) attributes {schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !attn_tile.global<?x?x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

// expected-error @below {{expected tiles of 64 rows to be up to 8 pages of a multiple of 8 rows, or a part of one, got pages of 48}}
attn_tile.kernel @pages(%k: !attn_tile.global<?x?x48x64xf16>, %t: !attn_tile.global<?x?xi32>) warps(4) attributes {schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%c0, %c0, %n] pages(%t : !attn_tile.global<?x?xi32>) rows(%c64) : !attn_tile.global<?x?x48x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

// expected-error @below {{expected tiles of at most 256 whole rows of 4-dimensional operands}}
attn_tile.kernel @rank(%k: !attn_tile.global<?x64xf16>) warps(4) attributes {schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

// expected-error @below {{expected 64 rows for each 4 warps, got 128 for 4}}
attn_tile.kernel @rows(%k: !attn_tile.global<?x?x?x64xf16>) warps(4) attributes {schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<128x128xf32, accumulator>
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !attn_tile.global<?x?x?x64xf16> -> !attn_tile.shared<128x64xf16, swizzle = 128>
    %s = attn_tile.mma %kt, %kt transpose_b, %zero : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.fragment<128x128xf32, accumulator>
  }
  attn_tile.return
}

// -----

// expected-error @below {{expected a schedule, whose mma says what products are made of, got none}}
attn_tile.kernel @none(%k: !attn_tile.global<?x?x?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !attn_tile.global<?x?x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

// expected-error @below {{cannot be made of mma_sync and TMA: expected tiles of at most 256 rows of 4-dimensional operands}}
attn_tile.kernel @mma_sync_rank(%k: !attn_tile.global<?x64xf16>) warps(4) attributes {schedule = #attn.schedule<mma = "mma_sync", producer_warps = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%n] : !attn_tile.global<?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

// expected-error @below {{cannot be made of mma_sync and TMA: expected a query that stays as it was loaded}}
attn_tile.kernel @changed(%k: !attn_tile.global<?x?x?x64xf16>) warps(4) attributes {schedule = #attn.schedule<mma = "mma_sync", producer_warps = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %q = attn_tile.load %k[%c0, %c0, %c0] : !attn_tile.global<?x?x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.change_rows %q : !attn_tile.shared<64x64xf16, swizzle = 128> {
  ^bb0(%row: index):
  }
  scf.for %n = %c0 to %c64 step %c64 {
    %kt = attn_tile.load %k[%c0, %c0, %n] : !attn_tile.global<?x?x?x64xf16> -> !attn_tile.shared<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}
