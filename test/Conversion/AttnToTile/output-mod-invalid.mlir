// The output is read twice: no kernel of the attention stores what follows it.
// RUN: not attn-opt %s --target=sm_80 -o /dev/null 2>&1 | FileCheck %s
// CHECK: output-mod-invalid.mlir:[[# @LINE + 5]]:8: error: 'attn.output_mod' op expected the output of an attention, or a gradient, that nothing else reads on a GPU, whose kernels store it: --attn-outline leaves others to the host
!q = tensor<1x2x64x64xf16>

func.func @saved(%q: !q, %k: !q, %v: !q) -> (!q, !q) {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %r = arith.mulf %x, %x : f32
    attn.yield %r : f32
  } : !q -> !q
  return %o, %y : !q, !q
}
