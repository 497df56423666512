// RUN: attn-opt %s --attn-tile-prove-barriers --split-input-file --verify-diagnostics

!full = !attn_tile.mbarrier<2, arrivals = 1>

// A wait that only what is read leads to.
attn_tile.kernel @condition(%seen: i1) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %full = attn_tile.alloc_mbarrier {offset = 0 : i64} : !full
  attn_tile.roles producer(24) {
    // expected-error @+1 {{expected a condition around barriers that follows from sizes}}
    scf.if %seen {
      attn_tile.mbarrier_wait %full[%c0], %c0 : !full
    }
  } consumer(240) {
  ^bb0(%group: index):
  }
  attn_tile.return
}

// -----

!full = !attn_tile.mbarrier<2, arrivals = 1>

attn_tile.kernel @place() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %full = attn_tile.alloc_mbarrier : !full
  attn_tile.roles producer(24) {
    // expected-error @+1 {{expected an mbarrier with an offset}}
    attn_tile.mbarrier_wait %full[%c0], %c0 : !full
  } consumer(240) {
  ^bb0(%group: index):
  }
  attn_tile.return
}

// -----

!full = !attn_tile.mbarrier<2, arrivals = 1>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>
!map = !attn_tile.tensor_map<64x64xf16, swizzle = 128>

// Two copies that may be on their way at once.
// expected-note @+1 {{with 128 rows, 0 keys, CTA 0}}
attn_tile.kernel @twice(%map: !map) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile = attn_tile.alloc {offset = 0 : i64} : !tile
  %full = attn_tile.alloc_mbarrier {offset = 8192 : i64} : !full
  attn_tile.roles producer(24) {
    // expected-error @+1 {{two copies may write the same place at once}}
    attn_tile.copy_tma %map[%c0, %c0, %c0] to %tile, %full[%c0] : !map to !tile, !full
    attn_tile.copy_tma %map[%c0, %c0, %c0] to %tile, %full[%c1] : !map to !tile, !full
  } consumer(240) {
  ^bb0(%group: index):
    attn_tile.mbarrier_wait %full[%c0], %c0 : !full
    attn_tile.mbarrier_wait %full[%c1], %c0 : !full
  }
  attn_tile.return
}

// -----

!done = !attn_tile.mbarrier<1, arrivals = 4>

// Nobody holds up the phase that ends after what is waited for.
// expected-note @+1 {{with 128 rows, 0 keys, CTA 0}}
attn_tile.kernel @next() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = attn_tile.alloc_mbarrier {offset = 0 : i64} : !done
  attn_tile.roles producer(24) {
    // expected-error @+1 {{the next phase may be over, too, when the wait looks: stage 0 of the mbarriers at 0 of CTA 0}}
    attn_tile.mbarrier_wait %done[%c0], %c1 : !done
  } consumer(240) {
  ^bb0(%group: index):
    attn_tile.mbarrier_arrive %done[%c0] : !done
  }
  attn_tile.return
}

// -----

!done = !attn_tile.mbarrier<1, arrivals = 1>

// Phase 2 has the parity of phase 0.
// expected-note @+1 {{with 128 rows, 0 keys, CTA 0}}
attn_tile.kernel @older() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %done = attn_tile.alloc_mbarrier {offset = 0 : i64} : !done
  attn_tile.roles producer(24) {
    attn_tile.mbarrier_arrive %done[%c0] : !done
    attn_tile.mbarrier_arrive %done[%c0] : !done
    attn_tile.mbarrier_arrive %done[%c0] : !done
  } consumer(240) {
  ^bb0(%group: index):
    // expected-error @+1 {{the wait may pass on an older phase of its parity: stage 0 of the mbarriers at 0 of CTA 0}}
    attn_tile.mbarrier_wait %done[%c0], %c0 : !done
  }
  attn_tile.return
}

// -----

!done = !attn_tile.mbarrier<1, arrivals = 3>

// expected-note @+1 {{with 128 rows, 0 keys, CTA 0}}
attn_tile.kernel @more(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %tile = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<64x64xf16, swizzle = 128>
  %done = attn_tile.alloc_mbarrier {offset = 8192 : i64} : !done
  attn_tile.roles producer(24) {
  } consumer(240) {
  ^bb0(%group: index):
    // expected-error @+1 {{the arrival may count for the phase before: stage 0 of the mbarriers at 8192 of CTA 0}}
    attn_tile.mbarrier_arrive %done[%c0] : !done
  }
  attn_tile.return
}

// -----

!full = !attn_tile.mbarrier<2, arrivals = 1>
!tile = !attn_tile.shared<64x64xf16, swizzle = 128>

// A copy of which each CTA brings a half: the second of one CTA comes before the other's first.
// expected-note @+1 {{with 256 rows, 0 keys, CTA 0}}
attn_tile.kernel @halves(%map: !attn_tile.tensor_map<32x64xf16, swizzle = 128>) warps(4) attributes {producer_warps = 4 : i64, cluster_ctas = 2 : i64} {
  %c0 = arith.constant 0 : index
  %tile = attn_tile.alloc {offset = 0 : i64} : !tile
  %full = attn_tile.alloc_mbarrier {offset = 8192 : i64} : !full
  attn_tile.cluster_barrier
  attn_tile.roles producer(24) {
    attn_tile.copy_tma %map[%c0, %c0, %c0] to %tile, %full[%c0] {ctas = 2 : i64} : !attn_tile.tensor_map<32x64xf16, swizzle = 128> to !tile, !full
    // expected-error @+1 {{more than 1 arrivals in a phase of stage 0 of the mbarriers at 8192 of CTA 0}}
    attn_tile.copy_tma %map[%c0, %c0, %c0] to %tile, %full[%c0] {ctas = 2 : i64} : !attn_tile.tensor_map<32x64xf16, swizzle = 128> to !tile, !full
  } consumer(240) {
  ^bb0(%group: index):
    attn_tile.cluster_barrier
  }
  attn_tile.return
}

// -----

!query = !attn_tile.shared<128x64xf16, swizzle = 128>
!keys = !attn_tile.shared<64x64xf16, swizzle = 128>
!done = !attn_tile.mbarrier<1, arrivals = 1>

// A product is read before it is waited for.
attn_tile.kernel @tensor_memory() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-note @-1 {{with 128 rows, 0 keys, CTA 0}}
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc {offset = 0 : i64} : !query
  %k = attn_tile.alloc {offset = 16384 : i64} : !keys
  %done = attn_tile.alloc_mbarrier {offset = 24576 : i64} : !done
  %s = attn_tile.alloc_tensors {offset = 24584 : i64} : !attn_tile.tensor<128x64xf32>
  attn_tile.roles producer(56) {
  } consumer(256) {
  ^bb0(%group: index):
    // expected-error @+1 {{a warp may write what warpgroup 0 of CTA 0 still uses, or uses before it is there}}
    attn_tile.mma_tensor %q, %k transpose_b into %s[%group], %done meet : !query, !keys into !attn_tile.tensor<128x64xf32>, !done
    %early = attn_tile.load_tensor %s[%group] : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128x64xf32, accumulator>
    attn_tile.mbarrier_wait %done[%c0], %c0 : !done
  }
  attn_tile.return
}

// -----

!query = !attn_tile.shared<128x64xf16, swizzle = 128>
!keys = !attn_tile.shared<64x64xf16, swizzle = 128>
!done = !attn_tile.mbarrier<1, arrivals = 1>
!free = !attn_tile.mbarrier<1, arrivals = 4>

// The next product is started before all warps have said that they have read the last one.
attn_tile.kernel @read_late() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-note @-1 {{with 128 rows, 0 keys, CTA 0}}
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc {offset = 0 : i64} : !query
  %k = attn_tile.alloc {offset = 16384 : i64} : !keys
  %done = attn_tile.alloc_mbarrier {offset = 24576 : i64} : !done
  %read = attn_tile.alloc_mbarrier {offset = 24584 : i64} : !free
  %s = attn_tile.alloc_tensors {offset = 24592 : i64} : !attn_tile.tensor<128x64xf32>
  attn_tile.roles producer(56) {
  } products {
    attn_tile.mma_tensor %q, %k transpose_b into %s[%c0], %done one_thread : !query, !keys into !attn_tile.tensor<128x64xf32>, !done
    attn_tile.mbarrier_wait %read[%c0], %c0 : !free
    // expected-error @+1 {{a warp may write what warpgroup 0 of CTA 0 still uses, or uses before it is there}}
    attn_tile.mma_tensor %q, %k transpose_b into %s[%c0] one_thread : !query, !keys into !attn_tile.tensor<128x64xf32>
  } consumer(256) {
  ^bb0(%group: index):
    attn_tile.mbarrier_wait %done[%c0], %c0 : !done
    attn_tile.mbarrier_arrive %read[%c0] : !free
    %late = attn_tile.load_tensor %s[%c0] : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128x64xf32, accumulator>
  }
  attn_tile.return
}

// -----

// A CTA ends while a copy reads its shared memory.
attn_tile.kernel @ends_early(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) attributes {producer_warps = 4 : i64} {
  // expected-note @-1 {{with 128 rows, 0 keys, CTA 0}}
  %c0 = arith.constant 0 : index
  %o = attn_tile.alloc {offset = 0 : i64} : !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.roles producer(24) {
  } consumer(240) {
  ^bb0(%group: index):
    // expected-error @+1 {{the role may end before this is over: warpgroup 0 of CTA 0}}
    attn_tile.store_tma %o[%group] to %map[%c0, %c0, %c0] async : !attn_tile.shared<64x64xf16, swizzle = 128> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
  }
  attn_tile.return
}

// -----

!query = !attn_tile.shared<128x64xf16, swizzle = 128>
!ring = !attn_tile.shared<2x64x64xf16, swizzle = 128>
!keys = !attn_tile.shared<64x64xf16, swizzle = 128>

// Nobody knows which tile the product reads.
attn_tile.kernel @unknown_stage() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc {offset = 0 : i64} : !query
  %ring = attn_tile.alloc {offset = 16384 : i64} : !ring
  %s = attn_tile.alloc_tensors {offset = 32768 : i64} : !attn_tile.tensor<128x64xf32>
  attn_tile.roles producer(56) {
  } products {
    %thread = gpu.thread_id x
    %k = attn_tile.stage %ring[%thread] : !ring
    // expected-error @+1 {{expected a tile that follows from sizes}}
    attn_tile.mma_tensor %q, %k transpose_b into %s[%c0] one_thread : !query, !keys into !attn_tile.tensor<128x64xf32>
  } consumer(256) {
  ^bb0(%group: index):
  }
  attn_tile.return
}

// -----

// Nobody knows whose rows are read.
attn_tile.kernel @unknown_rows() warps(4) attributes {producer_warps = 4 : i64} {
  %s = attn_tile.alloc_tensors {offset = 0 : i64} : !attn_tile.tensor<128x64xf32>
  attn_tile.roles producer(56) {
  } consumer(256) {
  ^bb0(%group: index):
    %thread = gpu.thread_id x
    // expected-error @+1 {{expected a warpgroup that follows from sizes}}
    %rows = attn_tile.load_tensor %s[%thread] : !attn_tile.tensor<128x64xf32> -> !attn_tile.fragment<128x64xf32, accumulator>
  }
  attn_tile.return
}
