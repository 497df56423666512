// RUN: attn-opt %s --attn-decompose-backward --canonicalize --cse | FileCheck %s

// Both products of a row block, the softmax's gradient row by row, and the
// products with dS and P; the scale is in the copies of Q and K.

// CHECK-LABEL: func.func @queries
// CHECK-DAG: %[[HALF:.+]] = arith.constant dense<5.000000e-01> : vector<8xf32>
// CHECK-DAG: %[[NEGINF:.+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[INF:.+]] = arith.constant 0x7F800000 : f32
// CHECK: arith.mulf %{{.+}}, %[[HALF]]
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: vector.fma
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>,
// CHECK: %[[LSE:.+]] = tensor.extract %arg4
// CHECK: %[[NONE:.+]] = arith.cmpf oeq, %[[LSE]], %[[NEGINF]]
// CHECK: arith.select %[[NONE]], %[[INF]], %[[LSE]]
// CHECK: %[[TANH:.+]] = math.tanh
// CHECK: math.fma
// CHECK: %[[P:.+]] = arith.select %{{.+}}, %{{.+}}, %{{.+}} : vector<16xi1>, vector<16xf32>
// The derivative of the soft cap: 1 - tanh^2.
// CHECK: %[[SQUARE:.+]] = arith.mulf %[[TANH]], %[[TANH]]
// CHECK: arith.subf %{{.+}}, %[[SQUARE]]
// CHECK: vector.transfer_write {{.*}} tensor<1x1x8x8xf32>
// CHECK-NOT: attn.backward_step
func.func @queries(%q: tensor<1x1x8x8xf16>, %k: tensor<1x1x16x8xf16>, %v: tensor<1x1x16x8xf16>,
                   %do: tensor<1x1x8x8xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>,
                   %dq: tensor<1x1x8x8xf32>, %m: index, %n: index) -> tensor<1x1x8x8xf32> {
  %z = arith.constant 0 : index
  %r = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta) scale(0.5)
      offsets(%z, %z, %m, %n) score_mod soft_cap(1.0) mask_mod causal(top_left)
      d_query(%dq : tensor<1x1x8x8xf32>)
      : tensor<1x1x8x8xf16>, tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16>, tensor<1x1x8x8xf16>,
        tensor<1x1x8xf32>
  return %r : tensor<1x1x8x8xf32>
}

// Rows of dK and dV are keys: P and dS are read by columns.

// CHECK-LABEL: func.func @keys
// CHECK-DAG: %[[P:.+]] = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
// CHECK: %[[DK:.+]] = scf.for %[[ROW:.+]] = %c0 to %c16 step %c8 iter_args(%{{.+}} = %arg6) -> (tensor<1x1x16x8xf32>)
// CHECK: scf.for %[[I:.+]] = %c0 to %c8 step %c1
// CHECK: memref.load %{{.+}}[%[[I]], %[[ROW]]]
// CHECK: %[[DV:.+]] = scf.for {{.*}} iter_args(%{{.+}} = %arg7) -> (tensor<1x1x16x8xf32>)
// CHECK: return %[[DK]], %[[DV]]
func.func @keys(%q: tensor<1x1x8x8xf16>, %k: tensor<1x1x16x8xf16>, %v: tensor<1x1x16x8xf16>,
                %do: tensor<1x1x8x8xf16>, %lse: tensor<1x1x8xf32>, %delta: tensor<1x1x8xf32>,
                %dk: tensor<1x1x16x8xf32>, %dv: tensor<1x1x16x8xf32>, %z: index)
    -> (tensor<1x1x16x8xf32>, tensor<1x1x16x8xf32>) {
  %r:2 = attn.backward_step %q, %k, %v d_output(%do) lse(%lse) delta(%delta)
      offsets(%z, %z, %z, %z) d_key(%dk : tensor<1x1x16x8xf32>) d_value(%dv : tensor<1x1x16x8xf32>)
      : tensor<1x1x8x8xf16>, tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16>, tensor<1x1x8x8xf16>,
        tensor<1x1x8xf32>
  return %r#0, %r#1 : tensor<1x1x16x8xf32>, tensor<1x1x16x8xf32>
}

// CHECK-LABEL: func.func @delta
// CHECK: %[[LAST:.+]] = tensor.extract %arg2
// CHECK: arith.subf %{{.+}}, %[[LAST]] : f32
func.func @delta(%o: tensor<1x1x8x8xf16>, %do: tensor<1x1x8x8xf16>, %dlse: tensor<1x1x8xf32>)
    -> tensor<1x1x8xf32> {
  %d = attn.backward_delta %o, %do d_lse(%dlse : tensor<1x1x8xf32>)
      : tensor<1x1x8x8xf16>, tensor<1x1x8x8xf16> -> tensor<1x1x8xf32>
  return %d : tensor<1x1x8xf32>
}
