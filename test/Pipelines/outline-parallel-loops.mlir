// RUN: attn-opt %s --attn-outline-parallel-loops | FileCheck %s

// Trips of both dimensions in one range; constants are copied, all else is an argument.
// CHECK-LABEL: func.func private @fill_loop
// CHECK-SAME: (%[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[N:.*]]: index, %[[X:.*]]: f32, %[[M:.*]]: memref<3x?xf32>)
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: scf.for %[[T:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]] {
// CHECK-NEXT: %[[COLUMN:.*]] = arith.remui %[[T]], %[[N]]
// CHECK-NEXT: %[[ROW:.*]] = arith.divui %[[T]], %[[N]]
// CHECK-NEXT: %[[STEP:.*]] = arith.muli %[[COLUMN]], %[[C2]]
// CHECK-NEXT: %[[J:.*]] = arith.addi %[[STEP]], %[[C5]]
// CHECK-NEXT: memref.store %[[X]], %[[M]][%[[ROW]], %[[J]]]
// CHECK-NEXT: }
// CHECK-NEXT: return

// CHECK-LABEL: func.func @fill(
// CHECK-SAME: %[[M:.*]]: memref<3x?xf32>, %[[X:.*]]: f32, %[[UPPER:.*]]: index)
// CHECK: %[[LENGTH:.*]] = arith.subi %[[UPPER]], %{{.*}}
// CHECK: %[[TRIPS:.*]] = arith.ceildivsi %[[LENGTH]], %{{.*}}
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[TRIPS]], %{{.*}}
// CHECK: %[[ALL:.*]] = arith.muli %[[COUNT]], %c3
// CHECK: call @fill_loop(%{{.*}}, %[[ALL]], %[[COUNT]], %[[X]], %[[M]]) {attn.parallel}
// CHECK-NOT: scf.parallel
func.func @fill(%m: memref<3x?xf32>, %x: f32, %upper: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i, %j) = (%c0, %c5) to (%c3, %upper) step (%c1, %c2) {
    memref.store %x, %m[%i, %j] : memref<3x?xf32>
  }
  return
}

// Values that an inner loop reads are captured, too; so is each loop by itself.
// CHECK-LABEL: func.func private @twice_loop(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-LABEL: func.func private @twice_loop_0(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @twice(
// CHECK: call @twice_loop(
// CHECK: call @twice_loop_0(
func.func @twice(%m: memref<3x4xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
    scf.for %j = %c0 to %c4 step %c1 {
      memref.store %x, %m[%i, %j] : memref<3x4xf32>
    }
  }
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
    memref.store %x, %m[%i, %c1] : memref<3x4xf32>
  }
  return
}

// Sums stay.
// CHECK-LABEL: func.func @sum(
// CHECK: scf.parallel
func.func @sum(%m: memref<3xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.parallel (%i) = (%c0) to (%c3) step (%c1) init (%zero) -> f32 {
    %x = memref.load %m[%i] : memref<3xf32>
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      scf.reduce.return %r : f32
    }
  }
  return %s : f32
}
