// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// block_listed_c1
func.func @f(%n: tensor<1x1x4xi32>, %l: tensor<1x1x5x3xi32>, %i: index) {
  // expected-error @+1 {{expected indices dimension row block to be 4 as in num_blocks, got 5}}
  %r = attn.block_listed %n, %l at(%i, %i, %i, %i) block [64, 64] : tensor<1x1x4xi32>, tensor<1x1x5x3xi32>
  return
}

// -----

// block_listed_c2
func.func @f(%n: tensor<1x1x4xi32>, %l: tensor<1x1x4x3xi32>, %i: index) {
  // expected-error @+1 {{expected block to be two positive sizes, got [64, 0]}}
  %r = attn.block_listed %n, %l at(%i, %i, %i, %i) block [64, 0] : tensor<1x1x4xi32>, tensor<1x1x4x3xi32>
  return
}

// -----

// attention_c15
func.func @f(%q: tensor<2x4x100x8xf32>, %n: tensor<1x2x4xi32>, %l: tensor<1x2x4x3xi32>) {
  %o = attn.attention %q, %q, %q mask_mod (%b: index, %h: index, %i: index, %j: index) {
    // expected-error @+1 {{expected the head dimension of num_blocks to be 1 or 4, got 2}}
    %r = attn.block_listed %n, %l at(%b, %h, %i, %j) block [32, 32] : tensor<1x2x4xi32>, tensor<1x2x4x3xi32>
    attn.yield %r : i1
  } : tensor<2x4x100x8xf32>, tensor<2x4x100x8xf32>, tensor<2x4x100x8xf32> -> tensor<2x4x100x8xf32>
  return
}

// -----

// attention_c15
func.func @f(%q: tensor<2x4x100x8xf32>, %n: tensor<1x1x3xi32>, %l: tensor<1x1x3x3xi32>) {
  %o = attn.attention %q, %q, %q mask_mod (%b: index, %h: index, %i: index, %j: index) {
    // expected-error @+1 {{expected the row block dimension of num_blocks to be 4, got 3}}
    %r = attn.block_listed %n, %l at(%b, %h, %i, %j) block [32, 32] : tensor<1x1x3xi32>, tensor<1x1x3x3xi32>
    attn.yield %r : i1
  } : tensor<2x4x100x8xf32>, tensor<2x4x100x8xf32>, tensor<2x4x100x8xf32> -> tensor<2x4x100x8xf32>
  return
}

// -----

// segment_c1
func.func @f(%offsets: tensor<1xi32>, %i: index) {
  // expected-error @+1 {{expected the offsets of at least one sequence: 2 entries, got 1}}
  %s = attn.segment %offsets at %i : tensor<1xi32>
  return
}

// -----

// create_block_mask_c1
func.func @f(%n: index) {
  // expected-error @+1 {{expected block to be two positive sizes, got [64]}}
  %l:4 = attn.create_block_mask batches(%n) heads(%n) rows(%n) keys(%n) block [64] mask_mod {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %r = arith.cmpi sle, %j, %i : index
    attn.yield %r : i1
  } : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
  return
}

// -----

// create_block_mask_c2
func.func @f(%n: index) {
  // expected-error @+1 {{expected mask_mod to take ('index', 'index', 'index', 'index'), got ('index', 'index')}}
  %l:4 = attn.create_block_mask batches(%n) heads(%n) rows(%n) keys(%n) block [64, 64] mask_mod {
  ^bb0(%i: index, %j: index):
    %r = arith.cmpi sle, %j, %i : index
    attn.yield %r : i1
  } : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
  return
}

// -----

// device_assert_c1
func.func @f(%n: index) {
  // expected-error @+1 {{expected the condition to take}}
  attn.device_assert over(%n, %n) "expected one argument" {
  ^bb0(%i: index):
    %r = arith.cmpi sle, %i, %n : index
    attn.yield %r : i1
  }
  return
}

// -----

// key_bounds_c1
func.func @f(%n: index) {
  // expected-error @+1 {{expected two regions for each band, got 1}}
  %l = attn.key_bounds batches(%n) heads(%n) rows(%n) tile 64 {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %i : index
  } : tensor<1x1x?x4xi32>
  return
}

// -----

// key_bounds_c2
func.func @f(%n: index) {
  // expected-error @+1 {{expected 4 numbers for each tile of rows, got 2}}
  %l = attn.key_bounds batches(%n) heads(%n) rows(%n) tile 64 {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %i : index
  }, {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %i : index
  } : tensor<1x1x?x2xi32>
  return
}

// -----

// key_bounds_c3
func.func @f(%n: index) {
  // expected-error @+1 {{expected tile to be positive, got 0}}
  %l = attn.key_bounds batches(%n) heads(%n) rows(%n) tile 0 {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %i : index
  }, {
  ^bb0(%b: index, %h: index, %i: index):
    attn.yield %i : index
  } : tensor<1x1x?x4xi32>
  return
}
