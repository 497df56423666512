// RUN: attn-opt %s --attn-expand-float8 | FileCheck %s

// The upper byte of an f16.
// CHECK-LABEL: @e5m2
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f8E5M2 to i8
// CHECK: %[[WORD:.*]] = arith.extui %[[BITS]] : i8 to i16
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[WORD]], %c8_i16
// CHECK: %[[HALF:.*]] = arith.bitcast %[[SHIFTED]] : i16 to f16
// CHECK: arith.extf %[[HALF]] : f16 to f32
func.func @e5m2(%x: f8E5M2) -> f32 {
  %y = arith.extf %x : f8E5M2 to f32
  return %y : f32
}

// An f16 that is 2^8 too small; 0x7f and 0xff are NaN.
// CHECK-LABEL: @e4m3
// CHECK: arith.shli %{{.*}}, %{{.*}} : vector<8xi16>
// CHECK: %[[HALF:.*]] = arith.extf %{{.*}} : vector<8xf16> to vector<8xf64>
// CHECK: %[[NUMBER:.*]] = arith.mulf %[[HALF]], %{{.*}} : vector<8xf64>
// CHECK: %[[NAN:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : vector<8xi8>
// CHECK: arith.select %[[NAN]], %{{.*}}, %[[NUMBER]] : vector<8xi1>, vector<8xf64>
func.func @e4m3(%x: vector<8xf8E4M3FN>) -> vector<8xf64> {
  %y = arith.extf %x : vector<8xf8E4M3FN> to vector<8xf64>
  return %y : vector<8xf64>
}

// CHECK-LABEL: @bf16
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @bf16(%x: f8E4M3FN) -> bf16 {
  %y = arith.extf %x : f8E4M3FN to bf16
  return %y : bf16
}

// CHECK-LABEL: @others
// CHECK: arith.extf %{{.*}} : f16 to f32
func.func @others(%x: f16) -> f32 {
  %y = arith.extf %x : f16 to f32
  return %y : f32
}

// An f32 rounded on its bits: normal numbers, those below them by a sum, NaN, the sign.
// CHECK-LABEL: @narrow
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: %[[NORMAL:.*]] = arith.minui
// CHECK: arith.select
// CHECK: %[[BYTE:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.bitcast %[[BYTE]] : i8 to f8E4M3FN
func.func @narrow(%x: f32) -> f8E4M3FN {
  %y = arith.truncf %x : f32 to f8E4M3FN
  return %y : f8E4M3FN
}

// Of f64 it would be rounded twice.
// CHECK-LABEL: @narrow_f64
// CHECK: arith.truncf %{{.*}} : f64 to f8E5M2
func.func @narrow_f64(%x: f64) -> f8E5M2 {
  %y = arith.truncf %x : f64 to f8E5M2
  return %y : f8E5M2
}
