// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: func.func @listed
func.func @listed(%q: tensor<1x2x?x8xf32>, %n: tensor<1x1x?xi32>, %l: tensor<1x1x?x?xi32>) -> tensor<1x2x?x8xf32> {
  %o = attn.attention %q, %q, %q mask_mod (%b: index, %h: index, %i: index, %j: index) {
    // CHECK: attn.block_listed %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) block [128, 64] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
    %r = attn.block_listed %n, %l at(%b, %h, %i, %j) block [128, 64] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
    attn.yield %r : i1
  } : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// CHECK-LABEL: func.func @segment
func.func @segment(%offsets: tensor<?xi32>, %i: index) -> index {
  // CHECK: attn.segment %{{.*}} at %{{.*}} : tensor<?xi32>
  %s = attn.segment %offsets at %i : tensor<?xi32>
  return %s : index
}

// CHECK-LABEL: func.func @made
func.func @made(%m: index, %offsets: tensor<?xi32>) {
  %c1 = arith.constant 1 : index
  // CHECK: attn.create_block_mask batches(%{{.*}}) heads(%{{.*}}) rows(%{{.*}}) keys(%{{.*}}) block [128, 64] mask_mod {
  // CHECK: attn.yield %{{.*}} : i1
  // CHECK: } : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
  %l:4 = attn.create_block_mask batches(%c1) heads(%c1) rows(%m) keys(%m) block [128, 64] mask_mod {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %r = arith.cmpi sle, %j, %i : index
    attn.yield %r : i1
  } : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
  // CHECK: attn.key_bounds batches(%{{.*}}) heads(%{{.*}}) rows(%{{.*}}) tile 128 {
  // CHECK: attn.yield %{{.*}} : index
  // CHECK: }, {
  // CHECK: } : tensor<1x1x?x4xi32>
  %bounds = attn.key_bounds batches(%c1) heads(%c1) rows(%m) tile 128 {
  ^bb0(%b: index, %h: index, %i: index):
    %s = attn.segment %offsets at %i : tensor<?xi32>
    attn.yield %s : index
  }, {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %i : index
  } : tensor<1x1x?x4xi32>
  return
}
