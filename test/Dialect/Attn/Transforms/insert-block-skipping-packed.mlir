// Heads of one tile that see different keys: no tile is left out for what the first of them sees.
// RUN: attn-opt %s --attn-to-tiled | FileCheck %s
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0) to (1, 8, 64) step (1, 4, 16)
// CHECK: scf.for %{{.*}} = %c0 to %c128
// CHECK: mask_mod
// CHECK-NOT: scf.for %
func.func @heads(%q: tensor<1x8x64x64xf16>, %k: tensor<1x2x128x64xf16>) -> tensor<1x8x64x64xf16> {
  %o = attn.attention %q, %k, %k
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %end = arith.addi %i, %h : index
        %p = arith.cmpi sle, %j, %end : index
        attn.yield %p : i1
      }
      {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2, pack_gqa = true>}
      : tensor<1x8x64x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16> -> tensor<1x8x64x64xf16>
  return %o : tensor<1x8x64x64xf16>
}
