// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-grad

!q = tensor<2x4x20x32xf16>
!l = tensor<2x4x20xf32>

func.func @f(%q: !q, %k: !q, %v: !q) -> (!q, !l) {
  %o, %l = attn.attention %q, %k, %v : !q, !q, !q -> !q, !l
  // expected-error @+1 {{expected @f to return the output before it, too, which the backward reads; the option recompute does without}}
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.mulf %x, %x : f32
    attn.yield %r : f32
  } : !q -> !q
  return %y, %l : !q, !l
}

// -----

!q = tensor<2x4x20x32xf16>
!l = tensor<2x4x20xf32>

func.func @f(%q: !q, %k: !q, %v: !q) -> (!q, !l) {
  %o, %l = attn.attention %q, %k, %v : !q, !q, !q -> !q, !l
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.mulf %x, %x : f32
    attn.yield %r : f32
  } : !q -> !q
  // expected-error @+1 {{expected @f to return what output_mod makes of the output of its attention}}
  return %o, %l : !q, !l
}

// -----

!q = tensor<2x4x20x32xf16>
!l = tensor<2x4x20xf32>

func.func @f(%q: !q, %k: !q, %v: !q, %g: tensor<64xf32>) -> (!q, !q, !l) {
  %o, %l = attn.attention %q, %k, %v : !q, !q, !q -> !q, !l
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %at = arith.muli %h, %c : index
    // expected-error @+1 {{cannot be differentiated: expected output_mod to read an argument at an affine function of (b, h, i, c)}}
    %e = tensor.extract %g[%at] : tensor<64xf32>
    %r = arith.mulf %x, %e : f32
    attn.yield %r : f32
  } : !q -> !q
  return %y, %o, %l : !q, !q, !l
}

// -----

!q = tensor<2x4x20x32xf16>
!l = tensor<2x4x20xf32>

func.func @f(%q: !q, %k: !q, %v: !q) -> (!q, !q, !l) {
  %o, %l = attn.attention %q, %k, %v : !q, !q, !q -> !q, !l
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    // expected-error @+1 {{cannot be differentiated: expected a float op of arith or math on scalars}}
    %w = arith.bitcast %x : f32 to i32
    %r = arith.bitcast %w : i32 to f32
    attn.yield %r : f32
  } : !q -> !q
  return %y, %o, %l : !q, !q, !l
}
