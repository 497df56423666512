// Rows that are turned and normalised before an attention, against float64.

// RUN: %if long %{ attn-run %s --function halves --shape 'M=70,N=133; M=1,N=40; M=65,N=64' --random 1 --verify | FileCheck %s %}
// RUN: attn-run %s --function interleaved --shape 'B=2,M=17,N=65; B=1,M=1,N=3' --random 2 --verify | FileCheck %s
// RUN: attn-run %s --function normed --shape 'M=70,N=133; M=1,N=40' --random 3 --verify | FileCheck %s
// RUN: attn-run %s --function axial --random 4 --verify | FileCheck %s
// RUN: attn-run %s --function double --random 5 --verify | FileCheck %s
// RUN: sed 's/f64/f16/g' %s > %t.mlir
// RUN: attn-run %t.mlir --function halves --shape 'M=70,N=133; M=1,N=40' --random 6 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.mlir --function halves --shape 'M=70,N=133; M=1,N=40' --random 7 --device=sim:sm_90a --verify | FileCheck %s %}
// RUN: attn-run %t.mlir --function interleaved --shape 'B=2,M=17,N=65; B=1,M=1,N=3' --random 8 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function normed --shape 'M=70,N=133' --random 9 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %t.mlir --function axial --random 10 --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %t.mlir --function double --random 11 --device=sim:sm_90a --verify | FileCheck %s
// RUN: attn-run %t.mlir --function mapped --shape N=133 --random 12 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<kind = "small_cache">}/' %t.mlir > %t.small.mlir
// RUN: attn-run %t.small.mlir --function mapped --shape N=70 --random 13 --device=sim:sm_80 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<splits = 3>}/' %t.mlir > %t.splits.mlir
// RUN: attn-run %t.splits.mlir --function mapped --shape N=233 --random 14 --device=sim:sm_90a --verify | FileCheck %s

// RUN: attn-opt %t.mlir --attn-grad=recompute -o %t.grad.mlir 2>%t.remarks
// RUN: FileCheck %s --check-prefix=GRAD < %t.grad.mlir
// RUN: FileCheck %s --check-prefix=TABLES < %t.remarks
// RUN: attn-run %t.grad.mlir --function normed_grad --shape M=40,N=70 --random 15 --verify | FileCheck %s
// RUN: attn-run %t.grad.mlir --function halves_grad --shape M=40,N=70 --random 16 --device=sim:sm_80 --verify | FileCheck %s
// RUN: %if long %{ attn-run %t.grad.mlir --function normed_grad --shape M=40,N=70 --random 17 --device=sim:sm_90a --verify | FileCheck %s %}
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// GRAD-LABEL: @halves_grad
// GRAD: %[[DQ:.*]], %[[DK:.*]], %{{.*}} = attn.attention_backward
// GRAD: attn.rotary %[[DQ]], %arg3, %arg4 halves positions(%arg5 : tensor<1x?xi32>) transposed
// GRAD: attn.rotary %[[DK]], %arg3, %arg4 halves transposed
// TABLES: remark: takes its tables for constants, whose gradient is 0

// RUN: not attn-run %s --function halves --shape M=257,N=40 --fill arg5=ramp --verify 2>&1 | FileCheck %s --check-prefix=POSITION
// POSITION: error: 'attn.rotary' op expected positions that are one of 256 rows of the tables, got 256

// A chain is one kernel; one whose columns pair up in another way is another.
// RUN: attn-opt %t.mlir --attn-outline=target=sm_80 | FileCheck %s --check-prefix=KERNELS
// KERNELS: func.func private @normed_attention
// KERNELS-SAME: .entry normed_attention_rows(
// KERNELS-SAME: .entry normed_attention_rows1(
// KERNELS-NOT: normed_attention_rows2
// KERNELS: func.func private @axial_attention
// KERNELS-NOT: axial_attention_rows2
// KERNELS: func.func private @double_attention
// KERNELS-SAME: .entry double_attention_rows(
// KERNELS-SAME: .entry double_attention_rows1(
// KERNELS-NOT: double_attention_rows2

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
      : tensor<2x4x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>
      -> tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
  return %o, %l : tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
}

// Some columns, tables of each batch in bf16, positions of 64 bits.
func.func @interleaved(%q: tensor<?x3x?x48xbf16>, %k: tensor<?x3x?x48xbf16>,
                       %v: tensor<?x3x?x32xbf16>, %cos: tensor<?x90x16xbf16>,
                       %sin: tensor<?x90x16xbf16>, %rows: tensor<?x?xi64>,
                       %keys: tensor<?x?xi64>) -> tensor<?x3x?x32xbf16> {
  %query = attn.rotary %q, %cos, %sin interleaved
               positions(%rows : tensor<?x?xi64>) columns [8, 24]
      : tensor<?x3x?x48xbf16>, tensor<?x90x16xbf16>
  %key = attn.rotary %k, %cos, %sin interleaved
             positions(%keys : tensor<?x?xi64>) columns [8, 24]
      : tensor<?x3x?x48xbf16>, tensor<?x90x16xbf16>
  %o = attn.attention %query, %key, %v
      : tensor<?x3x?x48xbf16>, tensor<?x3x?x48xbf16>, tensor<?x3x?x32xbf16>
      -> tensor<?x3x?x32xbf16>
  return %o : tensor<?x3x?x32xbf16>
}

// Qwen3's order.
func.func @normed(%q: tensor<1x4x?x64xbf16>, %k: tensor<1x2x?x64xbf16>,
                  %v: tensor<1x2x?x64xbf16>, %cos: tensor<256x64xf32>,
                  %sin: tensor<256x64xf32>, %wq: tensor<64xbf16>,
                  %wk: tensor<64xf32>) -> tensor<1x4x?x64xbf16> {
  %qn = attn.qk_norm %q weight(%wq : tensor<64xbf16>) epsilon(1.0e-6)
      : tensor<1x4x?x64xbf16>
  %kn = attn.qk_norm %k weight(%wk : tensor<64xf32>) epsilon(1.0e-6)
      : tensor<1x2x?x64xbf16>
  %query = attn.rotary %qn, %cos, %sin halves
      : tensor<1x4x?x64xbf16>, tensor<256x64xf32>
  %key = attn.rotary %kn, %cos, %sin halves
      : tensor<1x2x?x64xbf16>, tensor<256x64xf32>
  %o = attn.attention %query, %key, %v
      : tensor<1x4x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>
      -> tensor<1x4x?x64xbf16>
  return %o : tensor<1x4x?x64xbf16>
}

// Rows of an image by the first half of the columns, its columns by the
// second; no weight, and behind the rotation, as Llama 4 has it.
func.func @axial(%q: tensor<1x2x35x64xf16>, %k: tensor<1x2x35x64xf16>,
                 %v: tensor<1x2x35x64xf16>, %cos: tensor<8x16xf32>,
                 %sin: tensor<8x16xf32>, %y: tensor<1x35xi32>,
                 %x: tensor<1x35xi32>) -> tensor<1x2x35x64xf16> {
  %q0 = attn.rotary %q, %cos, %sin interleaved positions(%y : tensor<1x35xi32>) columns [0, 32]
      : tensor<1x2x35x64xf16>, tensor<8x16xf32>
  %q1 = attn.rotary %q0, %cos, %sin halves positions(%x : tensor<1x35xi32>) columns [32, 64]
      : tensor<1x2x35x64xf16>, tensor<8x16xf32>
  %k0 = attn.rotary %k, %cos, %sin interleaved positions(%y : tensor<1x35xi32>) columns [0, 32]
      : tensor<1x2x35x64xf16>, tensor<8x16xf32>
  %k1 = attn.rotary %k0, %cos, %sin halves positions(%x : tensor<1x35xi32>) columns [32, 64]
      : tensor<1x2x35x64xf16>, tensor<8x16xf32>
  %q2 = attn.qk_norm %q1 epsilon(1.0e-5) : tensor<1x2x35x64xf16>
  %k2 = attn.qk_norm %k1 epsilon(1.0e-5) : tensor<1x2x35x64xf16>
  %o = attn.attention %q2, %k2, %v
      : tensor<1x2x35x64xf16>, tensor<1x2x35x64xf16>, tensor<1x2x35x64xf16>
      -> tensor<1x2x35x64xf16>
  return %o : tensor<1x2x35x64xf16>
}

// Columns in other pairs the second time, turned back; keys are the queries.
func.func @double(%q: tensor<1x2x21x64xf64>, %cos: tensor<21x32xf64>,
                  %sin: tensor<21x32xf64>) -> tensor<1x2x21x64xf64> {
  %q0 = attn.rotary %q, %cos, %sin halves
      : tensor<1x2x21x64xf64>, tensor<21x32xf64>
  %q1 = attn.rotary %q0, %cos, %sin interleaved columns [16, 48] transposed
      : tensor<1x2x21x64xf64>, tensor<21x32xf64>
  %o = attn.attention %q1, %q1, %q
      : tensor<1x2x21x64xf64>, tensor<1x2x21x64xf64>, tensor<1x2x21x64xf64>
      -> tensor<1x2x21x64xf64>
  return %o : tensor<1x2x21x64xf64>
}

// A view of heads stands behind the rotation.
func.func @mapped(%q: tensor<1x4x70x64xbf16>, %k: tensor<1x3x?x64xbf16>,
                  %v: tensor<1x3x?x64xbf16>, %cos: tensor<256x32xf32>,
                  %sin: tensor<256x32xf32>, %m: tensor<4xi32>)
    -> tensor<1x4x70x64xbf16> {
  %query = attn.rotary %q, %cos, %sin halves
      : tensor<1x4x70x64xbf16>, tensor<256x32xf32>
  %rows = attn.rotary %k, %cos, %sin halves
      : tensor<1x3x?x64xbf16>, tensor<256x32xf32>
  %key = attn.select_heads %rows[%m]
      : tensor<1x3x?x64xbf16>[tensor<4xi32>] -> tensor<1x4x?x64xbf16>
  %value = attn.select_heads %v[%m]
      : tensor<1x3x?x64xbf16>[tensor<4xi32>] -> tensor<1x4x?x64xbf16>
  %o = attn.attention %query, %key, %value {chosen}
      : tensor<1x4x70x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>
      -> tensor<1x4x70x64xbf16>
  return %o : tensor<1x4x70x64xbf16>
}
