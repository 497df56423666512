// Dropout of rate 0 costs nothing: the very same kernels as without the clause, forward and backward, on both targets, with no
// parameter more.
// RUN: sed "/^func.func @grad/,/^}/d; s/DROPOUT//" %s > %t.none.mlir
// RUN: sed "/^func.func @grad/,/^}/d; s/DROPOUT/dropout(%%s, %%s) rate(0.0)/" %s > %t.zero.mlir
// RUN: sed "/^func.func @grad/,/^}/d; s/DROPOUT/dropout(%%s, %%s) rate(0.5)/" %s > %t.half.mlir
// RUN: sed "/^func.func @attention/,/^}/d; s/DROPOUT//" %s > %t.none.grad.mlir
// RUN: sed "/^func.func @attention/,/^}/d; s/DROPOUT/dropout(%%s, %%s) rate(0.0)/" %s > %t.zero.grad.mlir
// RUN: attn-opt %t.none.mlir --target=sm_80 --emit=ptx -o - > %t.none.ptx
// RUN: attn-opt %t.half.mlir --target=sm_80 --emit=ptx -o - > %t.half.ptx
// RUN: attn-opt %t.zero.mlir --target=sm_80 --emit=ptx -o - | cmp %t.none.ptx -
// RUN: not cmp %t.none.ptx %t.half.ptx
// RUN: attn-opt %t.none.mlir --target=sm_90a --emit=ptx -o - > %t.none.ptx
// RUN: attn-opt %t.zero.mlir --target=sm_90a --emit=ptx -o - | cmp %t.none.ptx -
// RUN: attn-opt %t.none.grad.mlir --target=sm_80 --emit=ptx -o - > %t.none.ptx
// RUN: attn-opt %t.zero.grad.mlir --target=sm_80 --emit=ptx -o - | cmp %t.none.ptx -
// RUN: attn-opt %t.none.grad.mlir --target=sm_90a --emit=ptx -o - > %t.none.ptx
// RUN: attn-opt %t.zero.grad.mlir --target=sm_90a --emit=ptx -o - | cmp %t.none.ptx -

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
