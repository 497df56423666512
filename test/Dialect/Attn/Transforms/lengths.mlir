// Key loops end at the length of the batch; rows that do not exist are masked.
// RUN: attn-opt %s --attn-convert-to-online --attn-tile --canonicalize | FileCheck %s
// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-pad-tiles --canonicalize | FileCheck %s --check-prefix=PAD
// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s --check-prefix=LINALG

// CHECK-LABEL: func.func @keys
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x2x8x16xf16>, %[[K:[a-z0-9]+]]: tensor<2x1x96x16xf16>, %[[N:[a-z0-9]+]]: tensor<2xi32>, %[[M:[a-z0-9]+]]: tensor<2xi64>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[CAPACITY:.*]] = arith.constant 96 : index
// CHECK: scf.forall (%[[B:.*]], %{{.*}}) in
// CHECK: %[[ENTRY:.*]] = tensor.extract %[[N]][%[[B]]]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[ENTRY]]
// CHECK: %[[ROOM:.*]] = arith.minsi %[[INDEX]], %[[CAPACITY]]
// CHECK: %[[LENGTH:.*]] = arith.maxsi %[[ROOM]], %[[ZERO]]
// CHECK: %[[WHOLE:.*]] = affine.apply #{{.*}}()[%[[LENGTH]]]
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[WHOLE]]
// CHECK: attn.online_attention {{.*}} key_lengths(%[[N]] : tensor<2xi32>)
// CHECK: tensor.extract %[[M]]
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %[[LENGTH]]
// CHECK: tensor.extract_slice %[[K]]{{.*}} tensor<1x1x?x16xf16>

// PAD-NOT: key_lengths
// PAD: tensor.pad

// LINALG-NOT: attn.
// LINALG: linalg.index 2
// LINALG: tensor.extract %{{.*}} : tensor<2xi64>
// LINALG: tensor.extract %{{.*}} : tensor<2xi32>
// LINALG: arith.select
func.func @keys(%q: tensor<2x2x8x16xf16>, %k: tensor<2x1x96x16xf16>, %n: tensor<2xi32>, %m: tensor<2xi64>) -> tensor<2x2x8x16xf16> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>, query %m : tensor<2xi64>)
      {schedule = #attn.schedule<tile_m = 8, tile_n = 32, warps = 1, stages = 1>}
      : tensor<2x2x8x16xf16>, tensor<2x1x96x16xf16>, tensor<2x1x96x16xf16> -> tensor<2x2x8x16xf16>
  return %o : tensor<2x2x8x16xf16>
}
