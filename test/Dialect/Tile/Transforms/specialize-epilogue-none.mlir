// Copies that no other thread can start stay with the correction: here one could, and then each time one thing is different.

// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-epilogue))' | FileCheck %s --check-prefix=ONE

// A remark says why.
// RUN: sed 's/ async//' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-epilogue))' \
// RUN:   --remarks-filter=attn-tile-specialize-epilogue --remark-format=emitRemark --remark-policy=all -o %t.mlir 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: FileCheck %s --check-prefix=SAME --input-file=%t.mlir
// RUN: sed 's,// BRANCH ,,' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-epilogue))' \
// RUN:   --remarks-filter=attn-tile-specialize-epilogue --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: sed 's,// READ ,,; s/map\[%c0,/map[%first,/' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-epilogue))' \
// RUN:   --remarks-filter=attn-tile-specialize-epilogue --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEPENDS
// RUN: sed '/store_tma/d' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-epilogue))' \
// RUN:   --remarks-filter=attn-tile-specialize-epilogue --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// ONE: producer_warps = 8
// ONE: } epilogue {
// ONE: attn_tile.store_tma {{.*}} one_thread
// ONE: } correction warpgroup(96) {
// BEHIND: the correction starts copies itself: copies of the output are not one behind the other
// SAME-NOT: epilogue
// SAME: attn_tile.store_tma
// DEPENDS: the correction starts copies itself: they depend on more than the tile's number
// NONE: the correction starts copies itself: the output is not copied from shared memory

!tile = !attn_tile.shared<128x64xf16, swizzle = 128>
!map = !attn_tile.tensor_map<128x64xf16, swizzle = 128>
!sum = !attn_tile.tensor<128x64xf32>
!told = !attn_tile.mbarrier<1, arrivals = 4>

attn_tile.kernel @store(%map: !map, %n: index, %yes: i1) warps(4) attributes {producer_warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  %tile = attn_tile.alloc : !tile
  %sum = attn_tile.alloc_tensors : !sum
  %ended = attn_tile.alloc_mbarrier : !told
  attn_tile.init_mbarriers %ended : !told
  attn_tile.roles producer(32) {
  } correction warpgroup(96) {
    attn_tile.mbarrier_wait %ended[%c0], %c0 : !told
    // READ %first = attn_tile.uniform %n : index
    attn_tile.as_warpgroup %c0 {
      %o = attn_tile.load_tensor %sum[%c0] : !sum -> !attn_tile.fragment<128x64xf32, accumulator>
      attn_tile.store_shared %o to %tile : !attn_tile.fragment<128x64xf32, accumulator> to !tile
      attn_tile.store_tma %tile[%c0] to %map[%c0, %c0, %c0] async : !tile to !map
      // BRANCH scf.if %yes { attn_tile.store_tma %tile[%c0] to %map[%c0, %c0, %c0] async : !tile to !map }
      attn_tile.free_tensors %sum : !sum
    }
    attn_tile.wait_stores
  } consumer(192) {
  ^bb0(%group: index):
    attn_tile.mbarrier_arrive %ended[%group] : !told
  }
  attn_tile.return
}
