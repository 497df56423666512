// Gradients of 8-bit inputs: by products of 8 bits, or of 16 bits of what they
// stand for, where those are predicted to be faster or there are no others.

// RUN: attn-opt %s --split-input-file --attn-select-schedule=target=sm_89 -o - 2>%t.err | FileCheck %s --check-prefixes=NATIVE
// RUN: FileCheck %s --check-prefix=DEPTH < %t.err
// RUN: attn-opt %s --split-input-file --attn-select-schedule=target=sm_90a 2>/dev/null | FileCheck %s --check-prefixes=HOPPER
// RUN: not attn-opt %s --split-input-file --attn-select-schedule="target=sm_90a schedule=promote=0" -o - 2>%t.err | FileCheck %s --check-prefixes=WANTED
// RUN: FileCheck %s --check-prefix=ONLY < %t.err
// RUN: attn-opt %s --split-input-file --attn-select-schedule=target=sm_80 -o - 2>%t.err | FileCheck %s --check-prefixes=NONE
// RUN: FileCheck %s --check-prefix=WITHOUT < %t.err
// RUN: attn-schedule --problem 'pass=backward B=2 H=16 M=8192 N=8192 D=128 dtype=f8E4M3FN' --target sm_90a | FileCheck %s --check-prefix=REPORT
// REPORT: dqkv {{.*}}mma=wgmma
// REPORT: dequantised to 16 bits: predicted to be faster than products of 8 (promote=0 or 1)
// RUN: attn-schedule --problem 'pass=backward B=2 H=16 M=8192 N=8192 D=128 dtype=f8E4M3FN' --target sm_120 --json | FileCheck %s --check-prefix=JSON
// JSON: "dequantised": false

!q = tensor<2x16x8192x128xf8E4M3FN>
!o = tensor<2x16x8192x128xbf16>
!l = tensor<2x16x8192xf32>
!s = tensor<1xf32>

// NATIVE-LABEL: func @large
// NATIVE-NOT: attn.dequantize
// NATIVE: attn.attention_backward {{.*}}promote = true
// HOPPER-LABEL: func @large
// HOPPER-COUNT-4: attn.dequantize
// HOPPER: attn.attention_backward {{.*}}fused = true
// WANTED-LABEL: func @large
// WANTED-NOT: attn.dequantize
// WANTED: attn.attention_backward {{.*}}mma = "wgmma"{{.*}}fused = false
// WITHOUT: warning: the kernels of its gradients have inputs of 'bf16', dequantised, in place of 'f8E4M3FN': expected a schedule that the target can run: dq: target sm_80 has no mma_sync for f8E4M3FN
// NONE-LABEL: func @large
// NONE-COUNT-4: attn.dequantize
func.func @large(%q: !q, %k: !q, %v: !q, %o: !o, %lse: !l, %do: !q, %d: !s) -> (!o, !o, !o) {
  %g:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !l) d_output(%do : !q) descale(%d, %d, %d, %d : !s, !s, !s, !s) scale_ds(%d : !s)
      : !q, !q, !q -> !o, !o, !o
  return %g#0, %g#1, %g#2 : !o, !o, !o
}

// -----

!q = tensor<1x2x64x48xf8E4M3FN>
!o = tensor<1x2x64x48xf16>
!l = tensor<1x2x64xf32>

// DEPTH: warning: the kernels of its gradients have inputs of 'f16', dequantised, in place of 'f8E4M3FN': {{.*}}a backward of 8 bits takes head dims and tiles that are multiples of 32, got D = 48, Dv = 48
// NATIVE-LABEL: func @depth
// NATIVE-COUNT-4: attn.dequantize {{.*}}f16>
// ONLY: error: {{.*}}a backward of 8 bits takes head dims and tiles that are multiples of 32
func.func @depth(%q: !q, %k: !q, %v: !q, %o: !o, %lse: !l, %do: !q) -> (!o, !o, !o) {
  %g:3 = attn.attention_backward %q, %k, %v output(%o : !o) lse(%lse : !l) d_output(%do : !q) : !q, !q, !q -> !o, !o, !o
  return %g#0, %g#1, %g#2 : !o, !o, !o
}

// -----

// Of amax_ds a row is in one CTA: not where one kernel adds up all gradients.
!q = tensor<2x16x8192x128xbf16>
!l = tensor<2x16x8192xf32>

// HOPPER-LABEL: func @maxima
// HOPPER: attn.attention_backward {{.*}}fused = false
func.func @maxima(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !l, %do: !q) -> (!q, !l) {
  %g:4 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !l) d_output(%do : !q) : !q, !q, !q -> !q, !q, !q amax_ds(!l)
  return %g#0, %g#3 : !q, !l
}

// -----

// Nor are the kernels of a small cache, which these sizes have otherwise, those of rows.
!q = tensor<2x32x4096x192xbf16>
!v = tensor<2x32x4096x128xbf16>
!l = tensor<2x32x4096xf32>

// NATIVE-LABEL: func @small
// NATIVE: attn.attention_backward {{.*}}kind = "small_cache"
// NATIVE: attn.attention_backward {{.*}}schedule = #attn.schedule<kind = "large_cache"{{.*}}amax_ds
func.func @small(%q: !q, %k: !q, %v: !v, %o: !v, %lse: !l, %do: !v) -> (!q, !q, !l) {
  %f:3 = attn.attention_backward %q, %k, %v output(%o : !v) lse(%lse : !l) d_output(%do : !v) mask_mod causal(top_left) : !q, !q, !v -> !q, !q, !v
  %g:4 = attn.attention_backward %q, %k, %v output(%o : !v) lse(%lse : !l) d_output(%do : !v) mask_mod causal(top_left) : !q, !q, !v -> !q, !q, !v amax_ds(!l)
  return %f#0, %g#0, %g#3 : !q, !q, !l
}
