// What has softmax only is refused with a reason, before anything is generated.
// RUN: attn-opt %s --attn-to-scheduled=target=sm_90a --split-input-file --verify-diagnostics

!q = tensor<1x2x64x64xf16>
func.func @rescale(%q: !q) -> !q {
  // expected-error @+1 {{expected rescale_threshold=0 (only softmax has it), got 8}}
  %o = attn.attention %q, %q, %q normalization(#attn.sum<0.0>)
      {schedule = #attn.schedule<rescale_threshold = 8>} : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x2x64x64xf16>
func.func @backward_small_cache(%q: !q) -> !q {
  // expected-error @+1 {{expected kind = "large_cache" without softmax, got "small_cache"}}
  %d:3 = attn.attention_backward %q, %q, %q d_output(%q : !q) normalization(#attn.none)
      {schedule = #attn.schedule<kind = "small_cache">} : !q, !q, !q -> !q, !q, !q
  return %d#0 : !q
}

// -----

!q = tensor<1x2x64x64xf16>
func.func @fused(%q: !q) -> !q {
  // expected-error @+1 {{expected fused = false without softmax, got fused = true}}
  %d:3 = attn.attention_backward %q, %q, %q d_output(%q : !q) normalization(#attn.none)
      {schedule = #attn.schedule<fused = true>} : !q, !q, !q -> !q, !q, !q
  return %d#0 : !q
}
