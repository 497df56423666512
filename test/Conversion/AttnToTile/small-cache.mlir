// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile | FileCheck %s

// Two kernels: the first has the manifest of both, which launches them once for
// each chunk of 128 / 64 = 2 row tiles, on a workspace of one chunk.
// CHECK-LABEL: attn_tile.kernel @small_scores
// CHECK-SAME: !attn_tile.global<1x8x256x256xf16>, %{{.*}}: !attn_tile.global<1x8x8x256xf32>, %{{.*}}: i32
// CHECK-SAME: entry = "small_scores", grid = ["min(2, {{.*}}, "ceildiv(dim(key, 2), 64)", "1"]
// CHECK-SAME: entry = "small_output", grid = ["min(2, {{.*}}, "4", "1"]
// CHECK-SAME: repeat = "ceildiv({{.*}}, 2)"
// CHECK-SAME: name = "scores"
// CHECK-SAME: name = "statistics"

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
