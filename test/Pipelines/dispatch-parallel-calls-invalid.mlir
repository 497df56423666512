// RUN: attn-opt %s --attn-dispatch-parallel-calls --split-input-file --verify-diagnostics

llvm.func @elsewhere(i64, i64)
llvm.func @external(%n: i64) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  // expected-error@+1 {{expected the only call of a function of a loop's trips, from 0 on, that returns nothing}}
  llvm.call @elsewhere(%c0, %n) {attn.parallel} : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @body(%begin: i64, %end: i64) {
  llvm.return
}
llvm.func @other(%n: i64) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  // expected-error@+1 {{expected the only call}}
  llvm.call @body(%c0, %n) {attn.parallel} : (i64, i64) -> ()
  llvm.call @body(%c0, %n) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @body(%begin: i64, %end: i64) {
  llvm.return
}
llvm.func @from_one(%n: i64) {
  %c1 = llvm.mlir.constant(1 : i64) : i64
  // expected-error@+1 {{expected the only call}}
  llvm.call @body(%c1, %n) {attn.parallel} : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @body(%begin: i64, %end: f32) {
  llvm.return
}
llvm.func @types(%n: f32) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  // expected-error@+1 {{expected the only call}}
  llvm.call @body(%c0, %n) {attn.parallel} : (i64, f32) -> ()
  llvm.return
}

// -----

llvm.func @pointer(%f: !llvm.ptr, %n: i64) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  // expected-error@+1 {{expected the only call}}
  llvm.call %f(%c0, %n) {attn.parallel} : !llvm.ptr, (i64, i64) -> ()
  llvm.return
}
