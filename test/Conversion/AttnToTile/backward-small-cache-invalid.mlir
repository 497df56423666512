// RUN: attn-opt %s --attn-tile-backward --convert-attn-to-tile --split-input-file --verify-diagnostics

func.func @f(%q: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected mma = "mma_sync" in a small-cache backward, got #attn.schedule<}}
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>)
      {schedule = #attn.schedule<kind = "small_cache", mma = "wgmma", tile_m = 32, tile_n = 32, tile_d = 32, tile_dv = 32, warps = 2, chunk_rows = 32>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

func.func @f(%q: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected chunk_rows to be a positive multiple of tile_m, got #attn.schedule<}}
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>)
      {schedule = #attn.schedule<kind = "small_cache", mma = "mma_sync", tile_m = 32, tile_n = 32, tile_d = 32, tile_dv = 32, warps = 2, chunk_rows = 48>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

func.func @f(%q: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected tile_d and tile_dv to be positive multiples of 16, got #attn.schedule<}}
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>)
      {schedule = #attn.schedule<kind = "small_cache", mma = "mma_sync", tile_m = 32, tile_n = 32, tile_d = 24, tile_dv = 32, warps = 2, chunk_rows = 32>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}

// -----

func.func @f(%q: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected tile_m to be a multiple of 16 * warps and tile_n of 16, and of 16 * warps where it is more, got #attn.schedule<}}
  %d:3 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%q : tensor<1x2x64x64xf16>)
      {schedule = #attn.schedule<kind = "small_cache", mma = "mma_sync", tile_m = 64, tile_n = 48, tile_d = 32, tile_dv = 32, warps = 2, chunk_rows = 64>}
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>
  return %d#0 : tensor<1x2x64x64xf16>
}
