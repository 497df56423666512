// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile | FileCheck %s

// Two kernels, launched once for each chunk of 128 / 64 = 2 of the 8 * 4 row
// tiles, on workspaces of one chunk: 128 rows of 256 keys, and of the maxima and
// sums of 4 key tiles. The kernels index all rows: the views begin as many rows
// before the workspace as were in the rounds before.
// CHECK-LABEL: attn_launch.program "small"
// CHECK: %[[SCORES:.*]] = attn_launch.workspace "scores" bytes(%c65536{{.*}})
// CHECK: %[[STATISTICS:.*]] = attn_launch.workspace "statistics" bytes(%c4096{{.*}})
// CHECK: attn_launch.repeat %c16{{.*}} {
// CHECK: ^bb0(%[[I:.*]]: index):
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %c2{{.*}} : index
// CHECK: %[[LEFT:.*]] = arith.subi %c32{{.*}}, %[[FIRST]] : index
// CHECK: %[[TILES:.*]] = arith.minsi %[[LEFT]], %c2{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.muli %[[FIRST]], %c64{{.*}} : index
// CHECK: %[[ELEMENT:.*]] = arith.muli %[[ROW]], %c256{{.*}} : index
// CHECK: %[[BYTE:.*]] = arith.muli %[[ELEMENT]], %c2{{.*}} : index
// CHECK: %[[OFFSET:.*]] = arith.subi %c0{{.*}}, %[[BYTE]] : index
// CHECK: attn_launch.view %[[SCORES]][%[[OFFSET]]] strides(%c524288{{.*}}, %c65536{{.*}}, %c256{{.*}}) : {{.*}} to <1x8x256x256xf16>
// CHECK: attn_launch.view %[[STATISTICS]]{{.*}} strides(%c2048{{.*}}, %c256{{.*}}, %c128{{.*}}) : {{.*}} to <1x8x8x256xf32>
// CHECK: attn_launch.launch @small_scores grid(%[[TILES]], %c4{{[_0-9]*}}, %c1{{[_0-9]*}}) {{.*}}, i32)
// CHECK: attn_launch.launch @small_output grid(%[[TILES]], %c4{{[_0-9]*}}, %c1{{[_0-9]*}}) {{.*}}, i32)

// CHECK-LABEL: attn_tile.kernel @small_scores
// CHECK-SAME: !attn_tile.global<1x8x256x256xf16>, %{{.*}}: !attn_tile.global<1x8x8x256xf32>, %{{.*}}: i32

// Phase 1: slices of 32 columns of query and key, nothing for a hidden tile.
// CHECK: %[[END:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: scf.for %[[D:[a-z0-9]+]] = %{{.*}} to %[[END]]
// CHECK: attn_tile.load %{{.*}}[{{.*}}, %[[D]]] : {{.*}} -> <64x32xf16, swizzle = 64>
// CHECK: attn_tile.load %{{.*}}[{{.*}}, %[[D]]] : {{.*}} -> <64x32xf16, swizzle = 64>
// CHECK: attn_tile.mma {{.*}} transpose_b
// CHECK: scf.if
// CHECK: attn_tile.row_all_reduce max
// CHECK: attn_tile.row_all_reduce sum
// CHECK: attn_tile.store {{.*}} <64xf32, row>, <1x8x8x256xf32>
// CHECK: attn_tile.store {{.*}} <64xf32, row>, <1x8x8x256xf32>
// CHECK: attn_tile.store {{.*}} <64x64xf32, accumulator>, <1x8x256x256xf16>

// Phase 2: slices of 32 keys; the statistics of a key tile are read at its first.
// CHECK-LABEL: attn_tile.kernel @small_output
// CHECK: scf.for %[[N:[a-z0-9]+]] =
// CHECK: attn_tile.load %{{.*}}[{{.*}}, %[[N]]] : {{.*}} -> <64x32xf16, swizzle = 64>
// CHECK: attn_tile.load %{{.*}}[{{.*}}, %[[N]], %{{.*}}] : {{.*}} -> <32x128xf16, swizzle = 128>
// CHECK: scf.if
// CHECK: attn_tile.load_row
// CHECK: attn_tile.load_row
// CHECK: attn_tile.scale_rows
// CHECK: attn_tile.mma
// CHECK: attn_tile.store {{.*}} <64x128xf32, accumulator>
func.func @small(%q: tensor<1x8x256x512xf16>, %k: tensor<1x4x256x512xf16>,
                 %v: tensor<1x4x256x512xf16>) -> tensor<1x8x256x512xf16> {
  %o = attn.attention %q, %k, %v mask_mod causal(top_left)
      {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 64, tile_d = 32,
       tile_dv = 128, warps = 4, stages = 2, chunk_rows = 128>}
      : tensor<1x8x256x512xf16>, tensor<1x4x256x512xf16>, tensor<1x4x256x512xf16>
      -> tensor<1x8x256x512xf16>
  return %o : tensor<1x8x256x512xf16>
}
