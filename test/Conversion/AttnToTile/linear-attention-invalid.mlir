// RUN: attn-opt %s --convert-attn-to-tile --split-input-file --verify-diagnostics

func.func @unscheduled(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected a complete schedule, as --attn-select-schedule gives}}
  %o = attn.linear_attention %q, %q, %q : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @several(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  %o = attn.linear_attention %q, %q, %q : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  // expected-error @below {{expected one linear attention in a function on a GPU, got 2: put each into a function of a module of its own}}
  %p = attn.linear_attention %o, %q, %q : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %p : tensor<1x1x64x64xf16>
}

// -----

func.func @rows(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected tile_m to be a multiple of 64, 16 rows for each warp, got 32}}
  %o = attn.linear_attention %q, %q, %q {schedule = #attn.schedule<kind = "chunks", tile_m = 32, tile_n = 32, tile_dv = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @states(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x1x64x64xf32> {
  // expected-error @below {{expected tile_m to be 64, the positions that each of the states is carried into, got 32}}
  %o, %s = attn.linear_attention %q, %q, %q {schedule = #attn.schedule<kind = "chunks", tile_m = 32, tile_n = 32, tile_dv = 64, warps = 2, stages = 2>}
      : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16> states tensor<1x1x1x64x64xf32>
  return %s : tensor<1x1x1x64x64xf32>
}
