// RUN: attn-opt %s --attn-tile-backward | FileCheck %s

// All gradients in one nest: a loop over key tiles that carries dK and dV, of which
// it sets a tile, and dQ, to which each step adds. One nest before it gives delta and
// zeros, one behind it rounds.

// CHECK-LABEL: func.func @fused
// CHECK: %[[FIRST:.+]]:2 = scf.forall (%{{.+}}, %{{.+}}, %{{.+}}) = (0, 0, 0) to (1, 4, 96) step (1, 1, 32)
// CHECK: attn.backward_delta
// CHECK: linalg.fill
// CHECK: %[[ALL:.+]]:3 = scf.forall (%[[B:.+]], %[[H:.+]]) in (1, 2) shared_outs(%[[DK:.+]] = %{{.+}}, %[[DV:.+]] = %{{.+}}, %[[SUMS:.+]] = %[[FIRST]]#1)
// CHECK: %[[HEAD:.+]] = arith.muli %[[H]]
// CHECK: %[[OWN:.+]] = tensor.extract_slice %[[SUMS]][%[[B]], %[[HEAD]], 0, 0] [1, 2, 96, 8]
// CHECK: scf.for %[[N:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %[[DQ:.+]] = %[[OWN]])
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %[[STATE:.+]] = %[[DQ]])
// CHECK: %[[IN:.+]] = arith.subi %[[AT:.+]], %[[HEAD]]
// CHECK: %[[BEFORE:.+]] = tensor.extract_slice %[[STATE]][%{{.+}}, %[[IN]], %[[M:.+]], 0] [1, 1, 32, 8]
// CHECK: %[[STEP:.+]], %{{.+}}, %{{.+}} = attn.backward_step {{.*}} offsets(%[[B]], %[[AT]], %[[M]], %[[N]]) d_query(%[[BEFORE]]
// CHECK: tensor.insert_slice %[[STEP]] into %[[STATE]]
// CHECK: scf.forall.in_parallel
// CHECK-COUNT-3: tensor.parallel_insert_slice
// CHECK: scf.forall {{.*}} to (1, 4, 96) step (1, 1, 32)
// CHECK: tensor.extract_slice %[[ALL]]#2
// CHECK: arith.truncf
!q = tensor<1x4x96x8xf16>
!k = tensor<1x2x96x8xf16>
func.func @fused(%q: !q, %k: !k, %v: !k, %o: !q, %lse: tensor<1x4x96xf32>, %do: !q) -> (!q, !k, !k) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : tensor<1x4x96xf32>) d_output(%do : !q)
      {schedule = #attn.schedule<tile_m = 32, tile_n = 16, fused = true>} : !q, !k, !k -> !q, !k, !k
  return %d#0, %d#1, %d#2 : !q, !k, !k
}
