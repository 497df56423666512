// RUN: attn-opt %s --attn-hoist-tile-buffers | FileCheck %s

// CHECK-LABEL: @loop
// CHECK-NEXT: memref.alloca() : memref<8xf32>
// CHECK: scf.for
// A buffer of dynamic size stays.
// CHECK-NEXT: memref.alloca(%{{.*}}) : memref<?xf32>
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %fixed = memref.alloca() : memref<8xf32>
    %sized = memref.alloca(%n) : memref<?xf32>
    func.call @use(%fixed, %sized) : (memref<8xf32>, memref<?xf32>) -> ()
  }
  return
}
func.func private @use(memref<8xf32>, memref<?xf32>)
