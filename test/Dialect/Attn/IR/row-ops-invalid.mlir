// RUN: attn-opt %s --split-input-file --verify-diagnostics

// rotary_c1
func.func @f(%x: tensor<2x4x9x?xf16>, %t: tensor<9x32xf32>) {
  // expected-error @+1 {{expected D to be static and positive, got 'tensor<2x4x9x?xf16>'}}
  %0 = attn.rotary %x, %t, %t halves : tensor<2x4x9x?xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c2: a width that is odd.
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x16xf32>) {
  // expected-error @+1 {{expected an even number of columns that turn, got 33}}
  %0 = attn.rotary %x, %t, %t halves columns [0, 33] : tensor<2x4x9x64xf16>, tensor<9x16xf32>
  return
}

// -----

// rotary_c2: wider than D.
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x48xf32>) {
  // expected-error @+1 {{expected columns from 0 to D = 64, at least two of them, got [0, 96]}}
  %0 = attn.rotary %x, %t, %t halves columns [0, 96] : tensor<2x4x9x64xf16>, tensor<9x48xf32>
  return
}

// -----

// rotary_c2
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x32xf32>) {
  // expected-error @+1 {{expected columns from 0 to D = 64, at least two of them, got [32, 32]}}
  %0 = attn.rotary %x, %t, %t halves columns [32, 32] : tensor<2x4x9x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c2
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x32xf32>) {
  // expected-error @+1 {{expected columns to be two numbers, the first column that turns and the first behind, got 1}}
  %0 = attn.rotary %x, %t, %t halves columns [64] : tensor<2x4x9x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c3
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x24xf32>) {
  // expected-error @+1 {{expected tables with 32 columns, one for each pair, or 64, got 'tensor<9x24xf32>'}}
  %0 = attn.rotary %x, %t, %t halves : tensor<2x4x9x64xf16>, tensor<9x24xf32>
  return
}

// -----

// rotary_c3
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<3x9x32xf32>) {
  // expected-error @+1 {{expected cos dimension 0 to be 2 as in source, got 3}}
  %0 = attn.rotary %x, %t, %t halves : tensor<2x4x9x64xf16>, tensor<3x9x32xf32>
  return
}

// -----

// rotary_c3
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<8x32xf32>) {
  // expected-error @+1 {{expected tables with at least 9 rows, got 8}}
  %0 = attn.rotary %x, %t, %t halves : tensor<2x4x9x64xf16>, tensor<8x32xf32>
  return
}

// -----

// rotary_c3
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<0x32xf32>, %p: tensor<1x9xi32>) {
  // expected-error @+1 {{expected tables with at least 1 rows, got 0}}
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<1x9xi32>) : tensor<2x4x9x64xf16>, tensor<0x32xf32>
  return
}

// -----

// rotary_c3: sin has the type of cos.
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x32xf32>, %u: tensor<9x32xf16>) {
  // expected-note @-1 {{prior use here}}
  // expected-error @+1 {{use of value '%u' expects different type than prior uses: 'tensor<9x32xf32>' vs 'tensor<9x32xf16>'}}
  %0 = attn.rotary %x, %t, %u halves : tensor<2x4x9x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c4
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x32xf32>, %p: tensor<3x9xi32>) {
  // expected-error @+1 {{expected positions dimension 0 to be 2 as in source, got 3}}
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<3x9xi32>) : tensor<2x4x9x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c4
func.func @f(%x: tensor<2x4x9x64xf16>, %t: tensor<9x32xf32>, %p: tensor<2x8xi32>) {
  // expected-error @+1 {{expected positions dimension 1 to be 9 as in source, got 8}}
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<2x8xi32>) : tensor<2x4x9x64xf16>, tensor<9x32xf32>
  return
}

// -----

// qk_norm_c1
func.func @f(%x: tensor<2x4x9x?xf16>) {
  // expected-error @+1 {{expected D to be static and positive, got 'tensor<2x4x9x?xf16>'}}
  %0 = attn.qk_norm %x epsilon(0.0) : tensor<2x4x9x?xf16>
  return
}

// -----

// qk_norm_c2
func.func @f(%x: tensor<2x4x9x64xf16>, %w: tensor<32xf16>) {
  // expected-error @+1 {{expected weight dimension 0 to be 64 as in source, got 32}}
  %0 = attn.qk_norm %x weight(%w : tensor<32xf16>) epsilon(0.0) : tensor<2x4x9x64xf16>
  return
}

// -----

// qk_norm_c2
func.func @f(%x: tensor<2x4x9x64xf16>, %w: tensor<?xf16>) {
  // expected-error @+1 {{expected a weight of a static size, got 'tensor<?xf16>'}}
  %0 = attn.qk_norm %x weight(%w : tensor<?xf16>) epsilon(0.0) : tensor<2x4x9x64xf16>
  return
}

// -----

// qk_norm_c3
func.func @f(%x: tensor<2x4x9x64xf16>) {
  // expected-error @+1 {{expected epsilon to be finite and at least 0, got -1}}
  %0 = attn.qk_norm %x epsilon(-1.0) : tensor<2x4x9x64xf16>
  return
}

// -----

// dequantize_c1
func.func @f(%x: tensor<2x4x9x?xi8>) {
  // expected-error @+1 {{expected D to be static and positive, got 'tensor<2x4x9x?xi8>'}}
  %0 = attn.dequantize %x : tensor<2x4x9x?xi8> -> tensor<2x4x9x?xf16>
  return
}

// -----

// dequantize_c1
func.func @f(%x: tensor<2x4x9x64xf16>) {
  // expected-error @+1 {{expected a source of f8E4M3FN, f8E5M2 or i8, got 'f16'}}
  %0 = attn.dequantize %x : tensor<2x4x9x64xf16> -> tensor<2x4x9x64xf32>
  return
}

// -----

// dequantize_c1
func.func @f(%x: tensor<2x4x9x64xi8>) {
  // expected-error @+1 {{expected a result of the source's shape, 'tensor<2x4x9x64xi8>', got 'tensor<2x4x9x32xf16>'}}
  %0 = attn.dequantize %x : tensor<2x4x9x64xi8> -> tensor<2x4x9x32xf16>
  return
}

// -----

// dequantize_c2
func.func @f(%x: tensor<2x4x9x64xi8>, %d: tensor<2xf32>) {
  // expected-error @+1 {{expected descale to be [1] or [B, Hkv], got a vector of 2}}
  %0 = attn.dequantize %x descale(%d : tensor<2xf32>) : tensor<2x4x9x64xi8> -> tensor<2x4x9x64xf16>
  return
}

// -----

// dequantize_c2
func.func @f(%x: tensor<2x4x9x64xi8>, %d: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a descale for each of H / G heads, got H = 4 and G = 3}}
  %0 = attn.dequantize %x descale(%d : tensor<2x3xf32>) : tensor<2x4x9x64xi8> -> tensor<2x4x9x64xf16>
  return
}

// -----

// dequantize_c2
func.func @f(%x: tensor<2x4x9x64xi8>, %d: tensor<3x4xf32>) {
  // expected-error @+1 {{expected descale dimension 0 to be 2 as in source, got 3}}
  %0 = attn.dequantize %x descale(%d : tensor<3x4xf32>) : tensor<2x4x9x64xi8> -> tensor<2x4x9x64xf16>
  return
}

// -----

// rotary_c1
func.func @f(%x: tensor<9x64xf16>, %t: tensor<9x32xf32>) {
  // expected-error @+1 {{'source' must be tensor of f16, bf16, f32 or f64 of rank 3 or 4, but got 'tensor<9x64xf16>'}}
  %0 = attn.rotary %x, %t, %t halves : tensor<9x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c3: packed rows have no batch.
func.func @f(%x: tensor<?x4x64xf16>, %t: tensor<1x9x32xf32>, %p: tensor<?xi32>) {
  // expected-error @+1 {{expected tables [T, w] beside packed rows [rows, H, D], got 'tensor<1x9x32xf32>'}}
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<?xi32>) : tensor<?x4x64xf16>, tensor<1x9x32xf32>
  return
}

// -----

// rotary_c4: nothing says where packed rows are.
func.func @f(%x: tensor<?x4x64xf16>, %t: tensor<9x32xf32>) {
  // expected-error @+1 {{expected positions [rows] of packed rows [rows, H, D], got none}}
  %0 = attn.rotary %x, %t, %t halves : tensor<?x4x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c4
func.func @f(%x: tensor<?x4x64xf16>, %t: tensor<9x32xf32>, %p: tensor<1x?xi32>) {
  // expected-error @+1 {{expected positions [rows] of a source 'tensor<?x4x64xf16>', got 'tensor<1x?xi32>'}}
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<1x?xi32>) : tensor<?x4x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c4
func.func @f(%x: tensor<1x4x9x64xf16>, %t: tensor<9x32xf32>, %p: tensor<9xi32>) {
  // expected-error @+1 {{expected positions [1 or B, N] of a source 'tensor<1x4x9x64xf16>', got 'tensor<9xi32>'}}
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<9xi32>) : tensor<1x4x9x64xf16>, tensor<9x32xf32>
  return
}

// -----

// rotary_c4
func.func @f(%x: tensor<8x4x64xf16>, %t: tensor<9x32xf32>, %p: tensor<9xi32>) {
  // expected-error @+1 {{expected positions dimension 0 to be 8 as in source, got 9}}
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<9xi32>) : tensor<8x4x64xf16>, tensor<9x32xf32>
  return
}

// -----

// qk_norm_c2
func.func @f(%x: tensor<8x4x64xf16>, %w: tensor<32xf16>) {
  // expected-error @+1 {{expected weight dimension 0 to be 64 as in source, got 32}}
  %0 = attn.qk_norm %x weight(%w : tensor<32xf16>) epsilon(0.0) : tensor<8x4x64xf16>
  return
}
