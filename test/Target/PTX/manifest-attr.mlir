// RUN: attn-opt %s --target=sm_80 --emit=manifest -o - | FileCheck %s --check-prefixes=CHECK,STDOUT
// RUN: rm -rf %t && mkdir %t
// RUN: attn-opt %s --target=sm_80 --emit=ptx,manifest -o %t/twice
// RUN: FileCheck %s --check-prefixes=CHECK,FILE < %t/twice.json
// RUN: ls %t | FileCheck %s --check-prefix=LS

module attributes {
  attn.normal_form = #attn.normal_form<nvvm>,
  attn.manifest = {
    target = "sm_80",
    operands = [
      {name = "in", role = "input", dtype = "f32", shape = ["N", 128],
       stride_constraints = {contiguous_dims = [1], multiple_of = 4}, alignment_bytes = 16},
      {name = "out", role = "output", dtype = "f32", shape = ["N", 128]}],
    kernels = [
      {entry = "twice", grid = ["ceildiv(N, 4)", 1, 1], block = [128], parameters = [
         {kind = "pointer", operand = "in"}, {kind = "pointer", operand = "out"},
         {kind = "f32", value = 0.088388347648318447 : f64}]}],
    schedule = {tile_m = 4, pipelined = true},
    predicted_bytes = [{operand = "in", read = "N * 512", write = 0}]
  }
} {
  llvm.func @twice(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %scale: f32) attributes {nvvm.kernel} {
    llvm.return
  }
}

// CHECK:      "schema": "attn-mlir/manifest/1"
// STDOUT:     "name": "attention"
// FILE:       "name": "twice"
// CHECK-NEXT: "target": "sm_80"
// STDOUT-NEXT: "ptx": "attention.ptx"
// FILE-NEXT:  "ptx": "twice.ptx"
// CHECK:      "shape": [
// CHECK-NEXT:   "N",
// CHECK-NEXT:   128
// CHECK:      "contiguous_dims": [
// CHECK-NEXT:   1
// CHECK:      "grid": [
// CHECK-NEXT:   "ceildiv(N, 4)",
// CHECK-NEXT:   1,
// CHECK:      "value": "0.08838834764831845"
// CHECK:      "schedule": {
// CHECK-NEXT: "pipelined": true,
// CHECK-NEXT: "tile_m": 4
// CHECK:      "operand": "in",
// CHECK-NEXT: "read": "N * 512",
// CHECK-NEXT: "write": 0

// LS:      twice.json
// LS-NEXT: twice.ptx
// LS-NOT:  {{.}}
