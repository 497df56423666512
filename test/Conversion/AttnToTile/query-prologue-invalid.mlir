// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-to-scheduled=target=sm_80

func.func @unchanged(%q: tensor<1x4x64x64xf16>) -> tensor<1x4x64x64xf16> {
  // expected-error @+1 {{expected query_prologue=kernel with a query that is not turned or normalised, or whose rows keys or values are, too, got fused}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<query_prologue = "fused">}
      : tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16> -> tensor<1x4x64x64xf16>
  return %o : tensor<1x4x64x64xf16>
}

// -----

func.func @keys(%x: tensor<1x4x64x64xf16>) -> tensor<1x4x64x64xf16> {
  %q = attn.qk_norm %x epsilon(1.0e-6) : tensor<1x4x64x64xf16>
  // expected-error @+1 {{whose rows keys or values are, too, got fused}}
  %o = attn.attention %q, %q, %x {schedule = #attn.schedule<query_prologue = "fused">}
      : tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16> -> tensor<1x4x64x64xf16>
  return %o : tensor<1x4x64x64xf16>
}

// -----

func.func @small(%x: tensor<1x4x64x64xf16>) -> tensor<1x4x64x64xf16> {
  %q = attn.qk_norm %x epsilon(1.0e-6) : tensor<1x4x64x64xf16>
  // expected-error @+1 {{expected query_prologue=kernel with kind=small_cache}}
  %o = attn.attention %q, %x, %x {schedule = #attn.schedule<kind = "small_cache", query_prologue = "fused">}
      : tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16> -> tensor<1x4x64x64xf16>
  return %o : tensor<1x4x64x64xf16>
}

// -----

// expected-error @+4 {{expected query_prologue one of kernel, fused, got 'registers'}}
func.func @name(%x: tensor<1x4x64x64xf16>) -> tensor<1x4x64x64xf16> {
  %q = attn.qk_norm %x epsilon(1.0e-6) : tensor<1x4x64x64xf16>
  %o = attn.attention %q, %x, %x
      {schedule = #attn.schedule<query_prologue = "registers">}
      : tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16> -> tensor<1x4x64x64xf16>
  return %o : tensor<1x4x64x64xf16>
}
