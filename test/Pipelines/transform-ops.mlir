// A transform script drives the compiler: from a graph to the form of each
// stage, with a schedule for each attention.
// RUN: mkdir -p %t && split-file %s %t
// RUN: attn-opt %t/payload.mlir --transform-preload-library=transform-library-paths=%t/tile.mlir --transform-interpreter | FileCheck %s --check-prefix=TILED
// RUN: attn-opt %t/single.mlir --transform-preload-library=transform-library-paths=%t/lower.mlir --transform-interpreter | FileCheck %s --check-prefix=NVVM
// RUN: mlir-opt %t/payload.mlir --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(transform-preload-library{transform-library-paths=%t/tile.mlir},transform-interpreter)" | FileCheck %s --check-prefix=TILED

//--- payload.mlir
func.func @f(%q: tensor<1x2x96x64xf16>, %w: tensor<1x2x96x128xf16>)
    -> (tensor<1x2x96x64xf16>, tensor<1x2x96x128xf16>) {
  %a = attn.attention %q, %q, %q mask_mod causal(top_left)
      : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
  %b = attn.attention %w, %w, %w
      : tensor<1x2x96x128xf16>, tensor<1x2x96x128xf16>, tensor<1x2x96x128xf16> -> tensor<1x2x96x128xf16>
  return %a, %b : tensor<1x2x96x64xf16>, tensor<1x2x96x128xf16>
}

//--- single.mlir
func.func @f(%q: tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16> {
  %a = attn.attention %q, %q, %q
      : tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16> -> tensor<1x2x96x64xf16>
  return %a : tensor<1x2x96x64xf16>
}

//--- tile.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    %all = transform.attn.match_attention in %module : (!transform.any_op) -> !transform.any_op
    transform.attn.set_schedule %all "" target("sm_80") : !transform.any_op
    %masked = transform.attn.match_attention in %module {masked = true} : (!transform.any_op) -> !transform.any_op
    transform.attn.set_schedule %masked "tile_m=32 warps=2" target("sm_80") : !transform.any_op
    %wide = transform.attn.match_attention in %module {head_dim = 128 : i64, masked = false}
        : (!transform.any_op) -> !transform.any_op
    transform.attn.set_schedule %wide "tile_m=128 tile_n=32" target("sm_80") : !transform.any_op
    %tiled = transform.attn.tile %module : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// TILED: attn.normal_form = #attn.normal_form<tiled>
// TILED: scf.forall {{.*}} step (1, 1, 32)
// TILED: attn.online_attention
// TILED: scf.forall {{.*}} step (1, 1, 128)
// TILED: attn.online_attention

//--- lower.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    %raised = transform.attn.raise %module : (!transform.any_op) -> !transform.any_op
    %nvvm = transform.attn.lower %raised to("nvvm") target("sm_80") schedule("stages=2")
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// NVVM: attn.normal_form = #attn.normal_form<nvvm>
// NVVM: llvm.func @f
