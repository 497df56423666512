// RUN: attn-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-allocate-shared-memory{limit=40000}))' | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @two
// CHECK-SAME: shared_bytes = 24576
attn_tile.kernel @two() warps(4) {
  // CHECK: attn_tile.alloc {offset = 0 : i64}
  %a = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  // CHECK: attn_tile.alloc {offset = 8192 : i64}
  %b = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

// expected-error @below {{expected at most 40000 bytes of shared memory, got 65536: choose a smaller tile_n, tile_m or stages}}
attn_tile.kernel @too_much() warps(4) {
  %a = attn_tile.alloc : !attn_tile.shared<4x64x128xf16, swizzle = 128>
  attn_tile.return
}
