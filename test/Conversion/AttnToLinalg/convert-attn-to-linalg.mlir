// RUN: attn-opt %s --convert-attn-to-linalg --canonicalize --split-input-file | FileCheck %s

// The loops of a plain attention: scores, scores changed in place, row maximum,
// exponentials, row sum, product with the values, division, LSE.

// CHECK-DAG: #[[Q:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[K:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[S:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @plain
// CHECK-SAME: %[[QUERY:.+]]: tensor<1x4x8x16xf16>, %[[KEY:.+]]: tensor<1x4x12x16xf16>, %[[VALUE:.+]]: tensor<1x4x12x32xf16>
// CHECK-DAG: %[[SCALE:.+]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[NEGINF:.+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[QK:.+]] = linalg.generic {indexing_maps = [#[[Q]], #[[K]], #[[S]]]
// CHECK-SAME: ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[QUERY]], %[[KEY]] : tensor<1x4x8x16xf16>, tensor<1x4x12x16xf16>)
// CHECK-SAME: outs({{.*}} : tensor<1x4x8x12xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[SCORES:.+]] = linalg.generic {{.*}} outs(%[[QK]]
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK: %[[I:.+]] = linalg.index 2
// CHECK: %[[J:.+]] = linalg.index 3
// CHECK: %[[VISIBLE:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK: arith.select %[[VISIBLE]], %{{.*}}, %[[NEGINF]] : f32
// CHECK: %[[MAX:.+]] = linalg.generic {{.*}} ins(%[[SCORES]]
// CHECK: arith.maximumf
// CHECK: %[[SHIFT:.+]] = linalg.generic {{.*}} ins(%[[MAX]]
// CHECK: %[[EMPTY:.+]] = arith.cmpf oeq, %{{.*}}, %[[NEGINF]]
// CHECK: arith.select %[[EMPTY]], %[[ZERO]]
// CHECK: %[[EXP:.+]] = linalg.generic {{.*}} ins(%[[SHIFT]] {{.*}} outs(%[[SCORES]]
// CHECK: math.exp
// CHECK: %[[SUM:.+]] = linalg.generic {{.*}} ins(%[[EXP]]
// CHECK: arith.addf
// CHECK: %[[ACC:.+]] = linalg.generic {{.*}} ins(%[[EXP]], %[[VALUE]]
// CHECK: arith.cmpi sle
// CHECK: %[[OUT:.+]] = linalg.generic {{.*}} ins(%[[ACC]], %[[MAX]], %[[SUM]]
// CHECK: arith.divf
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: %[[LSE:.+]] = linalg.generic {{.*}} ins(%[[MAX]], %[[SUM]]
// CHECK: math.log
// CHECK: return %[[OUT]], %[[LSE]]
func.func @plain(%q: tensor<1x4x8x16xf16>, %k: tensor<1x4x12x16xf16>,
                 %v: tensor<1x4x12x32xf16>)
    -> (tensor<1x4x8x32xf16>, tensor<1x4x8xf32>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<1x4x8x16xf16>, tensor<1x4x12x16xf16>, tensor<1x4x12x32xf16>
      -> tensor<1x4x8x32xf16>, tensor<1x4x8xf32>
  return %o, %lse : tensor<1x4x8x32xf16>, tensor<1x4x8xf32>
}

// -----

// Grouped heads: [B, Hq, ...] becomes [B, Hkv, G, ...], for the bias too, and
// the region sees h = hk * G + g.

// CHECK-DAG: #[[BIAS:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (0, d1, d2, 0, d4)>
// CHECK-LABEL: func @grouped
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]] output_shape [%{{.*}}, 2, 4, %{{.*}}, 16]
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]] output_shape [1, 2, 4, 1, %{{.*}}]
// CHECK: linalg.generic {indexing_maps = [#[[BIAS]]
// CHECK: %[[HK:.+]] = linalg.index 1
// CHECK: %[[BASE:.+]] = arith.muli %[[HK]], %c4
// CHECK: %[[G:.+]] = linalg.index 2
// CHECK: %[[H:.+]] = arith.addi %[[BASE]], %[[G]]
// CHECK: tensor.extract %{{.*}}[%[[H]]] : tensor<8xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]]
func.func @grouped(%q: tensor<?x8x?x16xf32>, %k: tensor<?x2x?x16xf32>,
                   %v: tensor<?x2x?x16xf32>, %bias: tensor<1x8x1x?xf32>,
                   %slopes: tensor<8xf32>) -> tensor<?x8x?x16xf32> {
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x8x1x?xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<8xf32>
        %r = arith.addf %s, %slope : f32
        attn.yield %r : f32
      }
      : tensor<?x8x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>
      -> tensor<?x8x?x16xf32>
  return %o : tensor<?x8x?x16xf32>
}

// -----

// Heads known only at run time: G = Hq / max(Hkv, 1).

// CHECK-LABEL: func @dynamic_heads
// CHECK: %[[HKV:.+]] = tensor.dim %arg1, %c1
// CHECK: %[[SAFE:.+]] = arith.maxui %[[HKV]], %c1
// CHECK: %[[HQ:.+]] = tensor.dim %arg0, %c1
// CHECK: %[[G:.+]] = arith.divui %[[HQ]], %[[SAFE]]
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, %[[HKV]], %[[G]], %{{.*}}, 16]
func.func @dynamic_heads(%q: tensor<1x?x?x16xf32>, %k: tensor<1x?x?x16xf32>,
                         %v: tensor<1x?x?x16xf32>) -> tensor<1x?x?x16xf32> {
  %o = attn.attention %q, %k, %v
      : tensor<1x?x?x16xf32>, tensor<1x?x?x16xf32>, tensor<1x?x?x16xf32>
      -> tensor<1x?x?x16xf32>
  return %o : tensor<1x?x?x16xf32>
}

// -----

// f64 stays f64.

// CHECK-LABEL: func @wide
// CHECK-NOT: f32
// CHECK: return
func.func @wide(%q: tensor<1x1x2x4xf64>, %k: tensor<1x1x3x4xf64>,
                %v: tensor<1x1x3x4xf64>) -> tensor<1x1x2x4xf64> {
  %o = attn.attention %q, %k, %v
      : tensor<1x1x2x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>
      -> tensor<1x1x2x4xf64>
  return %o : tensor<1x1x2x4xf64>
}

// -----

// A step rescales the state it is given and sees global coordinates.

// CHECK-LABEL: func @step
// CHECK-SAME: %[[ROW:[^:]+]]: index, %[[COLUMN:[^:]+]]: index)
// CHECK: %[[J:.+]] = linalg.index 3
// CHECK: arith.addi %[[COLUMN]], %[[J]]
// CHECK: linalg.generic {{.*}} outs(%arg4 : tensor<1x1x8xf32>)
// CHECK: arith.maximumf
// CHECK-COUNT-2: math.exp
// CHECK: return
func.func @step(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x4x16xf32>,
                %v: tensor<1x1x4x16xf32>, %acc: tensor<1x1x8x16xf32>,
                %max: tensor<1x1x8xf32>, %sum: tensor<1x1x8xf32>, %i: index,
                %j: index)
    -> (tensor<1x1x8x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %r:3 = attn.online_attention %q, %k, %v offsets(%c0, %c0, %i, %j)
      mask_mod causal(top_left) outs(%acc, %max, %sum)
      : tensor<1x1x8x16xf32>, tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>
      -> tensor<1x1x8x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>
  return %r#0, %r#1, %r#2
      : tensor<1x1x8x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>
}

// -----

// CHECK-LABEL: func @normalize_and_merge
// CHECK: arith.divf
// CHECK: math.log
// CHECK-COUNT-2: tensor.expand_shape {{.*}} into tensor<1x1x1x8x16xf32>
// CHECK-COUNT-2: arith.maximumf
// Of each part the sum of weights, and the weighted outputs.
// CHECK-COUNT-4: math.exp
// CHECK: arith.divf
// CHECK: math.log
// CHECK-NOT: attn.
// CHECK: return
func.func @normalize_and_merge(%acc: tensor<1x1x8x16xf32>,
                               %max: tensor<1x1x8xf32>,
                               %sum: tensor<1x1x8xf32>,
                               %o1: tensor<1x1x8x16xf32>,
                               %l1: tensor<1x1x8xf32>)
    -> (tensor<1x1x8x16xf32>, tensor<1x1x8xf32>) {
  %o0, %l0 = attn.normalize %acc, %max, %sum
      : tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
      -> tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
  %o, %l = attn.merge
      outputs(%o0, %o1 : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>)
      lses(%l0, %l1 : tensor<1x1x8xf32>, tensor<1x1x8xf32>)
      -> tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
  return %o, %l : tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
}

// -----

// One reduction over the parts for each of maximum, sum and accumulator.
// CHECK-LABEL: func @combine
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel", "parallel"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel", "parallel"]
// CHECK: %[[WEIGHT:.*]] = math.exp
// CHECK: arith.mulf %[[WEIGHT]]
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel", "parallel", "parallel"]
// CHECK-NOT: attn.
// CHECK: return
func.func @combine(%accs: tensor<4x1x1x?x64xf32>, %maxima: tensor<4x1x1x?xf32>, %sums: tensor<4x1x1x?xf32>)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?xf32>) {
  %acc, %max, %sum = attn.combine %accs, %maxima, %sums
      : tensor<4x1x1x?x64xf32>, tensor<4x1x1x?xf32> -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %acc, %sum : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
}
