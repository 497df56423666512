// Every tensor that the mask of a backward reads is a parameter of its kernels:
// lists of blocks, offsets of sequences.

// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile --split-input-file | FileCheck %s

// CHECK-LABEL: attn_tile.kernel @listed_dq(
// CHECK-SAME: dtype = "i32", name = "capture0", role = "input", shape = [1, 1, "capture0_dim2"]
// CHECK-SAME: dtype = "i32", name = "capture1", role = "input", shape = [1, 1, "capture1_dim2", "capture1_dim3"]
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

// CHECK-LABEL: attn_tile.kernel @sequences_dq(
// CHECK-SAME: dtype = "i32", name = "capture0", role = "input", shape = ["capture0_dim0"]
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
