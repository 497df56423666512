// RUN: attn-opt %s --convert-attn-to-linalg --canonicalize --split-input-file | FileCheck %s

// delta; scores, P, dP with the softmax's gradient; dQ, dK and dV. The group's
// gradients are summed: both (g, i) are reductions.

// CHECK-DAG: #[[SCORES:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
// CHECK-DAG: #[[KEYS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-LABEL: func @grouped
// CHECK: %[[DELTA:.+]] = linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>)
// CHECK: %[[P:.+]] = linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<1x2x2x8x12xf32>, tensor<1x2x2x8xf32>)
// CHECK: math.exp
// CHECK: %[[DS:.+]] = linalg.generic {{.*}} ins(%[[P]], %{{.+}} : tensor<1x2x2x8x12xf32>, tensor<1x2x2x8xf32>)
// CHECK: arith.subf
// CHECK: arith.cmpf oeq
// CHECK: arith.select
// CHECK: linalg.generic {{.*}} ins(%[[DS]], %{{.+}} : tensor<1x2x2x8x12xf32>, tensor<1x2x12x16xf16>)
// CHECK: linalg.generic {indexing_maps = [#[[SCORES]], {{.*}}, #[[KEYS]]], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel", "parallel"]} ins(%[[DS]], %{{.+}} : tensor<1x2x2x8x12xf32>, tensor<1x2x2x8x16xf16>)
// CHECK: linalg.generic {indexing_maps = [#[[SCORES]], {{.*}}, #[[KEYS]]], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel", "parallel"]} ins(%[[P]], %{{.+}} : tensor<1x2x2x8x12xf32>, tensor<1x2x2x8x16xf16>)
func.func @grouped(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x12x16xf16>, %v: tensor<1x2x12x16xf16>,
                   %o: tensor<1x4x8x16xf16>, %lse: tensor<1x4x8xf32>, %do: tensor<1x4x8x16xf16>)
    -> (tensor<1x4x8x16xf16>, tensor<1x2x12x16xf16>, tensor<1x2x12x16xf16>) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x4x8x16xf16>)
      lse(%lse : tensor<1x4x8xf32>) d_output(%do : tensor<1x4x8x16xf16>) mask_mod causal(top_left)
      : tensor<1x4x8x16xf16>, tensor<1x2x12x16xf16>, tensor<1x2x12x16xf16>
      -> tensor<1x4x8x16xf16>, tensor<1x2x12x16xf16>, tensor<1x2x12x16xf16>
  return %d#0, %d#1, %d#2 : tensor<1x4x8x16xf16>, tensor<1x2x12x16xf16>, tensor<1x2x12x16xf16>
}

// -----

// A broadcast bias is summed; a capture gets what each score adds to the element
// it reads.

// CHECK-LABEL: func @captures
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: tensor<4xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "reduction", "reduction"]} {{.*}} outs({{.*}} : tensor<1x4x1x1xf32>)
// CHECK: scf.for %[[H:[a-z0-9]+]] = %c0 to %c4
// CHECK: scf.for %{{.+}} = %c0 to %c8
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
// CHECK: %[[OLD:.+]] = tensor.extract %[[SUM:.+]][%[[H]]] : tensor<4xf32>
// CHECK: %[[NEW:.+]] = arith.addf %[[OLD]]
// CHECK: tensor.insert %[[NEW]] into %[[SUM]][%[[H]]]
func.func @captures(%q: tensor<1x4x8x16xf32>, %b: tensor<1x4x1x1xf32>, %table: tensor<4xf32>,
                    %lse: tensor<1x4x8xf32>) -> (tensor<1x4x1x1xf32>, tensor<4xf32>) {
  %d:5 = attn.attention_backward %q, %q, %q bias(%b : tensor<1x4x1x1xf32>)
      output(%q : tensor<1x4x8x16xf32>) lse(%lse : tensor<1x4x8xf32>)
      d_output(%q : tensor<1x4x8x16xf32>) captures(%table : tensor<4xf32>)
      score_mod (%s: f32, %x: index, %h: index, %i: index, %j: index) {
        %t = tensor.extract %table[%h] : tensor<4xf32>
        %r = arith.mulf %s, %t : f32
        attn.yield %r : f32
      }
      : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
      -> tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
      d_bias(tensor<1x4x1x1xf32>) d_captures(tensor<4xf32>)
  return %d#3, %d#4 : tensor<1x4x1x1xf32>, tensor<4xf32>
}
