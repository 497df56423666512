// What follows a gradient takes kernels that have it whole: neither the fused one of sm_90a nor those of a small cache; its maxima take no slices of columns.
// RUN: attn-opt %s --split-input-file --attn-select-schedule=target=sm_90a | FileCheck %s
// RUN: not attn-opt %s --split-input-file --attn-select-schedule="target=sm_90a schedule=fused=1" -o %t 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: not attn-opt %s --split-input-file --attn-select-schedule="target=sm_90a schedule=kind=small_cache" -o %t 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not attn-opt %s --split-input-file --attn-select-schedule=target=sm_80 -o %t 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: attn-schedule --problem 'pass=backward M=4096 N=4096 D=512 amax=1' --target sm_80 | FileCheck %s --check-prefix=SLICES
// RUN: not attn-schedule --problem 'pass=backward M=4096 N=4096 D=128 amax=1' --target sm_80 --schedule kind=small_cache 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not attn-schedule --problem 'pass=backward M=4096 N=4096 D=128 amax=1' --target sm_90a --schedule fused=1 2>&1 | FileCheck %s --check-prefix=SUMS
// FUSED: :[[# @LINE + 21]]:10: error: {{.*}}expected a large-cache schedule, not fused, beside gradients of a bias, captures or a sink, amax_ds, or output_mods of gradients, got
// SMALL: error: {{.*}}expected a large-cache schedule, not fused, beside gradients of a bias, captures or a sink, amax_ds, or output_mods of gradients, got
// TARGET: :[[# @LINE + 20]]:8: error: {{.*}}expected a target of sm_89 or later for an output of 'f8E5M2', got sm_80
// SLICES: dq {{.*}}tile_d=512
// RUN: not attn-schedule --problem 'pass=backward M=4096 N=4096 D=128 d_key=f8E5M2' --target sm_90a --schedule kind=small_cache 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not attn-schedule --problem 'pass=backward M=4096 N=4096 D=128 d_key=f8E5M2' --target sm_90a --schedule fused=1 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: not attn-schedule --problem 'pass=backward M=4096 N=4096 D=128 d_key=f8E5M2' --target sm_80 2>&1 | FileCheck %s --check-prefix=NONE
// KIND: expected kind = "large_cache" beside largest magnitudes of gradients, or gradients of 8 bits, got "small_cache"
// SUMS: a fused kernel gives no largest magnitudes of gradients, and none of 8 bits
// NONE: expected a target of sm_89 or later for gradients of f8E5M2, got sm_80

!q = tensor<2x16x8192x128xbf16>
!o = tensor<2x16x8192x128xf32>
!l = tensor<2x16x8192xf32>

// CHECK-LABEL: func @f
// CHECK: attn.attention_backward {{.*}}fused = true
// CHECK: attn.attention_backward {{.*}}fused = false
func.func @f(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !l, %do: !q) -> (!q, !q, !q, tensor<2x16x8192x128xf8E5M2>, !q, !q) {
  %f:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !l) d_output(%do : !q) : !q, !q, !q -> !q, !q, !q
  // Made of the same.
  %g:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !l) d_output(%do : !q) : !q, !q, !q -> !o, !q, !q
  %y = attn.output_mod %g#0 (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !o -> tensor<2x16x8192x128xf8E5M2>
  return %f#0, %f#1, %f#2, %y, %g#1, %g#2 : !q, !q, !q, tensor<2x16x8192x128xf8E5M2>, !q, !q
}
