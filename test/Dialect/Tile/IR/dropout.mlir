// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @dropout
// CHECK: attn_tile.dropout %{{.*}}, %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) threshold(429496729) {heads = 2 : i64} : <32x16xf32, accumulator>
// CHECK: attn_tile.dropout {{.*}} threshold(4294967295) signs transposed : <32x16xf32, accumulator>
func.func @dropout(%p: !attn_tile.fragment<32x16xf32, accumulator>, %seed: i64, %offset: i64, %b: index, %h: index, %i: index, %j: index) {
  %k = attn_tile.dropout %p, %seed, %offset at(%b, %h, %i, %j) threshold(429496729) {heads = 2} : !attn_tile.fragment<32x16xf32, accumulator>
  %t = attn_tile.dropout %p, %seed, %offset at(%b, %h, %i, %j) threshold(4294967295) signs transposed : !attn_tile.fragment<32x16xf32, accumulator>
  return
}
