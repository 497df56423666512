// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @all_ops
// CHECK-SAME: warps(4)
attn_tile.kernel @all_ops(%q: !attn_tile.global<?x8x?x64xf16>,
                          %k: !attn_tile.global<?x8x?x64xf16>,
                          %o: !attn_tile.global<?x8x?x64xf16>,
                          %l: !attn_tile.global<?x8x?xf32>,
                          %bias: !attn_tile.global<8xf32>) warps(4) {
  %b = gpu.block_id z
  %h = gpu.block_id y
  %m = gpu.block_id x
  %c0 = arith.constant 0 : index
  %i0 = arith.constant 0 : i64
  // CHECK: attn_tile.dim %{{.*}}, 2 : <?x8x?x64xf16>
  %rows = attn_tile.dim %q, 2 : !attn_tile.global<?x8x?x64xf16>
  // CHECK: attn_tile.load %{{.*}} -> <128x64xf16, swizzle = 128>
  %qt = attn_tile.load %q[%b, %h, %m] : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<128x64xf16, swizzle = 128>
  // From a column on.
  // CHECK: attn_tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : {{.*}} -> <128x16xf16, swizzle = 32>
  %qs = attn_tile.load %q[%b, %h, %m, %c0] : !attn_tile.global<?x8x?x64xf16> -> !attn_tile.shared<128x16xf16, swizzle = 32>
  // CHECK: attn_tile.alloc : <2x64x64xf16, swizzle = 128>
  %ring = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  // CHECK: attn_tile.stage
  %kt = attn_tile.stage %ring[%c0] : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  // CHECK: attn_tile.copy_async %{{.*}} to %{{.*}} :
  attn_tile.copy_async %k[%b, %h, %c0] to %kt : !attn_tile.global<?x8x?x64xf16> to !attn_tile.shared<64x64xf16, swizzle = 128>
  // CHECK: attn_tile.copy_async %{{.*}} to %{{.*}} in_bounds
  attn_tile.copy_async %k[%b, %h, %c0] to %kt in_bounds : !attn_tile.global<?x8x?x64xf16> to !attn_tile.shared<64x64xf16, swizzle = 128>
  // CHECK: attn_tile.commit_group
  attn_tile.commit_group
  // CHECK: attn_tile.wait_group 0
  attn_tile.wait_group 0
  // CHECK: attn_tile.load_operand
  %a = attn_tile.load_operand %qt : !attn_tile.shared<128x64xf16, swizzle = 128> -> !attn_tile.fragment<128x64xf16, operand_a>
  // CHECK: attn_tile.load_operand %{{.*}} transpose :
  %at = attn_tile.load_operand %qt transpose : !attn_tile.shared<128x64xf16, swizzle = 128> -> !attn_tile.fragment<64x128xf16, operand_a>
  // CHECK: attn_tile.fill 0.000000e+00
  %zero = attn_tile.fill 0.0 : !attn_tile.fragment<128x64xf32, accumulator>
  %max = attn_tile.fill 0xFF800000 : !attn_tile.fragment<128xf32, row>
  // CHECK: attn_tile.mma %{{.*}}, %{{.*}} transpose_b, %{{.*}}
  %s = attn_tile.mma %a, %kt transpose_b, %zero : !attn_tile.fragment<128x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<128x64xf32, accumulator>
  // CHECK: attn_tile.row_reduce max
  %m1 = attn_tile.row_reduce max %s, %max : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.fragment<128xf32, row>
  // CHECK: attn_tile.row_all_reduce max
  %m2 = attn_tile.row_all_reduce max %m1 : !attn_tile.fragment<128xf32, row>
  // CHECK: attn_tile.map
  %p = attn_tile.map %s, %m2 : (!attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.fragment<128xf32, row>) -> !attn_tile.fragment<128x64xf32, accumulator> {
  ^bb0(%x: f32, %r: f32, %i: i32, %j: i32):
    // CHECK: attn_tile.extract %{{.*}} : <8xf32>
    %e = attn_tile.extract %bias[%i0] : !attn_tile.global<8xf32>
    %d = arith.subf %x, %e : f32
    // CHECK: attn_tile.coordinate %{{.*}}
    %place = attn_tile.coordinate %i
    // CHECK: attn_tile.yield
    attn_tile.yield %d : f32
  }
  // CHECK: attn_tile.to_operand
  %pa = attn_tile.to_operand %p : !attn_tile.fragment<128x64xf32, accumulator> -> !attn_tile.fragment<128x64xf16, operand_a>
  %acc = attn_tile.mma %pa, %kt, %zero : !attn_tile.fragment<128x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.fragment<128x64xf32, accumulator>
  // CHECK: attn_tile.load_row %{{.*}} first_lane : <?x8x?xf32> -> <128xf32, row>
  // CHECK: attn_tile.load_row %{{.*}} : <?x8x?xf32> -> <128xf32, row>
  %w1 = attn_tile.load_row %l[%b, %h, %m] first_lane : !attn_tile.global<?x8x?xf32> -> !attn_tile.fragment<128xf32, row>
  %w = attn_tile.load_row %l[%b, %h, %m] : !attn_tile.global<?x8x?xf32> -> !attn_tile.fragment<128xf32, row>
  %true = arith.constant true
  // CHECK: attn_tile.update_rows subtract %{{.*}}, %{{.*}} if %{{.*}} : <128x64xf32, accumulator>, <128xf32, row>
  %relative = attn_tile.update_rows subtract %p, %w if %true : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.fragment<128xf32, row>
  // CHECK: attn_tile.scale_rows %{{.*}}, %{{.*}} : <128x64xf16, operand_a>, <128xf32, row>
  %scaled = attn_tile.scale_rows %pa, %w : !attn_tile.fragment<128x64xf16, operand_a>, !attn_tile.fragment<128xf32, row>
  %columns = attn_tile.fill 1.0 : !attn_tile.fragment<64xf32, column>
  // CHECK: attn_tile.scale_columns %{{.*}}, %{{.*}} : <128x64xf16, operand_a>, <64xf32, column>
  %decayed = attn_tile.scale_columns %pa, %columns : !attn_tile.fragment<128x64xf16, operand_a>, !attn_tile.fragment<64xf32, column>
  // CHECK: attn_tile.store
  attn_tile.store %acc, %o[%b, %h, %m] : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<?x8x?x64xf16>
  attn_tile.store %acc, %o[%b, %h, %m, %c0] : !attn_tile.fragment<128x64xf32, accumulator>, !attn_tile.global<?x8x?x64xf16>
  attn_tile.store %m2, %l[%b, %h, %m] : !attn_tile.fragment<128xf32, row>, !attn_tile.global<?x8x?xf32>
  // CHECK: attn_tile.return
  attn_tile.return
}

// What sm_90a adds: roles, mbarriers, TMA, asynchronous products.
// CHECK-LABEL: attn_tile.kernel @roles
// CHECK-SAME: !attn_tile.tensor_map<64x64xf16, swizzle = 128>
// CHECK-SAME: warps(4) attributes {producer_warps = 4 : i64}
attn_tile.kernel @roles(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %q = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  %ring = attn_tile.alloc : !attn_tile.shared<2x64x64xf16, swizzle = 128>
  // CHECK: attn_tile.alloc_mbarrier : <2, arrivals = 1>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 1>
  // CHECK: attn_tile.alloc_mbarrier {offset = 24576 : i64} : <2, arrivals = 4>
  %empty = attn_tile.alloc_mbarrier {offset = 24576 : i64} : !attn_tile.mbarrier<2, arrivals = 4>
  // CHECK: attn_tile.init_mbarriers %{{.*}}, %{{.*}} :
  attn_tile.init_mbarriers %full, %empty : !attn_tile.mbarrier<2, arrivals = 1>, !attn_tile.mbarrier<2, arrivals = 4>
  // CHECK: attn_tile.roles producer(56) {
  attn_tile.roles producer(56) {
    %t = attn_tile.stage %ring[%c0] : !attn_tile.shared<2x64x64xf16, swizzle = 128>
    // CHECK: attn_tile.copy_tma %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}, %{{.*}}[%{{.*}}] evict_last : <64x64xf16, swizzle = 128> to <64x64xf16, swizzle = 128>, <2, arrivals = 1>
    attn_tile.copy_tma %map[%c0, %c0, %c0] to %t, %full[%c0] evict_last : !attn_tile.tensor_map<64x64xf16, swizzle = 128> to !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.mbarrier<2, arrivals = 1>
  // CHECK: } consumer(256) {
  } consumer(256) {
  // CHECK: ^bb0(%[[WG:.*]]: index):
  ^bb0(%warpgroup: index):
    // CHECK: attn_tile.mbarrier_wait %{{.*}}[%{{.*}}], %{{.*}} : <2, arrivals = 1>
    attn_tile.mbarrier_wait %full[%c0], %c0 : !attn_tile.mbarrier<2, arrivals = 1>
    %t = attn_tile.stage %ring[%c0] : !attn_tile.shared<2x64x64xf16, swizzle = 128>
    // CHECK: %[[S:.*]] = attn_tile.mma_async %{{.*}}[%[[WG]]], %{{.*}} transpose_b : !attn_tile.shared<64x64xf16, swizzle = 128>, <64x64xf16, swizzle = 128> -> <64x64xf32, accumulator>
    %s = attn_tile.mma_async %q[%warpgroup], %t transpose_b : !attn_tile.shared<64x64xf16, swizzle = 128>, !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf32, accumulator>
    // CHECK: attn_tile.mma_wait 0, %[[S]] : <64x64xf32, accumulator>
    %w = attn_tile.mma_wait 0, %s : !attn_tile.fragment<64x64xf32, accumulator>
    // CHECK: attn_tile.mbarrier_arrive %{{.*}}[%{{.*}}] : <2, arrivals = 4>
    attn_tile.mbarrier_arrive %empty[%c0] : !attn_tile.mbarrier<2, arrivals = 4>
    %p = attn_tile.to_operand %w : !attn_tile.fragment<64x64xf32, accumulator> -> !attn_tile.fragment<64x64xf16, operand_a>
    // CHECK: attn_tile.take_turn %[[WG]]
    attn_tile.take_turn %warpgroup
    // CHECK: attn_tile.mma_async %{{.*}}, %{{.*}} acc(%{{.*}} : !attn_tile.fragment<64x64xf32, accumulator>) : !attn_tile.fragment<64x64xf16, operand_a>, <64x64xf16, swizzle = 128> -> <64x64xf32, accumulator>
    %o = attn_tile.mma_async %p, %t acc(%w : !attn_tile.fragment<64x64xf32, accumulator>) : !attn_tile.fragment<64x64xf16, operand_a>, !attn_tile.shared<64x64xf16, swizzle = 128> -> !attn_tile.fragment<64x64xf32, accumulator>
    // CHECK: attn_tile.pass_turn %[[WG]]
    attn_tile.pass_turn %warpgroup
    %row = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, row>
    // CHECK: attn_tile.any %{{.*}} : <64xf32, row>
    %any = attn_tile.any %row : !attn_tile.fragment<64xf32, row>
    // CHECK: attn_tile.store_shared %{{.*}} to %{{.*}} : <64x64xf32, accumulator> to <64x64xf16, swizzle = 128>
    attn_tile.store_shared %w to %q : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.shared<64x64xf16, swizzle = 128>
    // CHECK: attn_tile.store_shared %{{.*}} to %{{.*}} pairs : <64x64xf32, accumulator> to <64x64xf16, swizzle = 128>
    attn_tile.store_shared %w to %q pairs : !attn_tile.fragment<64x64xf32, accumulator> to !attn_tile.shared<64x64xf16, swizzle = 128>
    // CHECK: attn_tile.store_tma %{{.*}}[%[[WG]]] to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : <64x64xf16, swizzle = 128> to <64x64xf16, swizzle = 128>
    attn_tile.store_tma %q[%warpgroup] to %map[%c0, %c0, %c0] : !attn_tile.shared<64x64xf16, swizzle = 128> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
    // CHECK: attn_tile.fence_shared
    attn_tile.fence_shared
  }
  attn_tile.return
}

// CHECK-LABEL: attn_tile.kernel @table
attn_tile.kernel @table(%t: index) warps(4) {
  // CHECK: attn_tile.lookup dense<[0, 256, 128]> : tensor<3xi32>[%{{.*}}]
  %n = attn_tile.lookup dense<[0, 256, 128]> : tensor<3xi32> [%t]
  attn_tile.return
}

// CHECK-LABEL: attn_tile.kernel @sums
attn_tile.kernel @sums(%words: !attn_tile.global<?x13xi64>) warps(1) {
  %n = arith.constant 3 : i64
  // CHECK: attn_tile.atomic_add %[[N:.*]], %{{.*}}[%[[N]], %[[N]]] : <?x13xi64>
  attn_tile.atomic_add %n, %words[%n, %n] : !attn_tile.global<?x13xi64>
  attn_tile.return
}
