// Under a causal mask the longest tiles of all heads come first: the CTA's number in its batch is divided by the heads. The tiles of a
// full mask, of lists of blocks, of a cluster, and of a backward by mma.sync follow each other head by head.

// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_90a --attn-to-tiled --cse --convert-attn-to-tile --cse | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-to-scheduled=target=sm_80 --attn-to-tiled --cse --convert-attn-to-tile --cse | FileCheck %s --check-prefix=SM80

// CHECK-LABEL: attn_tile.kernel @causal
// CHECK-DAG: %[[X:.*]] = gpu.block_id  x
// CHECK-DAG: %[[Y:.*]] = gpu.block_id  y
// CHECK-DAG: %[[TILES:.*]] = gpu.grid_dim  x
// CHECK-DAG: %[[HEADS:.*]] = gpu.grid_dim  y
// CHECK: %[[FIRST:.*]] = arith.muli %[[Y]], %[[TILES]]
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[X]]
// CHECK: %[[TILE:.*]] = arith.divui %[[NUMBER]], %[[HEADS]]
// CHECK: %[[HEAD:.*]] = arith.remui %[[NUMBER]], %[[HEADS]]
// CHECK: %[[FROMLAST:.*]] = arith.subi %{{.*}}, %[[TILE]]
// CHECK: attn_tile.load %{{.*}}[%{{.*}}, %[[HEAD]], %{{.*}}]
// SM80-LABEL: attn_tile.kernel @causal
// SM80: gpu.grid_dim  y
func.func @causal(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16> -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// -----

// CHECK-LABEL: attn_tile.kernel @full
// CHECK-NOT: gpu.grid_dim  y
// CHECK: attn_tile.return
func.func @full(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<persistent_ctas = 0>}
      : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16> -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// -----

// CHECK-LABEL: attn_tile.kernel @listed
// CHECK-NOT: gpu.grid_dim  y
// CHECK: attn_tile.return
func.func @listed(%query: tensor<?x?x?x128xbf16>, %key: tensor<?x?x?x128xbf16>, %value: tensor<?x?x?x128xbf16>, %counts: tensor<1x1x?xi32>, %indices: tensor<1x1x?x?xi32>) -> (tensor<?x?x?x128xbf16>) {
  %output = attn.attention %query, %key, %value mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %r = attn.block_listed %counts, %indices at(%b, %h, %i, %j) block [128, 128] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
      attn.yield %r : i1
    }
      : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16> -> tensor<?x?x?x128xbf16>
  return %output : tensor<?x?x?x128xbf16>
}

// -----

// Lengths are read at the batch, not at the tile.
// CHECK-LABEL: attn_tile.kernel @lengths
// CHECK: gpu.grid_dim  y
// CHECK: attn_tile.return
func.func @lengths(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %n: tensor<?xi32>) -> tensor<?x?x?x64xbf16> {
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) mask_mod causal(bottom_right)
      : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16> -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// -----

// Of documents the tile's rows say where keys begin.
// CHECK-LABEL: attn_tile.kernel @documents
// CHECK-NOT: gpu.grid_dim  y
// CHECK: attn_tile.return
func.func @documents(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %ends: tensor<?xi32>) -> tensor<?x?x?x64xbf16> {
  %o = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %end = tensor.extract %ends[%i] : tensor<?xi32>
      %at = arith.index_cast %end : i32 to index
      %r = arith.cmpi slt, %j, %at : index
      attn.yield %r : i1
    } {schedule = #attn.schedule<persistent_ctas = 0>}
      : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16> -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// -----

// The keys of the fused kernel, whose first tiles are the longest.
// CHECK-LABEL: attn_tile.kernel @grad_dqkv
// CHECK: gpu.block_id  y
// CHECK: %[[HEADS:.*]] = gpu.grid_dim  y
// CHECK: arith.divui %{{.*}}, %[[HEADS]]
// SM80-LABEL: attn_tile.kernel @grad_dq
// SM80-NOT: gpu.grid_dim  y
func.func @grad(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>,
                %lse: tensor<?x?x?xf32>, %do: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<?x?x?x64xbf16>) lse(%lse : tensor<?x?x?xf32>) d_output(%do : tensor<?x?x?x64xbf16>)
      mask_mod causal(bottom_right) : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
      -> tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
  return %d#0, %d#1, %d#2 : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
}
