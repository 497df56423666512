// Queries that are turned and normalised where their tile is, against float64.

// RUN: attn-run %s --function halves --shape 'M=70,N=133; M=1,N=40; M=129,N=64' --random 1 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function halves --shape 'M=70,N=133; M=1,N=40' --random 2 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function interleaved --shape 'B=2,M=17,N=65; B=1,M=1,N=3' --random 3 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %s --function interleaved --shape 'B=2,M=17,N=65' --random 4 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %s --function normed --shape 'M=70,N=133' --random 5 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function normed --shape 'M=70,N=133' --random 6 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function axial --random 7 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %s --function axial --random 8 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %s --function twice --random 9 --device=sim:sm_80 --verify | FileCheck %s

// Packed heads, splits of the keys, a query in registers; a persistent grid.
// RUN: sed 's/"fused"/"fused", pack_gqa = true, tile_m = 64/' %s > %t.packed.mlir
// RUN: %if long %{ attn-run %t.packed.mlir --function halves --shape 'M=70,N=133; M=1,N=40' --random 10 --device=sim:sm_80 --verify | FileCheck %s %}
// RUN: attn-run %t.packed.mlir --function halves --shape 'M=70,N=133' --random 11 --device=sim:sm_90a --verify | FileCheck %s
// RUN: sed 's/"fused"/"fused", splits = 3/' %s > %t.splits.mlir
// RUN: attn-run %t.splits.mlir --function halves --shape 'M=33,N=250' --random 12 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/"fused"/"fused", query_in_registers = true, warps = 2, tile_m = 32/' %s > %t.registers.mlir
// RUN: attn-run %t.registers.mlir --function twice --random 13 --device=sim:sm_80 --verify | FileCheck %s
// Two warps have the same rows, which one of them changes.
// RUN: sed 's/"fused"/"fused", mma = "mma_sync", warps = 4, tile_m = 32, tile_dv = 128/' %s > %t.shared.mlir
// RUN: attn-run %t.shared.mlir --function normed --shape 'M=70,N=133' --random 15 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/"fused"/"fused", persistent_ctas = 1, tile_m = 64/' %s > %t.persistent.mlir
// RUN: attn-run %t.persistent.mlir --function axial --random 14 --device=sim:sm_90a --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// A kernel in front has the keys alone; of two that are no chain, the last is
// fused.
// RUN: attn-opt %s --attn-outline=target=sm_80 | FileCheck %s --check-prefix=KERNELS
// KERNELS: func.func private @halves_attention
// KERNELS: .entry halves_attention_rows(
// KERNELS-NOT: halves_attention_rows1
// KERNELS: func.func private @twice_attention
// KERNELS: .entry twice_attention_rows(
// KERNELS: .entry twice_attention_rows1(
// KERNELS-NOT: twice_attention_rows2

// Queries are the last rows of the keys' sequence.
func.func @halves(%q: tensor<2x4x?x64xf16>, %k: tensor<2x2x?x64xf16>,
                  %v: tensor<2x2x?x64xf16>, %cos: tensor<256x32xf32>,
                  %sin: tensor<256x32xf32>, %rows: tensor<1x?xi32>)
    -> (tensor<2x4x?x64xf16>, tensor<2x4x?xf32>) {
  %query = attn.rotary %q, %cos, %sin halves positions(%rows : tensor<1x?xi32>)
      : tensor<2x4x?x64xf16>, tensor<256x32xf32>
  %key = attn.rotary %k, %cos, %sin halves
      : tensor<2x2x?x64xf16>, tensor<256x32xf32>
  %o, %l = attn.attention %query, %key, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<query_prologue = "fused">}
      : tensor<2x4x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>
      -> tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
  return %o, %l : tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
}

// Some columns, tables of each batch in bf16, positions of 64 bits; D is padded
// for no tile.
func.func @interleaved(%q: tensor<?x3x?x40xbf16>, %k: tensor<?x3x?x40xbf16>,
                       %v: tensor<?x3x?x32xbf16>, %cos: tensor<?x90x16xbf16>,
                       %sin: tensor<?x90x16xbf16>, %rows: tensor<?x?xi64>)
    -> tensor<?x3x?x32xbf16> {
  %query = attn.rotary %q, %cos, %sin interleaved
               positions(%rows : tensor<?x?xi64>) columns [8, 24] transposed
      : tensor<?x3x?x40xbf16>, tensor<?x90x16xbf16>
  %o = attn.attention %query, %k, %v
      {schedule = #attn.schedule<query_prologue = "fused">}
      : tensor<?x3x?x40xbf16>, tensor<?x3x?x40xbf16>, tensor<?x3x?x32xbf16>
      -> tensor<?x3x?x32xbf16>
  return %o : tensor<?x3x?x32xbf16>
}

// Qwen3's order.
func.func @normed(%q: tensor<1x4x?x128xbf16>, %k: tensor<1x2x?x128xbf16>,
                  %v: tensor<1x2x?x128xbf16>, %cos: tensor<256x128xf32>,
                  %sin: tensor<256x128xf32>, %wq: tensor<128xbf16>)
    -> tensor<1x4x?x128xbf16> {
  %qn = attn.qk_norm %q weight(%wq : tensor<128xbf16>) epsilon(1.0e-6)
      : tensor<1x4x?x128xbf16>
  %query = attn.rotary %qn, %cos, %sin halves
      : tensor<1x4x?x128xbf16>, tensor<256x128xf32>
  %key = attn.rotary %k, %cos, %sin halves
      : tensor<1x2x?x128xbf16>, tensor<256x128xf32>
  %o = attn.attention %query, %key, %v mask_mod causal(bottom_right)
      {schedule = #attn.schedule<query_prologue = "fused">}
      : tensor<1x4x?x128xbf16>, tensor<1x2x?x128xbf16>, tensor<1x2x?x128xbf16>
      -> tensor<1x4x?x128xbf16>
  return %o : tensor<1x4x?x128xbf16>
}

// Rows of an image by some columns, its columns by others; no weight, and
// behind the rotation, as Llama 4 has it.
func.func @axial(%q: tensor<1x2x135x256xf16>, %k: tensor<1x2x35x256xf16>,
                 %v: tensor<1x2x35x256xf16>, %cos: tensor<8x16xf32>,
                 %sin: tensor<8x16xf32>, %y: tensor<1x135xi32>,
                 %x: tensor<1x135xi32>) -> tensor<1x2x135x256xf16> {
  %q0 = attn.rotary %q, %cos, %sin interleaved positions(%y : tensor<1x135xi32>) columns [0, 32]
      : tensor<1x2x135x256xf16>, tensor<8x16xf32>
  %q1 = attn.rotary %q0, %cos, %sin halves positions(%x : tensor<1x135xi32>) columns [50, 82]
      : tensor<1x2x135x256xf16>, tensor<8x16xf32>
  %q2 = attn.qk_norm %q1 epsilon(1.0e-5) : tensor<1x2x135x256xf16>
  %o = attn.attention %q2, %k, %v
      {schedule = #attn.schedule<query_prologue = "fused">}
      : tensor<1x2x135x256xf16>, tensor<1x2x35x256xf16>, tensor<1x2x35x256xf16>
      -> tensor<1x2x135x256xf16>
  return %o : tensor<1x2x135x256xf16>
}

// Columns in other pairs the second time: a kernel in front turns the first.
func.func @twice(%q: tensor<1x2x21x64xf16>, %k: tensor<1x2x35x64xf16>,
                 %cos: tensor<35x32xf32>, %sin: tensor<35x32xf32>)
    -> tensor<1x2x21x64xf16> {
  %q0 = attn.rotary %q, %cos, %sin halves
      : tensor<1x2x21x64xf16>, tensor<35x32xf32>
  %q1 = attn.rotary %q0, %cos, %sin interleaved columns [16, 48]
      : tensor<1x2x21x64xf16>, tensor<35x32xf32>
  %k0 = attn.rotary %k, %cos, %sin halves
      : tensor<1x2x35x64xf16>, tensor<35x32xf32>
  %o = attn.attention %q1, %k0, %k
      {schedule = #attn.schedule<query_prologue = "fused">}
      : tensor<1x2x21x64xf16>, tensor<1x2x35x64xf16>, tensor<1x2x35x64xf16>
      -> tensor<1x2x21x64xf16>
  return %o : tensor<1x2x21x64xf16>
}
