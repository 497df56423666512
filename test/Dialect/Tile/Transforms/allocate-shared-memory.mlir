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

// A tile is aligned to eight rows of its panels; the most aligned come first.
// CHECK-LABEL: attn_tile.kernel @no_gaps
// CHECK-SAME: shared_bytes = 4608
attn_tile.kernel @no_gaps() warps(4) {
  // CHECK: attn_tile.alloc {offset = 4096 : i64}
  %a = attn_tile.alloc : !attn_tile.shared<16x16xf16, swizzle = 32>
  // CHECK: attn_tile.alloc {offset = 0 : i64}
  %b = attn_tile.alloc : !attn_tile.shared<2x16x64xf16, swizzle = 128>
  attn_tile.return
}

// -----

// expected-error @below {{expected at most 40000 bytes of shared memory, got 65536: choose a smaller tile_n, tile_m or stages}}
attn_tile.kernel @too_much() warps(4) {
  %a = attn_tile.alloc : !attn_tile.shared<4x64x128xf16, swizzle = 128>
  attn_tile.return
}
