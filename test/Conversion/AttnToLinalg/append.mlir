// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-linalg --convert-graph-to-bufferizable --convert-elementwise-to-linalg \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s --check-prefix=BUFFER

// A loop over tokens inserts the rows whose slots are in the pool; a slot below 0 is a large number without a sign.
// CHECK-LABEL: func.func @packed
// CHECK: scf.for %[[T:[a-z0-9]+]] = {{.*}} iter_args(%[[POOL:[a-z0-9]+]] = %arg1)
// CHECK: tensor.extract %arg2[%[[T]]] : tensor<?xi32>
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult
// CHECK: scf.if %[[EXISTS]]
// CHECK: %[[PAGE:.*]] = arith.divui
// CHECK: %[[ROW:.*]] = arith.remui
// CHECK: %[[NEW:.*]] = tensor.extract_slice %arg0[%[[T]], 0, 0] [1, 2, 64] [1, 1, 1] : tensor<?x2x64xf32> to tensor<2x64xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[NEW]] : tensor<2x64xf32> to tensor<2x64xbf16>
// CHECK: tensor.insert_slice %[[ROUNDED]] into %[[POOL]][%[[PAGE]], 0, %[[ROW]], 0] [1, 2, 1, 64]

// In place: no memory but that of a rounded row, and no copy of a pool.
// BUFFER-LABEL: func.func @packed
// BUFFER-NOT: memref.copy %arg1
// BUFFER-NOT: memref.alloc({{.*}}) {{.*}} : memref<?x2x16x64xbf16>
// BUFFER: return %arg1
func.func @packed(%rows: tensor<?x2x64xf32>, %pool: tensor<?x2x16x64xbf16> {bufferization.writable = true}, %s: tensor<?xi32>) -> tensor<?x2x16x64xbf16> {
  %0 = attn.append %rows into %pool slots(%s : tensor<?xi32>) : tensor<?x2x64xf32> into tensor<?x2x16x64xbf16>
  return %0 : tensor<?x2x16x64xbf16>
}

// Rows of batches: a loop for each dimension of the slots. Of f16 and bf16 neither holds the other.
// CHECK-LABEL: func.func @by_batch
// CHECK: scf.for %[[B:[a-z0-9]+]] =
// CHECK: scf.for %[[M:[a-z0-9]+]] =
// CHECK: %[[NEW:.*]] = tensor.extract_slice %arg0[%[[B]], 0, %[[M]], 0] [1, 4, 1, 64]
// CHECK: %[[WIDE:.*]] = arith.extf %[[NEW]] : tensor<4x64xf16> to tensor<4x64xf32>
// CHECK: arith.truncf %[[WIDE]] : tensor<4x64xf32> to tensor<4x64xbf16>
// An argument that does not say so is not written: one copy.
// BUFFER-LABEL: func.func @by_batch
// BUFFER: memref.copy %arg1, %[[COPY:.*]] : memref<2x4x96x64xbf16> to
// BUFFER-NOT: memref.alloc({{.*}}) {{.*}} : memref<2x4x96x64xbf16>
// BUFFER: return %[[COPY]]
func.func @by_batch(%rows: tensor<2x4x3x64xf16>, %cache: tensor<2x4x96x64xbf16>, %s: tensor<2x3xi64>) -> tensor<2x4x96x64xbf16> {
  %0 = attn.append %rows into %cache slots(%s : tensor<2x3xi64>) : tensor<2x4x3x64xf16> into tensor<2x4x96x64xbf16>
  return %0 : tensor<2x4x96x64xbf16>
}

// The largest magnitude of each head's row, what that divides by, and the row, go to their places.
// CHECK-LABEL: @scales
// CHECK: scf.for {{.*}} iter_args(%[[POOL:.*]] = %arg1, %[[SCALES:.*]] = %arg3) -> (tensor<?x2x16x64xi8>, tensor<?x2x16xf32>)
// CHECK: scf.if
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: math.absf
// CHECK: arith.maximumf
// CHECK: %[[SCALE:.*]] = linalg.generic
// CHECK: arith.divf
// CHECK: arith.maximumf
// CHECK: %[[ROW:.*]] = linalg.generic
// CHECK: tensor.extract %[[SCALE]]
// CHECK: arith.fptosi
// CHECK: %[[P:.*]] = tensor.insert_slice %[[ROW]] into %[[POOL]]
// CHECK: %[[S:.*]] = tensor.insert_slice %[[SCALE]] into %[[SCALES]]
// CHECK: scf.yield %[[P]], %[[S]]
func.func @scales(%k: tensor<?x2x64xf16>, %kp: tensor<?x2x16x64xi8>, %s: tensor<?xi32>, %ks: tensor<?x2x16xf32>) -> (tensor<?x2x16x64xi8>, tensor<?x2x16xf32>) {
  %0:2 = attn.append %k into %kp slots(%s : tensor<?xi32>) scales(%ks : tensor<?x2x16xf32>) : tensor<?x2x64xf16> into tensor<?x2x16x64xi8>
  return %0#0, %0#1 : tensor<?x2x16x64xi8>, tensor<?x2x16xf32>
}
