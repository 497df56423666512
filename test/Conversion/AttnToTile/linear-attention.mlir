// RUN: attn-opt %s --convert-attn-to-tile --split-input-file | FileCheck %s

// The decays are summed up first, a warp for each chunk. Then a CTA for each slice of 32 columns walks the chunks with the state in registers, which
// goes through shared memory to be an operand.

// CHECK: attn_launch.program "decay"
// CHECK: attn_launch.workspace "decays"
// CHECK: attn_launch.launch @decay_decays
// CHECK: attn_launch.launch @decay grid(%c3
// CHECK-LABEL: attn_tile.kernel @decay_decays
// CHECK: scf.for
// CHECK: attn_tile.extract
// CHECK: attn_tile.insert
// CHECK-LABEL: attn_tile.kernel @decay(
// CHECK: %[[TILE:.*]] = attn_tile.alloc : <64x32xf16, swizzle = 64>
// CHECK: scf.for {{.*}} iter_args(%[[STATE:.*]] = %{{.*}}) -> (!attn_tile.fragment<64x32xf32, accumulator>)
// CHECK: attn_tile.store_shared %[[STATE]] to %[[TILE]] pairs
// CHECK: gpu.barrier
// CHECK: %[[O:.*]] = attn_tile.mma %[[Q:.*]], %[[TILE]],
// CHECK: attn_tile.mma %[[Q]], %[[K:.*]] transpose_b
// CHECK: attn_tile.store
// CHECK: attn_tile.load_operand %[[K]] transpose
// CHECK: attn_tile.scale_columns
// CHECK: %[[NEXT:.*]] = attn_tile.mma
// CHECK: scf.yield %[[NEXT]]
func.func @decay(%q: tensor<1x4x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x96xf16>, %g: tensor<1x4x?xf32>) -> tensor<1x4x?x96xf16> {
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<1x4x?xf32>)
      {schedule = #attn.schedule<kind = "chunks", tile_m = 64, tile_n = 64, tile_dv = 32, warps = 4, stages = 2>}
      : tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x96xf16> -> tensor<1x4x?x96xf16>
  return %o : tensor<1x4x?x96xf16>
}

// -----

// Without decays there is one kernel, which scales nothing.

// CHECK: attn_launch.constraint {{.*}} "expected as many keys as queries"
// CHECK-NOT: workspace
// CHECK-LABEL: attn_tile.kernel @plain(
// CHECK-NOT: scale_columns
// CHECK-NOT: exp2
// CHECK: attn_tile.return
func.func @plain(%q: tensor<1x4x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x4x?x64xf16> {
  %o = attn.linear_attention %q, %k, %k scale(1.0)
      {schedule = #attn.schedule<kind = "chunks", tile_m = 64, tile_n = 64, tile_dv = 64, warps = 4, stages = 2>}
      : tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x4x?x64xf16>
  return %o : tensor<1x4x?x64xf16>
}
