// RUN: attn-opt %s --attn-decompose-masks | FileCheck %s

// A search between the first and the last offset.
// CHECK-LABEL: func.func @segment
// CHECK: %[[ENTRIES:.*]] = tensor.dim
// CHECK: %[[COUNT:.*]] = arith.subi %[[ENTRIES]], %c2
// CHECK: %[[FOUND:.*]]:2 = scf.while (%{{.*}} = %c0{{.*}}, %{{.*}} = %[[COUNT]])
// CHECK: arith.shrui
// CHECK: tensor.extract
// CHECK: arith.cmpi sle
// CHECK: return %[[FOUND]]#0
func.func @segment(%offsets: tensor<?xi32>, %i: index) -> index {
  %s = attn.segment %offsets at %i : tensor<?xi32>
  return %s : index
}

// The last entry that is at most the block, if there is one.
// CHECK-LABEL: func.func @listed
// CHECK: arith.divui %arg4, %c64
// CHECK: arith.divui %arg5, %c32
// CHECK: scf.while
// CHECK: scf.if
// CHECK: tensor.extract %arg1
// CHECK: arith.cmpi eq
// CHECK-NOT: attn.block_listed
func.func @listed(%n: tensor<1x1x?xi32>, %l: tensor<1x1x?x?xi32>, %b: index, %h: index, %i: index, %j: index) -> i1 {
  %r = attn.block_listed %n, %l at(%b, %h, %i, %j) block [64, 32] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
  return %r : i1
}

// Batches, heads, row blocks, key blocks; then rows, of which some are left out, and keys.
// CHECK-LABEL: func.func @lists
// CHECK-COUNT-5: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: arith.cmpi sle
// CHECK: arith.ori
// CHECK: arith.andi
// CHECK-COUNT-4: tensor.insert
// CHECK-NOT: attn.create_block_mask
func.func @lists(%m: index) -> (tensor<1x1x?xi32>, tensor<1x1x?x?xi32>) {
  %c1 = arith.constant 1 : index
  %l:4 = attn.create_block_mask batches(%c1) heads(%c1) rows(%m) keys(%m) block [64, 32] mask_mod {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %r = arith.cmpi sle, %j, %i : index
    attn.yield %r : i1
  } : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
  return %l#0, %l#1 : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
}

// CHECK-LABEL: func.func @bounds
// CHECK-COUNT-4: scf.for
// CHECK: arith.cmpi slt
// CHECK: arith.maxsi
// CHECK-COUNT-4: tensor.insert
// CHECK-NOT: attn.key_bounds
func.func @bounds(%m: index) -> tensor<1x1x?x4xi32> {
  %c1 = arith.constant 1 : index
  %bounds = attn.key_bounds batches(%c1) heads(%c1) rows(%m) tile 64 {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %b : index
  }, {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %i : index
  } : tensor<1x1x?x4xi32>
  return %bounds : tensor<1x1x?x4xi32>
}
