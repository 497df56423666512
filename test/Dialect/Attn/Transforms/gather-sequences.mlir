// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-gather-pages --canonicalize | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s --check-prefix=LINALG

// Tiles of a sequence are copied row by row, none behind the packed tensor; a tile without a row has no keys.
// CHECK-LABEL: func.func @f
// CHECK: scf.forall (%[[B:.*]], %[[M:.*]]) = (0, 0) to
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[M]], %{{.*}} : index
// CHECK: arith.select %[[HAS]]
// CHECK: scf.for
// CHECK: tensor.extract %{{.*}}[%[[B]]] : tensor<?xi32>
// CHECK: arith.minui
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [1, 1, 16] [1, 1, 1] : tensor<?x1x16xf32> to tensor<16xf32>
// CHECK: attn.pack

// A view, the lengths and the rows of results, in linalg.
// LINALG-LABEL: func.func @f
// LINALG-NOT: attn.
// LINALG: linalg.generic
// LINALG: scf.for
// LINALG: scf.for
// LINALG: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 0] [1, 1, 16] [1, 1, 1] : tensor<1x16xf32> into tensor<?x1x16xf32>
func.func @f(%qp: tensor<?x1x16xf32>, %k: tensor<?x1x?x16xf32>, %o: tensor<?xi32>, %n: tensor<?xi32>, %e: tensor<?x1x16xf32>) -> tensor<?x1x16xf32> {
  %q = attn.ragged %qp[%o] : tensor<?x1x16xf32>[tensor<?xi32>] -> tensor<?x1x?x16xf32>
  %m = attn.sequence_lengths %o : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 8, tile_n = 16, warps = 1, stages = 1>}
      : tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32> -> tensor<?x1x?x16xf32>
  %p = attn.pack %r[%o] into %e : tensor<?x1x?x16xf32>[tensor<?xi32>] into tensor<?x1x16xf32>
  return %p : tensor<?x1x16xf32>
}
