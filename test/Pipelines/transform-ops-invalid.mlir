// RUN: attn-opt %s --split-input-file --verify-diagnostics --transform-interpreter

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    // expected-error @below {{expected a handle to attn.attention, got one to builtin.module}}
    transform.attn.set_schedule %module "" target("sm_80") : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func private @f()
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %f = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected a handle to a builtin.module, got one to func.func}}
    %t = transform.attn.raise %f : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    // expected-error @below {{expected form tensor, scheduled, tiled, tile or nvvm, got 'masked'}}
    %t = transform.attn.lower %module to("masked") target("sm_80") : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @f(%q: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
    // expected-error @below {{no schedule is legal with tile_m=7}}
    %a = attn.attention %q, %q, %q
        : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
    return %a : tensor<1x2x96x64xf16>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %a = transform.attn.match_attention in %module : (!transform.any_op) -> !transform.any_op
    transform.attn.set_schedule %a "tile_m=7" target("sm_80") : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @f(%q: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
    %a = attn.attention %q, %q, %q
        : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
    return %a : tensor<1x2x96x64xf16>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %a = transform.attn.match_attention in %module : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{unknown schedule field 'tile_q'}}
    transform.attn.set_schedule %a "tile_q=48" target("sm_80") : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @f(%q: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
    // expected-error @below {{schedule}}
    %a = attn.attention %q, %q, %q
        : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
    return %a : tensor<1x2x96x64xf16>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    %t = transform.attn.tile %module : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
