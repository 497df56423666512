// Gradients of 8-bit inputs by products of 8 bits: of each family of tensor
// cores, with sums of tiles apart and not; dequantised where there are none.

// RUN: attn-run %s --function causal --device=sim:sm_89 --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function causal --device=sim:sm_120 --shape B=1,Hq=2,Hkv=2,M=64,N=33 --random 2 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function causal --device=sim:sm_90a --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 3 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function causal --device=sim:sm_90a --shape B=1,Hq=2,Hkv=1,M=1,N=200 --random 4 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function causal --device=sim:sm_100a --shape B=1,Hq=4,Hkv=1,M=130,N=129 --random 5 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function causal --device=cpu --shape B=2,Hq=4,Hkv=2,M=70,N=90 --random 6 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function changed --device=sim:sm_90a --random 7 --verify | FileCheck %s %}
// RUN: attn-run %s --function changed --device=sim:sm_100a --random 8 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function changed --device=sim:sm_89 --random 9 --verify | FileCheck %s %}
// RUN: sed -n '/^!b = /,/^}/p' %s > %t.mlir
// RUN: not attn-opt %t.mlir --target=sm_80 --strict -o %t 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: error: expected no warning in strict mode, got: the kernels of its gradients have inputs of 'f16', dequantised
// NONE: warning: the kernels of its gradients have inputs of 'f16', dequantised, in place of 'f8E5M2': {{.*}}target sm_80 has no mma_sync for f8E5M2
// RUN: attn-run %s --function rows --device=cpu --random 11 --verify | FileCheck %s
// RUN: attn-run %s --function faster --device=sim:sm_90a --shape B=1,Hq=2,Hkv=1,M=70,N=130 --random 12 --verify | FileCheck %s
// CHECK: verify: PASS

// RUN: attn-opt %s --attn-select-schedule=target=sm_90a | FileCheck %s --check-prefix=BYTES
// BYTES-NOT: attn.dequantize
// BYTES: func.func @faster
// BYTES-COUNT-4: attn.dequantize

// What has no such products.
// RUN: attn-run %s --function rows --device=sim:sm_80 --random 10 --verify 2>&1 | FileCheck %s --check-prefixes=NONE,CHECK

!q = tensor<?x?x?x64xf8E4M3FN>
!d = tensor<?x?x?x64xf8E5M2>
!o = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!one = tensor<1xf32>
!heads = tensor<?x?xf32>
func.func @causal(%q: !q, %k: !q, %v: !q, %do: !d, %dlse: !l, %dq: !heads, %dk: !one, %dv: !heads, %ddo: !one) -> (!o, !o, !o, !l) {
  %s = arith.constant dense<32.0> : !one
  %o, %lse = attn.attention %q, %k, %v descale(%dq, %dk, %dv : !heads, !one, !heads)
      mask_mod causal(bottom_right) : !q, !q, !q -> !o, !l
  %g:4 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !l) d_output(%do : !d) d_lse(%dlse : !l)
      descale(%dq, %dk, %dv, %ddo : !heads, !one, !heads, !one) scale_ds(%s : !one)
      mask_mod causal(bottom_right) {schedule = #attn.schedule<promote = true>} : !q, !q, !q -> !o, !o, !o amax_ds(!l)
  return %g#0, %g#1, %g#2, %g#3 : !o, !o, !o, !l
}

// Other columns of V, scores that a function changes, a window, f32.
!q2 = tensor<1x2x40x96xf8E4M3FN>
!k2 = tensor<1x1x200x96xf8E4M3FN>
!v2 = tensor<1x1x200x32xf8E4M3FN>
!o2 = tensor<1x2x40x32xf32>
!d2 = tensor<1x2x40x32xf8E4M3FN>
!l2 = tensor<1x2x40xf32>
func.func @changed(%q: !q2, %k: !k2, %v: !v2, %do: !d2) -> (tensor<1x2x40x96xf32>, tensor<1x1x200x96xbf16>, tensor<1x1x200x32xf32>) {
  %o, %lse = attn.attention %q, %k, %v score_mod soft_cap(5.0) mask_mod sliding_window(50, 3) : !q2, !k2, !v2 -> !o2, !l2
  %g:3 = attn.attention_backward %q, %k, %v output(%o : !o2) lse(%lse : !l2) d_output(%do : !d2)
      score_mod soft_cap(5.0) mask_mod sliding_window(50, 3) {schedule = #attn.schedule<promote = false>}
      : !q2, !k2, !v2 -> tensor<1x2x40x96xf32>, tensor<1x1x200x96xbf16>, tensor<1x1x200x32xf32>
  return %g#0, %g#1, %g#2 : tensor<1x2x40x96xf32>, tensor<1x1x200x96xbf16>, tensor<1x1x200x32xf32>
}

!b = tensor<1x2x40x64xf8E5M2>
!w = tensor<1x2x40x64xf16>
!r = tensor<1x2x40xf32>
func.func @rows(%q: !b, %k: !b, %v: !b, %o: !w, %lse: !r, %do: !b) -> (!w, !w, !w, !r) {
  %g:4 = attn.attention_backward %q, %k, %v output(%o : !w) lse(%lse : !r) d_output(%do : !b) : !b, !b, !b -> !w, !w, !w amax_ds(!r)
  return %g#0, %g#1, %g#2, %g#3 : !w, !w, !w, !r
}

// One kernel of 16 bits for all gradients, and what makes its inputs wider.
!t = tensor<?x?x?x128xf8E4M3FN>
!u = tensor<?x?x?x128xbf16>
func.func @faster(%q: !t, %k: !t, %v: !t, %do: !t, %dq: !heads, %dk: !one, %dv: !heads, %ddo: !heads) -> (!u, !u, !u) {
  %o, %lse = attn.attention %q, %k, %v descale(%dq, %dk, %dv : !heads, !one, !heads) : !t, !t, !t -> !u, !l
  %g:3 = attn.attention_backward %q, %k, %v output(%o : !u) lse(%lse : !l) d_output(%do : !t)
      descale(%dq, %dk, %dv, %ddo : !heads, !one, !heads, !heads) : !t, !t, !t -> !u, !u, !u
  return %g#0, %g#1, %g#2 : !u, !u, !u
}
