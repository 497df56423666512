// Dropout of rate 0 costs nothing: the very same kernels as without the clause, forward and backward, on both targets, with no
// parameter more.
// RUN: sed "/^func.func @grad/,/^}/d" %s > %t.attention.mlir
// RUN: sed "/^func.func @attention/,/^}/d" %s > %t.grad.mlir
// RUN: for f in attention grad; do for t in sm_80 sm_90a; do for r in none 0.0 0.5; do \
// RUN:   if [ $r = none ]; then clause=; else clause="dropout(%%s, %%s) rate($r)"; fi; \
// RUN:   sed "s/DROPOUT/$clause/" %t.$f.mlir | attn-opt --target=$t --emit=ptx -o - > %t.$f.$t.$r.ptx || exit 1; \
// RUN: done; \
// RUN: cmp %t.$f.$t.none.ptx %t.$f.$t.0.0.ptx || exit 1; \
// RUN: if cmp -s %t.$f.$t.none.ptx %t.$f.$t.0.5.ptx; then exit 1; fi; done; done

!q = tensor<?x8x?x64xbf16>
!k = tensor<?x2x?x64xbf16>
!lse = tensor<?x8x?xf32>
func.func @attention(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>) -> (!q, !lse) {
  %s = tensor.extract %seed[] : tensor<i64>
  %o, %lse = attn.attention %q, %k, %v DROPOUT mask_mod causal(bottom_right) : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}

func.func @grad(%q: !q, %k: !k, %v: !k, %o: !q, %lse: !lse, %do: !q, %seed: tensor<i64>) -> (!q, !k, !k) {
  %s = tensor.extract %seed[] : tensor<i64>
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !lse) d_output(%do : !q) DROPOUT
      mask_mod causal(bottom_right) : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}
