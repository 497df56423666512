// RUN: attn-opt %s --pass-pipeline='builtin.module(llvm.func(attn-join-conditions))' | FileCheck %s

// Comparisons of one select become one predicate; what rows or columns share is asked by LLVM's selects.
// CHECK-LABEL: llvm.func @bounds
// CHECK: %[[A:.*]] = arith.cmpi sle, %arg2, %arg3
// CHECK: %[[B:.*]] = arith.cmpi slt, %arg3, %arg4
// CHECK: %[[C:.*]] = arith.cmpi sgt, %arg4, %arg2
// CHECK: %[[AB:.*]] = llvm.inline_asm "and.pred $0, $1, $2;", "=b,b,b" %[[A]], %[[B]] : (i1, i1) -> i1
// CHECK: %[[ABC:.*]] = llvm.inline_asm "and.pred $0, $1, $2;", "=b,b,b" %[[AB]], %[[C]] : (i1, i1) -> i1
// CHECK: %[[ALL:.*]] = arith.andi %arg5, %[[ABC]] : i1
// CHECK: arith.select %[[ALL]], %arg0, %arg1 : f32
llvm.func @bounds(%x: f32, %y: f32, %begin: i32, %j: i32, %end: i32, %exists: i1) -> f32 {
  %a = arith.cmpi sle, %begin, %j : i32
  %b = arith.cmpi slt, %j, %end : i32
  %c = arith.cmpi sgt, %end, %begin : i32
  %ab = arith.andi %a, %b : i1
  %shown = arith.andi %ab, %exists : i1
  %all = arith.andi %shown, %c : i1
  %r = arith.select %all, %x, %y : f32
  llvm.return %r : f32
}

// CHECK-LABEL: llvm.func @shared
// CHECK-NOT: inline_asm
// CHECK: llvm.return
llvm.func @shared(%x: f32, %y: f32, %begin: i32, %j: i32, %end: i32) -> f32 {
  %a = arith.cmpi sle, %begin, %j : i32
  %b = arith.cmpi slt, %j, %end : i32
  %ab = arith.andi %a, %b : i1
  %r = arith.select %ab, %x, %y : f32
  %s = arith.select %b, %r, %x : f32
  %n = arith.select %ab, %begin, %end : i32
  %f = arith.sitofp %n : i32 to f32
  %t = arith.addf %s, %f : f32
  llvm.return %t : f32
}
