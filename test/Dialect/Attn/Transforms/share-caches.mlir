// RUN: attn-opt %s --attn-share-past --attn-share-window --canonicalize | FileCheck %s

// Two caches of one length, a size that is asked for, and rows that something else reads, too.
// CHECK-LABEL: func.func @grows(
// CHECK-SAME: %[[PAST:.*]]: tensor<1x2x?x64xf16>, %{{.*}}: tensor<1x2x?x32xf16>, %{{.*}}, %{{.*}}, %[[LENGTH:.*]]: tensor<i64>) -> (tensor<1x2x?x64xf16>, tensor<1x2x?x32xf16>, tensor<1x2x?x64xf16>, index)
// CHECK-SAME: attributes {attn.past_length = 4 : index}
// CHECK: %[[READ:.*]] = tensor.extract %[[LENGTH]][]
// CHECK: %[[N:.*]] = arith.index_cast %[[READ]]
// CHECK: %[[END:.*]] = arith.addi %[[N]], %c3
// CHECK: %[[ROOM:.*]] = tensor.dim %[[PAST]], %c2
// CHECK: arith.cmpi sge, %[[N]], %c0
// CHECK: arith.cmpi sle, %[[END]], %[[ROOM]]
// CHECK: cf.assert %{{.*}}, "expected past_length from 0 on, with room for new rows behind it"
// CHECK: %[[PRESENT:.*]] = tensor.insert_slice %{{.*}} into %[[PAST]][0, 0, %[[N]], 0] [1, 2, 3, 64] [1, 1, 1, 1]
// CHECK: %[[KNOWN:.*]] = tensor.extract_slice %[[PRESENT]][0, 0, 0, 0] [1, 2, %[[END]], 64] [1, 1, 1, 1]
// CHECK: math.exp %[[KNOWN]]
// CHECK: return %[[PRESENT]], %{{.*}}, %{{.*}}, %[[N]]
func.func @grows(%k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x32xf16>, %nk: tensor<1x2x3x64xf16>, %nv: tensor<1x2x3x32xf16>)
    -> (tensor<1x2x?x64xf16>, tensor<1x2x?x32xf16>, tensor<1x2x?x64xf16>, index) {
  %c2 = arith.constant 2 : index
  %size = tensor.dim %v, %c2 : tensor<1x2x?x32xf16>
  %keys = tensor.concat dim(2) %k, %nk : (tensor<1x2x?x64xf16>, tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16>
  %values = tensor.concat dim(2) %v, %nv : (tensor<1x2x?x32xf16>, tensor<1x2x3x32xf16>) -> tensor<1x2x?x32xf16>
  %e = math.exp %keys : tensor<1x2x?x64xf16>
  return %keys, %values, %e, %size : tensor<1x2x?x64xf16>, tensor<1x2x?x32xf16>, tensor<1x2x?x64xf16>, index
}

// Of a known size, in another dimension, not returned, or read before.
// CHECK-LABEL: func.func @others(
// CHECK-SAME: %{{[^,]*}}: tensor<1x2x7x64xf16>, %{{[^,]*}}: tensor<1x2x?x64xf16>, %{{[^,]*}}: tensor<1x2x?x64xf16>, %{{[^,]*}}: tensor<1x2x3x64xf16>)
// CHECK-COUNT-3: tensor.concat
func.func @others(%known: tensor<1x2x7x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %new: tensor<1x2x3x64xf16>)
    -> (tensor<1x2x10x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>) {
  %0 = tensor.concat dim(2) %known, %new : (tensor<1x2x7x64xf16>, tensor<1x2x3x64xf16>) -> tensor<1x2x10x64xf16>
  %1 = tensor.concat dim(2) %k, %new : (tensor<1x2x?x64xf16>, tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16>
  %2 = math.exp %1 : tensor<1x2x?x64xf16>
  %3 = tensor.concat dim(2) %v, %new : (tensor<1x2x?x64xf16>, tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16>
  %4 = math.exp %v : tensor<1x2x?x64xf16>
  return %0, %2, %3, %4 : tensor<1x2x10x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
}

// One that is called has the arguments of its callers.
// CHECK-LABEL: func.func @called(
// CHECK: tensor.concat
func.func @called(%k: tensor<1x2x?x64xf16>, %new: tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16> {
  %0 = tensor.concat dim(2) %k, %new : (tensor<1x2x?x64xf16>, tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16>
  return %0 : tensor<1x2x?x64xf16>
}
func.func @caller(%k: tensor<1x2x?x64xf16>, %new: tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16> {
  %0 = call @called(%k, %new) : (tensor<1x2x?x64xf16>, tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16>
  return %0 : tensor<1x2x?x64xf16>
}

!q = tensor<1x2x1x64xf16>
!past = tensor<1x2x31x64xf16>
!w = tensor<1x2x32x64xf16>

// CHECK-LABEL: func.func @window(
// CHECK-SAME: %{{.*}}, %[[K:[^:]*]]: tensor<1x2x32x64xf16>, %[[V:[^:]*]]: tensor<1x2x32x64xf16>, %{{[^:]*}}: tensor<1x2x1x64xf16>, %[[LENGTH:.*]]: tensor<i64>) -> (tensor<1x2x1x64xf16>, tensor<1x2x32x64xf16>, tensor<1x2x32x64xf16>)
// CHECK: %[[PLACE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[KEYS:.*]] = tensor.insert_slice %{{.*}} into %[[K]][0, 0, %[[PLACE]], 0]
// CHECK: %[[VALUES:.*]] = tensor.insert_slice %{{.*}} into %[[V]][0, 0, %[[PLACE]], 0]
// CHECK: %[[O:.*]] = attn.attention %{{.*}}, %[[KEYS]], %[[VALUES]] :
// CHECK: return %[[O]], %[[KEYS]], %[[VALUES]]
func.func @window(%q: !q, %k: !past, %v: !past, %new: !q) -> (!q, !past, !past) {
  %keys = tensor.concat dim(2) %k, %new : (!past, !q) -> !w
  %values = tensor.concat dim(2) %v, %new : (!past, !q) -> !w
  %o = attn.attention %q, %keys, %values : !q, !w, !w -> !q
  %rk = tensor.extract_slice %keys[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  %rv = tensor.extract_slice %values[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  return %o, %rk, %rv : !q, !past, !past
}

// A mask says where a key is; the first rows are no window that moves.
// CHECK-LABEL: func.func @masked(
// CHECK-COUNT-2: tensor.concat
func.func @masked(%q: !q, %k: !past, %v: !past, %new: !q) -> (!q, !past, !past) {
  %keys = tensor.concat dim(2) %k, %new : (!past, !q) -> !w
  %values = tensor.concat dim(2) %v, %new : (!past, !q) -> !w
  %o = attn.attention %q, %keys, %values mask_mod sliding_window(20, 20) : !q, !w, !w -> !q
  %rk = tensor.extract_slice %keys[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  %rv = tensor.extract_slice %values[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  return %o, %rk, %rv : !q, !past, !past
}
// CHECK-LABEL: func.func @first_rows(
// CHECK-COUNT-2: tensor.concat
func.func @first_rows(%q: !q, %k: !past, %v: !past, %new: !q) -> (!q, !past, !past) {
  %keys = tensor.concat dim(2) %k, %new : (!past, !q) -> !w
  %values = tensor.concat dim(2) %v, %new : (!past, !q) -> !w
  %o = attn.attention %q, %keys, %values : !q, !w, !w -> !q
  %rk = tensor.extract_slice %keys[0, 0, 0, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  %rv = tensor.extract_slice %values[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  return %o, %rk, %rv : !q, !past, !past
}

// Keys of a window beside values of another order stay, and so do those that have the same values.
// CHECK-LABEL: func.func @mixed(
// CHECK-COUNT-2: tensor.concat
// CHECK-NOT: tensor.insert_slice
func.func @mixed(%q: !q, %k: !past, %v: !past, %new: !q, %other: !w) -> (!q, !q, !past, !past) {
  %keys = tensor.concat dim(2) %k, %new : (!past, !q) -> !w
  %values = tensor.concat dim(2) %v, %new : (!past, !q) -> !w
  %o = attn.attention %q, %keys, %values : !q, !w, !w -> !q
  %p = attn.attention %q, %keys, %other : !q, !w, !w -> !q
  %rk = tensor.extract_slice %keys[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  %rv = tensor.extract_slice %values[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !past
  return %o, %p, %rk, %rv : !q, !q, !past, !past
}

// In a region a cache is read under a condition.
// CHECK-LABEL: func.func @nested(
// CHECK: scf.if
// CHECK: tensor.concat
func.func @nested(%k: tensor<1x2x?x64xf16>, %new: tensor<1x2x3x64xf16>, %c: i1) -> tensor<1x2x?x64xf16> {
  %r = scf.if %c -> tensor<1x2x?x64xf16> {
    %0 = tensor.concat dim(2) %k, %new : (tensor<1x2x?x64xf16>, tensor<1x2x3x64xf16>) -> tensor<1x2x?x64xf16>
    scf.yield %0 : tensor<1x2x?x64xf16>
  } else {
    scf.yield %k : tensor<1x2x?x64xf16>
  }
  return %r : tensor<1x2x?x64xf16>
}
