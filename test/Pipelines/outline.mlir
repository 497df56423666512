// A host's module keeps everything but its attentions: unknown ops, other
// functions, attributes.
// RUN: attn-opt %s --allow-unregistered-dialect --attn-outline=target=sm_80 | FileCheck %s

// Files beside the module, and what runs them.
// RUN: rm -rf %t && mkdir -p %t/kernels
// RUN: attn-opt %s --allow-unregistered-dialect --attn-outline="target=sm_80 directory=%t/kernels" | FileCheck %s --check-prefix=FILES
// RUN: ls %t/kernels | FileCheck %s --check-prefix=NAMES
// RUN: attn-sim %t/kernels/layers_attention.ptx --list | FileCheck %s --check-prefix=ENTRY
// RUN: not attn-opt %s --allow-unregistered-dialect --attn-outline="directory=%t/none" 2>&1 | FileCheck %s --check-prefix=NO-DIRECTORY

// FILES: attn.kernel = {header = "layers_attention.h", manifest = "layers_attention.json", ptx = "layers_attention.ptx", target = "sm_80"}
// NAMES:      layers_attention.h
// NAMES-NEXT: layers_attention.json
// NAMES-NEXT: layers_attention.ptx
// NAMES-NEXT: layers_attention_0.h
// ENTRY: layers_attention
// NO-DIRECTORY: error: option directory: cannot open output file


// CHECK: module attributes {host.name = "x"}
module attributes {host.name = "x"} {
  // CHECK: "host.global"() {value = 3 : i32}
  "host.global"() {value = 3 : i32} : () -> ()

  // Two that are alike share a kernel; a captured tensor is an argument, a
  // constant is not.
  // CHECK-LABEL: func.func @layers
  func.func @layers(%q: tensor<1x2x96x64xf16>, %k: tensor<1x2x80x64xf16>, %v: tensor<1x2x80x64xf16>,
                    %slopes: tensor<2xf32>) -> tensor<1x2x96x64xf16> {
    %half = arith.constant 0.5 : f32
    // CHECK: %[[A:.*]] = call @layers_attention(%arg0, %arg1, %arg2)
    %a = attn.attention %q, %k, %v
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16> -> tensor<1x2x96x64xf16>
    // CHECK: %[[U:.*]] = "host.unknown"(%[[A]])
    %u = "host.unknown"(%a) : (tensor<1x2x96x64xf16>) -> tensor<1x2x96x64xf16>
    // CHECK: %[[B:.*]] = call @layers_attention(%[[U]], %arg1, %arg2)
    %b = attn.attention %u, %k, %v
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16> -> tensor<1x2x96x64xf16>
    // CHECK: %[[C:.*]]:2 = call @layers_attention_0(%[[B]], %arg1, %arg2, %arg3)
    %c, %lse = attn.attention %b, %k, %v
        score_mod (%s: f32, %bi: index, %h: index, %i: index, %j: index) {
          %slope = tensor.extract %slopes[%h] : tensor<2xf32>
          %t = arith.mulf %slope, %half : f32
          %r = arith.addf %s, %t : f32
          attn.yield %r : f32
        }
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>
        -> tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
    // CHECK: "host.use"(%[[C]]#1)
    "host.use"(%lse) : (tensor<1x2x96xf32>) -> ()
    // CHECK: return %[[C]]#0
    return %c : tensor<1x2x96x64xf16>
  }

  // CHECK: func.func private @other() -> i32
  func.func private @other() -> i32
}
// CHECK: func.func private @layers_attention(tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>) -> tensor<1x2x96x64xf16>
// CHECK-SAME: attn.kernel = {manifest = "{{.*}}\22entry\22: \22layers_attention\22{{.*}}", ptx = "{{.*}}.target sm_80{{.*}}", target = "sm_80"}
// CHECK: func.func private @layers_attention_0({{.*}}, tensor<2xf32>) -> (tensor<1x2x96x64xf16>, tensor<1x2x96xf32>)
// CHECK-NOT: attn.attention
