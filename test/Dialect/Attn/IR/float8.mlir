// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: @plain
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} sink(%{{.*}} : tensor<4xf32>) : tensor<2x4x?x64xf8E4M3FN>, tensor<2x2x?x64xf8E4M3FN>, tensor<2x2x?x64xf8E4M3FN> -> tensor<2x4x?x64xbf16>, tensor<2x4x?xf32>
func.func @plain(%q: tensor<2x4x?x64xf8E4M3FN>, %k: tensor<2x2x?x64xf8E4M3FN>, %s: tensor<4xf32>)
    -> (tensor<2x4x?x64xbf16>, tensor<2x4x?xf32>) {
  %o, %lse = attn.attention %q, %k, %k sink(%s : tensor<4xf32>)
      : tensor<2x4x?x64xf8E4M3FN>, tensor<2x2x?x64xf8E4M3FN>, tensor<2x2x?x64xf8E4M3FN> -> tensor<2x4x?x64xbf16>, tensor<2x4x?xf32>
  return %o, %lse : tensor<2x4x?x64xbf16>, tensor<2x4x?xf32>
}

// CHECK-LABEL: @descale
// CHECK: descale(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1xf32>, tensor<?x2xf32>, tensor<?x2xf32>) mask_mod causal(bottom_right)
func.func @descale(%q: tensor<?x4x?x64xf8E5M2>, %k: tensor<?x2x?x64xf8E5M2>, %one: tensor<1xf32>, %heads: tensor<?x2xf32>)
    -> tensor<?x4x?x64xf32> {
  %o = attn.attention %q, %k, %k descale(%one, %heads, %heads : tensor<1xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
      mask_mod causal(bottom_right)
      : tensor<?x4x?x64xf8E5M2>, tensor<?x2x?x64xf8E5M2>, tensor<?x2x?x64xf8E5M2> -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}

// CHECK-LABEL: @normalize
// CHECK: attn.normalize %{{.*}}, %{{.*}}, %{{.*}} descale(%{{.*}} : tensor<1x2xf32>) scale(5.000000e-01)
func.func @normalize(%acc: tensor<1x4x8x16xf32>, %row: tensor<1x4x8xf32>, %d: tensor<1x2xf32>) -> tensor<1x4x8x16xf16> {
  %o = attn.normalize %acc, %row, %row descale(%d : tensor<1x2xf32>) scale(0.5)
      : tensor<1x4x8x16xf32>, tensor<1x4x8xf32> -> tensor<1x4x8x16xf16>
  return %o : tensor<1x4x8x16xf16>
}
