// RUN: attn-opt %s --attn-share-window --canonicalize | FileCheck %s

// Windows of as many rows as their caches have, whose first is dropped (share-caches.mlir has those of caches that lack the new row).

!q = tensor<1x2x1x64xf16>
!rest = tensor<1x2x31x64xf16>
!w = tensor<1x2x32x64xf16>

// CHECK-LABEL: func.func @moved(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<1x2x1x64xf16>, %[[K:[^:]*]]: tensor<1x2x32x64xf16>, %[[V:[^:]*]]: tensor<1x2x32x64xf16>, %[[NEW:[^:]*]]: tensor<1x2x1x64xf16>, %[[LENGTH:.*]]: tensor<i64>)
// CHECK: %[[PLACE:.*]] = arith.remui %{{.*}}, %c32
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[KEYS:.*]] = tensor.insert_slice %[[NEW]] into %[[K]][0, 0, %[[PLACE]], 0]
// CHECK: %[[VALUES:.*]] = tensor.insert_slice %[[NEW]] into %[[V]][0, 0, %[[PLACE]], 0]
// CHECK: %[[O:.*]] = attn.attention %[[Q]], %[[KEYS]], %[[VALUES]] :
// CHECK: return %[[O]], %[[KEYS]], %[[VALUES]]
func.func @moved(%q: !q, %k: !w, %v: !w, %new: !q) -> (!q, !w, !w) {
  %rk = tensor.extract_slice %k[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %rv = tensor.extract_slice %v[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %keys = tensor.concat dim(2) %rk, %new : (!rest, !q) -> !w
  %values = tensor.concat dim(2) %rv, %new : (!rest, !q) -> !w
  %o = attn.attention %q, %keys, %values : !q, !w, !w -> !q
  return %o, %keys, %values : !q, !w, !w
}

// Rolled by one, then the last one replaced. A soft cap does not know where a key is.
// CHECK-LABEL: func.func @rolled(
// CHECK-SAME: %{{[^:]*}}: tensor<1x2x1x64xf16>, %[[K:[^:]*]]: tensor<1x2x32x64xf16>, %[[V:[^:]*]]: tensor<1x2x32x64xf16>, %[[NEW:[^:]*]]: tensor<1x2x1x64xf16>, %{{.*}}: tensor<i64>)
// CHECK-NOT: tensor.concat
// CHECK: %[[KEYS:.*]] = tensor.insert_slice %[[NEW]] into %[[K]]
// CHECK: %[[VALUES:.*]] = tensor.insert_slice %[[NEW]] into %[[V]]
// CHECK: %[[O:.*]] = attn.attention %{{.*}}, %[[KEYS]], %[[VALUES]] score_mod soft_cap
// CHECK: return %[[O]], %[[KEYS]], %[[VALUES]]
func.func @rolled(%q: !q, %k: !w, %v: !w, %new: !q) -> (!q, !w, !w) {
  %rk = tensor.extract_slice %k[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %fk = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 1, 64] [1, 1, 1, 1] : !w to !q
  %rkd = tensor.cast %rk : !rest to tensor<1x2x?x64xf16>
  %fkd = tensor.cast %fk : !q to tensor<1x2x?x64xf16>
  %rolled_k = tensor.concat dim(2) %rkd, %fkd : (tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>) -> !w
  %rv = tensor.extract_slice %v[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %fv = tensor.extract_slice %v[0, 0, 0, 0] [1, 2, 1, 64] [1, 1, 1, 1] : !w to !q
  %rolled_v = tensor.concat dim(2) %rv, %fv : (!rest, !q) -> !w
  %keys = tensor.insert_slice %new into %rolled_k[0, 0, 31, 0] [1, 2, 1, 64] [1, 1, 1, 1] : !q into !w
  %values = tensor.insert_slice %new into %rolled_v[0, 0, 31, 0] [1, 2, 1, 64] [1, 1, 1, 1] : !q into !w
  %o = attn.attention %q, %keys, %values score_mod soft_cap(50.0) : !q, !w, !w -> !q
  return %o, %keys, %values : !q, !w, !w
}

// A bias of the key's place does.
// CHECK-LABEL: func.func @slope(
// CHECK-COUNT-2: tensor.concat
func.func @slope(%q: !q, %k: !w, %v: !w, %new: !q) -> (!q, !w, !w) {
  %rk = tensor.extract_slice %k[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %rv = tensor.extract_slice %v[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %keys = tensor.concat dim(2) %rk, %new : (!rest, !q) -> !w
  %values = tensor.concat dim(2) %rv, %new : (!rest, !q) -> !w
  %o = attn.attention %q, %keys, %values score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %place = arith.index_cast %j : index to i32
    %slope = arith.sitofp %place : i32 to f32
    %t = arith.addf %s, %slope : f32
    attn.yield %t : f32
  } : !q, !w, !w -> !q
  return %o, %keys, %values : !q, !w, !w
}

// Rolled, but the new row is not the last; not moved; and a cache that is read before.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: tensor.concat
func.func @others(%q: !q, %a: !w, %b: !w, %c: !w, %new: !q) -> (!q, !w, !w, !w, !q) {
  %ra = tensor.extract_slice %a[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %fa = tensor.extract_slice %a[0, 0, 0, 0] [1, 2, 1, 64] [1, 1, 1, 1] : !w to !q
  %rolled = tensor.concat dim(2) %ra, %fa : (!rest, !q) -> !w
  %x = tensor.insert_slice %new into %rolled[0, 0, 30, 0] [1, 2, 1, 64] [1, 1, 1, 1] : !q into !w
  %rb = tensor.extract_slice %b[0, 0, 0, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %y = tensor.concat dim(2) %rb, %new : (!rest, !q) -> !w
  %rc = tensor.extract_slice %c[0, 0, 1, 0] [1, 2, 31, 64] [1, 1, 1, 1] : !w to !rest
  %z = tensor.concat dim(2) %rc, %new : (!rest, !q) -> !w
  %o = attn.attention %q, %x, %y : !q, !w, !w -> !q
  %p = attn.attention %q, %z, %z : !q, !w, !w -> !q
  %r = attn.attention %q, %c, %c : !q, !w, !w -> !q
  %s = arith.addf %o, %p : !q
  return %s, %x, %y, %z, %r : !q, !w, !w, !w, !q
}
