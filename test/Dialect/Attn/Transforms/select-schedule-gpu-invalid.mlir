// RUN: attn-opt %s --attn-select-schedule=target=sm_90a --split-input-file --verify-diagnostics

// A cluster's CTAs read the same keys.
func.func @masked_cluster(%q: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  // expected-error @below {{no schedule is legal with cluster_m=2 on target sm_90a: cluster_m=2 needs rows that all see the same keys, got mask=causal; the nearest}}
  %o = attn.attention %q, %q, %q mask_mod causal(bottom_right) {schedule = #attn.schedule<cluster_m = 2>}
      : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

func.func @no_keys(%q: tensor<1x2x256x64xf16>, %k: tensor<1x2x0x64xf16>) -> tensor<1x2x256x64xf16> {
  // expected-error @below {{expected at least one key on a GPU, got a key length of 0; make a length that may be 0 dynamic}}
  %o = attn.attention %q, %k, %k : tensor<1x2x256x64xf16>, tensor<1x2x0x64xf16>, tensor<1x2x0x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

func.func @no_queries(%q: tensor<1x2x0x64xf16>, %k: tensor<1x2x40x64xf16>, %lse: tensor<1x2x0xf32>)
    -> (tensor<1x2x0x64xf16>, tensor<1x2x40x64xf16>, tensor<1x2x40x64xf16>) {
  // expected-error @below {{expected at least one query and one key on a GPU, got lengths of 0 and 40; make a length that may be 0 dynamic}}
  %r:3 = attn.attention_backward %q, %k, %k output(%q : tensor<1x2x0x64xf16>) lse(%lse : tensor<1x2x0xf32>) d_output(%q : tensor<1x2x0x64xf16>)
      : tensor<1x2x0x64xf16>, tensor<1x2x40x64xf16>, tensor<1x2x40x64xf16> -> tensor<1x2x0x64xf16>, tensor<1x2x40x64xf16>, tensor<1x2x40x64xf16>
  return %r#0, %r#1, %r#2 : tensor<1x2x0x64xf16>, tensor<1x2x40x64xf16>, tensor<1x2x40x64xf16>
}

// -----

func.func @packed_heads(%q: tensor<1x2x256x64xf16>, %k: tensor<1x1x256x64xf16>) -> tensor<1x2x256x64xf16> {
  // expected-error @below {{expected pack_gqa to be false for a mask that differs from head to head, got true}}
  %o = attn.attention %q, %k, %k
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %p = arith.cmpi uge, %j, %h : index
        attn.yield %p : i1
      }
      {schedule = #attn.schedule<pack_gqa = true>}
      : tensor<1x2x256x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

func.func @unknown_heads(%q: tensor<1x?x256x64xf16>) -> tensor<1x?x256x64xf16> {
  // expected-error @below {{expected pack_gqa to be false for numbers of heads that are not known, got true}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<pack_gqa = true>}
      : tensor<1x?x256x64xf16>, tensor<1x?x256x64xf16>, tensor<1x?x256x64xf16> -> tensor<1x?x256x64xf16>
  return %o : tensor<1x?x256x64xf16>
}

// -----

func.func @turns(%q: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  // expected-error @below {{expected turns one of none, products, softmax, got 'ever'}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<turns = "ever">}
      : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

func.func @exp2_on_fma(%q: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  // expected-error @below {{expected exp2_on_fma from 0 to 8, got -2}}
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<exp2_on_fma = -2>}
      : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

func.func @backward_of_pages(%q: tensor<2x2x8x32xf16>, %pool: tensor<9x1x4x32xf16>, %t: tensor<2x3xi32>, %l: tensor<2x2x8xf32>)
    -> (tensor<2x2x8x32xf16>, tensor<2x1x12x32xf16>, tensor<2x1x12x32xf16>) {
  // expected-error @+1 {{expected no pages in a backward on a GPU: gather them before}}
  %k = attn.paged %pool[%t] : tensor<9x1x4x32xf16>[tensor<2x3xi32>] -> tensor<2x1x12x32xf16>
  %r:3 = attn.attention_backward %q, %k, %k output(%q : tensor<2x2x8x32xf16>) lse(%l : tensor<2x2x8xf32>) d_output(%q : tensor<2x2x8x32xf16>)
      : tensor<2x2x8x32xf16>, tensor<2x1x12x32xf16>, tensor<2x1x12x32xf16> -> tensor<2x2x8x32xf16>, tensor<2x1x12x32xf16>, tensor<2x1x12x32xf16>
  return %r#0, %r#1, %r#2 : tensor<2x2x8x32xf16>, tensor<2x1x12x32xf16>, tensor<2x1x12x32xf16>
}

// -----

func.func @backward_and_append(%q: tensor<2x2x8x32xf16>, %c: tensor<9x1x4x32xf16>, %s: tensor<3xi32>, %new: tensor<3x1x32xf16>, %l: tensor<2x2x8xf32>)
    -> (tensor<2x2x8x32xf16>, tensor<9x1x4x32xf16>) {
  // expected-error @+1 {{expected no append beside a backward on a GPU: append in a function of its own}}
  %k = attn.append %new into %c slots(%s : tensor<3xi32>) : tensor<3x1x32xf16> into tensor<9x1x4x32xf16>
  %r:3 = attn.attention_backward %q, %q, %q output(%q : tensor<2x2x8x32xf16>) lse(%l : tensor<2x2x8xf32>) d_output(%q : tensor<2x2x8x32xf16>)
      : tensor<2x2x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x32xf16> -> tensor<2x2x8x32xf16>, tensor<2x2x8x32xf16>, tensor<2x2x8x32xf16>
  return %r#0, %k : tensor<2x2x8x32xf16>, tensor<9x1x4x32xf16>
}
