// RUN: attn-opt %s --convert-attn-tile-to-nvvm | FileCheck %s

// CHECK: llvm.mlir.global external @attn_wait_report() {addr_space = 1 : i32, alignment = 16 : i64} : !llvm.array<2 x i64>
// CHECK: nvvm.mbarrier.test.wait
// CHECK: llvm.inline_asm has_side_effects "{{.*}}atom.global.cas.b32 word, [attn_wait_report+8], 0, 1; {{.*}}mov.u32 word, 0;{{.*}}mov.u32 word, $3;{{.*}}mov.u32 word, %ctaid.z;
// CHECK-SAME: membar.sys; mov.u32 word, 1; @isFirst st.volatile.u32 [to], word;
attn_tile.kernel @wait(%stage: i32) warps(4) {
  %0 = arith.constant 0 : index
  %1 = arith.index_cast %stage : i32 to index
  %full = attn_tile.alloc_mbarrier {offset = 0} : !attn_tile.mbarrier<2, arrivals = 1>
  %done = attn_tile.mbarrier_test %full[%1], %0 : !attn_tile.mbarrier<2, arrivals = 1>
  %lost = arith.cmpi eq, %done, %done : i1
  scf.if %lost {
    attn_tile.give_up 0 at %full[%1], %0 in %1 : !attn_tile.mbarrier<2, arrivals = 1>
  }
  attn_tile.return
}
