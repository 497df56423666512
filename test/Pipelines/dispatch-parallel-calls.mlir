// RUN: attn-opt %s --attn-dispatch-parallel-calls | FileCheck %s

// CHECK: llvm.func @attnParallelFor(!llvm.ptr, !llvm.ptr, i64)

// CHECK-LABEL: llvm.func internal @f_loop
// CHECK-SAME: (%[[CONTEXT:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: %[[F0:.*]] = llvm.getelementptr %[[CONTEXT]][0, 0] : {{.*}} !llvm.struct<(f32, ptr)>
// CHECK: %[[X:.*]] = llvm.load %[[F0]] : !llvm.ptr -> f32
// CHECK: %[[F1:.*]] = llvm.getelementptr %[[CONTEXT]][0, 1]
// CHECK: %[[P:.*]] = llvm.load %[[F1]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[P]][%[[BEGIN]]]
// CHECK: llvm.store %[[X]], %[[AT]]
llvm.func @f_loop(%begin: i64, %end: i64, %x: f32, %p: !llvm.ptr {llvm.noalias}) {
  %at = llvm.getelementptr %p[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %x, %at : f32, !llvm.ptr
  llvm.return
}

// The context is in the frame, not in a loop.
// CHECK-LABEL: llvm.func @f(
// CHECK-SAME: %[[X:.*]]: f32, %[[P:.*]]: !llvm.ptr, %[[N:.*]]: i64)
// CHECK: %[[CONTEXT:.*]] = llvm.alloca {{.*}} x !llvm.struct<(f32, ptr)>
// CHECK: llvm.br
// CHECK: %[[F0:.*]] = llvm.getelementptr %[[CONTEXT]][0, 0]
// CHECK: llvm.store %[[X]], %[[F0]]
// CHECK: %[[F1:.*]] = llvm.getelementptr %[[CONTEXT]][0, 1]
// CHECK: llvm.store %[[P]], %[[F1]]
// CHECK: %[[BODY:.*]] = llvm.mlir.addressof @f_loop
// CHECK: llvm.call @attnParallelFor(%[[BODY]], %[[CONTEXT]], %[[N]])
// CHECK-NOT: llvm.call
llvm.func @f(%x: f32, %p: !llvm.ptr, %n: i64) {
  llvm.br ^bb1
^bb1:
  %c0 = llvm.mlir.constant(0 : i64) : i64
  llvm.call @f_loop(%c0, %n, %x, %p) {attn.parallel} : (i64, i64, f32, !llvm.ptr) -> ()
  llvm.return
}
