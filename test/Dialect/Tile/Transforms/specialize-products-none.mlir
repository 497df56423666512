// What one thread cannot start stays with the consumers: here it could, and then each time one thing is different.

// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' | FileCheck %s --check-prefix=ONE

// A remark says why.
// RUN: sed 's/producer(56)/producer(56) all/' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' \
// RUN:   --remarks-filter=attn-tile-specialize-products --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORK
// RUN: sed 's,// CHANGE ,,' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' \
// RUN:   --remarks-filter=attn-tile-specialize-products --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: sed 's,// AGAIN ,,' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' \
// RUN:   --remarks-filter=attn-tile-specialize-products --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEET
// RUN: sed 's,// BRANCH ,,' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' \
// RUN:   --remarks-filter=attn-tile-specialize-products --remark-format=emitRemark --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEPEND
// WORK: remark: {{.*}}consumers start their products themselves: all producer warps are at work
// WRITE: remark: {{.*}}consumers start their products themselves: consumers write what they multiply
// MEET: remark: {{.*}}consumers start their products themselves: warps do not meet once for each tile in counted steps
// DEPEND: remark: {{.*}}consumers start their products themselves: they depend on what consumers compute

// All threads of the producer are at work; no producer warp is left; the step is not counted; the consumers change the query; two products have one
// tile; a product depends on what consumers read of one.
// RUN: sed 's/producer(56)/producer(56) all/' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' | FileCheck %s
// RUN: sed 's/producer_warps = 4/producer_warps = 1/' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' | FileCheck %s
// RUN: sed 's/addi %%step, %%c1/addi %%step, %%n/' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' | FileCheck %s
// RUN: sed 's,// CHANGE ,,' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' | FileCheck %s
// RUN: sed 's,// AGAIN ,,' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' | FileCheck %s
// RUN: sed 's,// BRANCH ,,' %s | attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-specialize-products))' | FileCheck %s

// ONE: alloc_mbarrier : <1, arrivals = 4>
// ONE: } products {
// ONE-COUNT-2: one_thread
// ONE: } consumer(256) {
// ONE-NOT: mma_tensor

// CHECK-NOT: arrivals = 4
// CHECK: attn_tile.roles producer(56)
// CHECK-NOT: products
// CHECK: } consumer(256) {
// CHECK: scf.for
// CHECK-NOT: fence_tensors
// CHECK: mma_tensor {{.*}} transpose_b
// CHECK-NOT: fence_tensors
// CHECK: mma_tensor {{.*}} accumulate meet

!query = !attn_tile.shared<128x64xf16, swizzle = 128>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!done = !attn_tile.mbarrier<1, arrivals = 1>
!sums = !attn_tile.tensor<128x64xf32>
!weights = !attn_tile.tensor<128x64xf16>
!fragment = !attn_tile.fragment<128x64xf32, accumulator>
!row = !attn_tile.fragment<128xf32, row>

attn_tile.kernel @steps(%n: index) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = attn_tile.alloc : !query
  %k = attn_tile.alloc : !tile
  %s, %acc = attn_tile.alloc_tensors : !sums, !sums
  %done = attn_tile.alloc_mbarrier : !done
  %added = attn_tile.alloc_mbarrier : !done
  attn_tile.init_mbarriers %done, %added : !done, !done
  attn_tile.roles producer(56) {
  } consumer(256) {
  ^bb0(%warpgroup: index):
    // CHANGE attn_tile.change_rows %q[%warpgroup] : !query { ^bb0(%a: index, %b: index): }
    %steps = scf.for %j = %c0 to %n step %c1 iter_args(%step = %c0) -> (index) {
      %parity = arith.andi %step, %c1 : index
      attn_tile.mma_tensor %q, %k transpose_b into %s[%warpgroup], %done : !query, !tile into !sums, !done
      attn_tile.mbarrier_wait %done[%warpgroup], %parity : !done
      %scores = attn_tile.load_tensor %s[%warpgroup] : !sums -> !fragment
      %p = attn_tile.to_operand %scores : !fragment -> !attn_tile.fragment<128x64xf16, operand_a>
      %place = attn_tile.narrow_tensor %s[%warpgroup] : !sums -> !weights
      attn_tile.store_tensor %p to %place[%warpgroup] : !attn_tile.fragment<128x64xf16, operand_a> to !weights
      attn_tile.mma_tensor %place, %k into %acc[%warpgroup], %added accumulate meet : !weights, !tile into !sums, !done
      attn_tile.mbarrier_wait %added[%warpgroup], %parity : !done
      // AGAIN attn_tile.mma_tensor %place, %k into %acc[%warpgroup] accumulate meet : !weights, !tile into !sums
      // BRANCH %zero = attn_tile.fill 0.0 : !row
      // BRANCH %any = attn_tile.any %zero : !row
      // BRANCH scf.if %any { attn_tile.mma_tensor %q, %k transpose_b into %s[%warpgroup] : !query, !tile into !sums }
      %next = arith.addi %step, %c1 : index
      scf.yield %next : index
    }
    attn_tile.free_tensors %s, %acc : !sums, !sums
  }
  attn_tile.return
}
