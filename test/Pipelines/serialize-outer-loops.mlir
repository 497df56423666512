// RUN: attn-opt %s --attn-serialize-outer-loops | FileCheck %s

// Of nested parallel loops the innermost stays one.
// CHECK-LABEL: func.func @nested
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.forall
// CHECK-NOT: scf.forall
func.func @nested(%m: memref<3x4x5xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.forall (%i) in (3) {
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      scf.forall (%k) in (5) {
        memref.store %x, %m[%i, %j, %k] : memref<3x4x5xf32>
      }
    }
  }
  return
}

// What is called may have parallel loops.
// CHECK-LABEL: func.func @call
// CHECK: scf.for {{.*}}
// CHECK-NEXT: func.call @nested
func.func @call(%m: memref<3x4x5xf32>, %x: f32) {
  scf.forall (%i) in (3) {
    func.call @nested(%m, %x) : (memref<3x4x5xf32>, f32) -> ()
  }
  return
}

// Loops behind each other stay parallel.
// CHECK-LABEL: func.func @siblings
// CHECK: scf.forall
// CHECK: scf.forall
func.func @siblings(%m: memref<3xf32>, %x: f32) {
  scf.forall (%i) in (3) {
    memref.store %x, %m[%i] : memref<3xf32>
  }
  scf.forall (%i) in (3) {
    memref.store %x, %m[%i] : memref<3xf32>
  }
  return
}
