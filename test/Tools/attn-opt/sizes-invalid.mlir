// Sizes whose scores cannot be counted end with a message, on every GPU.
// RUN: split-file %s %t
// RUN: not attn-opt %t/forward.mlir --target=sm_80 -o %t/k 2>&1 | FileCheck %s
// RUN: not attn-opt %t/backward.mlir --target=sm_80 -o %t/k 2>&1 | FileCheck %s
// RUN: not attn-opt %t/backward.mlir --target=sm_90a -o %t/k 2>&1 | FileCheck %s
// CHECK: ward.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}expected M from 1 to 16777216, got 4294967296

//--- forward.mlir
!q = tensor<1x1x4294967296x64xf16>
func.func @f(%q: !q) -> !q {
  %r = attn.attention %q, %q, %q : !q, !q, !q -> !q
  return %r : !q
}

//--- backward.mlir
!q = tensor<1x1x4294967296x64xf16>
!l = tensor<1x1x4294967296xf32>
func.func @b(%q: !q, %o: !q, %d: !q, %l: !l) -> (!q, !q, !q) {
  %r:3 = attn.attention_backward %q, %q, %q output(%o : !q) lse(%l : !l) d_output(%d : !q) : !q, !q, !q -> !q, !q, !q
  return %r#0, %r#1, %r#2 : !q, !q, !q
}
