// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s

// CHECK: llvm.mlir.global internal constant @[[TABLE:.*]](dense<[0, 256, 128]> : tensor<3xi32>) {addr_space = 1

// A size is a parameter. A row fragment has two rows of 16, 8 apart; the first lane of each four reads them, where there are
// such rows; what is not read is -inf, as of a maximum.
// CHECK-LABEL: llvm.func @row
// CHECK-SAME: (%[[ROWS:.*]]: !llvm.ptr<1>, %[[SIZE:.*]]: i32, %{{.*}}: i64)
// CHECK: arith.index_cast %[[SIZE]] : i32 to index
// CHECK: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: arith.cmpi slt, %[[FIRST:.*]], %[[SIZE]] : i32
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> f32
// CHECK: scf.yield %[[NONE]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c8_i32
// CHECK: arith.cmpi slt, %[[SECOND]], %[[SIZE]] : i32
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> f32
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: nvvm.shfl.sync idx
// CHECK: llvm.return
attn_tile.kernel @row(%l: !attn_tile.global<2x?xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  %n = attn_tile.dim %l, 1 : !attn_tile.global<2x?xf32>
  %r = attn_tile.load_row %l[%c0, %n] : !attn_tile.global<2x?xf32> -> !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// A number that all lanes have is made one register of the warp; a table of constants lies in global memory.
// CHECK-LABEL: llvm.func @scalars
// CHECK: nvvm.redux.sync umin
// CHECK: %[[ADDRESS:.*]] = llvm.mlir.addressof @[[TABLE]]
// CHECK: %[[ELEMENT:.*]] = llvm.getelementptr %[[ADDRESS]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
// CHECK: %[[VALUE:.*]] = llvm.load %[[ELEMENT]]
// CHECK: llvm.store %[[VALUE]], %{{.*}} : i32, !llvm.ptr<1>
attn_tile.kernel @scalars(%d: !attn_tile.global<?xi32>) warps(1) {
  %x = gpu.thread_id x
  %u = attn_tile.uniform %x : index
  %at = arith.index_cast %u : index to i64
  %t = attn_tile.lookup dense<[0, 256, 128]> : tensor<3xi32> [%u]
  attn_tile.insert %t, %d[%at] : !attn_tile.global<?xi32>
  attn_tile.return
}

// A factor of each row is rounded to the operand's type and multiplies pairs: 4 registers for each 16 columns.
// CHECK-LABEL: llvm.func @scale_rows
// CHECK-COUNT-2: llvm.fptrunc %{{.*}} : vector<2xf32> to vector<2xf16>
// CHECK-COUNT-16: llvm.fmul %{{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fmul
// CHECK: llvm.return
attn_tile.kernel @scale_rows(%l: !attn_tile.global<2x?xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  %r = attn_tile.load_row %l[%c0, %c0] : !attn_tile.global<2x?xf32> -> !attn_tile.fragment<64xf32, row>
  %acc = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %a = attn_tile.to_operand %acc : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf16, operand_a>
  %s = attn_tile.scale_rows %a, %r : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.fragment<64xf32, row>
  attn_tile.return
}

// Numbers of columns come by one bulk copy that an mbarrier counts; a lane reads its pairs of columns, 8 apart.
// CHECK-LABEL: llvm.func @columns
// CHECK: nvvm.mbarrier.arrive.expect_tx %[[BARRIER:.*]], %[[BYTES:.*]] :
// CHECK: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %{{.*}}, %[[BARRIER]], %[[BYTES]] : !llvm.ptr<7>, <1>
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.return
attn_tile.kernel @columns(%d: !attn_tile.global<?xf32>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<1x64xf32, swizzle = 128>
  %b = attn_tile.alloc_mbarrier {offset = 256 : i64} : !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.copy_bulk %d[%c0] to %t, %b[%c0] : !attn_tile.global<?xf32> to !attn_tile.shared<1x64xf32, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  %a = attn_tile.load_column %t : !attn_tile.shared<1x64xf32, swizzle = 128> -> !attn_tile.fragment<64xf32, column>
  attn_tile.return
}

// A factor of each column multiplies in f32, and each pair is rounded once.
// CHECK-LABEL: llvm.func @scale_columns
// CHECK-COUNT-16: llvm.fpext %{{.*}} : vector<2xf16> to vector<2xf32>
// CHECK-NOT: llvm.fpext
// CHECK: llvm.return
attn_tile.kernel @scale_columns() warps(4) {
  %w = attn_tile.fill 0.5 : !attn_tile.fragment<64xf32, column>
  %acc = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
  %a = attn_tile.to_operand %acc : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf16, operand_a>
  %s = attn_tile.scale_columns %a, %w : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.fragment<64xf32, column>
  attn_tile.return
}

// Without stmatrix each lane writes its pairs: 8 blocks of 8 columns, in rows g and g + 8, and no warp waits.
// CHECK-LABEL: llvm.func @store_pairs
// CHECK-NOT: barrier
// CHECK-COUNT-16: llvm.store %{{.*}} : i32, !llvm.ptr<3>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
attn_tile.kernel @store_pairs() warps(4) {
  %tile = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<64x64xf16, swizzle = 128>
  %acc = attn_tile.fill 1.0 : !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.store_shared %acc to %tile pairs : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.return
}
