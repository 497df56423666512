// RUN: attn-opt %s --convert-attn-tile-to-nvvm --canonicalize | FileCheck %s

// Roles without numbers of registers: no setmaxnreg, which sm_120 does not have. One producer warp, one thread of which loads.
// CHECK-LABEL: llvm.func @as_launched
// CHECK-SAME: nvvm.reqntid = array<i32: 160>
// CHECK: %[[COLUMN:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK-NOT: setmaxregister
// CHECK: %[[IS_CONSUMER:.*]] = arith.cmpi ult, %[[WARP:.*]], %c4_i32
// CHECK-NEXT: scf.if %[[IS_CONSUMER]] {
// CHECK-NOT: setmaxregister
// CHECK: nvvm.mbarrier.try_wait
// CHECK: } else {
// CHECK-NEXT: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c4_i32
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NEXT: %[[LOADS:.*]] = nvvm.elect.sync -> i1
// CHECK-NEXT: scf.if %[[LOADS]] {
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%c0_i32, %c0_i32, %c0_i32, %c0_i32]

// The tile from a column on: two panels, 64 columns apart.
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%[[COLUMN]], %c0_i32, %c0_i32, %c0_i32]
// CHECK: %[[NEXT:.*]] = arith.addi %[[COLUMN]], %c64_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%[[NEXT]], %c0_i32, %c0_i32, %c0_i32]
attn_tile.kernel @as_launched(%k: !attn_tile.global<?x8x?x256xf16>, %map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4)
    attributes {producer_warps = 1 : i64, mapped = array<i64: 0>, mapped_heads = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %column = gpu.block_id x
  %tile = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<64x64xf16, swizzle = 128>
  %wide = attn_tile.alloc {offset = 8192 : i64} : !attn_tile.shared<64x128xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier {offset = 24576 : i64} : !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.init_mbarriers %full : !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.roles producer {
    attn_tile.copy_tma %map[%c0, %c0, %c0] to %tile, %full[%c0] evict_first
        : !attn_tile.tensor_map<64x64xf16, swizzle = 128> to !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
    attn_tile.copy_tma %map[%c0, %c0, %c0, %column] to %wide, %full[%c0]
        : !attn_tile.tensor_map<64x64xf16, swizzle = 128> to !attn_tile.shared<64x128xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  } consumer {
  ^bb0(%g: index):
    attn_tile.mbarrier_wait %full[%c0], %c0 : !attn_tile.mbarrier<1, arrivals = 1>
  }
  attn_tile.return
}
