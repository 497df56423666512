// RUN: attn-opt %s --attn-raise-append --canonicalize | FileCheck %s

// Keys and values at one place are one append; the bound of the mask becomes lengths, from 0 to N.
// CHECK-LABEL: func.func @static_cache
// CHECK: %[[SLOTS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x1xi64>)
// CHECK: %[[PAGE:.*]] = arith.muli %{{.*}}, %c96
// CHECK: arith.addi %[[PAGE]], %arg5 : index
// CHECK: %[[CACHE:.*]]:2 = attn.append %arg1, %arg2 into %arg3, %arg4 slots(%[[SLOTS]] : tensor<2x1xi64>)
// CHECK: %[[LENGTHS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi64>)
// CHECK: arith.maxsi %arg5, %c0
// CHECK: arith.minsi %{{.*}}, %c96
// CHECK: %[[NONE:.*]] = arith.cmpi slt, %arg5, %c0
// CHECK: arith.select %[[NONE]], %c0
// CHECK: attn.attention %arg0, %[[CACHE]]#0, %[[CACHE]]#1 lengths(key %[[LENGTHS]] : tensor<2xi64>) :
// CHECK: return %{{.*}}, %[[CACHE]]#0, %[[CACHE]]#1
func.func @static_cache(%q: tensor<2x4x1x64xf16>, %k: tensor<2x4x1x64xf16>, %v: tensor<2x4x1x64xf16>, %kc: tensor<2x4x96x64xf16>, %vc: tensor<2x4x96x64xf16>,
                        %pos: index) -> (tensor<2x4x1x64xf16>, tensor<2x4x96x64xf16>, tensor<2x4x96x64xf16>) {
  %k1 = tensor.insert_slice %k into %kc[0, 0, %pos, 0] [2, 4, 1, 64] [1, 1, 1, 1] : tensor<2x4x1x64xf16> into tensor<2x4x96x64xf16>
  %v1 = tensor.insert_slice %v into %vc[0, 0, %pos, 0] [2, 4, 1, 64] [1, 1, 1, 1] : tensor<2x4x1x64xf16> into tensor<2x4x96x64xf16>
  %o = attn.attention %q, %k1, %v1 mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %seen = arith.cmpi sle, %j, %pos : index
    attn.yield %seen : i1
  } : tensor<2x4x1x64xf16>, tensor<2x4x96x64xf16>, tensor<2x4x96x64xf16> -> tensor<2x4x1x64xf16>
  return %o, %k1, %v1 : tensor<2x4x1x64xf16>, tensor<2x4x96x64xf16>, tensor<2x4x96x64xf16>
}

// A bound by batch, beside another condition, which stays; values at a place of their own.
// CHECK-LABEL: func.func @by_batch
// CHECK: attn.append %arg1 into %arg2
// CHECK: attn.append %arg1 into %arg3
// CHECK: tensor.extract %arg4
// CHECK: attn.attention {{.*}} lengths(key %{{.*}} : tensor<2xi64>) mask_mod sliding_window(0, -1) :
func.func @by_batch(%q: tensor<2x4x3x64xf16>, %k: tensor<2x4x3x64xf16>, %kc: tensor<2x4x?x64xf16>, %vc: tensor<2x4x?x64xf16>, %n: tensor<2xindex>,
                    %pos: index) -> tensor<2x4x3x64xf16> {
  %k1 = tensor.insert_slice %k into %kc[0, 0, %pos, 0] [2, 4, 3, 64] [1, 1, 1, 1] : tensor<2x4x3x64xf16> into tensor<2x4x?x64xf16>
  %v1 = tensor.insert_slice %k into %vc[0, 0, 4, 0] [2, 4, 3, 64] [1, 1, 1, 1] : tensor<2x4x3x64xf16> into tensor<2x4x?x64xf16>
  %o = attn.attention %q, %k1, %v1 mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %length = tensor.extract %n[%b] : tensor<2xindex>
    %exists = arith.cmpi slt, %j, %length : index
    %near = arith.cmpi sge, %j, %i : index
    %seen = arith.andi %near, %exists : i1
    attn.yield %seen : i1
  } : tensor<2x4x3x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16> -> tensor<2x4x3x64xf16>
  return %o : tensor<2x4x3x64xf16>
}

// A bound by row stays a mask; that of the last row, unless it wraps around, is the length.
// CHECK-LABEL: func.func @by_row
// CHECK: attn.append
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi64>)
// CHECK: %[[LAST:.*]] = arith.addi %arg4, %c2
// CHECK: %[[WRAPS:.*]] = arith.cmpi slt, %[[LAST]], %arg4
// CHECK: arith.select %[[WRAPS]], %c96, %[[LAST]]
// CHECK: attn.attention {{.*}} lengths(key %{{.*}} : tensor<2xi64>) mask_mod
// CHECK: %[[OWN:.*]] = arith.addi %arg4, %{{.*}}
// CHECK: arith.cmpi sle, %{{.*}}, %[[OWN]]
func.func @by_row(%q: tensor<2x4x3x64xf16>, %k: tensor<2x4x3x64xf16>, %kc: tensor<2x4x96x64xf16>, %vc: tensor<2x4x96x64xf16>, %pos: index) -> tensor<2x4x3x64xf16> {
  %k1 = tensor.insert_slice %k into %kc[0, 0, %pos, 0] [2, 4, 3, 64] [1, 1, 1, 1] : tensor<2x4x3x64xf16> into tensor<2x4x96x64xf16>
  %v1 = tensor.insert_slice %k into %vc[0, 0, %pos, 0] [2, 4, 3, 64] [1, 1, 1, 1] : tensor<2x4x3x64xf16> into tensor<2x4x96x64xf16>
  %o = attn.attention %q, %k1, %v1 mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %last = arith.addi %pos, %i : index
    %seen = arith.cmpi sle, %j, %last : index
    attn.yield %seen : i1
  } : tensor<2x4x3x64xf16>, tensor<2x4x96x64xf16>, tensor<2x4x96x64xf16> -> tensor<2x4x3x64xf16>
  return %o : tensor<2x4x3x64xf16>
}

// Of many rows, or of twice the row, it is a mask and no length.
// CHECK-LABEL: func.func @no_lengths
// CHECK: attn.append
// CHECK: attn.attention
// CHECK-NOT: lengths
// CHECK-SAME: mask_mod
// CHECK: attn.attention
// CHECK-NOT: lengths
// CHECK-SAME: mask_mod
func.func @no_lengths(%q: tensor<2x4x17x64xf16>, %q3: tensor<2x4x3x64xf16>, %k: tensor<2x4x3x64xf16>, %kc: tensor<2x4x96x64xf16>, %pos: index)
    -> (tensor<2x4x17x64xf16>, tensor<2x4x3x64xf16>) {
  %k1 = tensor.insert_slice %k into %kc[0, 0, %pos, 0] [2, 4, 3, 64] [1, 1, 1, 1] : tensor<2x4x3x64xf16> into tensor<2x4x96x64xf16>
  %o = attn.attention %q, %k1, %k1 mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %last = arith.addi %pos, %i : index
    %seen = arith.cmpi sle, %j, %last : index
    attn.yield %seen : i1
  } : tensor<2x4x17x64xf16>, tensor<2x4x96x64xf16>, tensor<2x4x96x64xf16> -> tensor<2x4x17x64xf16>
  %o3 = attn.attention %q3, %k1, %k1 mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %twice = arith.addi %i, %i : index
    %seen = arith.cmpi sle, %j, %twice : index
    attn.yield %seen : i1
  } : tensor<2x4x3x64xf16>, tensor<2x4x96x64xf16>, tensor<2x4x96x64xf16> -> tensor<2x4x3x64xf16>
  return %o, %o3 : tensor<2x4x17x64xf16>, tensor<2x4x3x64xf16>
}

// A cache that is read as it was, heads in part, and a tensor that is made for the slice are no caches to append to.
// CHECK-LABEL: func.func @none
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
// CHECK-NOT: attn.append
// CHECK: attn.attention
// CHECK-NOT: lengths
// CHECK-SAME: mask_mod
func.func @none(%q: tensor<2x4x3x64xf16>, %k: tensor<2x4x3x64xf16>, %half: tensor<2x2x3x64xf16>, %kc: tensor<2x4x96x64xf16>, %vc: tensor<2x4x96x64xf16>, %pos: index)
    -> (tensor<2x4x3x64xf16>, tensor<2x4x96x64xf16>) {
  %k1 = tensor.insert_slice %k into %kc[0, 0, %pos, 0] [2, 4, 3, 64] [1, 1, 1, 1] : tensor<2x4x3x64xf16> into tensor<2x4x96x64xf16>
  %v1 = tensor.insert_slice %half into %vc[0, 0, %pos, 0] [2, 2, 3, 64] [1, 1, 1, 1] : tensor<2x2x3x64xf16> into tensor<2x4x96x64xf16>
  %o = attn.attention %q, %k1, %v1 mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %last = arith.addi %pos, %i : index
    %seen = arith.cmpi sle, %j, %last : index
    attn.yield %seen : i1
  } : tensor<2x4x3x64xf16>, tensor<2x4x96x64xf16>, tensor<2x4x96x64xf16> -> tensor<2x4x3x64xf16>
  return %o, %kc : tensor<2x4x3x64xf16>, tensor<2x4x96x64xf16>
}

// The first rows of updated caches are these, with lengths; of one cache alone, or of what is no update, they are rows.
// CHECK-LABEL: func.func @first_rows
// CHECK: %[[CACHE:.*]]:2 = attn.append %arg1, %arg1 into %arg2, %arg3
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[CACHE]]#0
// CHECK: %[[LENGTHS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi64>)
// CHECK: attn.attention %arg0, %[[CACHE]]#0, %[[CACHE]]#1 lengths(key %[[LENGTHS]] : tensor<2xi64>) :
// CHECK: %[[OTHER:.*]] = tensor.extract_slice %arg4
// CHECK: attn.attention %arg0, %[[FIRST]], %[[OTHER]] :
func.func @first_rows(%q: tensor<2x4x1x64xf16>, %k: tensor<2x4x1x64xf16>, %kc: tensor<2x4x96x64xf16>, %vc: tensor<2x4x96x64xf16>, %other: tensor<2x4x96x64xf16>,
                      %pos: index, %n: index) -> (tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>) {
  %k1 = tensor.insert_slice %k into %kc[0, 0, %pos, 0] [2, 4, 1, 64] [1, 1, 1, 1] : tensor<2x4x1x64xf16> into tensor<2x4x96x64xf16>
  %v1 = tensor.insert_slice %k into %vc[0, 0, %pos, 0] [2, 4, 1, 64] [1, 1, 1, 1] : tensor<2x4x1x64xf16> into tensor<2x4x96x64xf16>
  %kn = tensor.extract_slice %k1[0, 0, 0, 0] [2, 4, %n, 64] [1, 1, 1, 1] : tensor<2x4x96x64xf16> to tensor<2x4x?x64xf16>
  %vn = tensor.extract_slice %v1[0, 0, 0, 0] [2, 4, %n, 64] [1, 1, 1, 1] : tensor<2x4x96x64xf16> to tensor<2x4x?x64xf16>
  %o = attn.attention %q, %kn, %vn : tensor<2x4x1x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16> -> tensor<2x4x1x64xf16>
  %on = tensor.extract_slice %other[0, 0, 0, 0] [2, 4, %n, 64] [1, 1, 1, 1] : tensor<2x4x96x64xf16> to tensor<2x4x?x64xf16>
  %p = attn.attention %q, %kn, %on : tensor<2x4x1x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16> -> tensor<2x4x1x64xf16>
  return %o, %p : tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>
}
