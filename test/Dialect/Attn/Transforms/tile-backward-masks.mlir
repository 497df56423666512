// RUN: attn-opt %s --attn-tile-backward="tile-m=32 tile-n=16" --split-input-file | FileCheck %s

// Tiles that a table has: of keys for dQ, of rows for dK and dV. First a header for
// each tile that stays: where its list begins, and at which counts its full tiles,
// its partial ones and the one at the end, which is padded, end. Padded keys need a
// mask, padded rows do not.

// CHECK-LABEL: func.func @table
// CHECK: %[[KEYS:.+]] = arith.constant dense<[12, 32, 32, 43, 15, 32, 32, 43, 18, 64, 64, 75, 0, 16, 64, 32, 48, 64, 0, 16, 32, 48, 64]>
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %[[M:.+]]) =
// CHECK: %[[ENTRY:.+]] = tensor.extract %[[KEYS]]
// CHECK: %[[BEGIN:.+]] = arith.index_cast %[[ENTRY]]
// CHECK: %[[ENTRY:.+]] = tensor.extract %[[KEYS]]
// CHECK: %[[FULL:.+]] = arith.index_cast %[[ENTRY]]
// CHECK: tensor.extract %[[KEYS]]
// CHECK: %[[ENTRY:.+]] = tensor.extract %[[KEYS]]
// CHECK: %[[END:.+]] = arith.index_cast %[[ENTRY]]
// CHECK: scf.for %[[COUNT:.+]] = %c0{{.*}} to %[[FULL]] step %c16
// CHECK: %[[TILE:.+]] = arith.divui %[[COUNT]], %c16
// CHECK: %[[AT:.+]] = arith.addi %[[BEGIN]], %[[TILE]]
// CHECK: %[[ENTRY:.+]] = tensor.extract %[[KEYS]][%[[AT]]]
// CHECK: %[[N:.+]] = arith.index_cast %[[ENTRY]]
// CHECK: attn.backward_step {{.*}} offsets(%{{.+}}, %{{.+}}, %[[M]], %[[N]]) d_query
// CHECK: scf.for %{{.+}} = %[[FULL]] to %[[END]] step %c16
// CHECK: attn.backward_step {{.*}} mask_mod
// CHECK: %[[ROWS:.+]] = arith.constant dense<[20, 64, 64, 64, 22, 64, 64, 64, 24, 64, 64, 64, 26, 64, 64, 64, 28, 96, 96, 96, 0, 64, 0, 64, 32, 64, 32, 64, 0, 32, 64]>
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %[[N:.+]]) =
// CHECK: scf.for
// CHECK: %[[ENTRY:.+]] = tensor.extract %[[ROWS]]
// CHECK: %[[M:.+]] = arith.index_cast %[[ENTRY]]
// CHECK: attn.backward_step {{.*}} offsets(%{{.+}}, %{{.+}}, %[[M]], %[[N]]) d_key
// CHECK: scf.for
// CHECK: attn.backward_step {{.*}} mask_mod
func.func @table(%q: tensor<1x2x90x8xf16>, %k: tensor<1x1x75x8xf16>, %v: tensor<1x1x75x8xf16>,
                 %o: tensor<1x2x90x8xf16>, %lse: tensor<1x2x90xf32>, %do: tensor<1x2x90x8xf16>)
    -> (tensor<1x2x90x8xf16>, tensor<1x1x75x8xf16>, tensor<1x1x75x8xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x2x90x8xf16>)
      lse(%lse : tensor<1x2x90xf32>) d_output(%do : tensor<1x2x90x8xf16>)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %size = arith.constant 32 : index
        %x = arith.floordivsi %i, %size : index
        %y = arith.floordivsi %j, %size : index
        %bits = arith.xori %x, %y : index
        %c1 = arith.constant 1 : index
        %other = arith.cmpi ne, %bits, %c1 : index
        attn.yield %other : i1
      }
      : tensor<1x2x90x8xf16>, tensor<1x1x75x8xf16>, tensor<1x1x75x8xf16>
      -> tensor<1x2x90x8xf16>, tensor<1x1x75x8xf16>, tensor<1x1x75x8xf16>
  return %d#0, %d#1, %d#2 : tensor<1x2x90x8xf16>, tensor<1x1x75x8xf16>, tensor<1x1x75x8xf16>
}

// -----

// Several ranges of keys: one loop walks the full tiles, one the partial ones, one
// the end; each finds its tile behind the gaps. Padded rows are no end of their own.

// CHECK-LABEL: func.func @sink_and_window
// CHECK-NOT: arith.constant dense
// CHECK: scf.forall
// CHECK-COUNT-2: scf.for
// CHECK-COUNT-2: arith.select
// CHECK: %[[N:.+]] = arith.select
// CHECK: attn.backward_step {{.*}} offsets(%{{.+}}, %{{.+}}, %{{.+}}, %[[N]]) mask_mod
// CHECK: scf.for
// CHECK: attn.backward_step {{.*}} mask_mod
// CHECK: scf.forall
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for %
func.func @sink_and_window(%q: tensor<1x1x?x8xf16>, %k: tensor<1x1x?x8xf16>, %v: tensor<1x1x?x8xf16>,
                           %o: tensor<1x1x?x8xf16>, %lse: tensor<1x1x?xf32>, %do: tensor<1x1x?x8xf16>)
    -> (tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x1x?x8xf16>)
      lse(%lse : tensor<1x1x?xf32>) d_output(%do : tensor<1x1x?x8xf16>)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %sinks = arith.constant 8 : index
        %reach = arith.constant 64 : index
        %sink = arith.cmpi slt, %j, %sinks : index
        %past = arith.subi %i, %j : index
        %near = arith.cmpi slt, %past, %reach : index
        %causal = arith.cmpi sle, %j, %i : index
        %either = arith.ori %sink, %near : i1
        %seen = arith.andi %causal, %either : i1
        attn.yield %seen : i1
      }
      : tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>
      -> tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>
  return %d#0, %d#1, %d#2 : tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>
}
