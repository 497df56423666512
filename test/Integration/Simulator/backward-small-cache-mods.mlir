// The small-cache backward in the simulator, with all its checks, against
// float64: head dimensions one of which ends before the other, in whole tiles;
// masks that are no band, or differ by head; a bias; dropout. Rows of two blocks
// for each warp, and tiles of rows and keys of different sizes.
// RUN: attn-opt %s --attn-grad="recompute=true lse-gradient=true" -o %t.mlir
// RUN: %python %S/add_schedule.py 'kind = "small_cache", tile_m = 32, tile_n = 32, tile_d = 32, tile_dv = 32, warps = 2, chunk_rows = 64' < %t.mlir > %t.32.mlir
// RUN: %python %S/add_schedule.py 'kind = "small_cache", tile_m = 48, tile_n = 96, tile_d = 16, tile_dv = 16, warps = 1, stages = 3, chunk_rows = 48' < %t.mlir > %t.48.mlir

// RUN: attn-run %t.32.mlir --function static_grad --device=sim:sm_80 --random 1 --verify
// RUN: attn-run %t.32.mlir --function wide_grad --device=sim:sm_90a --random 2 --verify
// RUN: %if long %{ attn-run %t.32.mlir --function gaps_grad --device=sim:sm_80 --shape M=150,N=140 --random 3 --verify %}
// RUN: attn-run %t.48.mlir --function gaps_grad --device=sim:sm_90a --shape M=130,N=101 --random 4 --verify
// RUN: attn-run %t.32.mlir --function heads_grad --device=sim:sm_80 --shape M=70,N=91 --random 5 --verify
// RUN: %if long %{ attn-run %t.48.mlir --function heads_grad --device=sim:sm_90a --shape M=145,N=61 --random 6 --verify %}

// RUN: sed "s/TYPE/f16/g; s/DIM/64/g" %S/dropout-backward.mlir | attn-opt --attn-grad="recompute=true lse-gradient=true" -o %t.dropout.mlir
// RUN: %python %S/add_schedule.py 'kind = "small_cache", tile_m = 32, tile_n = 32, tile_d = 32, tile_dv = 32, warps = 2, chunk_rows = 64' < %t.dropout.mlir > %t.random.mlir
// RUN: attn-run %t.random.mlir --function causal_grad --device=sim:sm_80 --shape M=65,N=63 --random 7 --verify
// RUN: %if long %{ attn-run %t.random.mlir --function plain_grad --device=sim:sm_90a --shape M=40,N=70 --random 8 --verify %}

// RUN: attn-run %S/Inputs/backward-bias.mlir --function bias --device=sim:sm_80 --shape M=45,N=60 --random 9 --verify

func.func @static(%q: tensor<1x4x64x96xf16>, %k: tensor<1x2x64x96xf16>, %v: tensor<1x2x64x32xf16>) -> (tensor<1x4x64x32xf16>, tensor<1x4x64xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<1x4x64x96xf16>, tensor<1x2x64x96xf16>, tensor<1x2x64x32xf16> -> tensor<1x4x64x32xf16>, tensor<1x4x64xf32>
  return %o, %lse : tensor<1x4x64x32xf16>, tensor<1x4x64xf32>
}
func.func @wide(%q: tensor<1x4x64x32xf16>, %k: tensor<1x2x64x32xf16>, %v: tensor<1x2x64x96xf16>) -> (tensor<1x4x64x96xf16>, tensor<1x4x64xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      : tensor<1x4x64x32xf16>, tensor<1x2x64x32xf16>, tensor<1x2x64x96xf16> -> tensor<1x4x64x96xf16>, tensor<1x4x64xf32>
  return %o, %lse : tensor<1x4x64x96xf16>, tensor<1x4x64xf32>
}
// Rows that see all keys, and a window: from the side of keys one range has tiles that no row tile visits.
func.func @gaps(%q: tensor<1x4x?x32xf16>, %k: tensor<1x2x?x32xf16>, %v: tensor<1x2x?x32xf16>) -> (tensor<1x4x?x32xf16>, tensor<1x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c16 = arith.constant 16 : index
        %d = arith.subi %i, %j : index
        %c0 = arith.constant 0 : index
        %first = arith.cmpi slt, %i, %c16 : index
        %after = arith.cmpi sge, %d, %c0 : index
        %near = arith.cmpi slt, %d, %c16 : index
        %w = arith.andi %after, %near : i1
        %p = arith.ori %first, %w : i1
        attn.yield %p : i1
      }
      : tensor<1x4x?x32xf16>, tensor<1x2x?x32xf16>, tensor<1x2x?x32xf16> -> tensor<1x4x?x32xf16>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x32xf16>, tensor<1x4x?xf32>
}
// The mask depends on the head.
func.func @heads(%q: tensor<1x4x?x32xf16>, %k: tensor<1x2x?x32xf16>, %v: tensor<1x2x?x32xf16>) -> (tensor<1x4x?x32xf16>, tensor<1x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c16 = arith.constant 16 : index
        %s = arith.muli %h, %c16 : index
        %e = arith.addi %i, %s : index
        %p = arith.cmpi sle, %j, %e : index
        attn.yield %p : i1
      }
      : tensor<1x4x?x32xf16>, tensor<1x2x?x32xf16>, tensor<1x2x?x32xf16> -> tensor<1x4x?x32xf16>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x32xf16>, tensor<1x4x?xf32>
}
