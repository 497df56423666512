// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize --split-input-file | FileCheck %s

// Products of i8 are summed in i32, from 0.
// CHECK-LABEL: llvm.func @mma_sync
attn_tile.kernel @mma_sync(%out: !attn_tile.global<16x16xf32>) warps(1) {
  %row = gpu.block_id x
  %a = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<16x32xi8, swizzle = 32>
  %b = attn_tile.alloc {offset = 512 : i64} : !attn_tile.shared<16x32xi8, swizzle = 32>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<16x16xi32, accumulator>
  %q = attn_tile.load_operand %a : !attn_tile.shared<16x32xi8, swizzle = 32> -> !attn_tile.fragment<16x32xi8, operand_a>
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {$0, $1, $2, $3}
  // CHECK-SAME: (i32, i32, i32, i32, i32, i32, i32, i32)
  %s = attn_tile.mma %q, %b transpose_b, %zero
      : !attn_tile.fragment<16x32xi8, operand_a>, !attn_tile.shared<16x32xi8, swizzle = 32>, !attn_tile.fragment<16x16xi32, accumulator>
  // CHECK: arith.sitofp %{{.*}} : i32 to f32
  %f = attn_tile.map %s : (!attn_tile.fragment<16x16xi32, accumulator>) -> !attn_tile.fragment<16x16xf32, accumulator> {
  ^bb0(%x: i32, %i: i32, %j: i32):
    %y = arith.sitofp %x : i32 to f32
    attn_tile.yield %y : f32
  }
  attn_tile.store %f, %out[%row] : !attn_tile.fragment<16x16xf32, accumulator>, !attn_tile.global<16x16xf32>
  attn_tile.return
}

// -----

!keys = !attn_tile.shared<64x64xi8, swizzle = 64>
!done = !attn_tile.mbarrier<1, arrivals = 1>
!scores = !attn_tile.tensor<128x64xi32>

// CHECK-LABEL: llvm.func @tensor_memory
attn_tile.kernel @tensor_memory() warps(4) attributes {producer_warps = 4 : i64} {
  %parity = gpu.block_id z
  %q = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<128x64xi8, swizzle = 64>
  %k = attn_tile.alloc {offset = 8192 : i64} : !keys
  %done = attn_tile.alloc_mbarrier {offset = 12288 : i64} : !done
  %s = attn_tile.alloc_tensors {offset = 12304 : i64} : !scores
  attn_tile.roles producer(56) {
  } consumer(240) {
  ^bb0(%g: index):
    // Two of 32 k. s32 (2 at bit 4), signed (1 at 7 and 10), N 64, M 128.
    // CHECK: tcgen05.mma.cta_group::1.kind::i8 [$0], $2, $4, $1, adds;
    // CHECK-SAME: %c135267488_i32
    attn_tile.mma_tensor %q, %k transpose_b into %s[%g], %done : !attn_tile.shared<128x64xi8, swizzle = 64>, !keys into !scores, !done
    attn_tile.mbarrier_wait %done[%g], %parity : !done
    // CHECK: tcgen05.ld.sync.aligned.16x256b
    // CHECK-SAME: -> !llvm.struct<(i32, i32,
    %f = attn_tile.load_tensor %s[%g] : !scores -> !attn_tile.fragment<128x64xi32, accumulator>
  }
  attn_tile.return
}
