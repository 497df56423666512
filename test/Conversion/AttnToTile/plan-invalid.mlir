// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-split-kv --convert-attn-to-tile --split-input-file --verify-diagnostics

!q = tensor<2x2x16x64xf16>
!k = tensor<2x1x64x64xf16>
func.func @without_lengths(%q: !q, %k: !k) -> !q {
  // expected-error @+1 {{expected split_keys, persistent_ctas and lengths of the keys with balance = "plan", got #attn.schedule<kind = "split_kv"}}
  %o = attn.attention %q, %k, %k
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 32, balance = "plan", persistent_ctas = 2, tile_m = 16, tile_n = 16, warps = 1, stages = 1, mma = "mma_sync">} : !q, !k, !k -> !q
  return %o : !q
}

// -----

!q = tensor<2x2x16x64xf16>
!k = tensor<2x1x64x64xf16>
func.func @splits(%q: !q, %k: !k, %n: tensor<2xi32>) -> !q {
  // expected-error @+1 {{expected split_keys, persistent_ctas and lengths of the keys with balance = "plan", got}}
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      {schedule = #attn.schedule<kind = "split_kv", splits = 2, balance = "plan", persistent_ctas = 2, tile_m = 16, tile_n = 16, warps = 1, stages = 1, mma = "mma_sync">} : !q, !k, !k -> !q
  return %o : !q
}

// -----

!q = tensor<2x2x64x64xf16>
!k = tensor<2x1x64x64xf16>
func.func @clusters(%q: !q, %k: !k, %n: tensor<2xi32>) -> !q {
  // expected-error @+1 {{expected cluster_m=1 with balance = "plan", got}}
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      {schedule = #attn.schedule<kind = "split_kv", split_keys = 32, balance = "plan", persistent_ctas = 2, tile_m = 64, tile_n = 16, warps = 4, stages = 2, cluster_m = 2, mma = "wgmma">} : !q, !k, !k -> !q
  return %o : !q
}

// -----

!q = tensor<2x2x16x64xf16>
!k = tensor<2x1x64x64xf16>
func.func @shares(%q: !q, %k: !k, %n: tensor<2xi32>) -> !q {
  // expected-error @+1 {{expected split_keys with balance = "share", got none}}
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      {schedule = #attn.schedule<kind = "split_kv", splits = 2, balance = "share", persistent_ctas = 2, tile_m = 16, tile_n = 16, warps = 1, stages = 1, mma = "mma_sync">} : !q, !k, !k -> !q
  return %o : !q
}

// -----

!q = tensor<2x2x16x64xf16>
!k = tensor<2x1x64x64xf16>
func.func @range_without_a_plan(%q: !q, %k: !k) -> !q {
  // expected-error @+1 {{expected a plan of the splits}}
  %keys = attn.range_keys 16
  %o = attn.attention %q, %k, %k
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %shown = arith.cmpi slt, %j, %keys : index
        attn.yield %shown : i1
      }
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 16, tile_n = 16, tile_d = 64, tile_dv = 64, warps = 1, stages = 1, mma = "mma_sync">} : !q, !k, !k -> !q
  return %o : !q
}
