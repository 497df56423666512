// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(shard-partition))"

shard.grid @grid(shape = 2)

func.func @reads(%q: tensor<4x4x64x32xf16>, %slopes: tensor<4xf32>) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %t = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %q0 = shard.shard %q to %s : tensor<4x4x64x32xf16>
  %slopes0 = shard.shard %slopes to %t : tensor<4xf32>
  %q1 = shard.shard %q0 to %s annotate_for_users : tensor<4x4x64x32xf16>
  // expected-error @below {{expected tensors that mods read whole on each device, got 'tensor<2xf32>' of 'tensor<4xf32>'}}
  %o = attn.attention %q1, %q1, %q1
      score_mod (%x: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes0[%h] : tensor<4xf32>
        %y = arith.addf %x, %slope : f32
        attn.yield %y : f32
      }
      : tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16> -> tensor<4x4x64x32xf16>
  %o0 = shard.shard %o to %s : tensor<4x4x64x32xf16>
  %o1 = shard.shard %o0 to %s annotate_for_users : tensor<4x4x64x32xf16>
  return %o1 : tensor<4x4x64x32xf16>
}

// -----

shard.grid @grid(shape = 2)

func.func @several(%q: tensor<4x4x64x32xf16>, %k: tensor<4x4x64x32xf16>) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %t = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %q0 = shard.shard %q to %s : tensor<4x4x64x32xf16>
  %k0 = shard.shard %k to %t : tensor<4x4x64x32xf16>
  %q1 = shard.shard %q0 to %s annotate_for_users : tensor<4x4x64x32xf16>
  %k1 = shard.shard %k0 to %t annotate_for_users : tensor<4x4x64x32xf16>
  // expected-error @below {{expected one sharding of batches in all tensors, got several}}
  %o = attn.attention %q1, %k1, %k1 : tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16> -> tensor<4x4x64x32xf16>
  %o0 = shard.shard %o to %s : tensor<4x4x64x32xf16>
  %o1 = shard.shard %o0 to %s annotate_for_users : tensor<4x4x64x32xf16>
  return %o1 : tensor<4x4x64x32xf16>
}
