// A function that appends and has no attention is a program of its own: sizes that pools have in common are constraints of the launch.
// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --canonicalize | FileCheck %s
// RUN: attn-opt %s --target=sm_80 --emit=manifest,ptx,header -o %t && FileCheck %s --check-prefix=MANIFEST < %t.json
// RUN: attn-opt %s --target=sm_90a --device-asserts --emit=manifest -o - | FileCheck %s --check-prefix=ASSERTS

// CHECK: attn_launch.program "append" attributes {{{.*}}semantics = "append"}
// CHECK: attn_launch.operand inout "cache_0" argument(2) result(1) dims ["cache_0_pages", "cache_0_heads", "cache_0_page", "cache_0_columns"]
// CHECK: attn_launch.operand input "new_cache_0" argument(0) dims ["Bnew", "cache_0_heads", "Mnew", "cache_0_columns"]
// CHECK: attn_launch.operand inout "cache_1" argument(3) result(0)
// CHECK: attn_launch.operand input "slots" argument(4) dims ["Bnew", "Mnew"]
// CHECK-COUNT-3: attn_launch.constraint
// CHECK: attn_launch.launch @append_append
// CHECK: attn_tile.kernel @append_append(

// MANIFEST: "message": "expected dimension 0 of cache_1 to be as in cache_0"
// MANIFEST: "message": "expected dimension 1 of cache_1 to be as in cache_0"
// MANIFEST: "message": "expected dimension 2 of cache_1 to be as in cache_0"
// MANIFEST: "op": "append"
// ASSERTS-COUNT-2: "entry": "append_assert
// ASSERTS: "entry": "append_append
func.func @append(%k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x40xf32>, %kc: tensor<?x?x?x64xf16>, %vc: tensor<?x?x?x40xbf16>, %s: tensor<?x?xi64>)
    -> (tensor<?x?x?x40xbf16>, tensor<?x?x?x64xf16>) {
  %0:2 = attn.append %k, %v into %kc, %vc slots(%s : tensor<?x?xi64>) : tensor<?x?x?x64xf16>, tensor<?x?x?x40xf32> into tensor<?x?x?x64xf16>, tensor<?x?x?x40xbf16>
  return %0#1, %0#0 : tensor<?x?x?x40xbf16>, tensor<?x?x?x64xf16>
}

func.func private @beside(tensor<4xf32>) -> tensor<4xf32>
