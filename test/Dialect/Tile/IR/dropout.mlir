// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @dropout
// CHECK: attn_tile.dropout_mask %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) threshold(429496729) {heads = 2 : i64} : <32x16xi1, accumulator>
// CHECK: attn_tile.dropout_mask {{.*}} threshold(4294967295) transposed : <16x16xi1, accumulator>
func.func @dropout(%seed: i64, %offset: i64, %b: index, %h: index, %i: index, %j: index) {
  %k = attn_tile.dropout_mask %seed, %offset at(%b, %h, %i, %j) threshold(429496729) {heads = 2} : !attn_tile.fragment<32x16xi1, accumulator>
  %t = attn_tile.dropout_mask %seed, %offset at(%b, %h, %i, %j) threshold(4294967295) transposed : !attn_tile.fragment<16x16xi1, accumulator>
  return
}
