// RUN: attn-opt %s --split-input-file --attn-to-tiled --convert-attn-to-tile --verify-diagnostics

// A pool that is read as it was would have to be copied.
func.func @read_before(%q: tensor<1x1x64x64xf16>, %new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected pools that are read as they are after it only: on a GPU they are written in place}}
  %k = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  // expected-note @below {{read here}}
  %o = attn.attention %q, %k, %c {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2>} : tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>, tensor<1x1x96x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @twice(%q: tensor<1x1x64x64xf16>, %new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> tensor<1x1x64x64xf16> {
  %0 = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  // expected-error @below {{expected a pool to which nothing is appended before, on a GPU}}
  %k = attn.append %new into %0 slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2>} : tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>, tensor<1x1x96x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @double(%q: tensor<1x1x64x64xf16>, %new: tensor<3x1x64xf64>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{expected f16, bf16 or f32 rows and pools on a GPU, got 'f64'}}
  %k = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf64> into tensor<1x1x96x64xf16>
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2>} : tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>, tensor<1x1x96x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @small_cache(%q: tensor<1x1x64x64xf16>, %new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> tensor<1x1x64x64xf16> {
  %k = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  // expected-error @below {{expected no attn.append with kind = "small_cache" on the GPU}}
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<kind = "small_cache", mma = "mma_sync", tile_m = 16, tile_n = 32, tile_d = 16, tile_dv = 16, chunk_rows = 16, warps = 1, stages = 1>}
      : tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>, tensor<1x1x96x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @branch(%new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>, %take: i1) -> tensor<1x1x96x64xf16> {
  %0 = scf.if %take -> tensor<1x1x96x64xf16> {
    // expected-error @below {{expected an append that its function does once, whatever its arguments are, got one in 'scf.if'}}
    %k = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
    scf.yield %k : tensor<1x1x96x64xf16>
  } else {
    scf.yield %c : tensor<1x1x96x64xf16>
  }
  return %0 : tensor<1x1x96x64xf16>
}

// -----

func.func @linear(%q: tensor<1x1x64x64xf16>, %new: tensor<3x1x64xf16>, %c: tensor<1x1x96x64xf16>, %s: tensor<3xi32>) -> (tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>) {
  // expected-error @below {{expected no append beside a linear attention on a GPU: append in a function of its own}}
  %k = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x64xf16> into tensor<1x1x96x64xf16>
  %o = attn.linear_attention %q, %q, %q : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16> -> tensor<1x1x64x64xf16>
  return %o, %k : tensor<1x1x64x64xf16>, tensor<1x1x96x64xf16>
}

// -----

func.func @one_twice(%k: tensor<3x1x64xf16>, %v: tensor<3x1x64xf16>, %p: tensor<4x1x16x64xi8>, %r: tensor<4x1x16x64xi8>, %s: tensor<3xi32>, %d: tensor<4x1x16xf32>) -> tensor<4x1x16xf32> {
  // expected-error @below {{expected each pool and each tensor of scales once on a GPU, where they are written in place, got one of type 'tensor<4x1x16xf32>' twice}}
  %0:4 = attn.append %k, %v into %p, %r slots(%s : tensor<3xi32>) scales(%d, %d : tensor<4x1x16xf32>, tensor<4x1x16xf32>) : tensor<3x1x64xf16>, tensor<3x1x64xf16> into tensor<4x1x16x64xi8>, tensor<4x1x16x64xi8>
  return %0#3 : tensor<4x1x16xf32>
}
