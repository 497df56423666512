// RUN: attn-opt %s --attn-select-schedule=target=sm_80 --split-input-file --verify-diagnostics

func.func @type(%q: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  // expected-error @below {{expected f16 or bf16 inputs of a linear attention on a GPU, got f32}}
  %o = attn.linear_attention %q, %q, %q : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

func.func @head_dim(%q: tensor<1x1x64x20xf16>) -> tensor<1x1x64x20xf16> {
  // expected-error @below {{expected D to be a multiple of 8, got 20}}
  %o = attn.linear_attention %q, %q, %q : tensor<1x1x64x20xf16>, tensor<1x1x64x20xf16>, tensor<1x1x64x20xf16> -> tensor<1x1x64x20xf16>
  return %o : tensor<1x1x64x20xf16>
}

// -----

!q = tensor<1x1x64x64xf16>
func.func @kind(%q: !q) -> !q {
  // expected-error @below {{expected kind = "chunks" of a linear attention on a GPU, got "large_cache"}}
  %o = attn.linear_attention %q, %q, %q {schedule = #attn.schedule<kind = "large_cache">} : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x1x64x64xf16>
func.func @mma(%q: !q) -> !q {
  // expected-error @below {{expected mma = "mma_sync" of a linear attention, got "wgmma"}}
  %o = attn.linear_attention %q, %q, %q {schedule = #attn.schedule<mma = "wgmma">} : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x1x64x64xf16>
func.func @chunks(%q: !q) -> !q {
  // expected-error @below {{expected tile_n to be tile_m, the rows of a chunk, which is 64, got 32}}
  %o = attn.linear_attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 32>} : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x1x64x256xf16>
func.func @registers(%q: !q) -> !q {
  // expected-error @below {{expected at most 200 registers of a thread for the state, scores and outputs, got 384}}
  %o = attn.linear_attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_dv = 128, warps = 4, stages = 1>} : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x1x64x1024xf16>
func.func @memory(%q: !q) -> !q {
  // expected-error @below {{bytes of shared memory, got}}
  %o = attn.linear_attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_dv = 32, warps = 4, stages = 3>} : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x1x64x64xf16>
func.func @softmax(%q: !q) -> !q {
  // expected-error @below {{no schedule is legal with kind=chunks}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<kind = "chunks">} : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x1x64x4294967296xf16>
func.func @size(%q: !q) -> !q {
  // expected-error @below {{expected D from 1 to 16777216, got 4294967296}}
  %o = attn.linear_attention %q, %q, %q : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x1x64x9223372036854775807xf16>
func.func @largest(%q: !q) -> !q {
  // expected-error @below {{expected D from 1 to 16777216, got 9223372036854775807}}
  %o = attn.linear_attention %q, %q, %q : !q, !q, !q -> !q
  return %o : !q
}
