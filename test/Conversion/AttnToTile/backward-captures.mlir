// Every tensor that the mask of a backward reads is a parameter of its kernels:
// lists of blocks, offsets of sequences.

// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile --split-input-file | FileCheck %s

// CHECK-LABEL: attn_launch.program "listed"
// CHECK: attn_launch.operand input "capture0" {{.*}} : <1x1x?xi32>
// CHECK: attn_launch.operand input "capture1" {{.*}} : <1x1x?x?xi32>
// CHECK-LABEL: attn_tile.kernel @listed_dq(
// CHECK-LABEL: attn_tile.kernel @listed_dkv(
func.func @listed(%q: tensor<1x1x?x64xf16>, %o: tensor<1x1x?x64xf16>, %lse: tensor<1x1x?xf32>, %counts: tensor<1x1x?xi32>,
                  %indices: tensor<1x1x?x?xi32>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) {
  %dq, %dk, %dv = attn.attention_backward %q, %q, %q
      output(%o : tensor<1x1x?x64xf16>) lse(%lse : tensor<1x1x?xf32>) d_output(%o : tensor<1x1x?x64xf16>)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %r = attn.block_listed %counts, %indices at(%b, %h, %i, %j) block [64, 64] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
        attn.yield %r : i1
      } {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 64, tile_dv = 64, mma = "mma_sync", warps = 4, stages = 2>}
      : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
      -> tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
  return %dq, %dk, %dv : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
}

// -----

// CHECK-LABEL: attn_launch.program "sequences"
// CHECK: attn_launch.operand input "capture0" {{.*}} : <?xi32>
// CHECK-LABEL: attn_tile.kernel @sequences_dq(
// CHECK-LABEL: attn_tile.kernel @sequences_dkv(
func.func @sequences(%q: tensor<1x1x?x64xf16>, %o: tensor<1x1x?x64xf16>, %lse: tensor<1x1x?xf32>, %offsets: tensor<?xi32>)
    -> (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) {
  %dq, %dk, %dv = attn.attention_backward %q, %q, %q
      output(%o : tensor<1x1x?x64xf16>) lse(%lse : tensor<1x1x?xf32>) d_output(%o : tensor<1x1x?x64xf16>)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %s = attn.segment %offsets at %i : tensor<?xi32>
        %t = attn.segment %offsets at %j : tensor<?xi32>
        %r = arith.cmpi eq, %s, %t : index
        attn.yield %r : i1
      } {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 64, tile_dv = 64, mma = "mma_sync", warps = 4, stages = 2>}
      : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
      -> tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
  return %dq, %dk, %dv : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
}
