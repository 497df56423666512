// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-select-schedule=target=sm_80

!q = tensor<1x2x64x64xf16>

func.func @f(%q: !q) -> tensor<1x2x64x64xf8E4M3FN> {
  %o = attn.attention %q, %q, %q : !q, !q, !q -> !q
  // expected-error @+1 {{expected a target of sm_89 or later for an output of 'f8E4M3FN', got sm_80}}
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !q -> tensor<1x2x64x64xf8E4M3FN>
  return %y : tensor<1x2x64x64xf8E4M3FN>
}

// -----

!q = tensor<1x2x64x64xf16>
!l = tensor<1x2x64xf32>

func.func @repaired(%q: !q) -> tensor<1x2x64x64xf8E5M2> {
  %o, %l = attn.attention %q, %q, %q mask_mod causal(top_left) : !q, !q, !q -> !q, !l
  %w, %wl = attn.attention %q, %q, %q : !q, !q, !q -> !q, !l
  %r, %rl = attn.repair %o, %l by %w, %wl below(-1.0e+38) : !q, !l
  // expected-error @+1 {{expected a target of sm_89 or later for an output of 'f8E5M2', got sm_80}}
  %y = attn.output_mod %r (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !q -> tensor<1x2x64x64xf8E5M2>
  return %y : tensor<1x2x64x64xf8E5M2>
}
