// RUN: attn-opt %s --attn-decompose-online --canonicalize | FileCheck %s

// 8 rows of a 12-row tile in a block, then the other 4; keys in one vector of
// 16 lanes; K is packed transposed, Q with the scale.
// CHECK-LABEL: @step
// CHECK-SAME: %[[Q:.*]]: tensor<1x1x12x8xf16>, %[[K:[^:]*]]: tensor<1x1x16x8xf16>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<5.000000e-01> : vector<8xf32>
// CHECK-DAG: %[[KP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x16xf32>
// CHECK-DAG: %[[VP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x8xf32>
// CHECK-DAG: %[[S:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
// CHECK: vector.transfer_read %[[K]]{{.*}}in_bounds = [true, false]
// CHECK: vector.transpose
// CHECK: vector.transfer_write %{{.*}}, %[[KP]]
// CHECK: %[[QP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<12x8xf32>
// CHECK: vector.transfer_read %[[Q]]
// CHECK: arith.extf {{.*}} vector<8xf16> to vector<8xf32>
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: vector.store %{{.*}}, %[[QP]]
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK: vector.load %[[KP]]
// CHECK: memref.load %[[QP]]
// CHECK-COUNT-8: vector.fma
// CHECK: }
// CHECK-COUNT-8: vector.store %{{.*}}, %[[S]]
// The mask, on a vector of keys; then exp of what is left after the maximum.
// CHECK: vector.step : vector<16xindex>
// CHECK: arith.cmpi sle, {{.*}} : vector<16xindex>
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK-NOT: arith.fptosi
// CHECK-COUNT-6: math.fma {{.*}} : vector<16xf32>
// CHECK: vector.load %[[VP]]
// CHECK-COUNT-8: vector.fma
// The rest: 4 rows.
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK-NOT: attn.online_attention
func.func @step(%q: tensor<1x1x12x8xf16>, %k: tensor<1x1x16x8xf16>,
                %acc: tensor<1x1x12x8xf32>, %max: tensor<1x1x12xf32>,
                %sum: tensor<1x1x12xf32>, %b: index, %h: index, %m: index,
                %n: index)
    -> (tensor<1x1x12x8xf32>, tensor<1x1x12xf32>, tensor<1x1x12xf32>) {
  %r:3 = attn.online_attention %q, %k, %k scale(0.5) offsets(%b, %h, %m, %n)
      mask_mod causal(top_left) outs(%acc, %max, %sum)
      : tensor<1x1x12x8xf16>, tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16>
      -> tensor<1x1x12x8xf32>, tensor<1x1x12xf32>, tensor<1x1x12xf32>
  return %r#0, %r#1, %r#2
      : tensor<1x1x12x8xf32>, tensor<1x1x12xf32>, tensor<1x1x12xf32>
}

// What is not elementwise goes lane by lane; what does not depend on the key
// stays scalar.
// CHECK-LABEL: @gather
// CHECK: tensor.extract %{{.*}}[%{{.*}}] : tensor<4xf32>
// CHECK-COUNT-4: tensor.extract %{{.*}}[%{{.*}}] : tensor<?xf32>
// CHECK: vector.from_elements
func.func @gather(%q: tensor<1x1x1x8xf32>, %k: tensor<1x1x4x8xf32>,
                  %acc: tensor<1x1x1x8xf32>, %s: tensor<1x1x1xf32>,
                  %c: index, %slopes: tensor<4xf32>, %table: tensor<?xf32>)
    -> tensor<1x1x1x8xf32> {
  %r:3 = attn.online_attention %q, %k, %k offsets(%c, %c, %c, %c)
      score_mod (%x: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<4xf32>
        %t = tensor.extract %table[%j] : tensor<?xf32>
        %u = arith.mulf %slope, %t : f32
        %y = arith.addf %x, %u : f32
        attn.yield %y : f32
      } outs(%acc, %s, %s)
      : tensor<1x1x1x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
      -> tensor<1x1x1x8xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>
  return %r#0 : tensor<1x1x1x8xf32>
}

// CHECK-LABEL: @normalize
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %{{.*}}, %cst
// CHECK: arith.divf
// CHECK: arith.select %[[EMPTY]]
// CHECK: %[[HIDDEN:.*]] = arith.cmpf oeq, %{{.*}}, %cst
// CHECK: math.log
// CHECK: arith.select %[[HIDDEN]]
// CHECK: arith.truncf {{.*}} vector<8xf32> to vector<8xbf16>
func.func @normalize(%acc: tensor<1x1x4x8xf32>, %max: tensor<1x1x4xf32>,
                     %sum: tensor<1x1x4xf32>)
    -> (tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>) {
  %o, %lse = attn.normalize %acc, %max, %sum
      : tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
      -> tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>
  return %o, %lse : tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>
}
