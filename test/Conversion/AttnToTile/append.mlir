// The pool is an operand that is read and written, an argument and a result; its rows are written before the attention is launched.
// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --canonicalize | FileCheck %s
// RUN: attn-opt %s --target=sm_80 --emit=manifest -o %t && FileCheck %s --check-prefix=MANIFEST < %t.json

// MANIFEST: "name": "key",
// MANIFEST-NEXT: "role": "inout",
// MANIFEST: "arguments": {
// MANIFEST: "key": 2,
// MANIFEST: "results": {
// MANIFEST-NEXT: "key": 1,
// MANIFEST-NEXT: "output": 0

// CHECK-LABEL: attn_launch.program "f"
// CHECK: %[[KEY:.*]] = attn_launch.operand inout "key" vector(8) argument(2) result(1) dims ["key_pages", "Hkv", "key_page", "D"]
// CHECK: attn_launch.operand input "new_key" argument(1) dims ["tokens", "Hkv", "D"]
// CHECK: attn_launch.operand input "slots" argument(4) dims ["tokens"]
// CHECK: attn_launch.launch @f_append
// CHECK: attn_launch.launch @f grid
// CHECK: attn_tile.kernel @f_append(
// CHECK-SAME: warps(4)
// CHECK: %[[SLOT:.*]] = attn_tile.extract {{.*}} : <?xi32>
// CHECK: %[[AT:.*]] = arith.extsi
// CHECK: arith.cmpi ult, %[[AT]]
// CHECK: %[[PAGE:.*]] = arith.divui %[[AT]]
// CHECK: %[[ROW:.*]] = arith.remui %[[AT]]
// CHECK: %[[X:.*]] = attn_tile.extract {{.*}} : <?x2x64xf32>
// CHECK: %[[Y:.*]] = arith.truncf %[[X]] : f32 to f16
// CHECK: attn_tile.insert %[[Y]], %{{.*}}[%[[PAGE]], %{{.*}}, %[[ROW]], %{{.*}}] : <?x2x16x64xf16>
func.func @f(%q: tensor<?x8x1x64xf16>, %new: tensor<?x2x64xf32>, %pool: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %s: tensor<?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x8x1x64xf16>, tensor<?x2x16x64xf16>) {
  %p = attn.append %new into %pool slots(%s : tensor<?xi32>) : tensor<?x2x64xf32> into tensor<?x2x16x64xf16>
  %k = attn.paged %p[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 16, tile_n = 32, warps = 1, stages = 2, pack_gqa = true>}
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>
  return %o, %p : tensor<?x8x1x64xf16>, tensor<?x2x16x64xf16>
}
