// Under a mask CTAs of a cluster stream what one of them sees: bounds of loops are of the rows, or keys, of all of them. The grid has a cluster of each head before
// the next cluster.

// RUN: attn-opt %s --attn-tile-backward -o %t.tiled.mlir && FileCheck %s --check-prefix=TILED < %t.tiled.mlir
// RUN: attn-opt %t.tiled.mlir --convert-attn-to-tile | FileCheck %s

// Rows from k 256 on see 256 more keys than that, and all keys before.
// TILED-DAG: [[END:#map[0-9]*]] = affine_map<()[s0] -> ((s0 floordiv 256) * 256 + 256, 512)>
// TILED-DAG: [[FULL:#map[0-9]*]] = affine_map<()[s0, s1] -> ((s0 floordiv 256) * 256, s1)>
// TILED: scf.forall ([[B:%.*]], [[H:%.*]], [[I:%.*]]) =
// TILED: affine.min [[END]](){{\[}}[[I]]]
// TILED: affine.min [[FULL]](){{\[}}[[I]], {{%.*}}]

// CHECK-LABEL: attn_tile.kernel @f_dkv
// CHECK: gpu.block_id{{ +}}x
// CHECK: [[TILE:%.*]] = gpu.block_id{{ +}}x
// CHECK: [[HEAD:%.*]] = gpu.block_id{{ +}}y
// CHECK: [[TILES:%.*]] = gpu.grid_dim{{ +}}x
// CHECK: [[HEADS:%.*]] = gpu.grid_dim{{ +}}y
// CHECK: [[CTAS:%.*]] = arith.constant 2 : index
// CHECK: [[OF:%.*]] = arith.remui [[TILE]], [[CTAS]]
// CHECK: [[CLUSTER:%.*]] = arith.divui [[TILE]], [[CTAS]]
// CHECK: [[CLUSTERS:%.*]] = arith.divui [[TILES]], [[CTAS]]
// CHECK: [[BEFORE:%.*]] = arith.muli [[HEAD]], [[CLUSTERS]]
// CHECK: [[NUMBER:%.*]] = arith.addi [[BEFORE]], [[CLUSTER]]
// CHECK: [[FIRST:%.*]] = arith.divui [[NUMBER]], [[HEADS]]
// CHECK: arith.remui [[NUMBER]], [[HEADS]]
// CHECK: arith.muli [[FIRST]], [[CTAS]]

// Loops of each tile's own cluster of two are not those of four tiles.
// RUN: sed "s/cluster_n = 2/cluster_n = 4/" %t.tiled.mlir > %t.four.mlir
// RUN: not attn-opt %t.four.mlir --convert-attn-to-tile 2>&1 | FileCheck %s --check-prefix=FOUR
// FOUR: error: 'scf.forall' op expected the CTAs of a cluster of 4 to stream the same tiles, as --attn-tile-backward makes them

// Neither are those of each tile.
// RUN: sed "s/, cluster_n = 2//" %s | attn-opt --attn-tile-backward | sed "s/producer_warps = 4/&, cluster_n = 2/" > %t.own.mlir
// RUN: not attn-opt %t.own.mlir --convert-attn-to-tile 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: error: 'scf.forall' op expected the CTAs of a cluster of 2 to stream the same tiles

!t = tensor<1x2x512x64xf16>
!l = tensor<1x2x512xf32>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !t) lse(%lse : !l) d_output(%do : !t) mask_mod causal(top_left)
      {schedule = #attn.schedule<mma = "tcgen05", tile_m = 128, tile_n = 64, stages = 2, warps = 4, producer_warps = 4, cluster_n = 2>,
       key_schedule = #attn.schedule<mma = "tcgen05", tile_m = 64, tile_n = 128, stages = 2, warps = 4, producer_warps = 4, cluster_n = 2>} : !t, !t, !t -> !t, !t, !t
  return %d#0, %d#1, %d#2 : !t, !t, !t
}
