// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// attention_c10
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected score_mod to take ('f32', 'index', 'index', 'index', 'index'), got ('f64', 'index', 'index', 'index', 'index')}}
  %o = attn.attention %q, %k, %v score_mod (%s: f64, %x: index, %y: index, %i: index, %j: index) {
        attn.yield %s : f64
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c10
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %x: index, %y: index, %i: index, %j: index) {
        // expected-error @+1 {{'attn.yield' op expected score_mod to yield 'f32', got 'index'}}
        attn.yield %i : index
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c11
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected mask_mod to take ('index', 'index', 'index', 'index'), got ('index', 'index')}}
  %o = attn.attention %q, %k, %v mask_mod (%i: index, %j: index) {
        %t = arith.constant true
        attn.yield %t : i1
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c11
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  %o = attn.attention %q, %k, %v mask_mod (%x: index, %y: index, %i: index, %j: index) {
        // expected-error @+1 {{'attn.yield' op expected mask_mod to yield 'i1', got 'index'}}
        attn.yield %i : index
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c11
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected mask_mod to have one block, got 2}}
  %o = attn.attention %q, %k, %v mask_mod (%x: index, %y: index, %i: index, %j: index) {
        cf.br ^next
      ^next:
        %t = arith.constant true
        attn.yield %t : i1
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c11
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) {
  // expected-error @+1 {{expected mask_mod to end in attn.yield}}
  %o = attn.attention %q, %k, %v mask_mod (%x: index, %y: index, %i: index, %j: index) {
        %t = arith.constant true
        llvm.unreachable
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c12
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>, %m: memref<6xi1>) {
  %o = attn.attention %q, %k, %v mask_mod (%x: index, %y: index, %i: index, %j: index) {
        // expected-error @+1 {{'memref.load' op expected ops in mask_mod to be free of side effects}}
        %t = memref.load %m[%j] : memref<6xi1>
        attn.yield %t : i1
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c14
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>, %m: tensor<5xi1>) {
  %o = attn.attention %q, %k, %v mask_mod (%x: index, %y: index, %i: index, %j: index) {
        // expected-error @+1 {{mask_mod reads out of range: expected dimension 0 to be at least N = 6, got 5}}
        %t = tensor.extract %m[%j] : tensor<5xi1>
        attn.yield %t : i1
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c14
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>, %m: tensor<1xf32>) {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %x: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{score_mod reads out of range: expected dimension 0 to be at least Hq = 2, got 1}}
        %t = tensor.extract %m[%h] : tensor<1xf32>
        attn.yield %t : f32
      }
      : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c13
func.func @f(%q: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected scale to be finite, got INF}}
  %o = "attn.attention"(%q, %q, %q) <{scale = 0x7FF0000000000000 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>}> ({}, {}, {})
      : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>)
      -> tensor<1x2x4x8xf32>
  return
}

// -----

// attention_c12
func.func @tensors(%q: tensor<1x2x96x64xf16>, %t: tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %o = attn.attention %q, %q, %q
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{expected ops in score_mod to compute scalars, got 'tensor<2xf32>': compute it outside}}
        %x = arith.addf %t, %t : tensor<2xf32>
        %y = tensor.extract %x[%c0] : tensor<2xf32>
        %r = arith.addf %s, %y : f32
        attn.yield %r : f32
      } : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
  return
}
