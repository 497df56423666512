// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2}),canonicalize,cse)' | FileCheck %s

// Keys in pages of 32, values in pages of 128, by one table or two: maps of 32 and of 64 rows, and the entries of a tile before its wait. The
// entry behind the length is that of the last page with a key, whose number becomes -1; those of 64 bits are cut to 31.

!pool32 = !attn_tile.global<?x8x32x64xf16>
!pool128 = !attn_tile.global<?x8x128x64xf16>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!operand = !attn_tile.fragment<64x64xf16, operand_a>
!acc = !attn_tile.fragment<64x64xf32, accumulator>

// CHECK-LABEL: attn_tile.kernel @pages
// CHECK-SAME: %[[T:[a-z0-9]+]]: !attn_tile.global<?x?xi32>, %[[U:[a-z0-9]+]]: !attn_tile.global<?x?xi64>
// CHECK-SAME: %[[KMAP:[a-z0-9]+]]: !attn_tile.tensor_map<32x64xf16, swizzle = 128>, %[[VMAP:[a-z0-9]+]]: !attn_tile.tensor_map<64x64xf16, swizzle = 128>
// CHECK: attn_tile.roles
// CHECK: scf.for %[[N:[a-z0-9]+]] = %c0
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[N]]
// CHECK: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK: %[[COLUMN:.*]] = arith.divui %[[N]], %c32
// CHECK: attn_tile.extract %[[T]]
// CHECK: %[[LAST:.*]] = arith.subi %[[ROWS]], %c1
// CHECK: %[[LASTPAGE:.*]] = arith.divui %[[LAST]], %c32
// CHECK: %[[IN:.*]] = arith.minui %[[LASTPAGE]], %c1
// CHECK: %[[EXISTS:.*]] = arith.cmpi ugt, %[[ROWS]], %c32
// CHECK: attn_tile.extract %[[T]]
// CHECK: %[[SECOND:.*]] = arith.select %[[EXISTS]], %{{.*}}, %c-1
// CHECK: attn_tile.mbarrier_wait
// CHECK: attn_tile.copy_tma %[[KMAP]][%c0, %c0] pages(%{{.*}}, %[[SECOND]]) to
// CHECK: %[[VCOLUMN:.*]] = arith.divui %[[N]], %c128
// CHECK: %[[ENTRY:.*]] = attn_tile.extract %[[U]]
// CHECK: arith.minui %[[ENTRY]], %c2147483647_i64
// CHECK: %[[ROW:.*]] = arith.remui %[[N]], %c128
// CHECK: attn_tile.mbarrier_wait
// CHECK: attn_tile.copy_tma %[[VMAP]][%c0, %[[ROW]]] pages(%{{[^,]*}}) to
attn_tile.kernel @pages(%q: !attn_tile.global<?x8x?x64xf16>, %k: !pool32, %v: !pool128, %t: !attn_tile.global<?x?xi32>, %u: !attn_tile.global<?x?xi64>, %o: !attn_tile.global<?x8x?x64xf16>, %end: index) warps(4) attributes {
    forward, schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = attn_tile.fill 0.0 : !acc
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !attn_tile.global<?x8x?x64xf16> -> !tile
  %all = scf.for %n = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!acc) {
    %left = arith.subi %end, %n : index
    %rows = arith.minsi %left, %c64 : index
    %kt = attn_tile.load %k[%c0, %c0, %n] pages(%t : !attn_tile.global<?x?xi32>) rows(%rows) : !pool32 -> !tile
    %vt = attn_tile.load %v[%c0, %c0, %n] pages(%u : !attn_tile.global<?x?xi64>) rows(%rows) : !pool128 -> !tile
    %s = attn_tile.mma %qt, %kt transpose_b, %zero : !tile, !tile, !acc
    %p = attn_tile.to_operand %s : !acc -> !operand
    %next = attn_tile.mma %p, %vt, %acc : !operand, !tile, !acc
    scf.yield %next : !acc
  }
  attn_tile.store %all, %o[%c0, %c0, %c0] : !acc, !attn_tile.global<?x8x?x64xf16>
  attn_tile.return
}
