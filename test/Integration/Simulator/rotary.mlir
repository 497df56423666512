// Rows that are turned and normalised before an attention, against float64.

// RUN: attn-run %s --function halves --shape 'M=70,N=133; M=1,N=40; M=65,N=64' --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function interleaved --shape 'B=2,M=17,N=65; B=1,M=1,N=3' --random 2 --verify | FileCheck %s
// RUN: attn-run %s --function normed --shape 'M=70,N=133; M=1,N=40' --random 3 --verify | FileCheck %s
// RUN: attn-run %s --function axial --random 4 --verify | FileCheck %s
// RUN: attn-run %s --function double --random 5 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

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
