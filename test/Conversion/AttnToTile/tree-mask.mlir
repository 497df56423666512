// Guessed tokens that form a tree, as bits by row: a mask that reads data, of which the analysis still finds that all keys before the new
// ones are seen. Their tiles are a loop without a mask, and the bits are read once for a row.
// RUN: attn-opt %s --attn-to-scheduled=target=sm_90a --attn-to-tiled --attn-to-tile=target=sm_90a | FileCheck %s
// CHECK-LABEL: attn_tile.kernel @tree(
// CHECK: %[[bits:.*]] = attn_tile.map : () -> !attn_tile.fragment<[[rows:.*]]xi32, row>
// CHECK: attn_tile.extract
// CHECK: scf.for
// CHECK-NOT: arith.shrsi
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: attn_tile.map %{{.*}}, %[[bits]]
// CHECK: arith.shrsi
// CHECK-LABEL: attn_tile.kernel @tree_combine(

func.func @tree(%q: tensor<?x8x8x128xbf16>, %key: tensor<?x2x64x128xbf16>, %value: tensor<?x2x64x128xbf16>, %table: tensor<?x?xi32>, %len: tensor<?xi32>, %bits: tensor<?x?xi32>) -> tensor<?x8x8x128xbf16> {
  %k = attn.paged %key[%table] : tensor<?x2x64x128xbf16>[tensor<?x?xi32>] -> tensor<?x2x?x128xbf16>
  %v = attn.paged %value[%table] : tensor<?x2x64x128xbf16>[tensor<?x?xi32>] -> tensor<?x2x?x128xbf16>
  %o = attn.attention %q, %k, %v lengths(key %len : tensor<?xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %n = attn.length key
    %m = attn.length query
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c31 = arith.constant 31 : index
    %first = arith.subi %n, %m : index
    %t = arith.subi %j, %first : index
    %before = arith.cmpi slt, %t, %c0 : index
    %t0 = arith.maxsi %t, %c0 : index
    %t1 = arith.minsi %t0, %c31 : index
    %w = tensor.extract %bits[%b, %i] : tensor<?x?xi32>
    %wi = arith.index_cast %w : i32 to index
    %s = arith.shrsi %wi, %t1 : index
    %bit = arith.andi %s, %c1 : index
    %is = arith.cmpi eq, %bit, %c1 : index
    %sees = arith.ori %before, %is : i1
    attn.yield %sees : i1
  } : tensor<?x8x8x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16> -> tensor<?x8x8x128xbf16>
  return %o : tensor<?x8x8x128xbf16>
}
