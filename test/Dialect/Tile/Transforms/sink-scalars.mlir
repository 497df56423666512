// RUN: attn-opt %s --pass-pipeline='builtin.module(attn_tile.kernel(attn-tile-sink-scalars))' | FileCheck %s

// What both roles read is computed in each, with what it is computed of; what one reads, or something in front, stays.
// CHECK-LABEL: attn_tile.kernel @both
// CHECK-NEXT: %[[N:.*]] = attn_tile.dim %arg1, 0
// CHECK-NEXT: %[[ONE:.*]] = arith.muli %arg0, %arg0
// CHECK-NEXT: %[[FRONT:.*]] = arith.addi %arg0, %[[N]]
// CHECK-NEXT: attn_tile.alloc_tensors
// CHECK: attn_tile.exit if
// CHECK: attn_tile.roles producer(56) {
// CHECK-NEXT: %[[M:.*]] = attn_tile.dim %arg1, 0
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg0, %[[M]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %[[SUM]], %arg0
// CHECK-NEXT: arith.subi %[[PRODUCT]], %[[ONE]]
// CHECK-NEXT: } consumer(256) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[M:.*]] = attn_tile.dim %arg1, 0
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg0, %[[M]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %[[SUM]], %arg0
// CHECK-NEXT: scf.for %{{.*}} = %[[SUM]] to %[[PRODUCT]]
attn_tile.kernel @both(%a: index, %o: !attn_tile.global<?xf32>) warps(4) attributes {producer_warps = 4 : i64} {
  %n = attn_tile.dim %o, 0 : !attn_tile.global<?xf32>
  %one = arith.muli %a, %a : index
  %sum = arith.addi %a, %n : index
  %product = arith.muli %sum, %a : index
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  %ends = arith.cmpi eq, %sum, %a : index
  attn_tile.exit if %ends
  attn_tile.roles producer(56) {
    %p = arith.subi %product, %one : index
  } consumer(256) {
  ^bb0(%warpgroup: index):
    scf.for %i = %sum to %product step %a {
      %c = arith.addi %i, %a : index
    }
    attn_tile.free_tensors %t : !attn_tile.tensor<128x64xf32>
  }
  attn_tile.return
}

// Without tensor memory nothing is sunk.
// CHECK-LABEL: attn_tile.kernel @registers
// CHECK-NEXT: arith.addi
// CHECK-NEXT: attn_tile.roles producer(56) {
// CHECK-NEXT: arith.muli
// CHECK-NEXT: } consumer(240) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.muli
attn_tile.kernel @registers(%a: index) warps(4) attributes {producer_warps = 4 : i64} {
  %sum = arith.addi %a, %a : index
  attn_tile.roles producer(56) {
    %p = arith.muli %sum, %a : index
  } consumer(240) {
  ^bb0(%warpgroup: index):
    %c = arith.muli %sum, %sum : index
  }
  attn_tile.return
}

// A producer that looks pages up has no register for it, either.
// CHECK-LABEL: attn_tile.kernel @pages
// CHECK: attn_tile.roles producer(56) {
// CHECK-NEXT: arith.addi
// CHECK-NEXT: attn_tile.copy_tma
// CHECK-NEXT: } consumer(240) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addi
attn_tile.kernel @pages(%a: index, %map: !attn_tile.tensor_map<16x64xf16, swizzle = 128>) warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %t = attn_tile.alloc : !attn_tile.shared<16x64xf16, swizzle = 128>
  %full = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<1, arrivals = 1>
  %sum = arith.addi %a, %a : index
  attn_tile.roles producer(56) {
    attn_tile.copy_tma %map[%c0, %c0] pages(%sum) to %t, %full[%c0] : !attn_tile.tensor_map<16x64xf16, swizzle = 128> to !attn_tile.shared<16x64xf16, swizzle = 128>, !attn_tile.mbarrier<1, arrivals = 1>
  } consumer(240) {
  ^bb0(%warpgroup: index):
    %c = arith.muli %sum, %sum : index
  }
  attn_tile.return
}

// Of three roles those have it that read it: what two read is computed in both, what one reads stays.
// CHECK-LABEL: attn_tile.kernel @three
// CHECK-NEXT: %[[ONE:.*]] = arith.subi %arg0, %arg0
// CHECK-NEXT: attn_tile.alloc_tensors
// CHECK-NEXT: attn_tile.roles producer(40) {
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg0, %arg0
// CHECK-NEXT: arith.muli %[[SUM]], %[[ONE]]
// CHECK-NEXT: } products {
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg0, %arg0
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %[[SUM]], %arg0
// CHECK-NEXT: arith.addi %[[PRODUCT]], %[[SUM]]
// CHECK-NEXT: } consumer(232) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg0, %arg0
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %[[SUM]], %arg0
// CHECK-NEXT: arith.subi %[[PRODUCT]], %arg0
attn_tile.kernel @three(%a: index) warps(4) attributes {producer_warps = 4 : i64} {
  %one = arith.subi %a, %a : index
  %sum = arith.addi %a, %a : index
  %product = arith.muli %sum, %a : index
  %t = attn_tile.alloc_tensors : !attn_tile.tensor<128x64xf32>
  attn_tile.roles producer(40) {
    %p = arith.muli %sum, %one : index
  } products {
    %p = arith.addi %product, %sum : index
  } consumer(232) {
  ^bb0(%warpgroup: index):
    %c = arith.subi %product, %a : index
    attn_tile.free_tensors %t : !attn_tile.tensor<128x64xf32>
  }
  attn_tile.return
}
