// RUN: attn-opt %s --attn-decompose-backward | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// Loops over the scores carry the table; indices are computed for what is not 0 only.

// CHECK-LABEL: func.func @scatter
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<1x1x8x4xf32>, %[[T:[a-z0-9]+]]: tensor<?xf32>, %[[B:[a-z0-9]+]]: index, %[[H:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// CHECK: scf.for %{{.+}} = {{.*}} iter_args(%{{.+}} = %[[T]]) -> (tensor<?xf32>)
// CHECK: scf.for
// CHECK: scf.for %[[I:.+]] = %c0{{.*}} to %c8{{.*}} iter_args(%[[ROWS:.+]] = %{{.+}}) -> (tensor<?xf32>)
// CHECK: scf.for %[[J:.+]] = %c0{{.*}} to %c4{{.*}} iter_args(%[[INTO:.+]] = %[[ROWS]]) -> (tensor<?xf32>)
// CHECK: %[[X:.+]] = tensor.extract %[[S]][%{{.+}}, %{{.+}}, %[[I]], %[[J]]]
// CHECK: %[[ANY:.+]] = arith.cmpf une, %[[X]], %{{.+}} : f32
// CHECK: scf.if %[[ANY]] -> (tensor<?xf32>) {
// CHECK: %[[ROW:.+]] = arith.addi %[[M]], %[[I]] : index
// CHECK: %[[KEY:.+]] = arith.addi %[[N]], %[[J]] : index
// CHECK: %[[AT:.+]] = arith.muli %[[ROW]], %[[KEY]] : index
// CHECK: %[[OLD:.+]] = tensor.extract %[[INTO]][%[[AT]]]
// CHECK: %[[SUM:.+]] = arith.addf %[[OLD]], %[[X]] : f32
// CHECK: %[[NEW:.+]] = tensor.insert %[[SUM]] into %[[INTO]][%[[AT]]]
// CHECK: scf.yield %[[NEW]]
// CHECK: } else {
// CHECK: scf.yield %[[INTO]]
func.func @scatter(%s: tensor<1x1x8x4xf32>, %t: tensor<?xf32>, %b: index, %h: index, %m: index, %n: index) -> tensor<?xf32> {
  %r = attn.backward_scatter %s offsets(%b, %h, %m, %n) into %t {
  ^bb0(%b1: index, %h1: index, %i: index, %j: index):
    %at = arith.muli %i, %j : index
    attn.yield %at : index
  } : tensor<1x1x8x4xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}
