// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --split-input-file --verify-diagnostics

func.func @head_dim(%q: tensor<1x1x64x72xf8E4M3FN>) -> tensor<1x1x64x72xf16> {
  // expected-error @below {{expected D to be a multiple of 16, got 72}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x72xf8E4M3FN>, tensor<1x1x64x72xf8E4M3FN>, tensor<1x1x64x72xf8E4M3FN> -> tensor<1x1x64x72xf16>
  return %o : tensor<1x1x64x72xf16>
}

// -----

func.func @keys(%q: tensor<1x1x64x64xf8E4M3FN>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected tile_n to be a multiple of 32 with inputs of 'f8E4M3FN'}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 48, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @range(%q: tensor<1x1x64x64xf8E4M3FN>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected rescale_threshold of at most 1 with inputs of 'f8E4M3FN'}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2, rescale_threshold = 2>}
      : tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @wide_range(%q: tensor<1x1x64x64xf8E5M2>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected rescale_threshold of at most 7 with inputs of 'f8E5M2'}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2, rescale_threshold = 8>}
      : tensor<1x1x64x64xf8E5M2>, tensor<1x1x64x64xf8E5M2>, tensor<1x1x64x64xf8E5M2> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @cluster(%q: tensor<1x1x64x64xf8E4M3FN>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected cluster_m=1 with values of 'f8E4M3FN', got 2: each CTA rewrites its tiles}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, warps = 4, stages = 2, cluster_m = 2>}
      : tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @small(%q: tensor<1x1x64x64xf8E4M3FN>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected f16 or bf16 inputs with kind = "small_cache" on the GPU, got 'f8E4M3FN'}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 64, tile_d = 32, tile_dv = 64, warps = 4, stages = 2, chunk_rows = 64>}
      : tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @integers(%q: tensor<1x1x64x64xi8>, %v: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  // expected-error @below {{expected values of f8E4M3FN, f8E5M2, f16 or bf16 beside a query of i8 on a GPU, got f32}}
  %o = attn.attention %q, %q, %v {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xi8>, tensor<1x1x64x64xi8>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}
