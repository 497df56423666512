// A mask whose visible tiles do not fill a band is priced by the part that its tiles see: a butterfly of blocks of 64 gets tiles
// that its blocks are made of.
// RUN: attn-opt %s --attn-select-schedule=target=sm_90a | FileCheck %s
// CHECK-LABEL: @butterfly
// CHECK: attn.attention
// CHECK: schedule = #attn.schedule<{{.*}}tile_m = 64, tile_n = {{(16|32|64)}},
func.func @butterfly(%q: tensor<1x8x4096x64xf16>, %k: tensor<1x8x4096x64xf16>, %v: tensor<1x8x4096x64xf16>) -> tensor<1x8x4096x64xf16> {
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c64 = arith.constant 64 : index
        %p = arith.divui %i, %c64 : index
        %r = arith.divui %j, %c64 : index
        %x = arith.xori %p, %r : index
        %y = arith.subi %x, %c1 : index
        %z = arith.andi %x, %y : index
        %e = arith.cmpi eq, %z, %c0 : index
        attn.yield %e : i1
      }
      : tensor<1x8x4096x64xf16>, tensor<1x8x4096x64xf16>, tensor<1x8x4096x64xf16> -> tensor<1x8x4096x64xf16>
  return %o : tensor<1x8x4096x64xf16>
}
