// RUN: attn-opt %s --attn-to-scheduled=target=cpu --attn-to-tiled --attn-pad-tiles --attn-decompose-online --canonicalize | FileCheck %s

// Two rows: a tile of two, for which no copy of K or V is made. A row of K is read once for both, and lanes are added up; the columns of V that a
// row has are one vector.
// CHECK-LABEL: @few_rows
// CHECK-SAME: %[[Q:.*]]: tensor<1x1x2x80xf16>, %[[K:.*]]: tensor<1x1x64x80xf16>, %[[V:.*]]: tensor<1x1x64x48xf16>
// CHECK-NOT: memref<80x64xf32>
// CHECK-NOT: memref<64x48xf32>
// CHECK-NOT: vector.transpose
// CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c1 {
// CHECK: vector.transfer_read %[[K]][{{.*}}, %[[J]], {{.*}}vector<32xf16>
// CHECK-COUNT-2: vector.fma {{.*}} : vector<32xf32>
// CHECK: vector.transfer_read %[[K]][{{.*}}, %[[J]], %c64], {{.*}}vector<16xf16>
// CHECK-COUNT-2: vector.fma {{.*}} : vector<16xf32>
// CHECK-COUNT-2: memref.store %{{.*}}, %{{.*}}, %[[J]]] : memref<8x64xf32>
// CHECK: vector.transfer_read %[[V]]{{.*}}vector<48xf16>
// CHECK-COUNT-2: vector.fma {{.*}} : vector<48xf32>
func.func @few_rows(%q: tensor<1x1x2x80xf16>, %k: tensor<1x1x64x80xf16>, %v: tensor<1x1x64x48xf16>) -> tensor<1x1x2x48xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x1x2x80xf16>, tensor<1x1x64x80xf16>, tensor<1x1x64x48xf16> -> tensor<1x1x2x48xf16>
  return %o : tensor<1x1x2x48xf16>
}
