// RUN: attn-opt %s --attn-decompose-online=bf16-dot --canonicalize | FileCheck %s

// Products of bf16 by dots of pairs: K transposed and V interleaved as pairs,
// which pass for i32; the scale is that of scores, and exponentials are rounded.
// CHECK-LABEL: @dots
// CHECK-SAME: %[[Q:.*]]: tensor<1x1x8x32xbf16>, %[[K:[^:]*]]: tensor<1x1x16x32xbf16>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<5.000000e-01> : vector<16xf32>
// CHECK: %[[VP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x32xi32>
// CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<32xbf16> -> vector<64xbf16>
// CHECK: vector.bitcast %{{.*}} : vector<64xbf16> to vector<32xi32>
// CHECK: %[[KP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x16xi32>
// CHECK: vector.transfer_read %[[K]]{{.*}} : tensor<1x1x16x32xbf16>, vector<16x32xbf16>
// CHECK: vector.bitcast %{{.*}} : vector<16x32xbf16> to vector<16x16xi32>
// CHECK: vector.transpose
// CHECK: %[[QP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x32xbf16>
// CHECK: vector.load %[[KP]]
// CHECK: vector.load %[[QP]][{{.*}}] : memref<8x32xbf16>, vector<2xbf16>
// CHECK: vector.broadcast {{.*}} : i32 to vector<16xi32>
// CHECK-COUNT-8: x86vector.avx512.dot {{.*}} : vector<32xbf16> -> vector<16xf32>
// CHECK-COUNT-8: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: vector.load %[[VP]]
// CHECK-COUNT-16: x86vector.avx512.dot
// CHECK-NOT: vector.fma
func.func @dots(%q: tensor<1x1x8x32xbf16>, %k: tensor<1x1x16x32xbf16>,
                %acc: tensor<1x1x8x32xf32>, %max: tensor<1x1x8xf32>,
                %sum: tensor<1x1x8xf32>, %o: index)
    -> (tensor<1x1x8x32xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>) {
  %r:3 = attn.online_attention %q, %k, %k scale(0.5) offsets(%o, %o, %o, %o)
      outs(%acc, %max, %sum)
      : tensor<1x1x8x32xbf16>, tensor<1x1x16x32xbf16>, tensor<1x1x16x32xbf16>
      -> tensor<1x1x8x32xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>
  return %r#0, %r#1, %r#2
      : tensor<1x1x8x32xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>
}

// Neither odd head dims, nor other element types, nor keys that no dot's result
// holds.
// CHECK-LABEL: @others
// CHECK-NOT: x86vector
// CHECK-COUNT-3: scf.for
func.func @others(%odd: tensor<1x1x16x31xbf16>, %acc: tensor<1x1x16x31xf32>,
                  %f16: tensor<1x1x16x32xf16>, %acc32: tensor<1x1x16x32xf32>,
                  %few: tensor<1x1x20x32xbf16>, %acc20: tensor<1x1x20x32xf32>,
                  %s: tensor<1x1x16xf32>, %s20: tensor<1x1x20xf32>, %o: index)
    -> (tensor<1x1x16x31xf32>, tensor<1x1x16x32xf32>, tensor<1x1x20x32xf32>) {
  %r:3 = attn.online_attention %odd, %odd, %odd offsets(%o, %o, %o, %o)
      outs(%acc, %s, %s)
      : tensor<1x1x16x31xbf16>, tensor<1x1x16x31xbf16>, tensor<1x1x16x31xbf16>
      -> tensor<1x1x16x31xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
  %t:3 = attn.online_attention %f16, %f16, %f16 offsets(%o, %o, %o, %o)
      outs(%acc32, %s, %s)
      : tensor<1x1x16x32xf16>, tensor<1x1x16x32xf16>, tensor<1x1x16x32xf16>
      -> tensor<1x1x16x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>
  %u:3 = attn.online_attention %few, %few, %few offsets(%o, %o, %o, %o)
      outs(%acc20, %s20, %s20)
      : tensor<1x1x20x32xbf16>, tensor<1x1x20x32xbf16>, tensor<1x1x20x32xbf16>
      -> tensor<1x1x20x32xf32>, tensor<1x1x20xf32>, tensor<1x1x20xf32>
  return %r#0, %t#0, %u#0
      : tensor<1x1x16x31xf32>, tensor<1x1x16x32xf32>, tensor<1x1x20x32xf32>
}
