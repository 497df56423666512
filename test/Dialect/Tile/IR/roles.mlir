// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// Of the producer warps the first runs the first role, the second the next one. Names are free.
// CHECK-LABEL: attn_tile.kernel @three
// CHECK: attn_tile.roles producer(40) {
// CHECK-NEXT: attn_tile.stage
// CHECK-NEXT: } products {
// CHECK-NEXT: attn_tile.fence_tensors after
// CHECK-NEXT: attn_tile.mma_tensor %{{.*}}, %{{.*}} transpose_b into %[[S:.*]][%{{.*}}], %{{.*}} one_thread : !attn_tile.shared<128x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> into <128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
// CHECK-NEXT: attn_tile.commit_tensors %{{.*}}[%{{.*}}] : <2, arrivals = 5>
// CHECK-NEXT: } consumer(232) {
// CHECK-NEXT: ^bb0(%{{.*}}: index):
// CHECK-NEXT: attn_tile.fence_tensors{{$}}
// CHECK-NEXT: attn_tile.free_tensors %[[S]]
attn_tile.kernel @three() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !attn_tile.shared<128x64xf16, swizzle = 128>
  %k = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  %k0 = attn_tile.stage %k[%c0] : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  %done = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  %empty = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 5>
  attn_tile.roles producer(40) {
    %t = attn_tile.stage %k[%c0] : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  } products {
    attn_tile.fence_tensors after
    attn_tile.mma_tensor %q, %k0 transpose_b into %s[%c0], %done one_thread
        : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128>
          into !attn_tile.tensor<128x64xf32>, !attn_tile.mbarrier<1, arrivals = 1>
    attn_tile.commit_tensors %empty[%c0] : !attn_tile.mbarrier<2, arrivals = 5>
  } consumer(232) {
  ^bb0(%g: index):
    attn_tile.fence_tensors
    attn_tile.free_tensors %s : !attn_tile.tensor<128x64xf32>
  }
  attn_tile.return
}

// CHECK-LABEL: attn_tile.kernel @names
// CHECK: attn_tile.roles loads(24) {
// CHECK-NEXT: } mma {
// CHECK-NEXT: } epilogue {
// CHECK-NEXT: } consumer(240) {
// CHECK-NEXT: ^bb0(%{{.*}}: index):
// CHECK-NEXT: } {why = "test"}
attn_tile.kernel @names() warps(4) attributes {producer_warps = 4 : i64} {
  attn_tile.roles loads(24) {
  } mma {
  } epilogue {
  } consumer(240) {
  ^bb0(%g: index):
  } {why = "test"}
  attn_tile.return
}

// All threads of the producer warps run the only role; all lanes of a warp are there.
// CHECK-LABEL: attn_tile.kernel @all
// CHECK: attn_tile.roles producer(40) all {
// CHECK-NEXT: attn_tile.uniform
attn_tile.kernel @all(%n: index) warps(4) attributes {producer_warps = 4 : i64} {
  attn_tile.roles producer(40) all {
    %m = attn_tile.uniform %n : index
  } consumer(240) {
  ^bb0(%g: index):
    %m = attn_tile.uniform %n : index
  }
  attn_tile.return
}

// Registers as the kernel is launched with them.
// CHECK-LABEL: attn_tile.kernel @as_launched
// CHECK: attn_tile.roles producer {
// CHECK-NEXT: attn_tile.stage
// CHECK-NEXT: } consumer {
attn_tile.kernel @as_launched(%n: index) warps(4) attributes {producer_warps = 1 : i64} {
  %k = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  attn_tile.roles producer {
    %t = attn_tile.stage %k[%n] : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  } consumer {
  ^bb0(%g: index):
    %m = attn_tile.uniform %n : index
  }
  attn_tile.return
}

// A warpgroup behind the warps of one thread. In the place of consumers' warpgroups its threads have their rows.
// CHECK-LABEL: attn_tile.kernel @warpgroup
// CHECK: attn_tile.roles producer(32) {
// CHECK-NEXT: attn_tile.copy_tma %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}, %{{.*}}[%{{.*}}] evict_first rows = [128, 256] : <128x64xf16, swizzle = 128> to <256x64xf16, swizzle = 128>, <1, arrivals = 1>
// CHECK-NEXT: } correction warpgroup(96) {
// CHECK-NEXT: attn_tile.uniform
// CHECK-NEXT: attn_tile.as_warpgroup %{{.*}} {
// CHECK-NEXT: attn_tile.load_shared_rows %[[V:.*]] : <1x256xf32, swizzle = 128> -> <256xf32, row>
// CHECK-NEXT: }
// CHECK-NEXT: } consumer(192) {
// CHECK-NEXT: ^bb0(%{{.*}}: index):
// CHECK-NEXT: attn_tile.fill
// CHECK-NEXT: attn_tile.store_shared_rows %{{.*}} to %[[V]] : <256xf32, lane_row> to <1x256xf32, swizzle = 128>
attn_tile.kernel @warpgroup(%n: index, %map: !attn_tile.tensor_map<128x64xf16, swizzle = 128>) warps(8)
    attributes {producer_warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !attn_tile.shared<256x64xf16, swizzle = 128>
  %v = attn_tile.alloc : !attn_tile.shared<1x256xf32, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  attn_tile.roles producer(32) {
    attn_tile.copy_tma %map[%c0, %c0, %c0] to %q, %full[%c0] evict_first rows = [128, 256]
        : !attn_tile.tensor_map<128x64xf16, swizzle = 128> to !attn_tile.shared<256x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  } correction warpgroup(96) {
    %u = attn_tile.uniform %n : index
    attn_tile.as_warpgroup %c0 {
      %r = attn_tile.load_shared_rows %v : !attn_tile.shared<1x256xf32, swizzle = 128> -> !attn_tile.fragment<256xf32, row>
    }
  } consumer(192) {
  ^bb0(%g: index):
    %r = attn_tile.fill 0.0 : !attn_tile.fragment<256xf32, lane_row>
    attn_tile.store_shared_rows %r to %v : !attn_tile.fragment<256xf32, lane_row> to !attn_tile.shared<1x256xf32, swizzle = 128>
  }
  attn_tile.return
}
