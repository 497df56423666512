// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

!scores = !attn_tile.tensor<128x64xf32>
!weights = !attn_tile.tensor<128x64xf16>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>

// Fewer than all columns begin where the address says, which all threads read behind a barrier.
// CHECK-LABEL: llvm.func @slices
attn_tile.kernel @slices(%o: !attn_tile.global<?x8x?x64xf16>) warps(4) attributes {producer_warps = 4 : i64} {
  // CHECK-DAG: %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[8192]
  // CHECK: nvvm.tcgen05.alloc %[[PLACE]], %c128_i32
  // CHECK: nvvm.barrier0
  // CHECK-NEXT: %[[S:.*]] = llvm.load %[[PLACE]]
  // CHECK-NEXT: %[[T:.*]] = arith.addi %[[S]], %c64_i32
  %v = attn_tile.alloc {offset = 0 : i64} : !tile
  %s, %t = attn_tile.alloc_tensors {offset = 8192 : i64} : !scores, !scores
  attn_tile.roles producer(168) {
  } consumer(256) {
  ^bb0(%g: index):
    // The first slice fences, the second does not.
    // CHECK: nvvm.tcgen05.fence <after>
    // CHECK: tcgen05.ld.sync.aligned.16x256b.x4.b32 {{.*}}, [$16+0];
    // CHECK: tcgen05.ld.sync.aligned.16x256b.x4.b32 {{.*}}, [$16+1048576];
    // CHECK-NOT: nvvm.tcgen05.fence
    // CHECK: tcgen05.ld.sync.aligned.16x256b.x4.b32 {{.*}}, [$16+32];
    // CHECK: tcgen05.ld.sync.aligned.16x256b.x4.b32 {{.*}}, [$16+1048608];
    %s0 = attn_tile.load_tensor %s[%g] : !scores -> !attn_tile.fragment<128x32xf32, accumulator>
    %s1 = attn_tile.load_tensor %s[%g] {column = 32 : i64, fenced} : !scores -> !attn_tile.fragment<128x32xf32, accumulator>
    %p0 = attn_tile.to_operand %s0 : !attn_tile.fragment<128x32xf32, accumulator> -> !attn_tile.fragment<128x32xf16, operand_a>
    %p1 = attn_tile.to_operand %s1 : !attn_tile.fragment<128x32xf32, accumulator> -> !attn_tile.fragment<128x32xf16, operand_a>
    %p = attn_tile.narrow_tensor %s[%g] : !scores -> !weights
    // A store that is waited for by the next one; 32 columns of f16 are 16 cells.
    // CHECK: tcgen05.st.sync.aligned.16x128b.x4.b32 [$0+1048576], {$9, $10, $11, $12, $13, $14, $15, $16};\0A
    // CHECK-NOT: wait::st
    // CHECK-SAME: }"
    // CHECK: tcgen05.st.sync.aligned.16x128b.x4.b32 [$0+16], {$1,
    // CHECK-SAME: tcgen05.st.sync.aligned.16x128b.x4.b32 [$0+1048592], {$9,
    // CHECK-SAME: tcgen05.wait::st.sync.aligned;
    attn_tile.store_tensor %p0 to %p[%g] {pending} : !attn_tile.fragment<128x32xf16, operand_a> to !weights
    attn_tile.store_tensor %p1 to %p[%g] {column = 32 : i64} : !attn_tile.fragment<128x32xf16, operand_a> to !weights
    // Two of four products of 16 k: the first half does not add, the second does.
    // CHECK: mov.pred adds, 0;
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$0], [$2], $4, $1, adds;
    // CHECK-SAME: mov.pred adds, -1;
    // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$0], [$3], $5, $1, adds;
    // CHECK-NOT: mma
    // CHECK-SAME: "r,r,r,r,l,l"
    attn_tile.mma_tensor %p, %v into %t[%g] meet depth = [0, 32] : !weights, !tile into !scores
    // CHECK: mov.pred adds, -1;
    // CHECK-SAME: "r,r,r,r,l,l"
    attn_tile.mma_tensor %p, %v into %t[%g] accumulate depth = [32, 64] : !weights, !tile into !scores
    // Columns 16 to 31 of a thread: registers 8 to 15 of each of its two blocks of rows.
    %part = attn_tile.fragment_columns %s0 {column = 16 : i64}
        : !attn_tile.fragment<128x32xf32, accumulator> -> !attn_tile.fragment<128x16xf32, accumulator>
    attn_tile.free_tensors %s, %t : !scores, !scores
  }
  attn_tile.return
}

// CHECK-LABEL: llvm.func @columns
// CHECK-SAME: %[[O:[a-z0-9]+]]: !llvm.ptr
attn_tile.kernel @columns(%o: !attn_tile.global<16x16xf32>) warps(1) {
  %c0 = arith.constant 0 : index
  %f = attn_tile.fill 1.0 : !attn_tile.fragment<16x32xf32, accumulator>
  %index = attn_tile.map %f : (!attn_tile.fragment<16x32xf32, accumulator>) -> !attn_tile.fragment<16x32xf32, accumulator> {
  ^bb0(%x: f32, %row: i32, %column: i32):
    %y = arith.sitofp %column : i32 to f32
    attn_tile.yield %y : f32
  }
  // What is stored was computed of columns 16 + 2t and on.
  // CHECK-NOT: addi %{{.*}}, %c{{1|8|9}}_i32
  // CHECK: arith.addi %{{.*}}, %c16_i32
  // CHECK: arith.addi %{{.*}}, %c17_i32
  // CHECK: arith.addi %{{.*}}, %c24_i32
  // CHECK: arith.addi %{{.*}}, %c25_i32
  %part = attn_tile.fragment_columns %index {column = 16 : i64}
      : !attn_tile.fragment<16x32xf32, accumulator> -> !attn_tile.fragment<16x16xf32, accumulator>
  attn_tile.store %part, %o[%c0, %c0] : !attn_tile.fragment<16x16xf32, accumulator>, !attn_tile.global<16x16xf32>
  attn_tile.return
}
