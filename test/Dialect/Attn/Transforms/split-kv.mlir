// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-insert-block-skipping --attn-split-kv \
// RUN:   --attn-verify-normal-form --cse | FileCheck %s

// Ranges of whole tiles; loops that follow each other still share a bound. Of keys from 0 on a range begins where it begins.
// CHECK-DAG: #[[$TILES:.*]] = affine_map<()[s0] -> (s0 ceildiv 16)>
// CHECK-DAG: #[[$RANGES:.*]] = affine_map<()[s0] -> (s0 ceildiv 48)>

// CHECK-LABEL: @causal
// CHECK: %[[ACCS:.*]] = tensor.empty() : tensor<3x1x2x256x8xf32>
// CHECK: %[[STATES:.*]]:3 = scf.forall (%{{.*}}, %{{.*}}, %[[M:.*]], %[[S:.*]]) = (0, 0, 0, 0) to (1, 2, 256, 3) step (1, 1, 32, 1)
// CHECK: %[[KEYS:.*]] = arith.maxsi
// CHECK: %[[TILES:.*]] = affine.apply #[[$TILES]]()[%[[KEYS]]]
// CHECK: %[[COUNT:.*]] = arith.ceildivui %[[TILES]], %c3
// CHECK: %[[LENGTH:.*]] = arith.muli %[[COUNT]], %c16
// CHECK: %[[SKIPPED:.*]] = arith.muli %[[S]], %[[LENGTH]]
// CHECK: %[[LOWER:.*]] = arith.addi %c0{{.*}}, %[[SKIPPED]]
// CHECK: %[[UPPER:.*]] = arith.addi %[[LOWER]], %[[LENGTH]]
// CHECK-NOT: arith.maxsi %c0
// CHECK: %[[ABOVE:.*]] = arith.maxsi %{{.*}}, %[[LOWER]]
// CHECK: %[[FULL:.*]] = arith.minsi %[[ABOVE]], %[[UPPER]]
// CHECK: scf.for %{{.*}} = %[[LOWER]] to %[[FULL]]
// CHECK: scf.for %{{.*}} = %[[FULL]] to
// CHECK-NOT: attn.normalize
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[S]], %{{.*}}, %{{.*}}, %[[M]], 0] [1, 1, 1, 32, 8] {{.*}} : tensor<1x1x32x8xf32> into tensor<3x1x2x256x8xf32>
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[S]], %{{.*}}, %{{.*}}, %[[M]]] [1, 1, 1, 32]
// CHECK: scf.forall (%{{.*}}, %[[H:.*]], %[[M:.*]]) = (0, 0, 0) to (1, 2, 256) step (1, 1, 32)
// CHECK-NOT: scf.for
// CHECK: %[[SINK:.*]] = tensor.extract_slice %{{.*}}[%[[H]]] [1] [1]
// CHECK: %[[PARTS:.*]] = tensor.extract_slice %[[STATES]]#0[0, %{{.*}}, %[[H]], %[[M]], 0] [3, 1, 1, 32, 8]
// CHECK: %[[STATE:.*]], %[[ROWS:.*]]:2 = attn.combine %[[PARTS]], %{{.*}}, %{{.*}} : tensor<3x1x1x32x8xf32>, tensor<3x1x1x32xf32> -> tensor<1x1x32x8xf32>, tensor<1x1x32xf32>
// CHECK: attn.normalize %[[STATE]], %[[ROWS]]#0, %[[ROWS]]#1 sink(%[[SINK]] : tensor<1xf32>)
func.func @causal(%q: tensor<1x2x256x8xf32>, %k: tensor<1x2x256x8xf32>, %sink: tensor<2xf32>)
    -> (tensor<1x2x256x8xf32>, tensor<1x2x256xf32>) {
  %o, %lse = attn.attention %q, %k, %k sink(%sink : tensor<2xf32>) mask_mod causal(top_left)
      {schedule = #attn.schedule<kind = "split_kv", splits = 3, tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>
      -> tensor<1x2x256x8xf32>, tensor<1x2x256xf32>
  return %o, %lse : tensor<1x2x256x8xf32>, tensor<1x2x256xf32>
}

// At run time, no more splits than tiles of keys, and at least one.
// CHECK-LABEL: @dynamic
// CHECK: %[[TILES:.*]] = affine.apply #[[$TILES]]()[%{{.*}}]
// CHECK: %[[FEWEST:.*]] = arith.minsi %[[TILES]], %c3
// CHECK: %[[SPLITS:.*]] = arith.maxsi %[[FEWEST]], %c1
// CHECK: tensor.empty(%[[SPLITS]], %{{.*}}) : tensor<?x1x2x?x8xf32>
// CHECK: scf.forall {{.*}} = (0, 0, 0, 0) to (1, 2, %{{.*}}, %[[SPLITS]])
// CHECK: arith.ceildivui %{{.*}}, %[[SPLITS]]
func.func @dynamic(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32> {
  %o = attn.attention %q, %k, %k
      {schedule = #attn.schedule<kind = "split_kv", splits = 3, tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// Of a number of keys: a split begins at a multiple of it, wherever the keys begin that a row tile visits, in the order of keys.
// CHECK-LABEL: @of_keys
// CHECK: %[[NUMBER:.*]] = affine.apply #[[$RANGES]]()[%{{.*}}]
// CHECK-NOT: arith.minsi %[[NUMBER]]
// CHECK: %[[SPLITS:.*]] = arith.maxsi %[[NUMBER]], %c1
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}, %[[S:.*]]) = (0, 0, 0, 0) to (1, 2, %{{.*}}, %[[SPLITS]])
// CHECK: %[[LOWER:.*]] = arith.muli %[[S]], %c48
// CHECK: %[[UPPER:.*]] = arith.addi %[[LOWER]], %c48
// CHECK: %[[ABOVE:.*]] = arith.maxsi %{{.*}}, %[[LOWER]]
// CHECK: arith.minsi %[[ABOVE]], %[[UPPER]]
// CHECK-NOT: ceildivui
// CHECK: attn.combine
func.func @of_keys(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32> {
  %o = attn.attention %q, %k, %k mask_mod sliding_window(40, 0)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 48, tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// Another kind of schedule stays as it is.
// CHECK-LABEL: @large_cache
// CHECK-NOT: attn.combine
func.func @large_cache(%q: tensor<1x2x256x8xf32>) -> tensor<1x2x256x8xf32> {
  %o = attn.attention %q, %q, %q
      {schedule = #attn.schedule<tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32> -> tensor<1x2x256x8xf32>
  return %o : tensor<1x2x256x8xf32>
}
