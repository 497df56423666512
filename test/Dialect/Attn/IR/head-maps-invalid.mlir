// RUN: attn-opt %s --split-input-file --verify-diagnostics

// select_heads_c1
func.func @f(%k: tensor<2x4x?x64xbf16>, %m: tensor<8xi32>) {
  // expected-error @+1 {{expected element type of result to be 'bf16', got 'f16'}}
  %v = attn.select_heads %k[%m] : tensor<2x4x?x64xbf16>[tensor<8xi32>] -> tensor<2x8x?x64xf16>
  return
}

// -----

// select_heads_c1
func.func @f(%k: tensor<2x4x?x64xbf16>, %m: tensor<8xi32>) {
  // expected-error @+1 {{expected result dimension 1 to be 8 as in the map, got 6}}
  %v = attn.select_heads %k[%m] : tensor<2x4x?x64xbf16>[tensor<8xi32>] -> tensor<2x6x?x64xbf16>
  return
}

// -----

// select_heads_c1
func.func @f(%k: tensor<2x4x?x64xbf16>, %m: tensor<8xf32>) {
  // expected-error @+1 {{operand #1 must be 1D tensor of i32 or i64 values, but got 'tensor<8xf32>'}}
  %v = attn.select_heads %k[%m] : tensor<2x4x?x64xbf16>[tensor<8xf32>] -> tensor<2x8x?x64xbf16>
  return
}

// -----

// select_heads_c2
func.func @f(%k: tensor<2x4x?x64xbf16>) {
  %m = arith.constant dense<[0, 1, 4]> : tensor<3xi32>
  // expected-error @+1 {{expected entries from 0 to the last head of source, got 4 of head 2}}
  %v = attn.select_heads %k[%m] : tensor<2x4x?x64xbf16>[tensor<3xi32>] -> tensor<2x3x?x64xbf16>
  return
}

// -----

// select_heads_c2
func.func @f(%k: tensor<2x?x?x64xbf16>) {
  %m = arith.constant dense<[0, -1]> : tensor<2xi64>
  // expected-error @+1 {{expected entries from 0 to the last head of source, got -1 of head 1}}
  %v = attn.select_heads %k[%m] : tensor<2x?x?x64xbf16>[tensor<2xi64>] -> tensor<2x2x?x64xbf16>
  return
}

// -----

// select_heads_c2
func.func @f(%k: tensor<2x0x?x64xbf16>, %m: tensor<8xi32>) {
  // expected-error @+1 {{expected at least one head of source for the 8 entries of the map}}
  %v = attn.select_heads %k[%m] : tensor<2x0x?x64xbf16>[tensor<8xi32>] -> tensor<2x8x?x64xbf16>
  return
}

// -----

// select_heads_c3
func.func @f(%k: tensor<2x4x?x64xbf16>, %m: tensor<8xi32>) {
  // expected-note @+1 {{made here}}
  %s = attn.select_heads %k[%m] : tensor<2x4x?x64xbf16>[tensor<8xi32>] -> tensor<2x8x?x64xbf16>
  // expected-error @+1 {{expected a source of which no map selects heads, got the result of 'attn.select_heads'}}
  %v = attn.select_heads %s[%m] : tensor<2x8x?x64xbf16>[tensor<8xi32>] -> tensor<2x8x?x64xbf16>
  return
}

// -----

// sum_heads_c1
func.func @f(%s: tensor<2x8x?x64xbf16>, %m: tensor<8xi32>, %i: tensor<2x4x?x32xbf16>) {
  // expected-error @+1 {{expected source dimension 3 to be 32 as in destination, got 64}}
  %v = attn.sum_heads %s[%m] into %i : tensor<2x8x?x64xbf16>[tensor<8xi32>] into tensor<2x4x?x32xbf16>
  return
}

// -----

// sum_heads_c2
func.func @f(%s: tensor<2x2x?x64xbf16>, %i: tensor<2x4x?x64xbf16>) {
  %m = arith.constant dense<[0, 7]> : tensor<2xi32>
  // expected-error @+1 {{expected entries from 0 to the last head of destination, got 7 of head 1}}
  %v = attn.sum_heads %s[%m] into %i : tensor<2x2x?x64xbf16>[tensor<2xi32>] into tensor<2x4x?x64xbf16>
  return
}
