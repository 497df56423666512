// The dropout clause: syntax, and what a rate of 0 folds to.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

!q = tensor<1x2x8x16xf32>
!l = tensor<1x2x8xf32>

// CHECK-LABEL: @forward
// CHECK: attn.attention %arg0, %arg0, %arg0 dropout(%arg1, %arg2) rate(1.000000e-01) scale(5.000000e-01) mask_mod causal(top_left) :
// CHECK: attn.attention %arg0, %arg0, %arg0 dropout(%arg1, %arg2) rate(0.000000e+00) :
// FOLDED-LABEL: @forward
// FOLDED: attn.attention %arg0, %arg0, %arg0 dropout(%arg1, %arg2) rate(1.000000e-01) scale(5.000000e-01) mask_mod causal(top_left) :
// FOLDED: attn.attention %arg0, %arg0, %arg0 : tensor
func.func @forward(%q: !q, %seed: i64, %offset: i64) -> (!q, !q) {
  %o = attn.attention %q, %q, %q dropout(%seed, %offset) rate(0.1) scale(0.5) mask_mod causal(top_left) : !q, !q, !q -> !q
  %p = attn.attention %q, %q, %q dropout(%seed, %offset) rate(0.0) : !q, !q, !q -> !q
  return %o, %p : !q, !q
}

// CHECK-LABEL: @backward
// CHECK: attn.attention_backward {{.*}} d_output({{.*}}) dropout(%arg1, %arg1) rate(2.500000e-01) :
// CHECK: attn.attention_backward {{.*}} rate(0.000000e+00) :
// FOLDED-LABEL: @backward
// FOLDED: attn.attention_backward {{.*}} rate(2.500000e-01) :
// FOLDED-NOT: rate(0
func.func @backward(%q: !q, %seed: i64, %l: !l) -> (!q, !q) {
  %d:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%l : !l) d_output(%q : !q)
      dropout(%seed, %seed) rate(0.25) : !q, !q, !q -> !q, !q, !q
  %e:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%l : !l) d_output(%q : !q)
      dropout(%seed, %seed) rate(0.0) : !q, !q, !q -> !q, !q, !q
  return %d#0, %e#0 : !q, !q
}

// CHECK-LABEL: @tiles
// CHECK: attn.online_attention %{{.*}} offsets(%{{.*}}) dropout(%arg1, %arg2) rate(1.000000e-01) outs(
// CHECK: attn.normalize %{{.*}}, %{{.*}}, %{{.*}} scale(1.125000e+00) :
// CHECK: attn.backward_step %{{.*}} offsets(%{{.*}}) dropout(%arg1, %arg2) rate(1.000000e-01) d_query(
func.func @tiles(%q: !q, %seed: i64, %offset: i64, %l: !l, %c: index) -> (!q, !q) {
  %s:3 = attn.online_attention %q, %q, %q offsets(%c, %c, %c, %c) dropout(%seed, %offset) rate(0.1)
      outs(%q, %l, %l) : !q, !q, !q -> !q, !l, !l
  %o = attn.normalize %s#0, %s#1, %s#2 scale(1.125) : !q, !l -> !q
  %d = attn.backward_step %q, %q, %q d_output(%q) lse(%l) delta(%l) offsets(%c, %c, %c, %c)
      dropout(%seed, %offset) rate(0.1) d_query(%q : !q) : !q, !q, !q, !q, !l
  return %o, %d : !q, !q
}
