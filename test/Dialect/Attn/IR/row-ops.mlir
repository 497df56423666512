// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: @rotary
// CHECK: attn.rotary %arg0, %arg1, %arg1 halves : tensor<?x4x?x64xf16>, tensor<128x32xf32>
// CHECK: attn.rotary %arg0, %arg2, %arg2 interleaved positions(%arg3 : tensor<1x?xi64>) columns [16, 32] transposed : tensor<?x4x?x64xf16>, tensor<?x?x16xbf16>
func.func @rotary(%x: tensor<?x4x?x64xf16>, %t: tensor<128x32xf32>,
                  %u: tensor<?x?x16xbf16>, %p: tensor<1x?xi64>) {
  %0 = attn.rotary %x, %t, %t halves : tensor<?x4x?x64xf16>, tensor<128x32xf32>
  %1 = attn.rotary %x, %u, %u interleaved positions(%p : tensor<1x?xi64>)
           columns [16, 32] transposed : tensor<?x4x?x64xf16>, tensor<?x?x16xbf16>
  return
}

// CHECK-LABEL: @qk_norm
// CHECK: attn.qk_norm %arg0 weight(%arg1 : tensor<64xf32>) epsilon(9.99{{.*}}E-7) : tensor<?x4x?x64xbf16>
// CHECK: attn.qk_norm %arg0 epsilon(0.0{{.*}}) : tensor<?x4x?x64xbf16>
func.func @qk_norm(%x: tensor<?x4x?x64xbf16>, %w: tensor<64xf32>) {
  %0 = attn.qk_norm %x weight(%w : tensor<64xf32>) epsilon(1.0e-6) : tensor<?x4x?x64xbf16>
  %1 = attn.qk_norm %x epsilon(0.0) : tensor<?x4x?x64xbf16>
  return
}

// CHECK-LABEL: @dequantize
// CHECK: attn.dequantize %arg0 : tensor<?x4x?x64xf8E4M3FN> -> tensor<?x4x?x64xf16>
// CHECK: attn.dequantize %arg0 descale(%arg2 : tensor<1xf32>) : tensor<?x4x?x64xf8E4M3FN> -> tensor<?x4x?x64xf32>
// CHECK: attn.dequantize %arg1 descale(%arg3 : tensor<?x2xf32>) : tensor<?x4x?x64xi8> -> tensor<?x4x?x64xbf16>
func.func @dequantize(%x: tensor<?x4x?x64xf8E4M3FN>, %y: tensor<?x4x?x64xi8>, %d: tensor<1xf32>, %h: tensor<?x2xf32>) {
  %0 = attn.dequantize %x : tensor<?x4x?x64xf8E4M3FN> -> tensor<?x4x?x64xf16>
  %1 = attn.dequantize %x descale(%d : tensor<1xf32>) : tensor<?x4x?x64xf8E4M3FN> -> tensor<?x4x?x64xf32>
  %2 = attn.dequantize %y descale(%h : tensor<?x2xf32>) : tensor<?x4x?x64xi8> -> tensor<?x4x?x64xbf16>
  return
}

// CHECK-LABEL: @packed
// CHECK: attn.rotary %arg0, %arg1, %arg1 halves positions(%arg2 : tensor<?xi32>) : tensor<?x4x64xf16>, tensor<128x32xf32>
// CHECK: attn.qk_norm %{{.*}} epsilon({{.*}}) : tensor<?x4x64xf16>
func.func @packed(%x: tensor<?x4x64xf16>, %t: tensor<128x32xf32>, %p: tensor<?xi32>) -> tensor<?x4x64xf16> {
  %0 = attn.rotary %x, %t, %t halves positions(%p : tensor<?xi32>) : tensor<?x4x64xf16>, tensor<128x32xf32>
  %1 = attn.qk_norm %0 epsilon(1.0e-6) : tensor<?x4x64xf16>
  return %1 : tensor<?x4x64xf16>
}
