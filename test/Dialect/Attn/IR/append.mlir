// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: func @packed
// CHECK: %[[P:.*]]:2 = attn.append %arg0, %arg1 into %arg2, %arg3 slots(%arg4 : tensor<?xi32>) : tensor<?x2x64xf16>, tensor<?x2x128xf32> into tensor<?x2x16x64xf16>, tensor<?x2x16x128xf16>
// CHECK: return %[[P]]#0, %[[P]]#1
func.func @packed(%k: tensor<?x2x64xf16>, %v: tensor<?x2x128xf32>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x128xf16>, %s: tensor<?xi32>)
    -> (tensor<?x2x16x64xf16>, tensor<?x2x16x128xf16>) {
  %k1, %v1 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi32>)
      : tensor<?x2x64xf16>, tensor<?x2x128xf32> into tensor<?x2x16x64xf16>, tensor<?x2x16x128xf16>
  return %k1, %v1 : tensor<?x2x16x64xf16>, tensor<?x2x16x128xf16>
}

// A cache of contiguous keys is a page for each batch.
// CHECK-LABEL: func @by_batch
// CHECK: attn.append %arg0 into %arg1 slots(%arg2 : tensor<2x3xi64>) : tensor<2x?x3x64xbf16> into tensor<2x?x?x64xbf16>
func.func @by_batch(%k: tensor<2x?x3x64xbf16>, %cache: tensor<2x?x?x64xbf16>, %s: tensor<2x3xi64>) -> tensor<2x?x?x64xbf16> {
  %0 = attn.append %k into %cache slots(%s : tensor<2x3xi64>) : tensor<2x?x3x64xbf16> into tensor<2x?x?x64xbf16>
  return %0 : tensor<2x?x?x64xbf16>
}

// CHECK-LABEL: func @quantised
// CHECK: attn.append %arg0 into %arg1 slots(%arg2 : tensor<2x3xi64>) descale(%arg3 : tensor<2x?xf32>) : tensor<2x?x3x64xbf16> into tensor<2x?x?x64xf8E4M3FN>
func.func @quantised(%k: tensor<2x?x3x64xbf16>, %cache: tensor<2x?x?x64xf8E4M3FN>, %s: tensor<2x3xi64>, %d: tensor<2x?xf32>) -> tensor<2x?x?x64xf8E4M3FN> {
  %0 = attn.append %k into %cache slots(%s : tensor<2x3xi64>) descale(%d : tensor<2x?xf32>) : tensor<2x?x3x64xbf16> into tensor<2x?x?x64xf8E4M3FN>
  return %0 : tensor<2x?x?x64xf8E4M3FN>
}

// CHECK-LABEL: @scales
// CHECK: %[[A:.*]]:4 = attn.append %arg0, %arg1 into %arg2, %arg3 slots(%arg4 : tensor<?xi32>) scales(%arg5, %arg6 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) :
// CHECK-SAME: tensor<?x2x64xbf16>, tensor<?x2x40xf32> into tensor<?x2x16x64xf8E4M3FN>, tensor<?x2x16x40xi8>
// CHECK: return %[[A]]#1, %[[A]]#3
func.func @scales(%k: tensor<?x2x64xbf16>, %v: tensor<?x2x40xf32>, %kp: tensor<?x2x16x64xf8E4M3FN>, %vp: tensor<?x2x16x40xi8>, %s: tensor<?xi32>, %ks: tensor<?x2x16xf32>,
                  %vs: tensor<?x2x16xf32>) -> (tensor<?x2x16x40xi8>, tensor<?x2x16xf32>) {
  %0:4 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi32>) scales(%ks, %vs : tensor<?x2x16xf32>, tensor<?x2x16xf32>)
      : tensor<?x2x64xbf16>, tensor<?x2x40xf32> into tensor<?x2x16x64xf8E4M3FN>, tensor<?x2x16x40xi8>
  return %0#1, %0#3 : tensor<?x2x16x40xi8>, tensor<?x2x16xf32>
}
