// RUN: attn-opt %s --attn-decompose-backward | FileCheck %s --check-prefixes=CHECK,CHAIN
// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// Loops over the scores carry the table, unless it is empty; indices are computed for what is not 0 only.

// CHECK-LABEL: func.func @scatter
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<1x1x8x4xf32>, %[[T:[a-z0-9]+]]: tensor<?xf32>, %[[B:[a-z0-9]+]]: index, %[[H:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// CHECK: %[[SIZE:.+]] = tensor.dim %[[T]]
// CHECK: %[[EMPTY:.+]] = arith.cmpi eq, %[[SIZE]]
// CHECK: %[[TRIPS:.+]] = arith.select %[[EMPTY]]
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[TRIPS]] {{.*}} iter_args(%{{.+}} = %[[T]]) -> (tensor<?xf32>)
// CHECK: scf.for
// CHECK: scf.for %[[I:.+]] = %c0{{.*}} to %c8{{.*}} iter_args(%[[ROWS:.+]] = %{{.+}}) -> (tensor<?xf32>)
// CHECK: scf.for %[[J:.+]] = %c0{{.*}} to %c4{{.*}} iter_args(%[[INTO:.+]] = %[[ROWS]]) -> (tensor<?xf32>)
// CHECK: %[[X:.+]] = tensor.extract %[[S]][%{{.+}}, %{{.+}}, %[[I]], %[[J]]]
// CHECK: %[[ANY:.+]] = arith.cmpf une, %[[X]], %{{.+}} : f32
// CHECK: %[[AT:.+]] = scf.if %[[ANY]] -> (index) {
// CHECK: %[[ROW:.+]] = arith.addi %[[M]], %[[I]] : index
// CHECK: %[[KEY:.+]] = arith.addi %[[N]], %[[J]] : index
// CHECK: %[[PRODUCT:.+]] = arith.muli %[[ROW]], %[[KEY]] : index
// CHECK: scf.yield %[[PRODUCT]]
// CHECK: } else {
// CHECK: scf.yield %c0
// CHECK: %[[OLD:.+]] = tensor.extract %[[INTO]][%[[AT]]]
// CHECK: %[[SUM:.+]] = arith.addf %[[OLD]], %[[X]] : f32
// CHECK: %[[NEW:.+]] = tensor.insert %[[SUM]] into %[[INTO]][%[[AT]]]
// CHECK: scf.yield %[[NEW]]
func.func @scatter(%s: tensor<1x1x8x4xf32>, %t: tensor<?xf32>, %b: index, %h: index, %m: index, %n: index) -> tensor<?xf32> {
  %r = attn.backward_scatter %s offsets(%b, %h, %m, %n) into %t {
  ^bb0(%b1: index, %h1: index, %i: index, %j: index):
    %at = arith.muli %i, %j : index
    attn.yield %at : index
  } : tensor<1x1x8x4xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

// Of two that follow each other there is one nest.

// CHAIN-LABEL: func.func @chain
// CHAIN-COUNT-4: scf.for
// CHAIN-NOT: scf.for
// CHAIN: %[[FIRST:.+]] = tensor.insert
// CHAIN: tensor.extract %[[FIRST]]
// CHAIN: tensor.insert {{.*}} into %[[FIRST]]
// CHAIN-NOT: scf.for
func.func @chain(%s: tensor<1x1x8x4xf32>, %r: tensor<1x1x8x4xf32>, %t: tensor<?xf32>, %b: index) -> tensor<?xf32> {
  %0 = attn.backward_scatter %s offsets(%b, %b, %b, %b) into %t {
  ^bb0(%b1: index, %h1: index, %i: index, %j: index):
    attn.yield %i : index
  } : tensor<1x1x8x4xf32> into tensor<?xf32>
  %1 = attn.backward_scatter %r offsets(%b, %b, %b, %b) into %0 {
  ^bb0(%b1: index, %h1: index, %i: index, %j: index):
    attn.yield %j : index
  } : tensor<1x1x8x4xf32> into tensor<?xf32>
  return %1 : tensor<?xf32>
}
