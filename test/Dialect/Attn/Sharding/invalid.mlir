// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(sharding-propagation))"

shard.grid @grid(shape = 2)

func.func @rows(%q: tensor<4x4x64x32xf16>) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[], [], [0]] : !shard.sharding
  %q0 = shard.shard %q to %s annotate_for_users : tensor<4x4x64x32xf16>
  // expected-error @below {{expected shards of batches and heads, got shards of query rows: replicate them, or use a plan of attn-schedule --ranks}}
  %o = attn.attention %q0, %q, %q : tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16> -> tensor<4x4x64x32xf16>
  return %o : tensor<4x4x64x32xf16>
}

// -----

shard.grid @grid(shape = 2)

func.func @keys(%q: tensor<4x4x64x32xf16>) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[], [], [0]] : !shard.sharding
  %k0 = shard.shard %q to %s annotate_for_users : tensor<4x4x64x32xf16>
  // expected-error @below {{expected shards of batches and heads, got shards of keys: replicate them, or use a plan of attn-schedule --ranks}}
  %o = attn.attention %q, %k0, %q : tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16> -> tensor<4x4x64x32xf16>
  return %o : tensor<4x4x64x32xf16>
}

// -----

shard.grid @grid(shape = 4)

func.func @heads(%q: tensor<4x4x64x32xf16>, %k: tensor<4x2x64x32xf16>) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %q0 = shard.shard %q to %s annotate_for_users : tensor<4x4x64x32xf16>
  // expected-error @below {{expected query and key heads that 4 devices share out, got 2}}
  %o = attn.attention %q0, %k, %k : tensor<4x4x64x32xf16>, tensor<4x2x64x32xf16>, tensor<4x2x64x32xf16> -> tensor<4x4x64x32xf16>
  return %o : tensor<4x4x64x32xf16>
}

// -----

shard.grid @grid(shape = ?)

func.func @grid_of_any_size(%q: tensor<4x4x64x32xf16>) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %q0 = shard.shard %q to %s annotate_for_users : tensor<4x4x64x32xf16>
  // expected-error @below {{expected a grid of static sizes, got @grid}}
  %o = attn.attention %q0, %q, %q : tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16> -> tensor<4x4x64x32xf16>
  return %o : tensor<4x4x64x32xf16>
}

// -----

shard.grid @grid(shape = 2)

func.func @dropout(%q: tensor<4x4x64x32xf16>, %seed: i64) -> tensor<4x4x64x32xf16> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %q0 = shard.shard %q to %s annotate_for_users : tensor<4x4x64x32xf16>
  // expected-error @below {{expected no dropout on shards, got one: what it drops follows from batches and heads of the part}}
  %o = attn.attention %q0, %q, %q dropout(%seed, %seed) rate(0.1)
      : tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16>, tensor<4x4x64x32xf16> -> tensor<4x4x64x32xf16>
  return %o : tensor<4x4x64x32xf16>
}
