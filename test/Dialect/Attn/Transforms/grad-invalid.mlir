// RUN: attn-opt %s --attn-grad --split-input-file --verify-diagnostics

// LSE is not returned
func.func @f(%q: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{expected @f to return the LSE of its attention, which the backward reads; the option recompute does without}}
  %o = attn.attention %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// something else is returned
func.func @f(%q: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>, tensor<1x2x4x8xf32>) {
  %o, %lse = attn.attention %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  // expected-error @+1 {{expected @f to return the output of its attention, and its LSE, and nothing else}}
  return %o, %lse, %q : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>, tensor<1x2x4x8xf32>
}

// -----

// the output is not returned
func.func @f(%q: tensor<1x2x4x8xf32>) -> (tensor<1x2x4xf32>) {
  %o, %lse = attn.attention %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  // expected-error @+1 {{expected @f to return the output of its attention}}
  return %lse : tensor<1x2x4xf32>
}

// -----

// query is computed
func.func @f(%q: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  %two = arith.constant dense<2.0> : tensor<1x2x4x8xf32>
  %p = arith.mulf %q, %two : tensor<1x2x4x8xf32>
  // expected-error @+1 {{expected query to be an argument of @f}}
  %o, %lse = attn.attention %p, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// -----

// a bias that depends on an argument
func.func @f(%q: tensor<1x2x4x8xf32>, %x: tensor<1x1x1x4xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  // expected-error @+1 {{cannot be differentiated: expected what the attention reads to be an argument of @f}}
  %b = arith.addf %x, %x : tensor<1x1x1x4xf32>
  %o, %lse = attn.attention %q, %q, %q bias(%b : tensor<1x1x1x4xf32>) : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// -----

// a result of an op with regions
func.func @f(%q: tensor<1x2x4x8xf32>, %c: i1) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  %x = scf.if %c -> f32 {
    %a = arith.constant 1.0 : f32
    scf.yield %a : f32
  } else {
    %a = arith.constant 2.0 : f32
    scf.yield %a : f32
  }
  // expected-error @+1 {{expected what the attention reads to be an argument of @f}}
  %o, %lse = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %s, %x : f32
        attn.yield %r : f32
      } : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// -----

// an argument that is not read in the region itself
func.func @f(%q: tensor<1x2x4x8xf32>, %x: tensor<2xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  %o, %lse = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %t = scf.if %causal -> f32 {
          // expected-error @+1 {{cannot be differentiated: expected score_mod to read arguments by tensor.extract}}
          %y = tensor.extract %x[%h] : tensor<2xf32>
          scf.yield %y : f32
        } else {
          scf.yield %s : f32
        }
        %r = arith.mulf %s, %t : f32
        attn.yield %r : f32
      } : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// -----

// a score_mod without derivative
func.func @f(%q: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  %o, %lse = attn.attention %q, %q, %q score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{'arith.bitcast' op cannot be differentiated}}
        %n = arith.bitcast %s : f32 to i32
        %r = arith.bitcast %n : i32 to f32
        attn.yield %r : f32
      } : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// -----

// two attentions
// expected-error @+1 {{expected one attention in @f, got 2}}
func.func @f(%q: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  // expected-note @+1 {{an attention}}
  %o, %lse = attn.attention %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  // expected-note @+1 {{an attention}}
  %p, %l = attn.attention %o, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %p, %l : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// -----

// the name is taken
// expected-error @+1 {{expected no symbol @f_grad, got one}}
func.func @f(%q: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  %o, %lse = attn.attention %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}
func.func private @f_grad()

// -----

// inside of a branch
func.func @f(%q: tensor<1x2x4x8xf32>, %l: tensor<1x2x4xf32>, %c: i1) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  %r:2 = scf.if %c -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
    // expected-error @+1 {{expected to be at the top level of @f}}
    %o, %lse = attn.attention %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
    scf.yield %o, %lse : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  } else {
    scf.yield %q, %l : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
  }
  return %r#0, %r#1 : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// -----

func.func @lengths(%q: tensor<1x2x4x8xf32>, %n: tensor<1xi32>) -> tensor<1x2x4x8xf32> {
  // expected-error @+1 {{expected no lengths, with which there is no backward}}
  %o = attn.attention %q, %q, %q lengths(key %n : tensor<1xi32>) : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// nothing to do
// expected-error @+1 {{expected a public function with an attn.attention}}
module {
}

// -----

// no gradients of integers
func.func @f(%q: tensor<1x2x4x32xf16>, %k: tensor<1x2x4x32xi8>) -> (tensor<1x2x4x32xf16>, tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected floats for a backward, got keys and values of 'i8'}}
  %o, %lse = attn.attention %q, %k, %k : tensor<1x2x4x32xf16>, tensor<1x2x4x32xi8>, tensor<1x2x4x32xi8> -> tensor<1x2x4x32xf16>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x32xf16>, tensor<1x2x4xf32>
}

// -----

// nor through prob_mod beside bytes
func.func @f(%q: tensor<1x2x4x32xf16>, %k: tensor<1x2x4x32xf8E5M2>) -> (tensor<1x2x4x32xf16>, tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected keys and values of at least 16 bits for a backward through prob_mod, got 'f8E5M2'}}
  %o, %lse = attn.attention %q, %k, %k
      prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.mulf %p, %p : f32
        attn.yield %r : f32
      } : tensor<1x2x4x32xf16>, tensor<1x2x4x32xf8E5M2>, tensor<1x2x4x32xf8E5M2> -> tensor<1x2x4x32xf16>, tensor<1x2x4xf32>
  return %o, %lse : tensor<1x2x4x32xf16>, tensor<1x2x4xf32>
}
