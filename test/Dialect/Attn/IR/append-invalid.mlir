// RUN: attn-opt %s --split-input-file --verify-diagnostics

// append_c1
func.func @none(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf16>, %vp: tensor<8x2x16x64xf16>, %s: tensor<4xi32>) {
  // expected-error @+1 {{expected new rows for each of one or more pools, got 1 for 2}}
  %0:2 = attn.append %k into %kp, %vp slots(%s : tensor<4xi32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xf16>, tensor<8x2x16x64xf16>
  return
}

// -----

// append_c1
func.func @integers(%k: tensor<4x2x64xi16>, %kp: tensor<8x2x16x64xi16>, %s: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be variadic of 3D tensor of f8E4M3FN, f8E5M2, f16, bf16, f32, f64 or i8 values or 4D tensor of f8E4M3FN, f8E5M2, f16, bf16, f32, f64 or i8 values, but got 'tensor<4x2x64xi16>'}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) : tensor<4x2x64xi16> into tensor<8x2x16x64xi16>
  return
}

// -----

// append_c4
func.func @rounded(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xi8>, %s: tensor<4xi32>) {
  // expected-error @+1 {{expected rows #0 of 'i8', that of its pool, since nothing is rounded to 8 bits without descale or scales, or from them, got 'f16'}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xi8>
  return
}

// -----

// append_c1
func.func @slots(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf16>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'attn.append' op operand #2 must be}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xf16>
  return
}

// -----

// append_c2
func.func @rank(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf16>, %s: tensor<4x1xi32>) {
  // expected-error @+1 {{expected rows #0 to have rank 4 for slots of rank 2, got 'tensor<4x2x64xf16>'}}
  %0 = attn.append %k into %kp slots(%s : tensor<4x1xi32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xf16>
  return
}

// -----

// append_c2
func.func @tokens(%k: tensor<4x2x3x64xf16>, %kp: tensor<8x2x16x64xf16>, %s: tensor<4x2xi32>) {
  // expected-error @+1 {{expected slots dimension 1 to be 3 as in rows #0, got 2}}
  %0 = attn.append %k into %kp slots(%s : tensor<4x2xi32>) : tensor<4x2x3x64xf16> into tensor<8x2x16x64xf16>
  return
}

// -----

// append_c2
func.func @heads(%k: tensor<4x3x64xf16>, %kp: tensor<8x2x16x64xf16>, %s: tensor<4xi32>) {
  // expected-error @+1 {{expected its pool dimension 1 to be 3 as in rows #0, got 2}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) : tensor<4x3x64xf16> into tensor<8x2x16x64xf16>
  return
}

// -----

// append_c2
func.func @columns(%k: tensor<4x2x32xf16>, %kp: tensor<8x2x16x64xf16>, %s: tensor<4xi32>) {
  // expected-error @+1 {{expected its pool dimension 3 to be 32 as in rows #0, got 64}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) : tensor<4x2x32xf16> into tensor<8x2x16x64xf16>
  return
}

// -----

// append_c3
func.func @pages(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf16>, %vp: tensor<8x2x8x64xf16>, %s: tensor<4xi32>) {
  // expected-error @+1 {{expected pool #0 dimension 2 to be 8 as in pool #1, got 16}}
  %0:2 = attn.append %k, %k into %kp, %vp slots(%s : tensor<4xi32>)
      : tensor<4x2x64xf16>, tensor<4x2x64xf16> into tensor<8x2x16x64xf16>, tensor<8x2x8x64xf16>
  return
}

// -----

// append_c4
func.func @quantise(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf8E4M3FN>, %s: tensor<4xi32>) {
  // expected-error @+1 {{expected rows #0 of 'f8E4M3FN', that of its pool, since nothing is rounded to 8 bits without descale or scales, or from them, got 'f16'}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xf8E4M3FN>
  return
}

// -----

// append_c4
func.func @other_bytes(%k: tensor<4x2x64xf8E5M2>, %kp: tensor<8x2x16x64xf8E4M3FN>, %s: tensor<4xi32>) {
  // expected-error @+1 {{expected rows #0 of 'f8E4M3FN', that of its pool, since nothing is rounded to 8 bits without descale or scales, or from them, got 'f8E5M2'}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) : tensor<4x2x64xf8E5M2> into tensor<8x2x16x64xf8E4M3FN>
  return
}

// -----

// append_c5
func.func @descales(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf8E4M3FN>, %s: tensor<4xi32>, %d: tensor<1xf32>) {
  // expected-error @+1 {{expected a descale for each of 1 pools, got 2}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) descale(%d, %d : tensor<1xf32>, tensor<1xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xf8E4M3FN>
  return
}

// -----

// append_c5
func.func @wide_pool(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xbf16>, %s: tensor<4xi32>, %d: tensor<1xf32>) {
  // expected-error @+1 {{expected rows of f16, bf16 or f32 and a pool of f8E4M3FN, f8E5M2 or i8 with descale, got 'f16' and 'bf16'}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) descale(%d : tensor<1xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xbf16>
  return
}

// -----

// append_c5
func.func @no_batch(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf8E5M2>, %s: tensor<4xi32>, %d: tensor<4x2xf32>) {
  // expected-error @+1 {{expected descales of rank 1 with slots [T], whose rows have no batch, got 'tensor<4x2xf32>'}}
  %0 = attn.append %k into %kp slots(%s : tensor<4xi32>) descale(%d : tensor<4x2xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xf8E5M2>
  return
}

// -----

// append_c5
func.func @descale_heads(%k: tensor<4x2x1x64xf16>, %kp: tensor<8x2x16x64xf8E5M2>, %s: tensor<4x1xi32>, %d: tensor<4x3xf32>) {
  // expected-error @+1 {{expected the descale of pool #0 dimension Hkv to be 2 as in the inputs, got 3}}
  %0 = attn.append %k into %kp slots(%s : tensor<4x1xi32>) descale(%d : tensor<4x3xf32>) : tensor<4x2x1x64xf16> into tensor<8x2x16x64xf8E5M2>
  return
}

// -----

// append_c6
func.func @scales_of_wide(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xf16>, %s: tensor<4xi32>, %d: tensor<8x2x16xf32>) {
  // expected-error @+1 {{expected rows of f16, bf16 or f32 and a pool of f8E4M3FN, f8E5M2 or i8 with scales, got 'f16' and 'f16'}}
  %0:2 = attn.append %k into %kp slots(%s : tensor<4xi32>) scales(%d : tensor<8x2x16xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xf16>
  return
}

// -----

// append_c6
func.func @scales_shape(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xi8>, %s: tensor<4xi32>, %d: tensor<8x2x8xf32>) {
  // expected-error @+1 {{expected the scales of pool #0 dimension 2 to be 16 as in the pool, got 8}}
  %0:2 = attn.append %k into %kp slots(%s : tensor<4xi32>) scales(%d : tensor<8x2x8xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xi8>
  return
}

// -----

// append_c6
func.func @scales_count(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xi8>, %s: tensor<4xi32>, %d: tensor<8x2x16xf32>) {
  // expected-error @+1 {{expected scales for each of 1 pools, got 2}}
  %0:3 = attn.append %k into %kp slots(%s : tensor<4xi32>) scales(%d, %d : tensor<8x2x16xf32>, tensor<8x2x16xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xi8>
  return
}

// -----

// append_c6
func.func @scales_and_descale(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xi8>, %s: tensor<4xi32>, %d: tensor<8x2x16xf32>, %e: tensor<1xf32>) {
  // expected-error @+1 {{expected descale or scales, got both}}
  %0:2 = attn.append %k into %kp slots(%s : tensor<4xi32>) descale(%e : tensor<1xf32>) scales(%d : tensor<8x2x16xf32>) : tensor<4x2x64xf16> into tensor<8x2x16x64xi8>
  return
}

// -----

// append_c6
func.func @scales_results(%k: tensor<4x2x64xf16>, %kp: tensor<8x2x16x64xi8>, %s: tensor<4xi32>, %d: tensor<8x2x16xf32>) {
  // expected-error @+1 {{expected results of the types of pools and scales}}
  %0 = "attn.append"(%k, %kp, %d, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<4x2x64xf16>, tensor<8x2x16x64xi8>, tensor<8x2x16xf32>, tensor<4xi32>) -> tensor<8x2x16x64xi8>
  return
}
