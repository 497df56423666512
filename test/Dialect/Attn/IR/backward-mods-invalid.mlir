// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The comments name the constraints of docs/Spec.md.

// attention_backward_c5
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %t0: tensor<4xf32>) {
  // expected-error @+1 {{expected one of d_captures for each of captures, got 0 for 1}}
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) captures(%t0 : tensor<4xf32>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c5
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %t0: tensor<4xf32>) {
  // expected-error @+1 {{expected d_captures 0 to have the shape of captures 0, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %d:4 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) captures(%t0 : tensor<4xf32>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_captures(tensor<5xf32>)
  return
}

// -----

// attention_backward_c6
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %t0: tensor<4xf32>) {
  // expected-error @+1 {{expected captures to differ, got one twice}}
  %d:5 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) captures(%t0, %t0 : tensor<4xf32>, tensor<4xf32>) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %t = tensor.extract %t0[%h] : tensor<4xf32>
        %r = arith.addf %s, %t : f32
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_captures(tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// attention_backward_c6
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %t0: tensor<4xf32>) {
  // expected-error @+1 {{expected score_mod to read captures 0 by tensor.extract}}
  %d:4 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) captures(%t0 : tensor<4xf32>)
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_captures(tensor<4xf32>)
  return
}

// -----

// attention_backward_c6
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %t0: tensor<4xf32>) {
  // expected-error @+1 {{expected score_mod to read captures 0 by tensor.extract}}
  %d:4 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) captures(%t0 : tensor<4xf32>) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %r = arith.addf %s, %s : f32
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_captures(tensor<4xf32>)
  return
}

// -----

// attention_backward_c6
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %t0: tensor<4xf32>) {
  %d:4 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) captures(%t0 : tensor<4xf32>) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %t = scf.if %causal -> f32 {
          // expected-error @+1 {{expected score_mod to read a tensor whose gradient is asked for by tensor.extract}}
          %u = tensor.extract %t0[%h] : tensor<4xf32>
          scf.yield %u : f32
        } else {
          scf.yield %s : f32
        }
        %r = arith.addf %s, %t : f32
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_captures(tensor<4xf32>)
  return
}

// -----

// attention_backward_c7: the bits of a float are no function of it
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        // expected-error @+1 {{'arith.bitcast' op cannot be differentiated: expected a float op of arith or math on scalars where the result depends on the score or on a captured tensor whose gradient is asked for}}
        %n = arith.bitcast %s : f32 to i32
        %r = arith.bitcast %n : i32 to f32
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c7: a branch
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %c = arith.constant 0.0 : f32
        %p = arith.cmpf ogt, %s, %c : f32
        // expected-error @+1 {{'scf.if' op cannot be differentiated: expected a float op of arith or math on scalars where the result depends on the score or on a captured tensor whose gradient is asked for}}
        %r = scf.if %p -> f32 {
          scf.yield %s : f32
        } else {
          scf.yield %c : f32
        }
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16>
  return
}

// -----

// attention_backward_c7: on the way from a capture
func.func @f(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x6x16xf16>, %v: tensor<1x2x6x8xf16>, %o: tensor<1x4x8x8xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x8xf16>, %t0: tensor<4xf32>) {
  %d:4 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x8xf16>) lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x8xf16>) captures(%t0 : tensor<4xf32>) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %t = tensor.extract %t0[%h] : tensor<4xf32>
        // expected-error @+1 {{'arith.bitcast' op cannot be differentiated: expected a float op of arith or math on scalars where the result depends on the score or on a captured tensor whose gradient is asked for}}
        %w = arith.bitcast %t : f32 to i32
        %e = arith.bitcast %w : i32 to f32
        %r = arith.addf %s, %e : f32
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> -> tensor<1x4x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x8xf16> d_captures(tensor<4xf32>)
  return
}
