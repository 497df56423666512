// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: attn.ragged %{{.*}}[%{{.*}}] : tensor<?x8x128xbf16>[tensor<?xi32>] -> tensor<?x8x?x128xbf16>
// CHECK: attn.ragged %{{.*}}[%{{.*}}] : tensor<100x2x8xf32>[tensor<4xi64>] -> tensor<3x2x64x8xf32>
// CHECK: attn.sequence_lengths %{{.*}} : tensor<4xi64> -> tensor<3xi64>
// CHECK: attn.pack %{{.*}}[%{{.*}}] into %{{.*}} : tensor<3x2x64x8xf32>[tensor<4xi64>] into tensor<100x2x8xf32>
// CHECK: attn.pack %{{.*}}[%{{.*}}] into %{{.*}} : tensor<3x2x64xf32>[tensor<4xi64>] into tensor<2x100xf32>
func.func @f(%p: tensor<?x8x128xbf16>, %offsets: tensor<?xi32>, %small: tensor<100x2x8xf32>, %few: tensor<4xi64>, %rows: tensor<3x2x64xf32>, %lse: tensor<2x100xf32>)
    -> (tensor<?x8x?x128xbf16>, tensor<3xi64>, tensor<100x2x8xf32>, tensor<2x100xf32>) {
  %q = attn.ragged %p[%offsets] : tensor<?x8x128xbf16>[tensor<?xi32>] -> tensor<?x8x?x128xbf16>
  %s = attn.ragged %small[%few] : tensor<100x2x8xf32>[tensor<4xi64>] -> tensor<3x2x64x8xf32>
  %n = attn.sequence_lengths %few : tensor<4xi64> -> tensor<3xi64>
  %b = attn.pack %s[%few] into %small : tensor<3x2x64x8xf32>[tensor<4xi64>] into tensor<100x2x8xf32>
  %l = attn.pack %rows[%few] into %lse : tensor<3x2x64xf32>[tensor<4xi64>] into tensor<2x100xf32>
  return %q, %n, %b, %l : tensor<?x8x?x128xbf16>, tensor<3xi64>, tensor<100x2x8xf32>, tensor<2x100xf32>
}
