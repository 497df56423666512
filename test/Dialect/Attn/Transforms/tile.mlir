// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-verify-normal-form --cse | FileCheck %s

// CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0)[s0] -> (32, -d0 + s0)>
// CHECK-DAG: #[[$GROUP:.*]] = affine_map<()[s0] -> (s0 floordiv 4)>
// CHECK-DAG: #[[$WHOLE:.*]] = affine_map<()[s0] -> ((s0 floordiv 16) * 16)>
// CHECK-DAG: #[[$KEYS:.*]] = affine_map<(d0)[s0] -> (16, -d0 + s0)>
// CHECK-DAG: #[[$RAGGED:.*]] = affine_map<(d0) -> (16, -d0 + 40)>
// CHECK: module attributes {attn.normal_form = #attn.normal_form<tiled>}

// Tiles that divide the sizes: everything is static, one key loop.
// CHECK-LABEL: @even
// CHECK-NOT: affine.min
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[M:.*]]) = (0, 0, 0) to (1, 2, 64) step (1, 1, 32) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<1x2x64x8xf32>)
// CHECK: %[[ACC0:.*]] = linalg.fill {{.*}} -> tensor<1x1x32x8xf32>
// CHECK: %[[QT:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[H]], %[[M]], 0] [1, 1, 32, 8]
// CHECK: %[[S:.*]]:3 = scf.for %[[N:.*]] = %c0{{.*}} to %c48{{.*}} step %c16{{.*}} iter_args(%[[ACC:.*]] = %[[ACC0]], %[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK: %[[KT:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[H]], %[[N]], 0] [1, 1, 16, 8]
// CHECK: %[[VT:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[H]], %[[N]], 0] [1, 1, 16, 8]
// CHECK: %[[R:.*]], %{{.*}}, %{{.*}} = attn.online_attention %[[QT]], %[[KT]], %[[VT]] offsets(%[[B]], %[[H]], %[[M]], %[[N]])
// CHECK-SAME: outs(%[[ACC]], %[[MAX]], %[[SUM]])
// CHECK: scf.yield %[[R]],
// CHECK-NOT: scf.for
// CHECK: %[[O:.*]] = attn.normalize %[[S]]#0, %[[S]]#1, %[[S]]#2
// CHECK: tensor.parallel_insert_slice %[[O]] into %[[OUT]][%[[B]], %[[H]], %[[M]], 0] [1, 1, 32, 8]
func.func @even(%q: tensor<1x2x64x8xf32>, %k: tensor<1x2x48x8xf32>,
                %v: tensor<1x2x48x8xf32>) -> tensor<1x2x64x8xf32> {
  %o = attn.attention %q, %k, %v {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x64x8xf32>, tensor<1x2x48x8xf32>, tensor<1x2x48x8xf32>
      -> tensor<1x2x64x8xf32>
  return %o : tensor<1x2x64x8xf32>
}

// Dynamic sizes and grouped heads: ragged rows, two key loops that follow each
// other, two results.
// CHECK-LABEL: @dynamic
// CHECK-SAME: %[[Q:.*]]: tensor<?x8x?x16xf16>, %[[K:[^:]*]]: tensor<?x2x?x16xf16>
// CHECK: %[[NSIZE:.*]] = tensor.dim %[[K]], %c2
// CHECK: %[[END:.*]] = affine.apply #[[$WHOLE]]()[%[[NSIZE]]]
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[M:.*]]) = (0, 0, 0) to (%{{.*}}, 8, %[[MSIZE:.*]]) step (1, 1, 32)
// CHECK: %[[ROWS:.*]] = affine.min #[[$ROWS]](%[[M]])[%[[MSIZE]]]
// CHECK: linalg.fill {{.*}} -> tensor<1x1x?x16xf32>
// CHECK: %[[HK:.*]] = affine.apply #[[$GROUP]]()[%[[H]]]
// CHECK: %[[S1:.*]]:3 = scf.for %[[N1:.*]] = %c0{{.*}} to %[[END]] step
// CHECK: tensor.extract_slice %[[K]][%{{.*}}, %[[HK]], %[[N1]], 0] [1, 1, 16, 16]
// CHECK: %[[S2:.*]]:3 = scf.for %[[N2:.*]] = %[[END]] to %[[NSIZE]] step
// CHECK-SAME: = %[[S1]]#0, %{{.*}} = %[[S1]]#1, %{{.*}} = %[[S1]]#2
// CHECK: %[[LEFT:.*]] = affine.min #[[$KEYS]](%[[N2]])[%[[NSIZE]]]
// CHECK: tensor.extract_slice %[[K]][%{{.*}}, %[[HK]], %[[N2]], 0] [1, 1, %[[LEFT]], 16]
// CHECK: attn.normalize %[[S2]]#0, %[[S2]]#1, %[[S2]]#2
// CHECK: tensor.parallel_insert_slice %{{.*}} [1, 1, %[[ROWS]], 16]
// CHECK: tensor.parallel_insert_slice %{{.*}} [1, 1, %[[ROWS]]]
func.func @dynamic(%q: tensor<?x8x?x16xf16>, %k: tensor<?x2x?x16xf16>,
                   %v: tensor<?x2x?x16xf16>)
    -> (tensor<?x8x?x16xf16>, tensor<?x8x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<?x8x?x16xf16>, tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>
      -> tensor<?x8x?x16xf16>, tensor<?x8x?xf32>
  return %o, %lse : tensor<?x8x?x16xf16>, tensor<?x8x?xf32>
}

// A static ragged end has a loop of its own, with a dynamic tile. The bias is
// sliced where it does not broadcast.
// CHECK-LABEL: @ragged
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step
// CHECK: scf.for %[[N:.*]] = %c32{{.*}} to %c40{{.*}} step
// CHECK: %[[LEFT:.*]] = affine.min #[[$RAGGED]](%[[N]])
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}, 0, %[[N]]] [1, 1, 1, %[[LEFT]]] {{.*}} tensor<1x2x1x40xf32> to tensor<1x1x1x?xf32>
func.func @ragged(%q: tensor<3x2x64x8xf32>, %k: tensor<3x2x40x8xf32>,
                  %v: tensor<3x2x40x8xf32>, %bias: tensor<1x2x1x40xf32>)
    -> tensor<3x2x64x8xf32> {
  %o = attn.attention %q, %k, %v bias(%bias : tensor<1x2x1x40xf32>)
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<3x2x64x8xf32>, tensor<3x2x40x8xf32>, tensor<3x2x40x8xf32>
      -> tensor<3x2x64x8xf32>
  return %o : tensor<3x2x64x8xf32>
}

// Dynamic head counts: the key head comes from their ratio.
// CHECK-LABEL: @heads
// CHECK: scf.forall (%{{.*}}, %[[H:.*]], %{{.*}}) =
// CHECK: %[[G:.*]] = arith.divui %{{.*}}, %{{.*}} : index
// CHECK: %[[HK:.*]] = arith.divui %[[H]], %[[G]] : index
func.func @heads(%q: tensor<1x?x64x8xf32>, %k: tensor<1x?x32x8xf32>)
    -> tensor<1x?x64x8xf32> {
  %o = attn.attention %q, %k, %k {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x?x64x8xf32>, tensor<1x?x32x8xf32>, tensor<1x?x32x8xf32>
      -> tensor<1x?x64x8xf32>
  return %o : tensor<1x?x64x8xf32>
}
