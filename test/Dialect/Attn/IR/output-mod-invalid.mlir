// RUN: attn-opt %s --split-input-file --verify-diagnostics

// output_mod_c1
func.func @f(%o: tensor<2x4x8x64xf32>) {
  // expected-error @+1 {{expected result dimension 3 to be 64 as in source, got 32}}
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : tensor<2x4x8x64xf32> -> tensor<2x4x8x32xf32>
  return
}

// -----

// output_mod_c1
func.func @f(%o: tensor<2x4x8x64xf32>) {
  // expected-error @+1 {{result #0 must be 4D tensor of f8E4M3FN, f8E5M2, f16, bf16, f32 or f64 values, but got 'tensor<2x4x8x64xi32>'}}
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : tensor<2x4x8x64xf32> -> tensor<2x4x8x64xi32>
  return
}

// -----

// output_mod_c2
func.func @f(%o: tensor<2x4x8x64xf32>, %at: index) {
  // expected-error @+1 {{expected no offsets or 4 (b, h, i, c), got 3}}
  %y = attn.output_mod %o offsets(%at, %at, %at) (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : tensor<2x4x8x64xf32> -> tensor<2x4x8x64xf32>
  return
}

// -----

// output_mod_c3
func.func @f(%o: tensor<2x4x8x64xf16>) {
  // expected-error @+1 {{expected output_mod to take ('f32', 'index', 'index', 'index', 'index'), got ('f16', 'index', 'index', 'index', 'index')}}
  %y = attn.output_mod %o (%x: f16, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f16
  } : tensor<2x4x8x64xf16> -> tensor<2x4x8x64xf16>
  return
}

// -----

// output_mod_c3
func.func @f(%o: tensor<2x4x8x64xf64>) {
  %y = attn.output_mod %o (%x: f64, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.truncf %x : f64 to f32
    // expected-error @+1 {{expected output_mod to yield 'f64', got 'f32'}}
    attn.yield %r : f32
  } : tensor<2x4x8x64xf64> -> tensor<2x4x8x64xf32>
  return
}

// -----

// output_mod_c4
func.func @f(%o: tensor<2x4x8x64xf32>, %m: memref<f32>) {
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    // expected-error @+1 {{expected ops in output_mod to be free of side effects}}
    memref.store %x, %m[] : memref<f32>
    attn.yield %x : f32
  } : tensor<2x4x8x64xf32> -> tensor<2x4x8x64xf32>
  return
}

// -----

// output_mod_c5
func.func @f(%o: tensor<2x4x8x64xf32>, %g: tensor<2x3x8x64xf32>) {
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    // expected-error @+1 {{output_mod reads out of range: expected dimension 1 to be at least H = 4, got 3}}
    %e = tensor.extract %g[%b, %h, %i, %c] : tensor<2x3x8x64xf32>
    attn.yield %e : f32
  } : tensor<2x4x8x64xf32> -> tensor<2x4x8x64xf32>
  return
}

// -----

// output_mod_c6
func.func @f(%o: tensor<2x4x8x64xf64>) {
  // expected-error @+1 {{expected a source of f16, bf16 or f32 with a result of 'f8E5M2', got 'f64'}}
  %y = attn.output_mod %o (%x: f64, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f64
  } : tensor<2x4x8x64xf64> -> tensor<2x4x8x64xf8E5M2>
  return
}

// -----

// output_mod_c1
func.func @f(%o: tensor<2x4x8x64xf8E4M3FN>) {
  // expected-error @+1 {{operand #0 must be 4D tensor of f16, bf16, f32 or f64 values, but got 'tensor<2x4x8x64xf8E4M3FN>'}}
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : tensor<2x4x8x64xf8E4M3FN> -> tensor<2x4x8x64xf32>
  return
}

// -----

// output_mod_c7
func.func @f(%o: tensor<2x4x8x64xf32>) {
  // expected-error @+1 {{expected amax dimension 2 to be 8 as in source, got 9}}
  %y, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : tensor<2x4x8x64xf32> -> tensor<2x4x8x64xf32>, tensor<2x4x9xf32>
  return
}

// -----

// output_mod_c7
func.func @f(%o: tensor<2x4x8x64xf64>) {
  // expected-error @+1 {{expected element type of amax to be 'f64', got 'f32'}}
  %y, %amax = attn.output_mod %o (%x: f64, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f64
  } : tensor<2x4x8x64xf64> -> tensor<2x4x8x64xf64>, tensor<2x4x8xf32>
  return
}
