// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-stage-stores))' | FileCheck %s

!query = !attn_tile.shared<64x64xf16, swizzle = 128>
!acc = !attn_tile.fragment<64x64xf32, accumulator>
!row = !attn_tile.fragment<64xf32, row>

// The output goes through the query's place, and is waited for in the end; LSE does not.
// CHECK-LABEL: attn_tile.kernel @output
// CHECK-SAME: %[[MAP:[a-z0-9]*]]: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4)
// CHECK-SAME: mapped = array<i64: 0>, mapped_heads = array<i64: 1>
attn_tile.kernel @output(%o: !attn_tile.global<2x8x?x64xf16>, %lse: !attn_tile.global<2x8x?xf32>) warps(4) attributes {
    producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[Q:.*]] = attn_tile.alloc
  %q = attn_tile.alloc : !query
  attn_tile.roles producer(56) {
    %c = arith.constant 0 : index
  // CHECK: ^bb0(%[[WG:.*]]: index):
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %acc = attn_tile.fill 0.0 : !acc
    %sum = attn_tile.fill 0.0 : !row
    // CHECK: attn_tile.store_shared %{{.*}} to %[[Q]]
    // CHECK-NEXT: attn_tile.store_tma %[[Q]][%[[WG]]] to %[[MAP]]{{.*}} async
    attn_tile.store %acc, %o[%c0, %c0, %c0] : !acc, !attn_tile.global<2x8x?x64xf16>
    // CHECK-NEXT: attn_tile.store %{{.*}}, %{{.*}} : <64xf32, row>
    attn_tile.store %sum, %lse[%c0, %c0, %c0] : !row, !attn_tile.global<2x8x?xf32>
    // CHECK-NEXT: attn_tile.wait_stores
    // CHECK-NEXT: }
  }
  attn_tile.return
}

// Two outputs, of two tiles, are on their way together.
// CHECK-LABEL: attn_tile.kernel @outputs
// CHECK: attn_tile.store_tma {{.*}} async
// CHECK-NOT: wait_stores
// CHECK: attn_tile.store_tma {{.*}} async
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: }
attn_tile.kernel @outputs(%k: !attn_tile.global<2x8x?x64xf16>, %v: !attn_tile.global<2x8x?x64xf16>) warps(4) attributes {
    producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %first = attn_tile.alloc : !query
  %second = attn_tile.alloc : !query
  attn_tile.roles producer(56) {
    %c = arith.constant 0 : index
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %acc = attn_tile.fill 0.0 : !acc
    attn_tile.store %acc, %k[%c0, %c0, %c0] : !acc, !attn_tile.global<2x8x?x64xf16>
    attn_tile.store %acc, %v[%c0, %c0, %c0] : !acc, !attn_tile.global<2x8x?x64xf16>
  }
  attn_tile.return
}

// With an output tile the query's place is left alone, and nobody waits for the store but the next one and the end.
// CHECK-LABEL: attn_tile.kernel @output_tile
// CHECK: %[[Q:.*]] = attn_tile.alloc
// CHECK: %[[OUT:.*]] = attn_tile.alloc
// CHECK: attn_tile.store_shared %{{.*}} to %[[OUT]]
// CHECK-NEXT: attn_tile.store_tma %[[OUT]]{{.*}} async
// CHECK-NEXT: attn_tile.wait_stores
// CHECK-NEXT: }
attn_tile.kernel @output_tile(%o: !attn_tile.global<2x8x?x64xf16>) warps(4) attributes {
    producer_warps = 4 : i64, schedule = #attn.schedule<output_tile = true>} {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !query
  attn_tile.roles producer(56) {
    %c = arith.constant 0 : index
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %acc = attn_tile.fill 0.0 : !acc
    attn_tile.store %acc, %o[%c0, %c0, %c0] : !acc, !attn_tile.global<2x8x?x64xf16>
  }
  attn_tile.return
}

// No tile of that shape, no roles, or elements that the tile cannot have.
// CHECK-LABEL: attn_tile.kernel @shape
// CHECK-NOT: store_tma
attn_tile.kernel @shape(%o: !attn_tile.global<2x8x?x64xf16>, %f: !attn_tile.global<2x8x?x64xf32>) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !attn_tile.shared<64x128xf16, swizzle = 128>
  attn_tile.roles producer(56) {
    %c = arith.constant 0 : index
  } consumer(256) {
  ^bb0(%warpgroup: index):
    %acc = attn_tile.fill 0.0 : !acc
    attn_tile.store %acc, %o[%c0, %c0, %c0] : !acc, !attn_tile.global<2x8x?x64xf16>
    attn_tile.store %acc, %f[%c0, %c0, %c0] : !acc, !attn_tile.global<2x8x?x64xf32>
  }
  attn_tile.return
}
