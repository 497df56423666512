// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: attn.paged %{{.*}}[%{{.*}}] : tensor<?x8x16x128xbf16>[tensor<?x?xi32>] -> tensor<?x8x?x128xbf16>
// CHECK: attn.paged %{{.*}}[%{{.*}}] : tensor<9x1x3x8xf32>[tensor<2x4xi64>] -> tensor<2x1x12x8xf32>
// CHECK: attn.paged %{{.*}}[%{{.*}}, %{{.*}}] : tensor<9x1x3x8xf32>[tensor<5xi64>, tensor<3xi32>] -> tensor<2x1x15x8xf32>
func.func @f(%pool: tensor<?x8x16x128xbf16>, %table: tensor<?x?xi32>, %small: tensor<9x1x3x8xf32>, %entries: tensor<2x4xi64>,
             %indices: tensor<5xi64>, %indptr: tensor<3xi32>) -> (tensor<?x8x?x128xbf16>, tensor<2x1x12x8xf32>, tensor<2x1x15x8xf32>) {
  %k = attn.paged %pool[%table] : tensor<?x8x16x128xbf16>[tensor<?x?xi32>] -> tensor<?x8x?x128xbf16>
  %s = attn.paged %small[%entries] : tensor<9x1x3x8xf32>[tensor<2x4xi64>] -> tensor<2x1x12x8xf32>
  %t = attn.paged %small[%indices, %indptr] : tensor<9x1x3x8xf32>[tensor<5xi64>, tensor<3xi32>] -> tensor<2x1x15x8xf32>
  return %k, %s, %t : tensor<?x8x?x128xbf16>, tensor<2x1x12x8xf32>, tensor<2x1x15x8xf32>
}
