// What stands beside an attention in its module is no obstacle: a declaration, a function that is called, another one, a module.
// RUN: attn-opt %s --target=sm_80 --emit=manifest -o - | FileCheck %s
// RUN: attn-opt %s --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// CHECK: "schema": "attn-mlir/manifest/1"
// CHECK: "name": "query"
// PTX: .entry with_others(

func.func private @declared(tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16>

func.func private @callee(%x: tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16> {
  %e = tensor.empty() : tensor<1x2x70x64xf16>
  %r = linalg.exp ins(%x : tensor<1x2x70x64xf16>) outs(%e : tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16>
  return %r : tensor<1x2x70x64xf16>
}

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

module @inner {
  func.func @nothing() {
    return
  }
}

func.func @with_others(%x: tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16> {
  %q = call @callee(%x) : (tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16>
  %k = call @declared(%x) : (tensor<1x2x70x64xf16>) -> tensor<1x2x70x64xf16>
  %o = attn.attention %q, %k, %x
      : tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16> -> tensor<1x2x70x64xf16>
  return %o : tensor<1x2x70x64xf16>
}
