// RUN: attn-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(sharding-propagation))" | FileCheck %s
// RUN: attn-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(sharding-propagation,shard-partition))" | FileCheck %s --check-prefix=PARTS

// Query's sharding is that of all tensors: batches by the first axis, heads by the
// second.

shard.grid @grid(shape = 2x2)

// CHECK-LABEL: @attention(
// CHECK-DAG: shard.sharding @grid split_axes = {{\[\[}}0], [1]]
// CHECK-DAG: shard.sharding @grid split_axes = {{\[\[}}1]]
// CHECK: attn.attention
// CHECK: return

// PARTS-LABEL: @attention(
// PARTS-SAME: tensor<2x2x64x32xf16>, {{.*}}tensor<2x1x64x32xf16>, {{.*}}tensor<2xf16>) -> tensor<2x2x64x32xf16>
// PARTS: attn.attention
// PARTS-SAME: sink(%{{.*}} : tensor<2xf16>)
// PARTS-NOT: shard.all_gather
func.func @attention(%q: tensor<4x4x64x32xf16>, %k: tensor<4x2x64x32xf16>, %sink: tensor<4xf16>) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %q0 = shard.shard %q to %s annotate_for_users : tensor<4x4x64x32xf16>
  %o = attn.attention %q0, %k, %k sink(%sink : tensor<4xf16>)
      : tensor<4x4x64x32xf16>, tensor<4x2x64x32xf16>, tensor<4x2x64x32xf16> -> tensor<4x4x64x32xf16>
  return %o : tensor<4x4x64x32xf16>
}

// -----

// Backwards from the output of a linear attention to its decay and state.

shard.grid @grid(shape = 2)

// PARTS-LABEL: @linear(
// PARTS: attn.linear_attention
// PARTS-SAME: decay(%{{.*}} : tensor<4x2x64xf32>) state(%{{.*}} : tensor<4x2x32x16xf32>)
// PARTS-SAME: tensor<4x2x64x32xf16>, tensor<4x1x64x32xf16>, tensor<4x1x64x16xf16> -> tensor<4x2x64x16xf16>
func.func @linear(%q: tensor<4x4x64x32xf16>, %k: tensor<4x2x64x32xf16>, %v: tensor<4x2x64x16xf16>,
                  %g: tensor<4x4x64xf32>, %state: tensor<4x4x32x16xf32>) -> tensor<4x4x64x16xf16> {
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<4x4x64xf32>) state(%state : tensor<4x4x32x16xf32>)
      : tensor<4x4x64x32xf16>, tensor<4x2x64x32xf16>, tensor<4x2x64x16xf16> -> tensor<4x4x64x16xf16>
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %o0 = shard.shard %o to %s : tensor<4x4x64x16xf16>
  return %o0 : tensor<4x4x64x16xf16>
}
