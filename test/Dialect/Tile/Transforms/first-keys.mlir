// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2}),canonicalize,cse)' | FileCheck %s
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2},attn-tile-overlap-softmax),canonicalize,cse)' | FileCheck %s --check-prefix=OVERLAP
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pipeline{stages=2}),canonicalize,cse)' | FileCheck %s --check-prefix=PIPELINE

// Whole tiles up to %middle, all of which rows see, then those of which they see keys from %first to %end: of these pages left of %first are
// not looked up, and rows of V cleared on both sides.

!pool = !attn_tile.global<?x8x32x64xf16>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!operand = !attn_tile.fragment<64x64xf16, operand_a>
!acc = !attn_tile.fragment<64x64xf32, accumulator>
!row = !attn_tile.fragment<64xf32, row>

// CHECK-LABEL: attn_tile.kernel @window
// CHECK: attn_tile.roles
// CHECK: scf.for %[[N:[a-z0-9]+]] = %c0
// CHECK-DAG: %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[N]]
// CHECK-DAG: %[[MISSING:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: %[[HERE:.*]] = arith.select %{{.*}}, %c0, %[[MISSING]]
// CHECK: %[[PAGE:.*]] = arith.divui %[[HERE]], %c32
// CHECK: %[[IN:.*]] = arith.minui %[[PAGE]], %{{.*}}
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[IN]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi eq, %[[IN]], %c0
// CHECK: %[[FIRST:.*]] = arith.select %[[EXISTS]], %{{.*}}, %c-1
// CHECK: %[[EXISTS:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: %[[SECOND:.*]] = arith.select %[[EXISTS]], %{{.*}}, %c-1
// CHECK: attn_tile.copy_tma %{{.*}} pages(%[[FIRST]], %[[SECOND]]) to
// CHECK: consumer(
// CHECK: scf.for
// CHECK-NOT: clear_rows
// CHECK: scf.for %[[N:[a-z0-9]+]] = %
// CHECK-DAG: %[[LEFT:.*]] = arith.minsi %{{.*}}, %c64
// CHECK-DAG: %[[MISSING:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: attn_tile.mma_async {{.*}} transpose_b
// CHECK: attn_tile.clear_rows %{{.*}} from %[[LEFT]] before %[[MISSING]] : <64x64xf16, swizzle = 128>
// CHECK-NEXT: attn_tile.mma_async
// CHECK-NOT: clear_rows

// OVERLAP-LABEL: attn_tile.kernel @window
// OVERLAP: %[[FIRST:[a-z0-9]+]]:2 = scf.if %{{.*}} -> (index, index) {
// OVERLAP-NEXT: scf.yield %c64, %c0
// OVERLAP: attn_tile.clear_rows %{{.*}} from %[[FIRST]]#0 before %[[FIRST]]#1
// OVERLAP: scf.for
// OVERLAP-NOT: clear_rows
// OVERLAP: scf.for
// OVERLAP: attn_tile.clear_rows %{{.*}} from %{{.*}} before

// PIPELINE-LABEL: attn_tile.kernel @window
// PIPELINE: attn_tile.copy_async %{{.*}} pages(%{{.*}}) rows(%{{.*}}) from(%{{.*}}) to
attn_tile.kernel @window(%q: !attn_tile.global<?x8x?x64xf16>, %k: !pool, %v: !pool, %t: !attn_tile.global<?x?xi32>, %o: !attn_tile.global<?x8x?x64xf16>, %middle: index, %first: index, %end: index) warps(4) attributes {
    forward, schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = attn_tile.fill 0.0 : !acc
  %max0 = attn_tile.fill 0xFF800000 : !row
  %sum0 = attn_tile.fill 0.0 : !row
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !attn_tile.global<?x8x?x64xf16> -> !tile
  %whole:3 = scf.for %n = %c0 to %middle step %c64 iter_args(%acc = %zero, %max = %max0, %sum = %sum0) -> (!acc, !row, !row) {
    %kt = attn_tile.load %k[%c0, %c0, %n] pages(%t : !attn_tile.global<?x?xi32>) rows(%c64) from(%c0) : !pool -> !tile
    %vt = attn_tile.load %v[%c0, %c0, %n] pages(%t : !attn_tile.global<?x?xi32>) rows(%c64) from(%c0) : !pool -> !tile
    %s = attn_tile.mma %qt, %kt transpose_b, %zero : !tile, !tile, !acc
    %m = attn_tile.row_reduce max %s, %max : !acc, !row
    %l = attn_tile.row_reduce sum %s, %sum : !acc, !row
    %p = attn_tile.to_operand %s : !acc -> !operand
    %next = attn_tile.mma %p, %vt, %acc : !operand, !tile, !acc
    scf.yield %next, %m, %l : !acc, !row, !row
  }
  %all:3 = scf.for %n = %middle to %end step %c64 iter_args(%acc = %whole#0, %max = %whole#1, %sum = %whole#2) -> (!acc, !row, !row) {
    %left = arith.subi %end, %n : index
    %rows = arith.minsi %left, %c64 : index
    %before = arith.subi %first, %n : index
    %missing = arith.maxsi %before, %c0 : index
    %kt = attn_tile.load %k[%c0, %c0, %n] pages(%t : !attn_tile.global<?x?xi32>) rows(%rows) from(%missing) : !pool -> !tile
    %vt = attn_tile.load %v[%c0, %c0, %n] pages(%t : !attn_tile.global<?x?xi32>) rows(%rows) from(%missing) : !pool -> !tile
    %s = attn_tile.mma %qt, %kt transpose_b, %zero : !tile, !tile, !acc
    %m = attn_tile.row_reduce max %s, %max : !acc, !row
    %l = attn_tile.row_reduce sum %s, %sum : !acc, !row
    %p = attn_tile.to_operand %s : !acc -> !operand
    %next = attn_tile.mma %p, %vt, %acc : !operand, !tile, !acc
    scf.yield %next, %m, %l : !acc, !row, !row
  }
  attn_tile.store %all#0, %o[%c0, %c0, %c0] : !acc, !attn_tile.global<?x8x?x64xf16>
  attn_tile.return
}
