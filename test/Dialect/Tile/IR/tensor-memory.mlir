// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @products
attn_tile.kernel @products() warps(8) {
  // CHECK: %[[TILES:.*]]:3 = attn_tile.alloc_tensors : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x64xbf16>, !attn_tile.tensor<256x128xf32>
  %s, %p, %o = attn_tile.alloc_tensors
      : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x64xbf16>, !attn_tile.tensor<256x128xf32>
  %q = attn_tile.alloc : !attn_tile.shared<256x128xbf16, swizzle = 128>
  %k = attn_tile.alloc : !attn_tile.shared<64x128xbf16, swizzle = 128>
  %done = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 1>
  attn_tile.roles producer(24) {
  } consumer(240) {
  ^bb0(%g: index):
    // CHECK: attn_tile.mma_tensor %{{.*}}, %{{.*}} transpose_b into %[[TILES]]#0[%[[G:.*]]], %[[DONE:.*]] : !attn_tile.shared<256x128xbf16, swizzle = 128>, <64x128xbf16, swizzle = 128> into <256x64xf32>, !attn_tile.mbarrier<2, arrivals = 1>
    attn_tile.mma_tensor %q, %k transpose_b into %s[%g], %done
        : !attn_tile.shared<256x128xbf16, swizzle = 128>, !attn_tile.shared<64x128xbf16, swizzle = 128>
          into !attn_tile.tensor<256x64xf32>, !attn_tile.mbarrier<2, arrivals = 1>
    // CHECK: attn_tile.load_tensor %[[TILES]]#0[%[[G]]] : <256x64xf32> -> <256x64xf32, accumulator>
    %scores = attn_tile.load_tensor %s[%g] : !attn_tile.tensor<256x64xf32> -> !attn_tile.fragment<256x64xf32, accumulator>
    %operand = attn_tile.to_operand %scores
        : !attn_tile.fragment<256x64xf32, accumulator> -> !attn_tile.fragment<256x64xbf16, operand_a>
    // CHECK: attn_tile.store_tensor %{{.*}} to %[[TILES]]#1[%[[G]]] : <256x64xbf16, operand_a> to <256x64xbf16>
    attn_tile.store_tensor %operand to %p[%g]
        : !attn_tile.fragment<256x64xbf16, operand_a> to !attn_tile.tensor<256x64xbf16>
    // CHECK: attn_tile.mma_tensor %[[TILES]]#1, %{{.*}} into %[[TILES]]#2[%[[G]]], %[[DONE]] meet
    attn_tile.mma_tensor %p, %k into %o[%g], %done meet
        : !attn_tile.tensor<256x64xbf16>, !attn_tile.shared<64x128xbf16, swizzle = 128>
          into !attn_tile.tensor<256x128xf32>, !attn_tile.mbarrier<2, arrivals = 1>
    // In the place of S, added to what is there; a later product's barrier is this one's, too.
    // CHECK: %[[P:.*]] = attn_tile.narrow_tensor %[[TILES]]#0[%[[G]]] : <256x64xf32> -> <256x64xbf16>
    %w = attn_tile.narrow_tensor %s[%g] : !attn_tile.tensor<256x64xf32> -> !attn_tile.tensor<256x64xbf16>
    %zero = attn_tile.fill 0.0 : !attn_tile.fragment<256x128xf32, accumulator>
    // CHECK: attn_tile.store_tensor %{{.*}} to %[[TILES]]#2[%[[G]]] : <256x128xf32, accumulator> to <256x128xf32>
    attn_tile.store_tensor %zero to %o[%g] : !attn_tile.fragment<256x128xf32, accumulator> to !attn_tile.tensor<256x128xf32>
    // CHECK: attn_tile.mma_tensor %[[P]], %{{.*}} into %[[TILES]]#2[%[[G]]] accumulate meet : !attn_tile.tensor<256x64xbf16>, <64x128xbf16, swizzle = 128> into <256x128xf32>{{$}}
    attn_tile.mma_tensor %w, %k into %o[%g] accumulate meet
        : !attn_tile.tensor<256x64xbf16>, !attn_tile.shared<64x128xbf16, swizzle = 128> into !attn_tile.tensor<256x128xf32>
    // CHECK: attn_tile.load_tensor %[[TILES]]#2[%[[G]]] acc(%{{.*}} : !attn_tile.fragment<256x128xf32, accumulator>)
    %sum = attn_tile.load_tensor %o[%g] acc(%zero : !attn_tile.fragment<256x128xf32, accumulator>)
        : !attn_tile.tensor<256x128xf32> -> !attn_tile.fragment<256x128xf32, accumulator>
    %rows = attn_tile.fill 2.0 : !attn_tile.fragment<256xf32, row>
    // CHECK: attn_tile.scale_tensor %[[TILES]]#2[%[[G]]] by %{{.*}} : <256x128xf32>, <256xf32, row>
    attn_tile.scale_tensor %o[%g] by %rows : !attn_tile.tensor<256x128xf32>, !attn_tile.fragment<256xf32, row>
    // CHECK: attn_tile.free_tensors %[[TILES]]#0, %[[TILES]]#1, %[[TILES]]#2
    attn_tile.free_tensors %s, %p, %o
        : !attn_tile.tensor<256x64xf32>, !attn_tile.tensor<256x64xbf16>, !attn_tile.tensor<256x128xf32>
  }
  attn_tile.return
}
