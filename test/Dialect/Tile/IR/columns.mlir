// RUN: attn-opt %s | attn-opt | FileCheck %s
// CHECK: attn_tile.columns %{{.*}}[%{{.*}}] : <16x576xf16, swizzle = 128> to <16x256xf16, swizzle = 128>
attn_tile.kernel @columns() warps(1) {
  %c = arith.constant 256 : index
  %k = attn_tile.alloc : !attn_tile.shared<16x576xf16, swizzle = 128>
  %v = attn_tile.columns %k[%c] : !attn_tile.shared<16x576xf16, swizzle = 128> to !attn_tile.shared<16x256xf16, swizzle = 128>
  attn_tile.return
}
