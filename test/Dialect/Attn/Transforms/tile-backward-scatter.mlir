// RUN: attn-opt %s --attn-tile-backward --cse --split-input-file | FileCheck %s

// The last nest has one trip; its loop carries the gradient. Along the diagonals of tiles for a table of relative positions: what
// they add up belongs where the first of them does.

// CHECK-LABEL: func.func @relative
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: tensor<2x?xf16>
// CHECK: scf.forall (%{{.+}}) in (1) {{.*}} -> (tensor<2x?xf16>)
// CHECK: %[[ZERO:.+]] = linalg.fill {{.*}} -> tensor<2x?xf32>
// CHECK: %[[MT:.+]] = arith.ceildivui %{{.+}}, %c64
// CHECK: %[[NT:.+]] = arith.ceildivui %{{.+}}, %c64
// CHECK: %[[D:.+]] = arith.addi %[[MT]], %[[NT]]
// CHECK: %[[ALL:.+]] = scf.for %[[T:.+]] = %c0{{.*}} iter_args(%[[INTO:.+]] = %[[ZERO]]) -> (tensor<2x?xf32>)
// CHECK: %[[R:.+]] = arith.remui %[[T]], %[[D]] :
// CHECK: %[[DIAGONAL:.+]] = arith.subi %[[R]], %[[NT]]
// CHECK: %[[FIRST:.+]] = arith.maxsi %[[DIAGONAL]], %c0
// CHECK: %[[SUM:.+]] = scf.for %[[I:.+]] = %[[FIRST]] to {{.*}} -> (tensor<1x1x64x64xf32>)
// CHECK: %[[M:.+]] = arith.muli %[[I]], %c64
// CHECK: %[[J:.+]] = arith.subi %[[I]], %[[DIAGONAL]]
// CHECK: %[[N:.+]] = arith.muli %[[J]], %c64
// CHECK: attn.backward_step {{.*}} offsets(%{{.+}}, %{{.+}}, %[[M]], %[[N]]) score_mod
// CHECK: of(%[[TABLE]] : tensor<2x?xf16>)
// CHECK: %[[M0:.+]] = arith.muli %[[FIRST]], %c64
// CHECK: %[[J0:.+]] = arith.subi %[[FIRST]], %[[DIAGONAL]]
// CHECK: %[[N0:.+]] = arith.muli %[[J0]], %c64
// CHECK: %[[NEXT:.+]] = attn.backward_scatter %[[SUM]] offsets(%{{.+}}, %[[H:.+]], %[[M0]], %[[N0]]) into %[[INTO]] {
// CHECK-NEXT: ^bb0(%{{.+}}: index, %[[HI:.+]]: index, %{{.+}}: index, %{{.+}}: index):
// CHECK-NEXT: attn.yield %[[HI]] : index
// CHECK-NEXT: }, {
// CHECK: arith.subi
// CHECK: attn.yield
// CHECK: scf.yield %[[NEXT]]
// CHECK: arith.truncf %[[ALL]] : tensor<2x?xf32> to tensor<2x?xf16>
func.func @relative(%table: tensor<2x?xf16>, %q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %lse: tensor<1x2x?xf32>)
    -> tensor<2x?xf16> {
  %c = arith.constant 95 : index
  %d:4 = attn.attention_backward %q, %k, %k output(%q : tensor<1x2x?x64xf16>) lse(%lse : tensor<1x2x?xf32>) d_output(%q : tensor<1x2x?x64xf16>)
      captures(%table : tensor<2x?xf16>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %d = arith.subi %i, %j : index
        %at = arith.addi %d, %c : index
        %x = tensor.extract %table[%h, %at] : tensor<2x?xf16>
        %wide = arith.extf %x : f16 to f32
        %r = arith.addf %wide, %s : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right) {schedule = #attn.schedule<tile_m = 128, tile_n = 64>}
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> d_captures(tensor<2x?xf16>)
  return %d#3 : tensor<2x?xf16>
}

// -----

// An element for all keys of a row: a scatter behind the walk, whose tiles the mask leaves out are skipped.

// CHECK-LABEL: func.func @rows
// CHECK: scf.for {{.*}} -> (tensor<9xf32>)
// CHECK: %[[SUM:.+]] = scf.for {{.*}} -> (tensor<1x1x64x64xf32>)
// CHECK: attn.backward_scatter %[[SUM]] {{.*}} into %{{.+}} {
func.func @rows(%table: tensor<9xf32>, %q: tensor<1x2x128x64xf16>, %lse: tensor<1x2x128xf32>) -> tensor<9xf32> {
  %c9 = arith.constant 9 : index
  %d:4 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x128x64xf16>) lse(%lse : tensor<1x2x128xf32>) d_output(%q : tensor<1x2x128x64xf16>)
      captures(%table : tensor<9xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %at = arith.remui %i, %c9 : index
        %x = tensor.extract %table[%at] : tensor<9xf32>
        %r = arith.mulf %x, %s : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<tile_m = 64, tile_n = 64>}
      : tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16> -> tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16> d_captures(tensor<9xf32>)
  return %d#3 : tensor<9xf32>
}

// -----

// Two reads of one tensor: a step and a scatter for each, in each turn.

// CHECK-LABEL: func.func @both
// CHECK: scf.for {{.*}} -> (tensor<128xf32>)
// CHECK: scf.for {{.*}} iter_args(%[[INTO:.+]] = %{{.+}}) -> (tensor<128xf32>)
// CHECK: attn.backward_step
// CHECK: {read = 0 : i64}
// CHECK: %[[ONE:.+]] = attn.backward_scatter %{{.+}} offsets({{.+}}) into %[[INTO]] {
// CHECK-NEXT: ^bb0(%{{.+}}: index, %{{.+}}: index, %[[I:.+]]: index, %{{.+}}: index):
// CHECK-NEXT: attn.yield %[[I]] : index
// CHECK: attn.backward_step
// CHECK: {read = 1 : i64}
// CHECK: attn.backward_scatter %{{.+}} offsets({{.+}}) into %[[ONE]] {
// CHECK-NEXT: ^bb0(%{{.+}}: index, %{{.+}}: index, %{{.+}}: index, %[[J:.+]]: index):
// CHECK-NEXT: attn.yield %[[J]] : index
func.func @both(%table: tensor<128xf32>, %q: tensor<1x2x128x64xf16>, %lse: tensor<1x2x128xf32>) -> tensor<128xf32> {
  %d:4 = attn.attention_backward %q, %q, %q output(%q : tensor<1x2x128x64xf16>) lse(%lse : tensor<1x2x128xf32>) d_output(%q : tensor<1x2x128x64xf16>)
      captures(%table : tensor<128xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %x = tensor.extract %table[%i] : tensor<128xf32>
        %y = tensor.extract %table[%j] : tensor<128xf32>
        %p = arith.mulf %x, %y : f32
        %r = arith.addf %p, %s : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<tile_m = 64, tile_n = 64>}
      : tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16> -> tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16> d_captures(tensor<128xf32>)
  return %d#3 : tensor<128xf32>
}
