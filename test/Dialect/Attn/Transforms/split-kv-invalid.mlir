// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-split-kv --split-input-file --verify-diagnostics

func.func @one(%q: tensor<1x2x256x8xf32>) -> tensor<1x2x256x8xf32> {
  // expected-error @+1 {{expected splits of at least 2 with kind = "split_kv", got 1}}
  %o = attn.attention %q, %q, %q
      {schedule = #attn.schedule<kind = "split_kv", splits = 1, tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32> -> tensor<1x2x256x8xf32>
  return %o : tensor<1x2x256x8xf32>
}

// -----

func.func @both(%q: tensor<1x2x256x8xf32>) -> tensor<1x2x256x8xf32> {
  // expected-error @+1 {{expected splits or split_keys, got splits = 2 and split_keys = 64}}
  %o = attn.attention %q, %q, %q
      {schedule = #attn.schedule<kind = "split_kv", splits = 2, split_keys = 64, tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32> -> tensor<1x2x256x8xf32>
  return %o : tensor<1x2x256x8xf32>
}

// -----

func.func @no_multiple(%q: tensor<1x2x256x8xf32>) -> tensor<1x2x256x8xf32> {
  // expected-error @+1 {{expected split_keys a multiple of tile_n = 16, got 40}}
  %o = attn.attention %q, %q, %q
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 40, tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32> -> tensor<1x2x256x8xf32>
  return %o : tensor<1x2x256x8xf32>
}

// -----

func.func @range(%q: tensor<1x2x256x8xf32>) -> tensor<1x2x256x8xf32> {
  %o = attn.attention %q, %q, %q
      // expected-error @+1 {{expected split_keys from 0 to 1048576, got -64}}
      {schedule = #attn.schedule<kind = "split_kv", split_keys = -64, tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32> -> tensor<1x2x256x8xf32>
  return %o : tensor<1x2x256x8xf32>
}
