// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-to-tensor --attn-to-scheduled=target=sm_100a --attn-to-tiled=target=sm_100a --attn-to-tile=target=sm_100a -o /dev/null

func.func @through_query(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  // expected-warning @below {{the warps of the softmax store the output in spite of correction_warps: the output goes through the next query's place}}
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<mma = "tcgen05", tile_m = 256, warps = 8, correction_warps = 4, rescale_threshold = 8, persistent_ctas = 2, output_tile = false>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

func.func @cache(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf8E4M3FN>, %v: tensor<1x2x?x64xf8E4M3FN>) -> tensor<1x2x?x64xf16> {
  // expected-warning @below {{the warps of the softmax store the output in spite of correction_warps: no role starts products}}
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<mma = "tcgen05", correction_warps = 4>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf8E4M3FN>, tensor<1x2x?x64xf8E4M3FN> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

func.func @two_warps(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  // expected-error @below {{expected correction_warps=0, or 4 where the output is a sum in tensor memory that steps rescale, with rescale_threshold and without promote, got 2}}
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<mma = "tcgen05", correction_warps = 2>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// Other families have no such warps.
func.func @wgmma(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> tensor<1x2x?x64xf16> {
  // expected-error @below {{expected correction_warps=0 with mma=mma_sync (it is of tcgen05), got 4}}
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<mma = "mma_sync", correction_warps = 4>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
