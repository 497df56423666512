// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2}),canonicalize,cse)' | FileCheck %s
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-warps{stages=2},attn-tile-overlap-softmax),canonicalize,cse)' | FileCheck %s --check-prefix=OVERLAP

// Whole tiles up to %middle, then one that ends at %end: TMA brings 64 rows of each, and what does not exist of the values is
// cleared between the wait for them and the product that sums over them. Keys are not: their scores are selected away.

!global = !attn_tile.global<?x8x?x64xf16>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!operand = !attn_tile.fragment<64x64xf16, operand_a>
!acc = !attn_tile.fragment<64x64xf32, accumulator>
!row = !attn_tile.fragment<64xf32, row>

// CHECK-LABEL: attn_tile.kernel @lengths
// CHECK: attn_tile.roles
// CHECK: scf.for %[[N:[a-z0-9]+]] = %c0
// CHECK: attn_tile.copy_tma %{{.*}}[%c0, %c0, %[[N]]] to
// CHECK: attn_tile.copy_tma %{{.*}}[%c0, %c0, %[[N]]] to
// CHECK: consumer(
// CHECK: scf.for
// CHECK-NOT: clear_rows
// CHECK: scf.for %[[N:[a-z0-9]+]] = %{{.*}} to %[[END:.*]] step
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[N]]
// CHECK: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK: attn_tile.mbarrier_wait
// CHECK-NOT: clear_rows
// CHECK: attn_tile.mma_async {{.*}} transpose_b
// CHECK: attn_tile.mbarrier_wait %[[FULL:.*]][%[[STAGE:.*]]], %{{.*}}
// CHECK-NEXT: %[[V:.*]] = attn_tile.stage %{{.*}}[%[[STAGE]]]
// CHECK-NEXT: attn_tile.clear_rows %[[V]] from %[[ROWS]] : <64x64xf16, swizzle = 128>
// CHECK-NEXT: attn_tile.mma_async %{{.*}}, %[[V]] acc
// CHECK-NOT: clear_rows

// Overlapped, the first tile is that of either loop; of the others those of the second loop are cleared behind the softmax,
// before the product with the tile before is waited for.
// OVERLAP-LABEL: attn_tile.kernel @lengths
// OVERLAP: %[[FIRST:[a-z0-9]+]] = scf.if %{{.*}} -> (index) {
// OVERLAP-NEXT: scf.yield %c64
// OVERLAP-NEXT: } else {
// OVERLAP-NEXT: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c64
// OVERLAP-NEXT: scf.yield %[[ROWS]]
// OVERLAP: attn_tile.mbarrier_wait
// OVERLAP: attn_tile.clear_rows %{{.*}} from %[[FIRST]]
// OVERLAP: scf.for
// OVERLAP-NOT: clear_rows
// OVERLAP: scf.for
// OVERLAP: attn_tile.row_reduce sum
// OVERLAP: attn_tile.mbarrier_wait
// OVERLAP-NEXT: attn_tile.clear_rows
// OVERLAP-NEXT: attn_tile.mma_wait 0
// OVERLAP-NOT: clear_rows
attn_tile.kernel @lengths(%q: !global, %k: !global, %v: !global, %o: !global, %middle: index, %end: index) warps(4) attributes {
    forward, schedule = #attn.schedule<mma = "wgmma">} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = attn_tile.fill 0.0 : !acc
  %max0 = attn_tile.fill 0xFF800000 : !row
  %sum0 = attn_tile.fill 0.0 : !row
  %qt = attn_tile.load %q[%c0, %c0, %c0] : !global -> !tile
  %whole:3 = scf.for %n = %c0 to %middle step %c64 iter_args(%acc = %zero, %max = %max0, %sum = %sum0) -> (!acc, !row, !row) {
    %kt = attn_tile.load %k[%c0, %c0, %n] rows(%c64) : !global -> !tile
    %vt = attn_tile.load %v[%c0, %c0, %n] rows(%c64) : !global -> !tile
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
    %kt = attn_tile.load %k[%c0, %c0, %n] rows(%rows) : !global -> !tile
    %vt = attn_tile.load %v[%c0, %c0, %n] rows(%rows) : !global -> !tile
    %s = attn_tile.mma %qt, %kt transpose_b, %zero : !tile, !tile, !acc
    %m = attn_tile.row_reduce max %s, %max : !acc, !row
    %l = attn_tile.row_reduce sum %s, %sum : !acc, !row
    %p = attn_tile.to_operand %s : !acc -> !operand
    %next = attn_tile.mma %p, %vt, %acc : !operand, !tile, !acc
    scf.yield %next, %m, %l : !acc, !row, !row
  }
  attn_tile.store %all#0, %o[%c0, %c0, %c0] : !acc, !global
  attn_tile.return
}
