// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --attn-tile-allocate-shared-memory --convert-attn-tile-to-nvvm | FileCheck %s --check-prefix=NVVM

// Each of four warps has 16 rows, two at once, and waits for its own lanes.
// CHECK-LABEL: attn_tile.kernel @change
// CHECK: attn_tile.change_rows %[[T:.*]] : <64x128xf16, swizzle = 128> {
// CHECK-NEXT: ^bb0(%[[A:.*]]: index, %[[B:.*]]: index):
// CHECK: attn_tile.load_element %[[T]][%[[A]], %{{.*}}] : <64x128xf16, swizzle = 128>
// CHECK: attn_tile.store_element %{{.*}}, %[[T]][%[[B]], %{{.*}}] : <64x128xf16, swizzle = 128>
// NVVM-LABEL: llvm.func @change
// NVVM-DAG: %[[STEP:.*]] = arith.constant 2 : index
// NVVM-DAG: %[[ROWS:.*]] = arith.constant 16 : index
// NVVM: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// NVVM: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> f16
// NVVM: llvm.store %{{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<3>
// NVVM: nvvm.bar.warp.sync
// NVVM-NOT: nvvm.barrier
attn_tile.kernel @change(%q: !attn_tile.global<1x1x64x128xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %thread = gpu.thread_id x
  %lane = arith.remui %thread, %c32 : index
  %tile = attn_tile.alloc : !attn_tile.shared<64x128xf16, swizzle = 128>
  attn_tile.change_rows %tile : !attn_tile.shared<64x128xf16, swizzle = 128> {
  ^bb0(%first: index, %second: index):
    %x = attn_tile.load_element %tile[%first, %lane] : !attn_tile.shared<64x128xf16, swizzle = 128>
    attn_tile.store_element %x, %tile[%second, %lane] : !attn_tile.shared<64x128xf16, swizzle = 128>
  }
  attn_tile.return
}

// Of its 16 rows a lane has two, each with the three others of its quad.
// CHECK-LABEL: attn_tile.kernel @narrow
// CHECK: %[[N:.*]], %{{.*}} = attn_tile.narrow_rows %{{.*}} : <64x128xbf16, swizzle = 128> to <64x128xf16, swizzle = 128>, <64xf32, row>
// CHECK: attn_tile.load_operand %[[N]] : {{.*}}, operand_bytes>
// NVVM-LABEL: llvm.func @narrow
// NVVM-COUNT-4: nvvm.shfl.sync bfly
// NVVM-NOT: nvvm.shfl.sync
// NVVM: cvt.rn.f16x2.f32
// NVVM: cvt.rn.f16x2.f32
// NVVM-NOT: nvvm.barrier
// NVVM: nvvm.bar.warp.sync
attn_tile.kernel @narrow(%q: !attn_tile.global<1x1x64x128xbf16>) warps(4) {
  %tile = attn_tile.alloc : !attn_tile.shared<64x128xbf16, swizzle = 128>
  %narrow, %factor = attn_tile.narrow_rows %tile : !attn_tile.shared<64x128xbf16, swizzle = 128> to !attn_tile.shared<64x128xf16, swizzle = 128>, !attn_tile.fragment<64xf32, row>
  %a = attn_tile.load_operand %narrow : !attn_tile.shared<64x128xf16, swizzle = 128> -> !attn_tile.fragment<64x128xf16, operand_bytes>
  attn_tile.return
}

// Of two warps with the same rows the first writes them, after the other has read them and before it reads them again.
// NVVM-LABEL: llvm.func @shared
// NVVM-COUNT-4: nvvm.shfl.sync bfly
// NVVM: nvvm.barrier0
// NVVM: scf.if
// NVVM: cvt.rn.f16x2.f32
// NVVM: nvvm.barrier0
// NVVM: scf.if
// NVVM: scf.for
// NVVM: llvm.store
// NVVM: nvvm.barrier0
attn_tile.kernel @shared(%q: !attn_tile.global<1x1x16x128xbf16>) warps(2) attributes {sharing = 2 : i64} {
  %c0 = arith.constant 0 : index
  %tile = attn_tile.alloc : !attn_tile.shared<16x128xbf16, swizzle = 128>
  %narrow, %factor = attn_tile.narrow_rows %tile : !attn_tile.shared<16x128xbf16, swizzle = 128> to !attn_tile.shared<16x128xf16, swizzle = 128>, !attn_tile.fragment<16xf32, row>
  attn_tile.change_rows %narrow : !attn_tile.shared<16x128xf16, swizzle = 128> {
  ^bb0(%row: index):
    %x = attn_tile.load_element %narrow[%row, %c0] : !attn_tile.shared<16x128xf16, swizzle = 128>
    attn_tile.store_element %x, %narrow[%row, %c0] : !attn_tile.shared<16x128xf16, swizzle = 128>
  }
  attn_tile.return
}
