// Rows are counted in every load of a loop, and looked up in the table; the pool is an operand, and the table one.
// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --canonicalize | FileCheck %s

// CHECK-LABEL: attn_launch.program "f"
// CHECK: attn_launch.operand input "key" vector(8) argument(1) dims ["key_pages", "Hkv", "key_page", "D"]
// CHECK: attn_launch.operand input "value" vector(8) argument(2) dims ["value_pages", "Hkv", "value_page", "Dv"]
// CHECK: attn_launch.operand input "key_table" argument(3) dims ["B", "key_table_columns"]
// CHECK: attn_launch.operand input "key_lengths" argument(4) dims ["B"]
// CHECK: attn_tile.kernel @f(%{{.*}}, %[[K:[a-z0-9]+]]: !attn_tile.global<?x2x16x64xf16>, %[[V:[a-z0-9]+]]: !attn_tile.global<?x2x16x64xf16>, %[[T:[a-z0-9]+]]: !attn_tile.global<?x?xi32>
// CHECK: %[[TILE:.*]] = arith.constant 32 : index
// CHECK: scf.for
// CHECK: attn_tile.load %[[K]][{{.*}}] pages(%[[T]] : !attn_tile.global<?x?xi32>) rows(%[[TILE]])
// CHECK: attn_tile.load %[[V]][{{.*}}] pages(%[[T]] : !attn_tile.global<?x?xi32>) rows(%[[TILE]])
// CHECK: scf.for
// CHECK: %[[LEFT:.*]] = affine.min
// CHECK: attn_tile.load %[[K]][{{.*}}] pages(%[[T]] : !attn_tile.global<?x?xi32>) rows(%[[LEFT]])
func.func @f(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %vp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi32>) -> tensor<?x8x1x64xf16> {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %v = attn.paged %vp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 16, tile_n = 32, warps = 1, stages = 2>}
      : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>
  return %o : tensor<?x8x1x64xf16>
}

// N is what the table has columns for: of what is read at a key, and of the most splits.
// CHECK-LABEL: attn_launch.program "read"
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[COLUMNS:.*]] = attn_tile.dim %{{.*}}, 1 : <?x?xi32>
// CHECK: %[[KEYS:.*]] = arith.muli %[[COLUMNS]], %[[C16]]
// CHECK: arith.subi %[[KEYS]], %{{.*}}
// CHECK: attn_launch.constraint {{.*}} "expected dimension 0 of capture0, which is read at each position, to be at least N"
func.func @read(%q: tensor<?x2x1x64xf16>, %kp: tensor<?x1x16x64xf16>, %vp: tensor<?x1x16x64xf16>, %t: tensor<?x?xi32>, %a: tensor<?xf32>) -> tensor<?x2x1x64xf16> {
  %k = attn.paged %kp[%t] : tensor<?x1x16x64xf16>[tensor<?x?xi32>] -> tensor<?x1x?x64xf16>
  %v = attn.paged %vp[%t] : tensor<?x1x16x64xf16>[tensor<?x?xi32>] -> tensor<?x1x?x64xf16>
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %x = tensor.extract %a[%j] : tensor<?xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } {schedule = #attn.schedule<tile_m = 16, tile_n = 32, warps = 1, stages = 2>}
      : tensor<?x2x1x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x2x1x64xf16>
  return %o : tensor<?x2x1x64xf16>
}

// Left of a window nothing is read: in partial tiles from where the first key is that some row sees, in whole ones from the start.
// CHECK-LABEL: attn_tile.kernel @window
// CHECK: scf.for
// CHECK: attn_tile.load {{.*}} rows(%{{.*}}) from(%c0{{[_0-9]*}})
// CHECK: scf.for
// CHECK: %[[BEFORE:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[MISSING:.*]] = arith.maxsi %[[BEFORE]], %c0{{[_0-9]*}} : index
// CHECK: attn_tile.load {{.*}} rows(%{{.*}}) from(%[[MISSING]])
// CHECK: attn_tile.load {{.*}} rows(%{{.*}}) from(%[[MISSING]])
func.func @window(%q: tensor<?x8x1x64xf16>, %kp: tensor<?x2x16x64xf16>, %table: tensor<?x?xi32>, %n: tensor<?xi32>) -> tensor<?x8x1x64xf16> {
  %k = attn.paged %kp[%table] : tensor<?x2x16x64xf16>[tensor<?x?xi32>] -> tensor<?x2x?x64xf16>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<?xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %l = attn.length key
    %c = arith.constant 100 : index
    %lo = arith.subi %l, %c : index
    %s = arith.cmpi sgt, %j, %lo : index
    attn.yield %s : i1
  } {schedule = #attn.schedule<tile_m = 16, tile_n = 32, warps = 1, stages = 2>} : tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x8x1x64xf16>
  return %o : tensor<?x8x1x64xf16>
}
