// RUN: attn-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(shard-partition,canonicalize))" | FileCheck %s

// Query heads and their key heads are on one device.

shard.grid @grid(shape = 2x4)

// CHECK-LABEL: @heads(
// CHECK-SAME: tensor<2x2x128x64xf16>, {{.*}}tensor<2x1x96x64xf16>, {{.*}}tensor<2x1x96x32xf16>
// CHECK: attn.attention
// CHECK-SAME: mask_mod causal(top_left)
// CHECK-SAME: -> tensor<2x2x128x32xf16>, tensor<2x2x128xf32>
// CHECK-NOT: shard.all
func.func @heads(%q: tensor<4x8x128x64xf16>, %k: tensor<4x4x96x64xf16>, %v: tensor<4x4x96x32xf16>)
    -> (tensor<4x8x128x32xf16>, tensor<4x8x128xf32>) {
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %q0 = shard.shard %q to %s : tensor<4x8x128x64xf16>
  %k0 = shard.shard %k to %s : tensor<4x4x96x64xf16>
  %v0 = shard.shard %v to %s : tensor<4x4x96x32xf16>
  %q1 = shard.shard %q0 to %s annotate_for_users : tensor<4x8x128x64xf16>
  %k1 = shard.shard %k0 to %s annotate_for_users : tensor<4x4x96x64xf16>
  %v1 = shard.shard %v0 to %s annotate_for_users : tensor<4x4x96x32xf16>
  %o, %l = attn.attention %q1, %k1, %v1 mask_mod causal(top_left)
      : tensor<4x8x128x64xf16>, tensor<4x4x96x64xf16>, tensor<4x4x96x32xf16> -> tensor<4x8x128x32xf16>, tensor<4x8x128xf32>
  %o0 = shard.shard %o to %s : tensor<4x8x128x32xf16>
  %l0 = shard.shard %l to %s : tensor<4x8x128xf32>
  %o1 = shard.shard %o0 to %s annotate_for_users : tensor<4x8x128x32xf16>
  %l1 = shard.shard %l0 to %s annotate_for_users : tensor<4x8x128xf32>
  return %o1, %l1 : tensor<4x8x128x32xf16>, tensor<4x8x128xf32>
}

// -----

// Mods see batches and heads of the whole; tensors that they read are whole. Both
// axes of the grid share out the heads: the second is the minor one.

shard.grid @grid(shape = 2x3)

// CHECK-LABEL: @mods(
// CHECK-SAME: %[[Q:.*]]: tensor<1x2x128x64xf16>, {{.*}} %[[SLOPES:.*]]: tensor<12xf32>
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[AT:.*]]:2 = shard.process_multi_index on @grid axes = [0, 1]
// CHECK: %[[MAJOR:.*]] = arith.muli %[[AT]]#0, %[[THREE]]
// CHECK: %[[DEVICE:.*]] = arith.addi %[[MAJOR]], %[[AT]]#1
// CHECK: %[[FIRST:.*]] = arith.muli %[[DEVICE]], %[[TWO]]
// CHECK: attn.attention
// CHECK-SAME: score_mod (%{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: index, %[[H:[a-z0-9]+]]: index,
// CHECK-NEXT: %[[HEAD:.*]] = arith.addi %[[H]], %[[FIRST]]
// CHECK-NEXT: tensor.extract %[[SLOPES]][%[[HEAD]]] : tensor<12xf32>
func.func @mods(%q: tensor<1x12x128x64xf16>, %k: tensor<1x6x96x64xf16>, %slopes: tensor<12xf32>) -> tensor<1x12x128x64xf16> {
  %s = shard.sharding @grid split_axes = [[], [0, 1]] : !shard.sharding
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %q0 = shard.shard %q to %s : tensor<1x12x128x64xf16>
  %k0 = shard.shard %k to %s : tensor<1x6x96x64xf16>
  %slopes0 = shard.shard %slopes to %whole : tensor<12xf32>
  %q1 = shard.shard %q0 to %s annotate_for_users : tensor<1x12x128x64xf16>
  %k1 = shard.shard %k0 to %s annotate_for_users : tensor<1x6x96x64xf16>
  %o = attn.attention %q1, %k1, %k1
      score_mod (%x: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes0[%h] : tensor<12xf32>
        %y = arith.addf %x, %slope : f32
        attn.yield %y : f32
      }
      : tensor<1x12x128x64xf16>, tensor<1x6x96x64xf16>, tensor<1x6x96x64xf16> -> tensor<1x12x128x64xf16>
  %o0 = shard.shard %o to %s : tensor<1x12x128x64xf16>
  %o1 = shard.shard %o0 to %s annotate_for_users : tensor<1x12x128x64xf16>
  return %o1 : tensor<1x12x128x64xf16>
}

// -----

// The gradient of a bias that batches share is summed over the devices that
// share out the batches.

shard.grid @grid(shape = 4)

// CHECK-LABEL: @backward(
// CHECK: %[[DQ:[a-zA-Z]+]], %{{.*}}, %{{.*}}, %[[DB:[a-zA-Z]+]] = attn.attention_backward
// CHECK-SAME: bias(%{{.*}} : tensor<1x4x64x64xf32>)
// CHECK-SAME: -> tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32> d_bias(tensor<1x4x64x64xf32>)
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[DB]] on @grid grid_axes = [0] : tensor<1x4x64x64xf32> -> tensor<1x4x64x64xf32>
// CHECK: return %[[DQ]], %[[SUM]]
func.func @backward(%q: tensor<8x4x64x32xf32>, %l: tensor<8x4x64xf32>, %bias: tensor<1x4x64x64xf32>)
    -> (tensor<8x4x64x32xf32>, tensor<1x4x64x64xf32>) {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %q0 = shard.shard %q to %s : tensor<8x4x64x32xf32>
  %l0 = shard.shard %l to %s : tensor<8x4x64xf32>
  %b0 = shard.shard %bias to %whole : tensor<1x4x64x64xf32>
  %q1 = shard.shard %q0 to %s annotate_for_users : tensor<8x4x64x32xf32>
  %l1 = shard.shard %l0 to %s annotate_for_users : tensor<8x4x64xf32>
  %b1 = shard.shard %b0 to %whole annotate_for_users : tensor<1x4x64x64xf32>
  %r:4 = attn.attention_backward %q1, %q1, %q1 bias(%b1 : tensor<1x4x64x64xf32>)
      output(%q1 : tensor<8x4x64x32xf32>) lse(%l1 : tensor<8x4x64xf32>) d_output(%q1 : tensor<8x4x64x32xf32>)
      : tensor<8x4x64x32xf32>, tensor<8x4x64x32xf32>, tensor<8x4x64x32xf32>
      -> tensor<8x4x64x32xf32>, tensor<8x4x64x32xf32>, tensor<8x4x64x32xf32> d_bias(tensor<1x4x64x64xf32>)
  %dq0 = shard.shard %r#0 to %s : tensor<8x4x64x32xf32>
  %dk0 = shard.shard %r#1 to %s : tensor<8x4x64x32xf32>
  %dv0 = shard.shard %r#2 to %s : tensor<8x4x64x32xf32>
  %db0 = shard.shard %r#3 to %whole : tensor<1x4x64x64xf32>
  %dq1 = shard.shard %dq0 to %s annotate_for_users : tensor<8x4x64x32xf32>
  %db1 = shard.shard %db0 to %whole annotate_for_users : tensor<1x4x64x64xf32>
  return %dq1, %db1 : tensor<8x4x64x32xf32>, tensor<1x4x64x64xf32>
}

// -----

// What nobody annotates is the same on all devices.

shard.grid @grid(shape = 2)

// CHECK-LABEL: @replicated(
// CHECK: attn.attention
// CHECK-SAME: -> tensor<2x4x64x32xf32>
// CHECK-NOT: shard.
func.func @replicated(%q: tensor<2x4x64x32xf32>) -> tensor<2x4x64x32xf32> {
  %o = attn.attention %q, %q, %q
      : tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32> -> tensor<2x4x64x32xf32>
  return %o : tensor<2x4x64x32xf32>
}
