// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-to-tiled --convert-attn-to-tile=allow-tf32

// Keys and values of 8 bits beside a query of more.
!k = tensor<1x2x96x64xf8E4M3FN>
func.func @f32(%q: tensor<1x2x64x64xf32>, %k: !k) -> tensor<1x2x64x64xf32> {
  // expected-error @+1 {{expected a query of f16 or bf16 beside 8-bit keys and values on a GPU, got f32}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2>} : tensor<1x2x64x64xf32>, !k, !k -> tensor<1x2x64x64xf32>
  return %o : tensor<1x2x64x64xf32>
}

// -----

!k = tensor<1x2x96x72xf8E4M3FN>
func.func @chunks(%q: tensor<1x2x64x72xf16>, %k: !k) -> tensor<1x2x64x72xf16> {
  // expected-error @+1 {{expected D to be a multiple of 16, got 72}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2>} : tensor<1x2x64x72xf16>, !k, !k -> tensor<1x2x64x72xf16>
  return %o : tensor<1x2x64x72xf16>
}

// -----

!k = tensor<1x2x96x64xf8E4M3FN>
func.func @small(%q: tensor<1x2x64x64xf16>, %k: !k) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected f16 or bf16 inputs with kind = "small_cache" on the GPU, got 'f8E4M3FN'}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "small_cache", tile_m = 64, tile_n = 32, tile_d = 32, tile_dv = 64, chunk_rows = 64, spill = "probabilities", warps = 4, stages = 2>} : tensor<1x2x64x64xf16>, !k, !k -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}

// -----

!k = tensor<1x2x96x64xf8E4M3FN>
func.func @cluster(%q: tensor<1x2x64x64xf16>, %k: !k) -> tensor<1x2x64x64xf16> {
  // expected-error @+1 {{expected cluster_m=1 with values of 'f8E4M3FN', got 2: each CTA rewrites its tiles}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<mma = "wgmma", tile_m = 64, tile_n = 64, warps = 4, stages = 2, cluster_m = 2>} : tensor<1x2x64x64xf16>, !k, !k -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}
