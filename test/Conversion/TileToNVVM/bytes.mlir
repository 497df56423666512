// Products of 8-bit operands.
// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s
// RUN: attn-opt %s --convert-attn-tile-to-nvvm=float8-conversions | FileCheck %s --check-prefix=CVT

// CHECK-LABEL: llvm.func @e4m3
attn_tile.kernel @e4m3(%out: !attn_tile.global<16x32xbf16>) warps(1) {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<16x32xf8E4M3FN, swizzle = 32>
  %k = attn_tile.alloc {offset = 1024 : i64} : !attn_tile.shared<32x32xf8E4M3FN, swizzle = 32>
  %zs = attn_tile.fill 0.0 : !attn_tile.fragment<16x32xf32, accumulator>
  // Where the rows are columns of the product, pairs of bytes are what they are for 16-bit types.
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}
  // CHECK-NOT: prmt
  // CHECK: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
  %s = attn_tile.mma %q, %k transpose_b, %zs : !attn_tile.shared<16x32xf8E4M3FN, swizzle = 32>, !attn_tile.shared<32x32xf8E4M3FN, swizzle = 32>, !attn_tile.fragment<16x32xf32, accumulator>
  // Two blocks of 8 columns make a register of each row; PTX names the upper byte first.
  // CHECK: cvt.rn.satfinite.e4m3x2.f32 %half0, $5, $4;
  // CHECK-SAME: cvt.rn.satfinite.e4m3x2.f32 %half1, $7, $6;
  // CHECK-SAME: mov.b32 $0, {%half0, %half1};
  // CHECK-SAME: cvt.rn.satfinite.e4m3x2.f32 %half0, $9, $8;
  %p = attn_tile.to_operand %s : !attn_tile.fragment<16x32xf32, accumulator> -> !attn_tile.fragment<16x32xf8E4M3FN, operand_pairs>
  %zo = attn_tile.fill 0.0 : !attn_tile.fragment<16x32xf32, quads>
  // A transposed pair of bytes is of two columns: the even ones make one product, the odd ones the other.
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}
  // CHECK-SAME: prmt.b32 %even0, %b0, %b1, 0x6420;
  // CHECK-SAME: prmt.b32 %even1, %b2, %b3, 0x6420;
  // CHECK-SAME: prmt.b32 %b3, %b2, %b3, 0x7531;
  // CHECK-SAME: prmt.b32 %b2, %b0, %b1, 0x7531;
  // CHECK-SAME: mov.b32 %b0, %even0;
  // CHECK-SAME: mov.b32 %b1, %even1;
  // CHECK-SAME: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {{.*}}, {%b0, %b1}
  %o = attn_tile.mma %p, %k, %zo : !attn_tile.fragment<16x32xf8E4M3FN, operand_pairs>, !attn_tile.shared<32x32xf8E4M3FN, swizzle = 32>, !attn_tile.fragment<16x32xf32, quads>
  attn_tile.store %o, %out[%c0] : !attn_tile.fragment<16x32xf32, quads>, !attn_tile.global<16x32xbf16>
  attn_tile.return
}

// CHECK-LABEL: llvm.func @e5m2
attn_tile.kernel @e5m2() warps(1) {
  %k = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<32x32xf8E5M2, swizzle = 32>
  %zs = attn_tile.fill 0.0 : !attn_tile.fragment<32x32xf32, accumulator>
  // CHECK: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32
  %s = attn_tile.mma %k, %k transpose_b, %zs : !attn_tile.shared<32x32xf8E5M2, swizzle = 32>, !attn_tile.shared<32x32xf8E5M2, swizzle = 32>, !attn_tile.fragment<32x32xf32, accumulator>
  // CHECK: cvt.rn.satfinite.e5m2x2.f32
  %p = attn_tile.to_operand %s : !attn_tile.fragment<32x32xf32, accumulator> -> !attn_tile.fragment<32x32xf8E5M2, operand_pairs>
  attn_tile.return
}

// The producer's four warps have a chunk of 16 columns each; ldmatrix and stmatrix have 32 rows at a time.
// CHECK-LABEL: llvm.func @transposed
attn_tile.kernel @transposed() warps(4) attributes {producer_warps = 4 : i64} {
  %v = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  %vt = attn_tile.alloc {offset = 4096 : i64} : !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%row0, %row1, %row2, %row3}, [$0+0];
  // CHECK-SAME: prmt.b32 %col0, %row0, %row1, 0x6420;
  // CHECK-SAME: prmt.b32 %col1, %row0, %row1, 0x7531;
  // CHECK-SAME: prmt.b32 %col2, %row2, %row3, 0x6420;
  // CHECK-SAME: prmt.b32 %col3, %row2, %row3, 0x7531;
  // CHECK-SAME: stmatrix.sync.aligned.m8n8.x4.shared.b16 [$1+0], {%col0, %col1, %col2, %col3};
  // CHECK-SAME: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%row0, %row1, %row2, %row3}, [$0+2048];
  // CHECK-NOT: ldmatrix
  // CHECK: nvvm.fence.proxy
  attn_tile.store_transposed %v to %vt : !attn_tile.shared<64x64xf8E5M2, swizzle = 64> to !attn_tile.shared<64x64xf8E5M2, swizzle = 64>
  attn_tile.return
}

// The producer's threads make 16 bytes of a row two times 16, in the swizzles of both tiles: 0 of the rows that do not exist.
// CHECK-LABEL: llvm.func @widened
// CVT-LABEL: llvm.func @widened
attn_tile.kernel @widened() warps(4) attributes {producer_warps = 4 : i64} {
  %rows = gpu.block_id x
  %v = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<32x128xf8E4M3FN, swizzle = 128>
  %wide = attn_tile.alloc {offset = 4096 : i64} : !attn_tile.shared<32x128xbf16, swizzle = 128>
  // CHECK: ld.shared.v4.b32 {%bytes0, %bytes1, %bytes2, %bytes3}, [$0+0];
  // CHECK-SAME: setp.ge.s32 %missing, $1, $2;
  // CHECK-SAME: @%missing mov.b32 %bytes3, 0;
  // CHECK-SAME: prmt.b32 %pair0, %bytes0, 0, 0x9180;
  // CHECK-SAME: cvt.rn.bf16x2.f32 %pair7, %wide1, %wide0;
  // CHECK-SAME: st.shared.v4.b32 [$3+0], {%pair0, %pair1, %pair2, %pair3};
  // CVT: cvt.rn.f16x2.e4m3x2 %pair0, %half0;
  // CHECK: ld.shared.v4.b32 {%bytes0, %bytes1, %bytes2, %bytes3}, [$0+0];
  // CHECK: st.shared.v4.b32 [$3+4096], {%pair0, %pair1, %pair2, %pair3};
  // CHECK-NOT: ld.shared
  // CHECK: nvvm.fence.proxy
  attn_tile.store_widened %v rows %rows to %wide : !attn_tile.shared<32x128xf8E4M3FN, swizzle = 128> to !attn_tile.shared<32x128xbf16, swizzle = 128>
  attn_tile.return
}

// Keys of 8 bits beside a query of 16: two are made a register by shifts, or by the instruction of sm_89 and later, which takes neighbours; of
// columns of V the pairs are put together before.
// CHECK-LABEL: llvm.func @cache
// CVT-LABEL: llvm.func @cache
attn_tile.kernel @cache() warps(1) {
  %q = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<16x64xf16, swizzle = 128>
  %k = attn_tile.alloc {offset = 2048 : i64} : !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>
  %zs = attn_tile.fill 0.0 : !attn_tile.fragment<16x64xf32, accumulator>
  // CHECK: mov.b32 %offset0, 0x5C005C00;
  // CHECK-SAME: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%bytes0, %bytes1, %bytes2, %bytes3}
  // CHECK-SAME: add.u32 %nan0, %nan0, 0x01010101;
  // CHECK-SAME: prmt.b32 %b0, %bytes0, 0, 0x9180;
  // CHECK-SAME: shl.b32 %b0, %b0, 7;
  // CHECK-SAME: prmt.b32 %wide0, %nan0, 0, 0x9484;
  // CHECK-SAME: lop3.b32 %b0, %b0, 0xBF80BF80, %wide0, 0xEA;
  // CHECK-SAME: mul.rn.f16x2 %b0, %b0, %offset0;
  // CVT: mov.b32 {%half0, %half1}, %bytes0;
  // CVT-SAME: cvt.rn.f16x2.e4m3x2 %b0, %half0;
  // CVT-SAME: cvt.rn.f16x2.e4m3x2 %b1, %half1;
  // CVT-SAME: mov.b32 {%half0, %half1}, %bytes1;
  // CVT-SAME: mma.sync
  %s = attn_tile.mma %q, %k transpose_b, %zs : !attn_tile.shared<16x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>, !attn_tile.fragment<16x64xf32, accumulator>
  %p = attn_tile.to_operand %s : !attn_tile.fragment<16x64xf32, accumulator> -> !attn_tile.fragment<16x64xf16, operand_a>
  %zo = attn_tile.fill 0.0 : !attn_tile.fragment<16x64xf32, quads>
  // CHECK: prmt.b32 %b0, %bytes0, 0, 0xA280;
  // CHECK-NOT: e4m3x2
  // CVT: prmt.b32 %four0, %bytes0, 0, 0x3120;
  // CVT-SAME: mov.b32 {%half0, %half1}, %four0;
  // CVT-SAME: cvt.rn.f16x2.e4m3x2 %b0, %half0;
  // CVT-SAME: cvt.rn.f16x2.e4m3x2 %b2, %half1;
  %o = attn_tile.mma %p, %k, %zo : !attn_tile.fragment<16x64xf16, operand_a>, !attn_tile.shared<64x64xf8E4M3FN, swizzle = 64>, !attn_tile.fragment<16x64xf32, quads>
  attn_tile.return
}
