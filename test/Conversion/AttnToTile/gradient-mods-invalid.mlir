// RUN: attn-opt %s --attn-tile-backward --attn-fuse-outputs --convert-attn-to-tile --split-input-file --verify-diagnostics

!q = tensor<1x2x64x64xf16>
!l = tensor<1x2x64xf32>
func.func @small(%q: !q, %lse: !l) -> (!q, !q, !q) {
  %g:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : !l) d_output(%q : !q)
      {schedule = #attn.schedule<kind = "small_cache", mma = "mma_sync", tile_m = 32, tile_n = 32, tile_d = 32, tile_dv = 32, warps = 2, chunk_rows = 32>}
      : !q, !q, !q -> !q, !q, !q
  // expected-error @+1 {{expected a large-cache schedule of the backward whose gradient it changes, got kind = "small_cache"}}
  %y = attn.output_mod %g#1 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !q -> !q
  return %g#0, %y, %g#2 : !q, !q, !q
}

// -----

!q = tensor<1x2x64x64xf16>
!l = tensor<1x2x64xf32>
func.func @slices(%q: !q, %lse: !l) -> (!q, !q, !q, !l) {
  %g:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : !l) d_output(%q : !q)
      {schedule = #attn.schedule<mma = "mma_sync", tile_m = 32, tile_n = 32, tile_d = 32, tile_dv = 64, warps = 2, stages = 1>}
      : !q, !q, !q -> !q, !q, !q
  // expected-error @+1 {{expected a CTA to have all columns of the gradient whose largest magnitudes it gives, got 2 slices of 32}}
  %y, %amax = attn.output_mod %g#0 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !q -> !q, !l
  return %y, %g#1, %g#2, %amax : !q, !q, !q, !l
}

// -----

// Something else reads the gradient.
!q = tensor<1x2x64x64xf16>
!l = tensor<1x2x64xf32>
func.func @read(%q: !q, %lse: !l) -> (!q, !q, !q, !q) {
  %g:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : !l) d_output(%q : !q) : !q, !q, !q -> !q, !q, !q
  // expected-error @+1 {{expected the output of an attention, or a gradient, that nothing else reads on a GPU}}
  %y = attn.output_mod %g#0 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !q -> !q
  return %y, %g#0, %g#1, %g#2 : !q, !q, !q, !q
}
