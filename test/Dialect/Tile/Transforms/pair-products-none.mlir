// CTAs that cannot multiply together do so each for itself, and a remark says why: without clusters, without a known step, where warps give stages
// back, where a product reads a tile as its left operand, or a right one that is not shared, and where consumers start their products.

// DEFINE: %{pair} = attn-opt --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-pair-products))' --remarks-filter=attn-tile-pair-products --remark-format=emitRemark --remark-policy=all 2>&1
// RUN: %{pair} %s | FileCheck %s --check-prefix=PAIR
// RUN: sed 's/cluster_ctas = 2 : i64, //' %s | %{pair} | FileCheck %s --check-prefixes=CHECK,CLUSTERS
// RUN: sed 's/to %c8 step/to %n step/' %s | %{pair} | FileCheck %s --check-prefixes=CHECK,STEPS
// RUN: sed '/commit_tensors/d' %s | %{pair} | FileCheck %s --check-prefixes=CHECK,COMMITS
// RUN: sed 's/mma_tensor %q, %k/mma_tensor %k, %k/' %s | %{pair} | FileCheck %s --check-prefixes=CHECK,LEFT
// RUN: sed 's/mma_tensor %q, %k/mma_tensor %q, %q/' %s | %{pair} | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: sed '/^  } products {/,/^  } consumer/{/^  } consumer/!d}' %s | %{pair} | FileCheck %s --check-prefixes=CHECK,ROLE
// PAIR-NOT: remark
// PAIR: cta_pairs
// CLUSTERS: remark: {{.*}}CTAs multiply each for itself: the CTAs share no tiles in clusters of two
// STEPS: remark: {{.*}}CTAs multiply each for itself: steps are not counted, of which there may be none
// COMMITS: remark: {{.*}}CTAs multiply each for itself: neither products nor consumers give back what is shared
// LEFT: remark: {{.*}}CTAs multiply each for itself: products do not read halves of what is shared
// OWN: remark: {{.*}}CTAs multiply each for itself: products read what is not shared
// ROLE: remark: {{.*}}CTAs multiply each for itself: consumers start their products themselves
// CHECK-NOT: cta_pairs

attn_tile.kernel @scores(%n: index, %keys: !attn_tile.global<1x8x1024x64xf16>, %map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>)
    warps(4) attributes {producer_warps = 4 : i64, cluster_ctas = 2 : i64, mapped = array<i64: 1>, mapped_heads = array<i64: 1>,
                         schedule = #attn.schedule<mma = "tcgen05", cluster_n = 2, cta_pair = true>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %q = attn_tile.alloc : <128x64xf16, swizzle = 128>
  %ring = attn_tile.alloc : <2x128x64xf16, swizzle = 128>
  %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>
  %full = attn_tile.alloc_mbarrier : <2, arrivals = 1>
  %empty = attn_tile.alloc_mbarrier : <2, arrivals = 2>
  %seen = attn_tile.alloc_mbarrier : <1, arrivals = 4>
  %done = attn_tile.alloc_mbarrier : <1, arrivals = 1>
  attn_tile.roles producer(56) {
    scf.for %step = %c0 to %c8 step %c1 {
      %stage = arith.andi %step, %c1 : index
      %round = arith.shrui %step, %c1 : index
      %parity = arith.andi %round, %c1 : index
      %before = arith.xori %parity, %c1 : index
      attn_tile.mbarrier_wait %empty[%stage], %before : <2, arrivals = 2>
      %k = attn_tile.stage %ring[%stage] : <2x128x64xf16, swizzle = 128>
      attn_tile.copy_tma %map[%c0, %c0, %step] to %k, %full[%stage] {ctas = 2 : i64}
          : <64x64xf16, swizzle = 128> to <128x64xf16, swizzle = 128>, <2, arrivals = 1>
    }
  } products {
    scf.for %step = %c0 to %c8 step %c1 {
      %stage = arith.andi %step, %c1 : index
      %round = arith.shrui %step, %c1 : index
      %parity = arith.andi %round, %c1 : index
      %k = attn_tile.stage %ring[%stage] : <2x128x64xf16, swizzle = 128>
      attn_tile.mbarrier_wait %full[%stage], %parity : <2, arrivals = 1>
      attn_tile.mbarrier_wait %seen[%c0], %stage : <1, arrivals = 4>
      attn_tile.mma_tensor %q, %k transpose_b into %s[%c0], %done one_thread
          : !attn_tile.shared<128x64xf16, swizzle = 128>, <128x64xf16, swizzle = 128> into <128x128xf32>, !attn_tile.mbarrier<1, arrivals = 1>
      attn_tile.commit_tensors %empty[%stage] {ctas = 2 : i64} : <2, arrivals = 2>
    }
  } consumer(256) {
  ^bb0(%warpgroup: index):
    scf.for %step = %c0 to %c8 step %c1 {
      %stage = arith.andi %step, %c1 : index
      attn_tile.mbarrier_arrive %seen[%warpgroup] : <1, arrivals = 4>
      attn_tile.mbarrier_wait %done[%warpgroup], %stage : <1, arrivals = 1>
    }
    attn_tile.free_tensors %s : !attn_tile.tensor<128x128xf32>
  }
  attn_tile.return
}
