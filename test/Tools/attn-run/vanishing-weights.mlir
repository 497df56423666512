// Where each row sees one key, the gradient of the query's norm is 0, and what a kernel's f32 sums leave of it is measured by the other gradients.
// RUN: attn-opt %s --attn-grad=recompute=true -o %t.mlir
// RUN: attn-run %t.mlir --function rows_grad --device=sim:sm_80 --random 19 --verify | FileCheck %s
// CHECK: 3 64xf16 {{.*}} inf {{.*}} pass
// CHECK: verify: PASS
!q = tensor<1x4x65x64xf16>
!k = tensor<1x1x100x64xf16>
func.func @rows(%q: !q, %k: !k, %v: !k, %weight: tensor<64xf16>) -> !q {
  %n = attn.qk_norm %q weight(%weight : tensor<64xf16>) epsilon(1.0e-6) : !q
  %o = attn.attention %n, %k, %v mask_mod sliding_window(0, 0) : !q, !k, !k -> !q
  return %o : !q
}
