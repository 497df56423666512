// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-insert-block-skipping \
// RUN:   --attn-verify-normal-form --cse | FileCheck %s

// Of 8 key tiles, each row tile sees its own and those at a distance of a power
// of two: a table. Row tile 0: its list begins at entry 16; 4 full tiles, no
// partial ones.
// CHECK-LABEL: @butterfly
// CHECK: %[[TABLE:.*]] = arith.constant dense<[16, 64, 64, 64, 20, 64, 64, 64, 24, 64, 64, 64, 28, 64, 64, 64, 0, 16, 32, 64,
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[M:[a-z0-9]+]]) =
// CHECK: %[[BEGIN:.*]] = tensor.extract %[[TABLE]]
// CHECK: scf.for %[[COUNT:[a-z0-9]+]] = %c0{{[_0-9]*}} to %[[FULL:[0-9]+]] step %c16{{[_0-9]*}}
// CHECK: %[[ENTRY:.*]] = tensor.extract %[[TABLE]]
// CHECK: %[[KEY:.*]] = arith.index_cast %[[ENTRY]] : i32 to index
// CHECK: offsets(%{{.*}}, %{{.*}}, %[[M]], %[[KEY]])
// CHECK-NOT: mask_mod
// CHECK: scf.for %{{.*}} = %[[FULL]] to
// CHECK: mask_mod (
func.func @butterfly(%q: tensor<1x2x64x8xf32>, %k: tensor<1x2x128x8xf32>)
    -> tensor<1x2x64x8xf32> {
  %o = attn.attention %q, %k, %k
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c16 = arith.constant 16 : index
        %row = arith.divsi %i, %c16 : index
        %key = arith.divsi %j, %c16 : index
        %bits = arith.xori %row, %key : index
        %less = arith.subi %bits, %c1 : index
        %both = arith.andi %bits, %less : index
        %visible = arith.cmpi eq, %both, %c0 : index
        attn.yield %visible : i1
      }
      {schedule = #attn.schedule<
          tile_m = 16, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x64x8xf32>, tensor<1x2x128x8xf32>, tensor<1x2x128x8xf32>
      -> tensor<1x2x64x8xf32>
  return %o : tensor<1x2x64x8xf32>
}
