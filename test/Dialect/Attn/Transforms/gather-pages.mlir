// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-gather-pages --canonicalize | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s --check-prefix=LINALG

// CHECK-DAG: #[[COLUMN:.*]] = affine_map<()[s0, s1] -> ((s0 + s1) floordiv 16)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<()[s0, s1] -> ((s0 + s1) mod 16)>
// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[POOL:[a-z0-9]+]]: tensor<30x1x16x32xf32>, %[[TABLE:[a-z0-9]+]]: tensor<3x9xi32>
// CHECK-DAG: %[[LAST:.*]] = arith.constant 29 : index
// CHECK-NOT: attn.paged
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step
// CHECK: scf.for %[[R:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[C:.*]] = affine.apply #[[COLUMN]]()[%[[N]], %[[R]]]
// CHECK: %[[ENTRY:.*]] = tensor.extract %[[TABLE]][%{{.*}}, %[[C]]]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[ENTRY]]
// CHECK: %[[PAGE:.*]] = arith.minui %[[INDEX]], %[[LAST]]
// CHECK: %[[I:.*]] = affine.apply #[[ROW]]()[%[[N]], %[[R]]]
// CHECK: tensor.extract_slice %[[POOL]][%[[PAGE]], {{.*}}, %[[I]], 0] [1, 1, 1, 32]
// CHECK: tensor.insert_slice {{.*}}[0, 0, %[[R]], 0] [1, 1, 1, 32]
// CHECK: attn.online_attention

// LINALG-NOT: attn.paged
// LINALG: linalg.generic
// LINALG: tensor.extract %{{.*}} : tensor<3x9xi32>
// LINALG: arith.minui
// LINALG: tensor.extract %{{.*}} : tensor<30x1x16x32xf32>
func.func @f(%q: tensor<3x2x8x32xf32>, %pool: tensor<30x1x16x32xf32>, %table: tensor<3x9xi32>, %n: tensor<3xi32>) -> tensor<3x2x8x32xf32> {
  %k = attn.paged %pool[%table] : tensor<30x1x16x32xf32>[tensor<3x9xi32>] -> tensor<3x1x144x32xf32>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<3xi32>) {schedule = #attn.schedule<tile_m = 8, tile_n = 32, warps = 1, stages = 1>}
      : tensor<3x2x8x32xf32>, tensor<3x1x144x32xf32>, tensor<3x1x144x32xf32> -> tensor<3x2x8x32xf32>
  return %o : tensor<3x2x8x32xf32>
}
