// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --attn-tile-allocate-shared-memory --convert-attn-tile-to-nvvm | FileCheck %s --check-prefix=NVVM

// Rows from one on are one range of each of two panels of 8192 bytes, of which 128 threads take 16 bytes in turn; then
// all of them fence and meet. Nothing of it where all rows exist.
// CHECK-LABEL: attn_tile.kernel @clear
// CHECK: attn_tile.clear_rows %[[T:.*]] from %[[ROWS:.*]] : <64x128xf16, swizzle = 128>
// NVVM-LABEL: llvm.func @clear
// NVVM: %[[SHORT:.*]] = arith.cmpi slt, %[[LEFT:.*]], %{{.*}} : i32
// NVVM-NEXT: scf.if %[[SHORT]] {
// NVVM-DAG: %[[END:.*]] = arith.constant 8192 : i32
// NVVM-DAG: %[[STEP:.*]] = arith.constant 2048 : i32
// NVVM: scf.for %[[AT:.*]] = %{{.*}} to %[[END]] step %[[STEP]]  : i32 {
// NVVM-NEXT: %[[ZEROS:.*]] = llvm.mlir.zero : vector<4xi32>
// NVVM: llvm.store %[[ZEROS]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// NVVM: llvm.store %[[ZEROS]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// NVVM-NOT: llvm.store
// NVVM: }
// NVVM: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// NVVM: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// NVVM-NOT: nvvm.barrier
attn_tile.kernel @clear(%q: !attn_tile.global<1x1x?x128xf16>) warps(4) {
  %rows = attn_tile.dim %q, 2 : !attn_tile.global<1x1x?x128xf16>
  %tile = attn_tile.alloc : !attn_tile.shared<64x128xf16, swizzle = 128>
  attn_tile.clear_rows %tile from %rows : !attn_tile.shared<64x128xf16, swizzle = 128>
  attn_tile.return
}

// Rows before one, too: a range of bytes of their own.
// CHECK-LABEL: attn_tile.kernel @clear_both
// CHECK: attn_tile.clear_rows %[[T:.*]] from %[[ROWS:.*]] before %[[FIRST:.*]] : <64x64xf16, swizzle = 128>
// NVVM-LABEL: llvm.func @clear_both
// NVVM: %[[SHORT:.*]] = arith.cmpi slt, %[[LEFT:.*]], %{{.*}} : i32
// NVVM: %[[LATE:.*]] = arith.cmpi sgt, %[[FIRST:.*]], %{{.*}} : i32
// NVVM: %[[ANY:.*]] = arith.ori %[[SHORT]], %[[LATE]]
// NVVM: scf.if %[[ANY]] {
// NVVM: scf.for
// NVVM: %[[BEFORE:.*]] = arith.muli %[[FIRST]], %{{.*}} : i32
// NVVM: scf.for %{{.*}} = %{{.*}} to %[[BEFORE]] step
// NVVM: nvvm.fence.proxy
attn_tile.kernel @clear_both(%q: !attn_tile.global<1x?x?x128xf16>) warps(4) {
  %rows = attn_tile.dim %q, 2 : !attn_tile.global<1x?x?x128xf16>
  %first = attn_tile.dim %q, 1 : !attn_tile.global<1x?x?x128xf16>
  %tile = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.clear_rows %tile from %rows before %first : !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}
