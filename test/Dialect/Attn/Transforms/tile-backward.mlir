// RUN: attn-opt %s --attn-tile-backward="tile-m=32 tile-n=16" --split-input-file | FileCheck %s

// Causal masks bound the key tiles of a row tile, and the row tiles of a key tile;
// only those that the diagonal cuts have the mask. The row tiles of all heads of a
// group are one loop.

// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x4x96x8xf16>, %[[K:[a-z0-9]+]]: tensor<1x2x96x8xf16>, %[[V:[a-z0-9]+]]: tensor<1x2x96x8xf16>, %[[O:[a-z0-9]+]]: tensor<1x4x96x8xf16>, %[[LSE:[a-z0-9]+]]: tensor<1x4x96xf32>
// CHECK: %[[ROWS:.+]]:2 = scf.forall (%[[B:.+]], %[[H:.+]], %[[M:.+]]) = (0, 0, 0) to (1, 4, 96) step (1, 1, 32)
// CHECK: %[[DELTA:.+]] = attn.backward_delta %{{.+}}, %[[DO:.+]] : tensor<1x1x32x8xf16>, tensor<1x1x32x8xf16> -> tensor<1x1x32xf32>
// CHECK: %[[FULL:.+]] = scf.for %[[N:.+]] = %c0{{.*}} to %[[CUT:.+]] step %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}}) -> (tensor<1x1x32x8xf32>)
// CHECK: %[[HK:.+]] = arith.divui %[[H]]
// CHECK: tensor.extract_slice %[[K]][%[[B]], %[[HK]], %[[N]], 0] [1, 1, 16, 8]
// CHECK: attn.backward_step {{.*}} d_output(%[[DO]]) lse(%{{.+}}) delta(%[[DELTA]]) scale(5.000000e-01) offsets(%[[B]], %[[H]], %[[M]], %[[N]]) d_query(%[[ACC]] : tensor<1x1x32x8xf32>)
// CHECK: %[[DQ:.+]] = scf.for %[[N:.+]] = %[[CUT]] to %{{.+}} step %{{.+}} iter_args(%[[ACC:.+]] = %[[FULL]])
// CHECK: attn.backward_step {{.*}} offsets(%[[B]], %[[H]], %[[M]], %[[N]]) mask_mod causal(top_left) d_query(%[[ACC]]
// CHECK: arith.truncf %[[DQ]]
// CHECK: scf.forall (%[[B1:.+]], %[[HK1:.+]], %[[N1:.+]]) = (0, 0, 0) to (1, 2, 96) step (1, 1, 16)
// CHECK: %[[FIRST:.+]] = arith.muli %[[HK1]]
// CHECK: %[[CUT:.+]]:2 = scf.for %[[T:.+]] = %c0{{.*}} to %[[COUNT:.+]] step %c1
// CHECK: %[[G:.+]] = arith.divui %[[T]], %[[HEAD:.+]] : index
// CHECK: arith.remui %[[T]], %[[HEAD]] : index
// CHECK: %[[H1:.+]] = arith.addi %[[FIRST]], %[[G]]
// CHECK: %[[M1:.+]] = arith.addi
// CHECK: tensor.extract_slice %[[ROWS]]#1[%[[B1]], %[[H1]], %[[M1]]] [1, 1, 32]
// CHECK: attn.backward_step {{.*}} mask_mod causal(top_left) d_key({{.*}} : tensor<1x1x16x8xf32>) d_value({{.*}} : tensor<1x1x16x8xf32>)
// CHECK: scf.for %{{.+}} = %[[COUNT]] to %{{.+}} iter_args(%{{.+}} = %[[CUT]]#0, %{{.+}} = %[[CUT]]#1)
// CHECK: attn.backward_step
// CHECK-NOT: mask_mod
// CHECK-NOT: scf.for
// CHECK: scf.forall.in_parallel
func.func @causal(%q: tensor<1x4x96x8xf16>, %k: tensor<1x2x96x8xf16>, %v: tensor<1x2x96x8xf16>,
                  %o: tensor<1x4x96x8xf16>, %lse: tensor<1x4x96xf32>, %do: tensor<1x4x96x8xf16>)
    -> (tensor<1x4x96x8xf16>, tensor<1x2x96x8xf16>, tensor<1x2x96x8xf32>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x96x8xf16>)
      lse(%lse : tensor<1x4x96xf32>) d_output(%do : tensor<1x4x96x8xf16>) scale(0.5)
      mask_mod causal(top_left)
      : tensor<1x4x96x8xf16>, tensor<1x2x96x8xf16>, tensor<1x2x96x8xf16>
      -> tensor<1x4x96x8xf16>, tensor<1x2x96x8xf16>, tensor<1x2x96x8xf32>
  return %d#0, %d#1, %d#2 : tensor<1x4x96x8xf16>, tensor<1x2x96x8xf16>, tensor<1x2x96x8xf32>
}

// -----

// Ragged tiles are padded; rows with -inf, keys behind a mask. Tile sizes of the
// op win.

// CHECK-LABEL: func.func @ragged
// CHECK: scf.forall {{.*}} step (1, 1, 48)
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 0] high[0, 0, %{{.+}}, 0]
// CHECK: %[[NEGINF:.+]] = arith.constant 0xFF800000 : f32
// CHECK: tensor.pad {{.*}} low[0, 0, 0] high[0, 0, %{{.+}}]
// CHECK: tensor.yield %[[NEGINF]]
// CHECK: attn.backward_step
// CHECK-NOT: mask_mod
// CHECK: scf.for
// CHECK: attn.backward_step
// CHECK-SAME: mask_mod
// CHECK: %[[IN:.+]] = arith.cmpi slt, %{{.+}}, %{{.+}} : index
// CHECK: arith.andi %{{.+}}, %[[IN]]
// CHECK: tensor.parallel_insert_slice
func.func @ragged(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>, %v: tensor<1x2x?x8xf32>,
                  %o: tensor<1x2x?x8xf32>, %lse: tensor<1x2x?xf32>, %do: tensor<1x2x?x8xf32>)
    -> (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x2x?x8xf32>)
      lse(%lse : tensor<1x2x?xf32>) d_output(%do : tensor<1x2x?x8xf32>)
      {schedule = #attn.schedule<tile_m = 48>}
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
      -> tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
  return %d#0, %d#1, %d#2 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
}

// -----

// With a small cache the heads of a group are a loop around those over rows,
// whose bounds are rows.

// CHECK-LABEL: func.func @small_cache
// CHECK: attn.backward_step {{.*}} d_query(
// CHECK: scf.forall
// CHECK: scf.for %[[H:.+]] = %c0{{.*}} to %c2{{.*}} step %c1
// CHECK: arith.addi %{{.+}}, %[[H]]
// CHECK: %[[CUT:.+]]:2 = scf.for %[[M:.+]] = %{{.+}} to %[[END:.+]] step %c32
// CHECK: attn.backward_step {{.*}} offsets(%{{.+}}, %{{.+}}, %[[M]], %{{.+}}) mask_mod causal(top_left)
// CHECK: scf.for %{{.+}} = %[[END]] to %{{.+}} step %c32{{.*}} iter_args(%{{.+}} = %[[CUT]]#0, %{{.+}} = %[[CUT]]#1)
// CHECK-NOT: mask_mod
func.func @small_cache(%q: tensor<1x4x96x16xf16>, %k: tensor<1x2x96x16xf16>, %lse: tensor<1x4x96xf32>)
    -> (tensor<1x4x96x16xf16>, tensor<1x2x96x16xf16>, tensor<1x2x96x16xf16>) {
  %d:3 = attn.attention_backward %q, %k, %k output(%q : tensor<1x4x96x16xf16>)
      lse(%lse : tensor<1x4x96xf32>) d_output(%q : tensor<1x4x96x16xf16>) mask_mod causal(top_left)
      {schedule = #attn.schedule<kind = "small_cache">}
      : tensor<1x4x96x16xf16>, tensor<1x2x96x16xf16>, tensor<1x2x96x16xf16>
      -> tensor<1x4x96x16xf16>, tensor<1x2x96x16xf16>, tensor<1x2x96x16xf16>
  return %d#0, %d#1, %d#2 : tensor<1x4x96x16xf16>, tensor<1x2x96x16xf16>, tensor<1x2x96x16xf16>
}
