// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s

// CHECK: llvm.mlir.global external @attn_shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// A global view is a pointer, its dynamic sizes and its outer strides.
// CHECK-LABEL: llvm.func @copies
// CHECK-SAME: (%arg0: !llvm.ptr<1>, %arg1: i32, %arg2: i64)
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 128>
attn_tile.kernel @copies(%k: !attn_tile.global<?x64xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc {offset = 1024 : i64} : !attn_tile.shared<64x64xf16, swizzle = 128>
  // 64 rows of 8 chunks by 128 threads: 4 copies each; past the end 0 bytes.
  // CHECK-COUNT-4: nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg, %{{.*}} :
  attn_tile.copy_async %k[%c0] to %t : !attn_tile.global<?x64xf16> to !attn_tile.shared<64x64xf16, swizzle = 128>
  // CHECK: nvvm.cp.async.commit.group
  attn_tile.commit_group
  // CHECK: nvvm.cp.async.wait.group 0
  attn_tile.wait_group 0
  // CHECK: nvvm.barrier0
  gpu.barrier
  attn_tile.return
}

// A pass has more rows than the tile, whose copies are those of some threads.
// CHECK-LABEL: llvm.func @fewer_rows
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %{{.*}}, %c16_i32
// CHECK: scf.if %[[HAS]]
// CHECK: nvvm.cp.async.shared.global
attn_tile.kernel @fewer_rows(%k: !attn_tile.global<?x16xf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<16x16xf16, swizzle = 32>
  attn_tile.copy_async %k[%c0] to %t : !attn_tile.global<?x16xf16> to !attn_tile.shared<16x16xf16, swizzle = 32>
  attn_tile.return
}

// Of a loop's pages the loop computes what its keys change: not the thread's place in the tile, nor the address of its row in the first page. Both entries are
// read before the first copy, and the second one is looked at behind those of the first page.
// CHECK-LABEL: llvm.func @pages
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: scf.for
// CHECK-NOT: nvvm.read.ptx.sreg.tid.x
// CHECK-COUNT-2: llvm.load
// CHECK: cp.async.cg.shared.global [$0+0], [$1+0], 16, %ignored;
// CHECK-NOT: llvm.load
// CHECK: arith.cmpi ult
// CHECK: cp.async.cg.shared.global [$0+2048], [$1+0], 16, %ignored;
attn_tile.kernel @pages(%k: !attn_tile.global<?x2x16x64xf16>, %table: !attn_tile.global<?x?xi32>, %h: !attn_tile.global<?xi32>) warps(4) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %end = attn_tile.dim %h, 0 : !attn_tile.global<?xi32>
  %t = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<32x64xf16, swizzle = 128>
  scf.for %n = %c0 to %end step %c32 {
    attn_tile.copy_async %k[%c0, %c0, %n] pages(%table : !attn_tile.global<?x?xi32>) rows(%end) to %t : !attn_tile.global<?x2x16x64xf16> to !attn_tile.shared<32x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// CHECK-LABEL: llvm.func @transposed
attn_tile.kernel @transposed(%o: !attn_tile.global<?x64xbf16>) warps(4) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<32x64xbf16, swizzle = 128>
  // Each warp has 16 columns as rows: 2 loads for 32 products.
  // CHECK: llvm.inline_asm has_side_effects "{
  // CHECK-SAME: {{^}}\0A\09ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0, $1, $2, $3}, [$8];
  // CHECK-SAME: {{^}}\0A\09ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$4, $5, $6, $7}, [$8+2048];
  // CHECK-SAME: {{^}}\0A\09}", "=&r,=&r,=&r,=&r,=&r,=&r,=&r,=&r,l"
  %a = attn_tile.load_operand %t transpose : !attn_tile.shared<32x64xbf16, swizzle = 128> -> !attn_tile.fragment<64x32xbf16, operand_a>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<64x64xf32, accumulator>
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [$36];
  // CHECK-SAME: {{^}}\0A\09mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$32, $33, $34, $35}, {%b0, %b1}, {$37, $37, $37, $37};
  %s = attn_tile.mma %a, %t, %zero : !attn_tile.fragment<64x32xbf16, operand_a>, !attn_tile.shared<32x64xbf16, swizzle = 128>, !attn_tile.fragment<64x64xf32, accumulator>
  attn_tile.store %s, %o[%c0] : !attn_tile.fragment<64x64xf32, accumulator>, !attn_tile.global<?x64xbf16>
  attn_tile.return
}

// CHECK-LABEL: llvm.func @products
attn_tile.kernel @products(%o: !attn_tile.global<?x16xbf16>) warps(1) {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<16x64xbf16, swizzle = 128>
  // One warp, 16 rows: 4 loads of the A operand.
  // CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$
  %a = attn_tile.load_operand %t : !attn_tile.shared<16x64xbf16, swizzle = 128> -> !attn_tile.fragment<16x64xbf16, operand_a>
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xf32, accumulator>
  // 4 steps of 16 products: each one load of B and two mma of 8 columns. The
  // first begins with the accumulator, the others with the results.
  // CHECK-COUNT-2: {%b{{[02]}}, %b{{[13]}}}, {$13, $13, $13, $13};
  // CHECK-COUNT-6: {%b{{[02]}}, %b{{[13]}}}, {${{[04]}}, ${{[15]}}, ${{[26]}}, ${{[37]}}};
  // CHECK-NOT: mma.sync
  %s = attn_tile.mma %a, %t transpose_b, %zero : !attn_tile.fragment<16x64xbf16, operand_a>, !attn_tile.shared<16x64xbf16, swizzle = 128>, !attn_tile.fragment<16x16xf32, accumulator>
  %m0 = attn_tile.fill 0xFF800000 : !attn_tile.fragment<16xf32, row>
  // 8 registers in 2 rows.
  // CHECK-COUNT-8: llvm.intr.maxnum
  %m1 = attn_tile.row_reduce max %s, %m0 : !attn_tile.fragment<16x16xf32, accumulator>, !attn_tile.fragment<16xf32, row>
  // Two butterflies for each of 2 rows.
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  %m2 = attn_tile.row_all_reduce max %m1 : !attn_tile.fragment<16xf32, row>
  // CHECK-NOT: arith.subf
  // CHECK: llvm.fsub
  // CHECK-COUNT-8: llvm.nvvm.ex2.approx.ftz.f32
  %p = attn_tile.map %s, %m2 : (!attn_tile.fragment<16x16xf32, accumulator>, !attn_tile.fragment<16xf32, row>) -> !attn_tile.fragment<16x16xf32, accumulator> {
  ^bb0(%x: f32, %r: f32, %i: i32, %j: i32):
    %d = arith.subf %x, %r : f32
    %e = math.exp2 %d : f32
    attn_tile.yield %e : f32
  }
  // A row per half block, 2 pairs of columns each.
  // CHECK-COUNT-2: scf.if
  attn_tile.store %p, %o[%c0] : !attn_tile.fragment<16x16xf32, accumulator>, !attn_tile.global<?x16xbf16>
  // CHECK: llvm.return
  attn_tile.return
}

// CHECK-LABEL: llvm.func @atomic_add
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i64
attn_tile.kernel @atomic_add(%words: !attn_tile.global<?x13xi64>) warps(1) {
  %n = arith.constant 3 : i64
  attn_tile.atomic_add %n, %words[%n, %n] : !attn_tile.global<?x13xi64>
  attn_tile.return
}
