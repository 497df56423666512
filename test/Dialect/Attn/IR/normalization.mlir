// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!q = tensor<1x2x4x8xf32>
!l = tensor<1x2x4xf32>

// CHECK-LABEL: @whole
// CHECK: attn.attention {{.*}} scale(5.000000e-01) normalization(#attn.none) mask_mod causal(top_left) :
// CHECK: attn.attention {{.*}} normalization(#attn.sum<{{.*}}>) :
// The default is not printed.
// CHECK: attn.attention %arg0, %arg0, %arg0 :
func.func @whole(%q: !q) -> (!q, !q, !q) {
  %a = attn.attention %q, %q, %q scale(0.5) normalization(#attn.none)
      mask_mod causal(top_left) : !q, !q, !q -> !q
  %b = attn.attention %q, %q, %q normalization(#attn.sum<1.0e-6>)
      : !q, !q, !q -> !q
  %c = attn.attention %q, %q, %q normalization(#attn.softmax)
      : !q, !q, !q -> !q
  return %a, %b, %c : !q, !q, !q
}

// CHECK-LABEL: @tiles
// CHECK: attn.online_attention {{.*}} normalization(#attn.none) outs(%{{[^,]*}}) : {{.*}} -> tensor<1x2x4x8xf32>
// CHECK: attn.normalize %{{[^,]*}} normalization(#attn.none) : tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
// CHECK: attn.online_attention {{.*}} normalization(#attn.sum<{{.*}}>) outs(%{{.*}}, %{{.*}}) : {{.*}} -> tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
// CHECK: attn.normalize %{{.*}}, %{{.*}} scale(2.000000e+00) normalization(#attn.sum<{{.*}}>) : tensor<1x2x4x8xf32>, tensor<1x2x4xf32> -> tensor<1x2x4x8xf32>
func.func @tiles(%q: !q, %l: !l, %i: index) -> (!q, !q) {
  %acc = attn.online_attention %q, %q, %q offsets(%i, %i, %i, %i)
      normalization(#attn.none) outs(%q) : !q, !q, !q -> !q
  %o = attn.normalize %acc normalization(#attn.none) : !q -> !q
  %acc1, %sum = attn.online_attention %q, %q, %q offsets(%i, %i, %i, %i)
      normalization(#attn.sum<0.0>) outs(%q, %l) : !q, !q, !q -> !q, !l
  %o1 = attn.normalize %acc1, %sum scale(2.0) normalization(#attn.sum<0.0>)
      : !q, !l -> !q
  return %o, %o1 : !q, !q
}

// CHECK-LABEL: @backward
// CHECK: attn.attention_backward %{{.*}}, %{{.*}}, %{{.*}} d_output(%{{.*}}) normalization(#attn.none) :
// CHECK: attn.backward_step {{.*}} d_output(%{{[^)]*}}) normalization(#attn.none) offsets
// CHECK-SAME: : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>{{$}}
func.func @backward(%q: !q, %i: index) -> (!q, !q) {
  %d:3 = attn.attention_backward %q, %q, %q d_output(%q : !q)
      normalization(#attn.none) : !q, !q, !q -> !q, !q, !q
  %dq = attn.backward_step %q, %q, %q d_output(%q) normalization(#attn.none)
      offsets(%i, %i, %i, %i) d_query(%q : !q) : !q, !q, !q, !q
  return %d#0, %dq : !q, !q
}
